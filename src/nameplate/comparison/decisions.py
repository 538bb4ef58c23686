"""Say which experiments of a run need no further round, because their verdict is final."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.comparison.metric_rows import ComparisonRow
from nameplate.records.result import Report


def decided_experiments(rows: Sequence[ComparisonRow], report: Report) -> set[str]:
    """Return the ids of the experiments of ``report`` whose verdict is final: FASTER, SLOWER, SAME or INCOMPARABLE.

    ``rows`` compare the results of ``report``. An experiment is decided by its first row, on the capability if it is
    known, else on what was typical. One that has results but no row cannot be compared, and is final, too.
    """
    first: dict[str, ComparisonRow] = {}
    for row in rows:
        first.setdefault(row.id, row)
    measured = {result.id for result in report.results if result.kind == "measured" and result.round_values}
    return {each for each in measured if each not in first or first[each].machine_verdict != "UNSURE"}
