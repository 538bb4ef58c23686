from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from nameplate.model import Event, LevelOverTime, Moved, OverTime, Result, Series
from nameplate.report.html import write_html
from nameplate.report.over_time import over_time
from report_samples import report, result, with_summary

DIPS = Event(
    kind="dips", begin_s=2.0, end_s=13.0, change=-0.12, period_s=5.0, width_s=1.0, at_s=[2.0, 7.0, 12.0],
    moved=[Moved("steal", 0.38, 0.0)], still=["clock"],
)  # fmt: skip
FALL = Event(
    kind="level", begin_s=10.0, end_s=20.0, change=-0.2, period_s=None, width_s=10.0, at_s=[10.0], moved=[], still=[]
)


@dataclass
class Drawn:
    levels: list[dict[str, float]]
    rings: list[dict[str, float]]
    labels: list[dict[str, str | float]]


def of_twenty_seconds() -> Result:
    values = [50e9 if i < 10 else 40e9 for i in range(20)]
    points = Series([0.05 + i for i in range(20)], values, [False] * 20, [1] * 20)
    seen = OverTime(
        interval_s=1.0, burst=50e9, burst_s=10.0, sustained=45e9, p1=40e9, own_share=3e-4,
        levels=[LevelOverTime(0.0, 10.0, 50e9), LevelOverTime(10.0, 20.0, 40e9)], events=[FALL, DIPS],
    )  # fmt: skip
    return with_summary(result({"threads": 1}, samples=points), over_time=seen)


def drawn(made: Result) -> Drawn:
    spec = over_time(made, 400).spec
    assert "data" not in spec["layer"][0], "the samples are the chart's own data"
    data = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"][1:]]
    return Drawn(data[0], data[1], data[2])


def test_levels_are_lines_samples_within_dips_have_rings_and_events_numbers() -> None:
    seen = drawn(of_twenty_seconds())
    assert [(line["start"], line["end"], line["value"]) for line in seen.levels] == [
        (0.05, 10.05, 50.0),
        (10.05, 20.05, 40.0),
    ]
    assert [(ring["start"], ring["value"]) for ring in seen.rings] == [(2.05, 50.0), (7.05, 50.0), (12.05, 40.0)]
    assert [(label["start"], label["number"]) for label in seen.labels] == [(10.05, "1"), (2.05, "2")]


def test_the_page_has_the_events_as_a_table(tmp_path: Path) -> None:
    write_html([report([of_twenty_seconds()])], tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    assert '<td class="words">every 5 s for 1 s it falls by 12 % (3 times from 2 s)</td>' in page
    assert "with steal (38 % of a CPU; else 0 %)" in page
    assert "and nothing that could explain it can be read here" in page


@pytest.mark.parametrize("count", [1, 20])
def test_what_is_no_series_has_no_table_of_events(count: int) -> None:
    assert over_time(result({"threads": count}), 400).events is None
