"""The verdict on two runs as a whole."""

from __future__ import annotations

import pytest

from nameplate.commands._verdicts import exit_code
from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow, overall_verdict
from nameplate.statistics.verdict import Verdict


def row(verdict: Verdict, ratio: float = 1.0, capability: Verdict | None = None) -> ComparisonRow:
    change = capability and CapabilityChange(
        base=1.0, new=ratio, verdict=capability, ratio=ratio, ci=None, reason="", detectable=None
    )
    return ComparisonRow(
        id="a", probe="cpu_flops", params={}, metric="rate", unit="FLOP/s", base=1.0, new=ratio, verdict=verdict,
        ratio=ratio, ci=None, reason="", capability=change or None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "limit", "verdict", "code"),
    [
        ([], 0.0, "INCOMPARABLE", 5),
        ([row("INCOMPARABLE")], 0.0, "INCOMPARABLE", 5),
        ([row("INCOMPARABLE"), row("SAME")], 0.0, "SAME", 0),
        ([row("FASTER", 1.2), row("SAME")], 0.0, "FASTER", 0),
        ([row("FASTER", 1.2), row("UNSURE")], 0.0, "UNSURE", 0),
        ([row("FASTER", 1.2), row("SLOWER", 0.9), row("UNSURE")], 0.0, "SLOWER", 1),
        ([row("SLOWER", 0.9)], 0.2, "SAME", 0),
        ([row("SLOWER", 0.7)], 0.2, "SLOWER", 1),
        ([row("SLOWER", 0.7, capability="SAME")], 0.0, "SAME", 0),
        ([row("SAME", 0.7, capability="SLOWER")], 0.0, "SLOWER", 1),
    ],
)
def test_the_verdict_on_the_runs_agrees_with_the_exit_code(
    rows: list[ComparisonRow], limit: float, verdict: Verdict, code: int
) -> None:
    assert overall_verdict(rows, limit) == verdict
    assert exit_code(rows, limit) == code
