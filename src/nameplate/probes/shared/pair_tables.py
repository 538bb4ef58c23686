"""The slow ones among all pairs: the slowest pairs, and each party's median over its partners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nameplate.probes.shared.grid import Row
from nameplate.probes.shared.job import party_names
from nameplate.probes.shared.pair_matrix import figure_name, message_figure, pairs_of, parties_of, party_medians
from nameplate.records.model import Quantity, Result, Table
from nameplate.statistics.stats import median
from nameplate.units import size_text

# Of more pairs, or parties, the slowest are shown; all stand in the report's heat map.
MAX_PAIRS = 10
MAX_PARTIES = 20
# Of two parties each is the other's only partner.
MIN_PARTIES = 3


def pair_matrix_tables(result: Result, machine: Mapping[str, Any]) -> list[Table]:
    """Of one cell, from its pairs; names come from the machine's job."""
    names = party_names(machine, str(result.summary.params["between"]), parties_of(result.pairs))
    what = f"messages of {size_text(float(result.summary.params['size']))}"
    pairs = [f"{names[one]} – {names[other]}" for one, other in pairs_of(len(names))]
    tables = [_slowest_first(result, f"The slowest pairs, {what}", "pair", pairs, result.pairs, MAX_PAIRS)]
    if len(names) >= MIN_PARTIES:
        kind = str(result.summary.params["between"]).removesuffix("s")
        medians = party_medians(result.pairs)
        title = f"Each {kind}'s median over its partners, {what}"
        tables.append(_slowest_first(result, title, kind, names, medians, MAX_PARTIES))
    return tables


def _slowest_first(  # noqa: PLR0913, PLR0917
    result: Result, title: str, kind: str, names: Sequence[str], times: Sequence[float], most: int
) -> Table:
    middle = median(times)
    ranked = sorted(zip(times, names, strict=True), key=lambda item: -item[0])
    rows: list[Row] = [
        [name, message_figure(result.summary.params, time_s), Quantity(time_s / middle, "")]
        for time_s, name in ranked[:most]
    ]
    notes = [f"the slowest {most} of {len(times)}"] if len(times) > most else []
    headings = [kind, figure_name(result.summary.params), f"× the median {kind}'s time"]
    return Table("mpi_pairs", title, headings, rows, notes)
