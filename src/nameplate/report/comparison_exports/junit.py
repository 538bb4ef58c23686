"""Export a comparison as JUnit XML: one test for each metric that decides."""

from __future__ import annotations

from nameplate.comparison.gate import is_gate_loss
from nameplate.comparison.metric_rows import ComparisonRow, is_loss
from nameplate.comparison.run_comparison import RunComparison
from nameplate.probes.shared.areas import text_of_area
from nameplate.report.content.comparison_text import gate_sentences, judged_side, metric_text, ratio_interval_text
from nameplate.report.content.format import quantity, share
from nameplate.report.formats.junit_xml import Outcome, VerdictTest, junit_text


def export(comparison: RunComparison, limit: float) -> str:
    """Return JUnit XML with one test for each main value, or for each metric if every metric decides.

    A test fails if the verdict on the machine is SLOWER by its metric, is skipped if the metric cannot be compared, and
    passes otherwise, even if the verdict is UNSURE. ``limit`` is the smallest loss that counts if every metric decides,
    a share: 0.05 is 5 %, and with 0 every SLOWER metric fails. An area whose mean is worse is a further test, which
    fails. If the machine is not judged, the only test is an error with the reason. A message has the verdict, both
    values with their unit, the ratio new ÷ base with its 99 % interval, and the reason of the verdict if it has one.
    The suite's ``system-out`` has the sentences on the verdict and the notes on the inputs, one per line.
    """
    gate = comparison.gate
    if gate is None:
        tests = [_test(row, is_loss(row, limit)) for row in comparison.rows]
    elif gate.reason:
        tests = [VerdictTest("nameplate", "the machine is judged", "error", gate.reason)]
    else:
        means = [
            VerdictTest("nameplate", f"mean of {text_of_area(area.area)}", "failure", f"{share(area.loss)} slower")
            for area in gate.area_losses
        ]
        tests = [*(_test(row, is_gate_loss(row)) for row in comparison.rows if row.is_main), *means]
    return junit_text("nameplate compare", tests, [*gate_sentences(comparison), *comparison.notes])


def _test(row: ComparisonRow, has_failed: bool) -> VerdictTest:
    outcome: Outcome = "failure" if has_failed else "skipped" if row.machine_verdict == "INCOMPARABLE" else "passed"
    seen = judged_side(row)
    kind = "capability" if row.capability else "typical"
    ratio = f", ratio {seen.ratio:.3f} (99 %: {ratio_interval_text(seen.ci)})" if seen.ratio is not None else ""
    values = f"{kind} {quantity(seen.new, row.unit)}, base {quantity(seen.base, row.unit)}{ratio}"
    message = "; ".join(filter(None, [f"{row.machine_verdict}: {values}", seen.reason]))
    return VerdictTest(f"nameplate.{row.probe}", metric_text(row.probe, row.params, row.metric), outcome, message)
