"""Build the tile of the HTML report that compares a machine with its expected ranges."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from nameplate.records.result import Report
from nameplate.report.content.judgement import JudgedRow, MachineJudgement, judged_rows, verdict_sentence

HEADINGS = ("verdict", "measured", "±95 %", "expected")


@dataclass(frozen=True)
class JudgedTile:
    """The verdict on a machine as text.

    ``sentence`` is the verdict, ``rows`` has one row per area, and ``sources`` has lines that name the machine and the
    source of the expected ranges.
    """

    sentence: str
    rows: list[JudgedRow]
    sources: list[str]


def make_judged_tile(report: Report, judgement: MachineJudgement, hide: Callable[[str], str] = str) -> JudgedTile:
    """Return the tile for the judgement on the machine of a run.

    ``hide`` replaces names in each text of the tile, for example the function from ``hider_of``; by default, names are
    shown. ``report`` must be the judged report, with its original names, because its experiments are found by ids that
    may contain file names.
    """
    expectation = judgement.expectation
    sentence = f"Not judged: {judgement.why_not}." if judgement.why_not else verdict_sentence(judgement)
    rows = judged_rows(report, judgement.values, has_all=False)
    sources = [f"machine: {expectation.machine}", *(f"expected: {source}" for source in expectation.sources)]
    return JudgedTile(
        hide(sentence),
        [dataclasses.replace(row, label=hide(row.label)) for row in rows],
        [hide(source) for source in sources],
    )
