"""Build the tables of slow pairs, and of each party's median over its partners."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes.shared.grid import Row
from nameplate.probes.shared.job import party_names
from nameplate.probes.shared.pair_matrix import message_metric, message_metric_name, pairs_of, parties_of, party_medians
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity, Result, Table
from nameplate.statistics.stats import median
from nameplate.units import size_text

# With more pairs or parties only the slowest are listed; the report's heat map shows all.
MAX_PAIRS = 10
MAX_PARTIES = 20
# With two parties each is the other's only partner.
MIN_PARTIES = 3


def pair_matrix_tables(result: Result, machine: Machine) -> list[Table]:
    """Return the tables of an experiment of mpi_pairs: slowest pairs, and each party's median over its partners.

    ``result`` must have at least one pair, and the parameters ``between`` ("nodes" or "ranks") and ``size`` (bytes).
    ``machine`` has the job whose names are shown; without a job, they are indices. The second table is left out for two
    parties. Both are ordered by time, the slowest first. With more than ``MAX_PAIRS`` pairs or ``MAX_PARTIES`` parties
    only the slowest are listed, with a note.
    """
    names = party_names(machine, str(result.summary.params["between"]), parties_of(result.pairs))
    what = f"messages of {size_text(float(result.summary.params['size']))}"
    pairs = [f"{names[one]} – {names[other]}" for one, other in pairs_of(len(names))]
    tables = [_slowest_first(result, f"Slowest pairs, {what}", "pair", pairs, result.pairs, MAX_PAIRS)]
    if len(names) >= MIN_PARTIES:
        kind = str(result.summary.params["between"]).removesuffix("s")
        medians = party_medians(result.pairs)
        title = f"Each {kind}'s median over its partners, {what}"
        tables.append(_slowest_first(result, title, kind, names, medians, MAX_PARTIES))
    return tables


def _slowest_first(
    result: Result, title: str, kind: str, names: Sequence[str], times: Sequence[float], max_rows: int
) -> Table:
    middle = median(times)
    ranked = sorted(zip(times, names, strict=True), key=lambda item: -item[0])
    rows: list[Row] = [
        [name, message_metric(result.summary.params, time_s), Quantity(time_s / middle, "")]
        for time_s, name in ranked[:max_rows]
    ]
    notes = [f"The table lists the slowest {max_rows} of {len(times)}."] if len(times) > max_rows else []
    headings = [kind, message_metric_name(result.summary.params), "time / median"]
    return Table("mpi_pairs", title, headings, rows, notes)
