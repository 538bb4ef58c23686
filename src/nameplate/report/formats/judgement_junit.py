"""Write the judgement on a machine as JUnit XML: one test for each value that is judged."""

from __future__ import annotations

from nameplate.expectations.judging import Verdict
from nameplate.report.content.comparison_text import metric_text
from nameplate.report.content.judgement import MachineJudgement, compared_text
from nameplate.report.formats.junit_xml import Outcome, VerdictTest, junit_text

_OUTCOMES: dict[Verdict, Outcome] = {
    "BELOW": "failure", "NOT MEASURED": "error", "UNSURE": "skipped", "UNKNOWN": "skipped", "AS EXPECTED": "passed",
    "ABOVE": "passed",
}  # fmt: skip


def judgement_junit(judgement: MachineJudgement) -> str:
    """Return JUnit XML with one test for each judged value; the class name is ``nameplate.AREA``.

    A test fails if the verdict is BELOW, has an error if it is NOT MEASURED, is skipped if it is UNSURE or UNKNOWN, and
    passes if it is AS EXPECTED or ABOVE. The message has the verdict, the measured value and, if one is known, the
    expected range, both with their unit.
    """
    tests = [
        VerdictTest(f"nameplate.{value.area}", metric_text(value.probe, value.params, value.metric),
                    _OUTCOMES[value.verdict], f"{value.verdict}: {compared_text(value)}") for value in judgement.values
    ]  # fmt: skip
    return junit_text("nameplate check", tests)
