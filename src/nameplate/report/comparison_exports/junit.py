"""Export a comparison as JUnit XML: one test for each verdict."""

from __future__ import annotations

from nameplate.comparison.metric_rows import ComparisonRow, is_loss
from nameplate.comparison.run_comparison import RunComparison
from nameplate.report.content.comparison_words import judged_side, metric_words, ratio_interval_text
from nameplate.report.content.format import quantity
from nameplate.report.formats.junit import Outcome, VerdictTest, junit_text


def export(found: RunComparison, limit: float) -> str:
    """Return JUnit XML with a test for each metric that both runs have, in a group for each probe.

    The verdict is that on the capability, or else on the typical value, as for the exit code. A test fails if it is
    SLOWER by at least ``limit``; it is skipped if the verdict is UNSURE or INCOMPARABLE. The message has the verdict,
    both values with their ratio, and the reason if there is one. The output of the suite are the notes on the inputs.
    """
    tests = [
        VerdictTest(
            f"nameplate.{row.probe}",
            metric_words(row.probe, row.params, row.metric),
            _outcome(row, limit),
            _message(row),
        )
        for row in found.rows
    ]
    return junit_text("nameplate compare", tests, found.notes)


def _outcome(row: ComparisonRow, limit: float) -> Outcome:
    if is_loss(row, limit):
        return "failure"
    return "skipped" if row.machine_verdict in ("UNSURE", "INCOMPARABLE") else "passed"


def _message(row: ComparisonRow) -> str:
    seen = judged_side(row)
    kind = "capability" if row.capability else "typical"
    ratio = f", ratio {seen.ratio:.3f} (99 %: {ratio_interval_text(seen.ci)})" if seen.ratio is not None else ""
    values = f"{kind} {quantity(seen.new, row.unit)}, base {quantity(seen.base, row.unit)}{ratio}"
    return "; ".join(filter(None, [f"{row.machine_verdict}: {values}", seen.reason]))
