"""The roofline of the HTML report: the limits of a loop, and where they meet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nameplate.records.result import Report, Result
from nameplate.report.charts.roofline import INTENSITIES, roofline_charts
from nameplate.report.content.roofline import Roofline, meaning, roofline
from nameplate.report.html.roofline_card import make_roofline_card
from report_samples import KIB, latency_at, memory_report, read_at, report, result, sizes, with_summary

BEYOND = 2**26


def peak(threads: int, value: float, precision: str = "fp64", oversubscribed: bool = False) -> Result:
    return result({"precision": precision, "threads": threads}, value, oversubscribed=oversubscribed)


def roofs_of(*results: Result) -> Roofline:
    actual = roofline(report(results))
    assert actual is not None
    return actual


def labels(roofs: Roofline) -> list[str]:
    return [bound.label for bound in [*roofs.peaks, *roofs.slopes]]


class TestBounds:
    def test_are_peaks_caches_and_memory_by_cores(self) -> None:
        roofs = roofline(memory_report())
        assert roofs is not None
        assert [(bound.label, bound.quantity.value / 1e9) for bound in [*roofs.peaks, *roofs.slopes]] == [
            ("fp64, 1 thread", 50), ("fp64, 2 threads", 100), ("L1d, 1 thread", 200), ("L2, 1 thread", 100),
            ("memory, 1 thread", 10), ("memory, 2 threads", 20),
        ]  # fmt: skip

    @pytest.mark.parametrize("results", [[], [peak(1, 5e10)], [read_at(BEYOND)], [peak(1, 5e10), read_at(4096)]])
    def test_without_a_peak_or_a_bandwidth_there_are_none(self, results: list[Result]) -> None:
        assert roofline(report(results)) is None

    def test_without_a_machine_there_is_none(self) -> None:
        assert roofline(msgspec.structs.replace(report([]), machine=None)) is None

    def test_fp64_is_preferred_to_faster_precisions(self) -> None:
        fast, typical = peak(1, 1e11, "fp32"), peak(1, 5e10)
        assert labels(roofs_of(fast, typical, read_at(BEYOND)))[0] == "fp64, 1 thread"
        assert labels(roofs_of(fast, read_at(BEYOND)))[0] == "fp32, 1 thread"

    def test_the_best_number_of_threads_counts(self) -> None:
        roofs = roofs_of(peak(1, 5e10), peak(2, 9e10), peak(4, 8e10), read_at(BEYOND))
        assert labels(roofs)[:2] == ["fp64, 1 thread", "fp64, 2 threads"]

    def test_oversubscribed_experiments_do_not_count(self) -> None:
        roofs = roofs_of(peak(1, 5e10), peak(4, 9e11, oversubscribed=True), read_at(BEYOND), read_at(BEYOND, threads=4))
        assert labels(roofs) == ["fp64, 1 thread", "memory, 1 thread"]

    def test_sizes_that_may_fit_the_caches_are_not_memory(self) -> None:
        assert labels(roofs_of(peak(1, 5e10), read_at(4096), read_at(BEYOND)))[1:] == ["memory, 1 thread"]

    def test_without_a_size_beyond_the_caches_the_last_level_counts_as_memory(self) -> None:
        reads = [read_at(size) for size in (16 * KIB, 512 * KIB, 3500 * KIB)]
        roofs = roofs_of(peak(1, 5e10), *(latency_at(size) for size in sizes(31)), *reads)
        assert labels(roofs)[1:] == ["L1d, 1 thread", "L2, 1 thread", "memory, 1 thread"]
        assert roofs.slopes[-1].source.endswith("cache levels: memory_stream op=read threads=1, 3 sizes, by level")

    def test_several_cores_have_a_bandwidth_of_each_level_that_holds_their_parts(self) -> None:
        latencies = [latency_at(size) for size in sizes(31)]
        # Each of the two L1d caches has half of an array. A level that is not listed counts as one shared cache.
        reads = [read_at(size * KIB, threads=2) for size in (48, 768, 1536)]
        roofs = roofs_of(peak(2, 9e10), *latencies, *reads, read_at(BEYOND, threads=2))
        assert labels(roofs) == ["fp64, 2 threads", "L1d, 2 threads", "L2, 2 threads", "memory, 2 threads"]
        assert [bound.source.split("size=")[1].split()[0] for bound in roofs.slopes] == ["48KiB", "768KiB", "64MiB"]

    def test_the_most_threads_count(self) -> None:
        latencies = [latency_at(size) for size in sizes(31)]
        reads = [read_at(16 * KIB, threads=n) for n in (2, 4)]
        more = [msgspec.structs.replace(read, oversubscribed=False) for read in reads]
        assert labels(roofs_of(peak(2, 9e10), *latencies, *more))[1:] == ["L1d, 4 threads"]

    def test_every_bound_can_be_measured_again(self) -> None:
        roofs = roofs_of(peak(1, 5e10), read_at(BEYOND))
        assert [bound.command for bound in [*roofs.peaks, *roofs.slopes]] == [
            "nameplate run cpu_flops precision=fp64 threads=1",
            f"nameplate run memory_stream op=read threads=1 size={BEYOND} pages=huge stores=plain",
        ]


class TestRidges:
    def test_a_slope_meets_the_peak_of_as_many_cores(self) -> None:
        roofs = roofs_of(peak(1, 5e10), peak(2, 12e10), read_at(BEYOND), read_at(BEYOND, threads=2))
        assert [roofs.ridge(slope) for slope in roofs.slopes] == [5.0, 6.0]

    def test_without_a_matching_peak_there_is_no_ridge(self) -> None:
        roofs = roofs_of(peak(2, 12e10), read_at(BEYOND))
        assert roofs.ridge(roofs.slopes[0]) is None

    def test_the_text_names_the_ridges_of_memory(self) -> None:
        roofs = roofs_of(peak(1, 5e10), peak(2, 12e10), read_at(BEYOND), read_at(BEYOND, threads=2))
        assert meaning(roofs).endswith("from 5.000 FLOP/byte with 1 thread, from 6.000 FLOP/byte with 2 threads.")
        alone = roofs_of(peak(2, 12e10), read_at(BEYOND))
        assert "On this machine" not in meaning(alone)


def points_with(field: str, *results: Result) -> list[dict[str, Any]]:
    """Return the points of the chart that have a field, in the order of its datasets."""
    datasets = [points for chart in roofline_charts(roofs_of(*results)) for points in chart.spec["datasets"].values()]
    return [point for points in datasets for point in points if field in point]


class TestChart:
    @staticmethod
    def points(*results: Result) -> list[dict[str, Any]]:
        return points_with("rate", *results)

    def test_a_slope_ends_at_its_ridge_and_the_peak_continues(self) -> None:
        roof, slope = "fp64: 50.00 GFLOP/s", "memory: 10.00 GB/s"
        assert self.points(peak(1, 5e10), read_at(BEYOND)) == [
            {"intensity": 5.0, "rate": 50.0, "kind": "line", "line": roof, "low": 49.0, "high": 51.0},
            {"intensity": 64.0, "rate": 50.0, "kind": "peak", "line": roof, "low": 49.0, "high": 51.0},
            {"intensity": 1 / 64, "rate": 0.15625, "kind": "slope", "line": slope, "low": 0.15313, "high": 0.15937},
            {"intensity": 5.0, "rate": 50.0, "kind": "ridge", "line": slope, "low": 49.0, "high": 51.0},
        ]

    def test_a_ridge_beyond_the_axis_is_not_marked(self) -> None:
        points = self.points(peak(1, 5e12), read_at(BEYOND))
        assert [point["kind"] for point in points] == ["line", "peak", "slope", "line"]
        assert all(INTENSITIES[0] <= point["intensity"] <= INTENSITIES[1] for point in points)

    def test_both_axes_are_logarithmic(self) -> None:
        (chart,) = roofline_charts(roofs_of(peak(1, 5e10), read_at(BEYOND)))
        encoding = chart.spec["layer"][0]["encoding"]
        assert encoding["x"]["scale"]["domain"] == [1 / 64, 64]
        assert encoding["x"]["axis"]["values"] == [1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64]
        assert encoding["y"]["scale"] == {"type": "log", "domain": [0.1, 100], "nice": False}


class TestCores:
    ONE = (peak(1, 5e10), read_at(BEYOND))
    SEVERAL = (peak(2, 2e12), read_at(BEYOND, threads=2))

    def test_one_and_several_have_a_chart_each_with_the_same_axes(self) -> None:
        one, several = roofline_charts(roofs_of(*self.ONE, *self.SEVERAL))
        assert [chart.title.rpartition(", ")[2] for chart in (one, several)] == ["1 thread", "2 threads"]
        domains = [chart.spec["layer"][0]["encoding"]["y"]["scale"]["domain"] for chart in (one, several)]
        assert domains[0] == domains[1]
        assert several.meaning.startswith("The same for several cores")

    def test_a_part_without_a_bound_shares_the_chart(self) -> None:
        (chart,) = roofline_charts(roofs_of(*self.ONE, self.SEVERAL[0]))
        assert "fp64, 2 threads: 2.000 TFLOP/s" in str(chart.spec)


class TestLabels:
    @staticmethod
    def of(*results: Result) -> list[dict[str, Any]]:
        return points_with("place", *results)

    def test_each_line_has_one_at_its_end(self) -> None:
        labels = {item["line"]: (item["x"], item["y"]) for item in self.of(peak(1, 5e10), read_at(BEYOND))}
        assert labels == {
            "fp64: 50.00 GFLOP/s": (64.0, 50.0), "memory: 10.00 GB/s": (1 / 64, 0.15625),
        }  # fmt: skip

    def test_lines_close_to_each_other_have_theirs_apart(self) -> None:
        close = [peak(1, 5e10), peak(2, 5.1e10), read_at(BEYOND, threads=2)]
        places = [(item["x"], item["y"], item["place"]) for item in self.of(*close)]
        assert len(set(places)) == len(places) == 3
        assert [position for *_, position in places][:2] == ["peak above", "peak below"]


class TestKernels:
    def test_are_the_triad_and_the_loop_of_cpu_workset(self) -> None:
        triad = read_at(BEYOND, threads=2)
        triad = with_summary(triad, value=24e9, ci=(12e9, 36e9), params={**triad.summary.params, "op": "triad"})
        loops = [result({"size": size, "threads": 1}, 4e9, probe="cpu_workset") for size in (4096, 8192, 1 << 26)]
        roofs = roofs_of(peak(1, 5e10), peak(2, 9e10), triad, *loops)
        assert [(kernel.name, kernel.intensity, kernel.quantity.value) for kernel in roofs.kernels] == [
            ("triad, 2 threads", 2 / 24, 2e9), ("cpu_workset, 4KiB", 28 / 64, 4e9),
            ("cpu_workset, 64MiB", 28 / 64, 4e9),
        ]  # fmt: skip
        assert roofs.kernels[0].quantity.ci == (1e9, 3e9)
        assert "triad, 2 threads" in str([chart.spec for chart in roofline_charts(roofs)])

    def test_without_them_the_chart_has_no_points(self) -> None:
        (chart,) = roofline_charts(roofs_of(peak(1, 5e10), read_at(BEYOND)))
        assert "diamond" not in str(chart.spec)


def test_the_table_has_values_intervals_ridges_and_sources() -> None:
    card = make_roofline_card("roofline", memory_report(), [])
    assert card is not None
    rows = {row.label: row for row in card.rows}
    memory, cache = rows["memory, 2 threads"], rows["L1d, 1 thread"]
    assert (memory.value, memory.interval, memory.ridge) == ("20.00 GB/s", "19.60 to 20.40 GB/s", "5.000")
    assert memory.source == "memory_stream op=read threads=2 size=64MiB pages=huge stores=plain"
    assert (cache.value, cache.ridge) == ("200.0 GB/s", "0.250")
    assert "table of the cache levels" in cache.source
    assert rows["fp64, 1 thread"].ridge == "–"


def test_a_run_of_one_probe_has_no_card() -> None:
    empty: Report = report([peak(1, 5e10)])
    assert make_roofline_card("roofline", empty, []) is None
