"""Say which experiments of a run need no further round, because their verdict is final."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.comparison.metric_rows import ComparisonRow
from nameplate.records.result import Report


def decided_experiments(rows: Sequence[ComparisonRow], report: Report) -> set[str]:
    """Return the ids of the experiments of ``report`` whose verdict is final: any verdict except UNSURE.

    ``rows`` compare the results of ``report`` with another run. The first row of an experiment decides, by its
    ``machine_verdict``. An experiment that has results but no row cannot be compared, and is final as well. Experiments
    without results are not in the set.
    """
    first: dict[str, ComparisonRow] = {}
    for row in rows:
        first.setdefault(row.id, row)
    measured = {result.id for result in report.results if result.kind == "measured" and result.round_values}
    return {identity for identity in measured if identity not in first or first[identity].machine_verdict != "UNSURE"}
