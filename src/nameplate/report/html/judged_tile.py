"""Build the tile of the HTML report that compares a machine with what is expected of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from nameplate.records.result import Report
from nameplate.report.content.judgement import JudgedRow, MachineJudgement, judged_rows, verdict_sentence

HEADINGS = ("verdict", "measured", "±95 %", "expected")


@dataclass(frozen=True)
class JudgedTile:
    """The verdict as a sentence, a row for each area, and lines on the machine and on what it is compared with."""

    sentence: str
    rows: list[JudgedRow]
    sources: list[str]


def make_judged_tile(report: Report, judgement: MachineJudgement, hide: Callable[[str], str] = str) -> JudgedTile:
    """Return the tile for a judgement on the machine of a report, whose texts have passed through ``hide``.

    The report is the one that was judged, with its names: its experiments are looked up by their ids, which have names
    of files.
    """
    expectation = judgement.expectation
    sentence = f"Not judged: {judgement.why_not}." if judgement.why_not else verdict_sentence(judgement.values)
    rows = judged_rows(report, judgement.values, has_all=False)
    sources = [f"machine: {expectation.machine}", *(f"expected: {source}" for source in expectation.sources)]
    return JudgedTile(
        hide(sentence),
        [dataclasses.replace(row, label=hide(row.label)) for row in rows],
        [hide(source) for source in sources],
    )
