from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from nameplate.records.result import Result
from nameplate.report.charts.over_time import over_time
from nameplate.report.html.document import write_html
from report_samples import report, result, twenty_seconds


@dataclass
class Drawn:
    levels: list[dict[str, float]]
    rings: list[dict[str, float]]
    labels: list[dict[str, str | float]]


def drawn(made: Result) -> Drawn:
    spec = over_time(made, 400).spec
    assert "data" not in spec["layer"][0], "the samples are the chart's own data"
    data = [spec["datasets"][layer["data"]["name"]] for layer in spec["layer"][1:]]
    return Drawn(data[0], data[1], data[2])


def test_levels_are_lines_samples_in_dips_have_rings_and_events_are_numbered() -> None:
    seen = drawn(twenty_seconds())
    assert [(line["start"], line["end"], line["value"]) for line in seen.levels] == [
        (0.05, 10.05, 50.0),
        (10.05, 20.05, 40.0),
    ]
    assert [(ring["start"], ring["value"]) for ring in seen.rings] == [(2.05, 50.0), (7.05, 50.0), (12.05, 40.0)]
    assert [(label["start"], label["number"]) for label in seen.labels] == [(10.05, "1"), (2.05, "2")]


def test_the_page_has_the_events_as_a_table(tmp_path: Path) -> None:
    write_html([report([twenty_seconds()])], tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    assert '<td class="words">every 5 s for 1 s it falls by 12 % (3 times from 2 s)</td>' in page
    assert "with steal (38 % of a CPU; otherwise 0 %)" in page
    assert "and no condition that could explain it can be read on this machine" in page


@pytest.mark.parametrize("count", [1, 20])
def test_other_experiments_have_no_table_of_events(count: int) -> None:
    assert over_time(result({"threads": count}), 400).events is None
