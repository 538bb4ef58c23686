from __future__ import annotations

import re
from pathlib import Path

import pytest

from nameplate.errors import FileError, UsageError
from nameplate.report.chart_files.named import named_charts
from nameplate.report.chart_files.pictures import write_charts
from nameplate.report.charts.theme import THEME, coloured, day_colours
from report_samples import failed, memory_report, report, scaling_results, twenty_seconds


def test_every_chart_is_written_for_a_paper_and_for_a_slide(tmp_path: Path) -> None:
    made = report(scaling_results())
    names = [chart.name for chart in named_charts(made)]
    assert write_charts([made], tmp_path) == len(names) > 1
    for form, size, has_title in (("paper", "0 0 336 250", False), ("slide", "0 0 640 360", True)):
        folder = tmp_path / form
        expected = sorted(f"{name}{ending}" for name in names for ending in (".pdf", ".png", ".svg"))
        assert sorted(path.name for path in folder.iterdir()) == expected
        drawing = (folder / "cpu-flops-thread-scaling.svg").read_text()
        assert ("cpu_flops: Thread scaling" in drawing) == has_title
        assert day_colours()["--series-1"] in drawing
        assert "var(" not in drawing
        assert (folder / "cpu-flops-thread-scaling.png").read_bytes().startswith(b"\x89PNG")
        (box,) = re.findall(rb"/MediaBox ?\[([^]]*)\]", (folder / "cpu-flops-thread-scaling.pdf").read_bytes())
        assert box.decode() == size


def test_no_caption_is_cut_on_a_slide(tmp_path: Path) -> None:
    write_charts([memory_report()], tmp_path)
    drawing = (tmp_path / "slide" / "memory-latency-latency-against-size.svg").read_text()
    assert "that the system" in drawing
    assert not any("…" in path.read_text() for path in (tmp_path / "slide").glob("*.svg"))


def test_several_runs_have_separate_chart_files(tmp_path: Path) -> None:
    write_charts([report([twenty_seconds()]), report([twenty_seconds()])], tmp_path / "new")
    names = sorted(path.name for path in (tmp_path / "new" / "paper").glob("*.svg"))
    assert names == ["run-1-cpu-flops-over-time.svg", "run-2-cpu-flops-over-time.svg"]


def test_file_names_are_safe_and_unique() -> None:
    names = [chart.name for chart in named_charts(memory_report())]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]{1,90}", name) for name in names)


def test_unwritable_chart_files_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no chart"):
        write_charts([report([failed({"threads": 1}, "failed", "a reason")])], tmp_path)
    (tmp_path / "a file").touch()
    with pytest.raises(FileError, match="cannot write to"):
        write_charts([report([twenty_seconds()])], tmp_path / "a file")


def test_every_colour_of_the_theme_has_a_value() -> None:
    assert "var(" not in coloured(str(THEME))
