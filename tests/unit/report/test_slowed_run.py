"""A run that other programs slowed down is not blamed on its machine: no colours, no roofline, no explanation."""

from __future__ import annotations

from pathlib import Path

import msgspec

from nameplate.records.result import Report, Result
from nameplate.report.charts.bars import efficiencies
from nameplate.report.charts.scaling import thread_scaling
from nameplate.report.content.first_screen import first_screen
from nameplate.report.content.result_rows import sections
from nameplate.report.content.roofline import roofline
from nameplate.report.html.document import write_html
from report_samples import memory_report, report, result

SLOW = [result({"threads": threads}, 30e9 * threads) for threads in (1, 2)]


def slowed(quiet: Report) -> Report:
    """Return a report of a run whose workers got half of their CPU time."""
    halved = [msgspec.structs.replace(item, utilisation=item.utilisation / 2) for item in quiet.results]
    return msgspec.structs.replace(quiet, results=halved)


def moods(of_report: Report) -> set[str]:
    """Return the classes by which the values are coloured: on the first screen, in tables and in bars."""
    rows = [row.mood for row in first_screen(of_report).rows]
    in_tables = [row.mood for section in sections(of_report) for row in section.rows]
    in_bars = [bar.mood for group in efficiencies(of_report).groups for bar in group.bars]
    return {*rows, *in_tables, *in_bars}


def test_values_have_no_colour() -> None:
    assert moods(report(SLOW)) == {"poor"}
    assert moods(slowed(report(SLOW))) == {"plain"}


def test_a_wrong_result_is_marked_in_any_run() -> None:
    invalid: Result = result({"threads": 4}, None, outcome="invalid", reason="wrong sum")
    rows = [row for section in sections(slowed(report([*SLOW, invalid]))) for row in section.rows]
    assert [row.mood for row in rows] == ["plain", "plain", "poor"]


def test_there_is_no_roofline(tmp_path: Path) -> None:
    assert roofline(memory_report()) is not None
    assert roofline(slowed(memory_report())) is None
    write_html([slowed(memory_report())], tmp_path / "r.html")
    assert 'class="poor"' not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_chart_of_threads_does_not_explain_the_machine() -> None:
    (judged,), (unjudged,) = thread_scaling(SLOW, 2), thread_scaling(SLOW, 2, is_judged=False)
    assert "two threads share a core" in judged.meaning
    assert unjudged.meaning.endswith("The run was slowed down, so it does not show how the machine scales.")
