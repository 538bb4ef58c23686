"""Choose the exit code of a command that measures."""

from __future__ import annotations

from nameplate.records.node_record import Nodes
from nameplate.records.result import Report
from nameplate.report.content.slow_nodes import slow_nodes

# The exit code if a node is slow.
SLOW = 1


def incomplete_code(report: Report) -> int:
    """Return the exit code of a run: 3 if something could not be measured, else 0.

    It is 3 if the run was interrupted, if no experiment was measured, or if an experiment failed, is invalid, or lacks
    rounds because they failed.
    """
    outcomes = {result.summary.outcome for result in report.results}
    is_incomplete = report.interrupted or "ok" not in outcomes or not outcomes.isdisjoint({"invalid", "failed"})
    return 3 if is_incomplete or any(result.summary.stop == "failed" for result in report.results) else 0


def slow_code(nodes: Nodes | None) -> int:
    """Return 1 if a node is slow, and 0 if no node is slow or ``nodes`` is None."""
    return SLOW if nodes is not None and slow_nodes(nodes) else 0
