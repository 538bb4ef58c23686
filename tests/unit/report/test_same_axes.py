"""Charts that are compared have the same axes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from nameplate.records.result import Report
from nameplate.report.charts.common import Chart
from nameplate.report.charts.same_axes import with_same_axes
from nameplate.report.charts.scaling import thread_scaling
from nameplate.report.html.document import DETAILS
from nameplate.report.html.page import make_sections
from report_samples import KIB, latency_at, memory_report, report, result, sizes, with_summary


def axis(spec: Mapping[str, Any], name: str = "y") -> dict[str, Any]:
    actual: dict[str, Any] = next(
        channel for layer in spec["layer"] if "scale" in (channel := layer["encoding"].get(name, {}))
    )
    return actual


def domains(charts: Sequence[Chart], title: str) -> list[list[float]]:
    return [axis(chart.spec)["scale"]["domain"] for chart in charts if chart.title == title]


def charts_of(*reports: Report) -> list[Chart]:
    charts: list[Chart] = []
    make_sections(reports, DETAILS[0], charts)
    return charts


def slower(times: float) -> Report:
    results = [latency_at(size) for size in sizes(12)]
    return report([with_summary(r, value=r.summary.value * times, ci=None) for r in results if r.summary.value])


def test_curves_of_two_runs_share_their_axes() -> None:
    first, second = domains(charts_of(slower(1), slower(3)), "Latency against size")
    assert first == second == [1, 20]
    assert domains(charts_of(slower(1)), "Latency against size") == [[1, 5]]


def test_rooflines_share_their_axes_whatever_their_threads() -> None:
    charts = [chart for chart in charts_of(memory_report(), memory_report()) if chart.title.startswith("Attainable")]
    assert len(charts) == 4
    assert len({str(axis(chart.spec)["scale"]["domain"]) for chart in charts}) == 1


def test_charts_with_other_units_keep_their_axes() -> None:
    first, second = domains(charts_of(slower(1), slower(3000)), "Latency against size")
    assert first != second


def test_linear_axes_share_the_larger_end() -> None:
    charts = [thread_scaling([result({"threads": n}, value * n) for n in (1, 2)], 2)[0] for value in (2e9, 5e9)]
    changed = with_same_axes(charts)
    assert [axis(chart.spec)["scale"]["domain"] for chart in changed] == [[0, 10.2]] * 2
    assert [chart.plot.y.ends for chart in changed] == [(0, 10.2)] * 2
    assert "domain" not in axis(charts[0].spec)["scale"], "the chart itself is unchanged"


def test_a_shared_axis_has_the_ticks_of_both() -> None:
    short, long = ([latency_at(size * KIB) for size in at] for at in (range(4, 13), range(4, 260, 16)))
    first, second = (chart.spec for chart in charts_of(report(short), report(long)) if "against" in chart.title)
    assert axis(first, "x")["scale"]["domain"] == axis(second, "x")["scale"]["domain"] == [4 * KIB, 244 * KIB]
    names = json.loads(axis(first, "x")["axis"]["labelExpr"].removesuffix("[datum.value]"))
    assert {"4KiB", "8KiB", "128KiB"} <= set(names.values())


@pytest.mark.parametrize("reports", [(memory_report(), memory_report()), (memory_report(), slower(2))])
def test_all_charts_of_two_runs_have_numbers_at_their_axes(reports: tuple[Report, Report]) -> None:
    for chart in charts_of(*reports):
        for name in ("x", "y"):
            for layer in chart.spec.get("layer", [chart.spec]):
                scale = layer["encoding"].get(name, {}).get("scale", {})
                if layer["encoding"].get(name, {}).get("type") == "quantitative" and "domain" in scale:
                    low, high = scale["domain"]
                    assert low < high
