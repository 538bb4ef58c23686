"""Print a comparison as JSON, and choose the exit code for its verdicts."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import msgspec

from nameplate.comparison.metric_rows import ComparisonRow, overall_verdict
from nameplate.comparison.run_comparison import RunComparison
from nameplate.report.comparison_exports.json import json_text
from nameplate.statistics.verdict import Verdict

AGAINST, _UNSURE, NOT_COMPARABLE = 1, 4, 5


def gate_code(comparison: RunComparison, limit: float | None, strict: bool = False) -> int:
    """Return the exit code of a comparison of two runs, 0 if the machine did not become worse.

    If every metric decides (``comparison.gate`` is None), the code is that of ``exit_code``, and only then is ``limit``
    used. If the main values decide, it is 1 if the gate is SLOWER, 4 if the machine is not judged, and 5 if no main
    value can be compared. With ``strict`` it is also 5 if any metric is INCOMPARABLE, and 4 if a main value is UNSURE.
    """
    gate, main = comparison.gate, [row for row in comparison.rows if row.is_main]
    if gate is None:
        return exit_code(comparison.rows, limit, strict)
    if gate.verdict == "SLOWER":
        return AGAINST
    if gate.reason:
        return _UNSURE
    verdicts = {row.machine_verdict for row in main}
    if gate.verdict == "INCOMPARABLE" or (strict and any(row.verdict == "INCOMPARABLE" for row in comparison.rows)):
        return NOT_COMPARABLE
    return _UNSURE if strict and "UNSURE" in verdicts else 0


def exit_code(rows: Sequence[ComparisonRow], limit: float | None, strict: bool = False) -> int:
    """Return the exit code of a comparison, 0 if nothing is worse.

    The verdict on a metric is the one on its capability, or on its typical value if it has no capability. The code is 1
    if a metric is SLOWER by at least ``limit``, a share (0.05 is 5 %); None counts every SLOWER. It is 5 if no metric,
    or with ``strict`` not every metric, could be compared. With ``strict`` it is 4 if a metric is UNSURE.
    """
    verdicts = {row.machine_verdict for row in rows}
    overall = overall_verdict(rows, limit or 0.0)
    if overall == "SLOWER":
        return AGAINST
    if overall == "INCOMPARABLE" or (strict and "INCOMPARABLE" in verdicts):
        return NOT_COMPARABLE
    return _UNSURE if strict and "UNSURE" in verdicts else 0


def print_json(rows: Sequence[msgspec.Struct], verdict: Verdict | None = None, notes: Sequence[str] = ()) -> None:
    """Print ``{"schema", "verdict", "notes": […], "rows": […]}`` to standard output.

    ``verdict`` is the verdict on the runs as a whole; if it is None, the object has no such key. ``notes`` are
    sentences on the inputs.
    """
    sys.stdout.write(json_text(rows, {"verdict": verdict} if verdict else {}, notes))
