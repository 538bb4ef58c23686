"""Build the tables of a matrix of pairs: slowest pairs, each party's median, and pairs within and between groups."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest

from nameplate.probes.interface.pair_matrix import PairValues
from nameplate.probes.shared.grid import Row
from nameplate.records.result import Quantity, Table
from nameplate.statistics.stats import median

# With more pairs or parties only the slowest are listed; the report's heat map shows all.
MAX_PAIRS = 10
MAX_PARTIES = 20
# With only two parties, both medians are the value of the same pair.
MIN_PARTIES = 3


def pair_matrix_tables(pairs: PairValues) -> list[Table]:
    """Return up to three tables of an experiment: slowest pairs, each party's median over its partners, and groups.

    - slowest pairs: at most ``MAX_PAIRS``
    - each party's median over its partners: at most ``MAX_PARTIES`` parties; left out for fewer than ``MIN_PARTIES``
    - pairs within one group and between two groups of parties; left out unless there are pairs of both kinds

    The rows of each table are ordered from worst to best. Notes say if a table does not list all pairs or parties, how
    many pairs have no value, and which groups of parties the values show. At least one pair of two different parties
    must have a value.
    """
    kind, names = pairs.kind, [party.name for party in pairs.parties]
    work = f", {text}" if (text := pairs.matrix.work(pairs.params)) else ""
    sign = "–" if pairs.matrix.layout == "triangle" else "→"
    by_pair = [
        (f"{names[row]} {sign} {names[column]}", value) for (row, column), value in pairs.indexed() if value is not None
    ]
    median_pair = median([value for _, value in by_pair])
    title = "Slowest pairs" if len(by_pair) > MAX_PAIRS else "All pairs, slowest first"
    tables = [_slowest_first(pairs, f"{title}{work}", "pair", by_pair, median_pair, MAX_PAIRS)]
    if missing := pairs.values.count(None):
        tables[0].notes.append(f"{missing} of {len(pairs.values)} pairs {'has' if missing == 1 else 'have'} no value.")
    if len(names) >= MIN_PARTIES:
        medians = zip(names, pairs.matrix.party_medians(pairs.values), strict=True)
        by_party = [(name, value) for name, value in medians if value is not None]
        title = f"Each {kind.singular}'s median over its partners{work}"
        median_party = median([value for _, value in by_party])
        tables.append(_slowest_first(pairs, title, kind.singular, by_party, median_party, MAX_PARTIES))
        tables[1].notes.extend(_groups_note(pairs))
    by_group = _by_group(pairs)
    if len(by_group) > 1:
        title = f"Pairs within and between {kind.group}s{work}"
        tables.append(_slowest_first(pairs, title, "pairs", by_group, median_pair, len(by_group)))
    return tables


def _slowest_first(
    pairs: PairValues, title: str, heading: str, named: Sequence[tuple[str, float]], middle: float, max_rows: int
) -> Table:
    sign = 1 if pairs.matrix.better == "higher" else -1
    slowest = nsmallest(max_rows, named, key=lambda item: sign * item[1])
    rows: list[Row] = [[name, pairs.displayed(value)[1], Quantity(value / middle, "")] for name, value in slowest]
    headings = [heading, pairs.displayed(middle)[0], f"{pairs.matrix.name} / median"]
    notes = [f"The table lists the slowest {max_rows} of {len(named)}."] if len(named) > max_rows else []
    return Table(pairs.probe, title, headings, rows, notes)


def _by_group(pairs: PairValues) -> list[tuple[str, float]]:
    """Return the median of the pairs within one group and the median of the pairs between two groups.

    Parties without a group are ignored. A median of no pairs is left out.
    """
    groups = [party.group for party in pairs.parties]
    if not any(groups):
        return []
    within: list[float] = []
    between: list[float] = []
    for (row, column), value in pairs.indexed():
        if value is not None and row != column and groups[row] and groups[column]:
            (within if groups[row] == groups[column] else between).append(value)
    named = ((f"within one {pairs.kind.group}", within), (f"between two {pairs.kind.group}s", between))
    return [(name, median(values)) for name, values in named if values]


def _groups_note(pairs: PairValues) -> list[str]:
    """Return a list with a sentence about the groups that the values show; empty if they show no groups."""
    if not pairs.groups:
        return []
    known: dict[str, list[int]] = {}
    for index, party in enumerate(pairs.parties):
        known.setdefault(party.group, []).append(index)
    if list(known.values()) == pairs.groups:
        members = f"one for each {pairs.kind.group}"
    elif len(pairs.parties) > MAX_PARTIES:
        members = f"of {', '.join(str(len(group)) for group in pairs.groups)} {pairs.kind.plural}"
    else:
        members = "; ".join(", ".join(pairs.parties[index].name for index in group) for group in pairs.groups)
    return [f"The values show {len(pairs.groups)} groups: {members}."]
