"""Write the judgement on a machine as JUnit XML: one test for each value that is judged."""

from __future__ import annotations

from nameplate.expectations.judging import JudgedValue, Verdict
from nameplate.report.content.comparison_words import metric_words
from nameplate.report.content.judgement import MachineJudgement, measured_text, range_text
from nameplate.report.formats.junit import Outcome, VerdictTest, junit_text

_OUTCOMES: dict[Verdict, Outcome] = {
    "BELOW": "failure", "NOT MEASURED": "error", "UNSURE": "skipped", "UNKNOWN": "skipped", "AS EXPECTED": "passed",
    "ABOVE": "passed",
}  # fmt: skip


def judgement_junit(judgement: MachineJudgement) -> str:
    """Return JUnit XML with a test for each judged value, in a group for each area.

    BELOW is a failure, NOT MEASURED an error; UNSURE and UNKNOWN are skipped. The message has the verdict, the value
    and its expected range.
    """
    tests = [
        VerdictTest(f"nameplate.{value.area}", metric_words(value.probe, value.params, value.metric),
                    _OUTCOMES[value.verdict], _message(value)) for value in judgement.values
    ]  # fmt: skip
    return junit_text("nameplate check", tests)


def _message(value: JudgedValue) -> str:
    expected = f", expected {range_text(value)}" if value.expected else ""
    return f"{value.verdict}: {measured_text(value)}{expected}"
