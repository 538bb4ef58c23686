"""Build the tile of the HTML report that compares a machine with what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass

from nameplate.records.result import Report
from nameplate.report.judgement import JudgedRow, MachineJudgement, judged_rows, verdict_sentence

HEADINGS = ("verdict", "measured", "±95 %", "expected")


@dataclass(frozen=True)
class JudgedTile:
    """The verdict as a sentence, a row for each area, and lines on the machine and on what it is compared with."""

    sentence: str
    rows: list[JudgedRow]
    sources: list[str]


def make_judged_tile(report: Report, judgement: MachineJudgement) -> JudgedTile:
    """Return the tile for a judgement on the machine of a report."""
    expectation = judgement.expectation
    return JudgedTile(
        verdict_sentence(judgement.values),
        judged_rows(report, judgement.values, has_all=False),
        [f"machine: {expectation.machine}", *(f"expected: {source}" for source in expectation.sources)],
    )
