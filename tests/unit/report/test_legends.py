"""Legends of charts: complete on a phone, and words where no legend is."""

from __future__ import annotations

import json

import altair as alt

from nameplate.report.charts.common import LONG_LABEL, legend
from nameplate.report.charts.scaling import thread_scaling
from report_samples import result


def test_a_long_label_is_in_several_lines_and_complete() -> None:
    long = "block=4KiB cache=direct depth=32 library=uring op=read pattern=random"
    printed = legend([long, "block=1MiB op=read"])
    assert printed is not None
    lines = json.loads(str(printed["labelExpr"]).removesuffix("[datum.label]"))
    assert " ".join(lines[long]) == long
    assert max(map(len, lines[long])) <= LONG_LABEL
    assert printed["labelLimit"] == 0


def test_short_labels_stay_as_they_are() -> None:
    printed = legend(["protocol=tcp", "protocol=udp"])
    assert printed is not None
    assert printed["labelExpr"] is alt.Undefined
    assert printed["columns"] == 2
    assert legend(["protocol=tcp"]) is None


def test_ideal_scaling_is_named_at_its_end() -> None:
    (chart,) = thread_scaling([result({"threads": n}, 40e9 * n) for n in (1, 2)], 2)
    named = [point for points in chart.spec["datasets"].values() for point in points if "name" in point]
    assert [(point["name"], point["threads"], point["ideal"]) for point in named] == [("ideal", 2, 80.0)]
