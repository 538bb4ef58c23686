"""The published studies: their tables with the new figures beside."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nameplate.model import Quantity, Reference, Result, Series, Summary, Value
from nameplate.model import Rated as RatedValue
from nameplate.plan import build_plan, read_plan, shipped_plans
from nameplate.published import published
from nameplate.studies import place_of, reference_table, study_of
from nameplate.sweep import ProbeInfo
from run_samples import MACHINE

STUDIES = ("cs553-kvm", "cse557-now", "distributed-stream", "t2micro-cloud", "t2micro-posix")
FOLDER = Path(__file__).parents[2] / "src" / "nameplate" / "published"


def result(probe: str, metric: str, value: float, *, identity: str = "x", **params: Value) -> Result:
    summary = Summary(
        probe=probe, params=params, metric=metric, value=value, unit="", ci=None, rounds=3, samples=3, mean=value * 2,
        best=value * 3, sustained=value, p95=value, p99=value, rated=None, efficiency=None, outcome="ok", reason="",
        stop="rounds", disturbed=0.0,
    )  # fmt: skip
    return Result(
        id=identity, summary=summary, better="higher", rated=RatedValue(None, ""), efficiency_ci=None,
        series=Series([], [], [], []), round_values=[value], utilisation=1.0, oversubscribed=False, facts={},
    )  # fmt: skip


def tables(plan: str, *results: Result, series: tuple[str, ...] = (), machine: Mapping[str, Any] = MACHINE):  # type: ignore[no-untyped-def]
    shown, _ = study_of(plan, results, frozenset(series), machine)
    return {table.title: table for table in shown}


@pytest.mark.parametrize("plan", STUDIES)
def test_every_printed_figure_is_read(plan: str) -> None:
    with (FOLDER / f"{plan}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    figures = published(plan)
    assert [figure.value for figure in figures] == [float(row["value"]) for row in rows]
    assert [figure.unit for figure in figures] == [row["unit"] for row in rows]


def test_other_plans_reproduce_nothing() -> None:
    assert published("quick") == ()
    assert study_of("quick", [], frozenset(), MACHINE) == ([], [])


def test_a_figure_stands_beside_the_published_one_in_the_corrected_unit() -> None:
    """4.808732 was printed as MB/s, and block over latency is that only in MiB/s."""
    ours = result("disk_block", "bandwidth", 2 * 4.808732 * 2**20, op="read", pattern="sequential", block=1, threads=1)
    slow = result("disk_block", "latency", 0.000205e-3 / 2, op="read", pattern="sequential", block=1, threads=1)
    row = tables("t2micro-posix", ours, slow)["t2micro-posix: disk"].rows[0]
    assert row == ["read sequential 1 B, 1 thread", "9.617 MiB/s", "4.809 MiB/s (printed MB/s)", "2",
                   "0.0001025 ms", "0.000205 ms", "0.5"]  # fmt: skip


def test_a_unit_that_cannot_be_told_has_no_ratio() -> None:
    ours = result("net_pingpong", "latency", 1e-3, protocol="tcp", payload=1, connections=1)
    row = tables("t2micro-cloud", ours)["t2micro-cloud: network"].rows[0]
    assert row[0] == "tcp 1 B, 1 thread"
    assert row[4:] == ["1 ms", "0.00204 ms (?)", None]


def test_rows_are_the_studys_whether_they_were_measured_or_not() -> None:
    shown = tables("t2micro-posix")
    rows = {name: len(shown[f"t2micro-posix: {name}"].rows) for name in ("disk", "memory", "cpu")}
    assert rows == {"disk": 24, "memory": 12, "cpu": 3}
    assert all(row[1] is None and row[2] for row in shown["t2micro-posix: disk"].rows)


def test_a_series_is_not_taken_for_a_cell_of_a_table() -> None:
    cell = result("cpu_flops", "rate", 1e9, mix="mixed", threads=4)
    series = result("cpu_flops", "rate", 5e9, identity="s", mix="mixed", threads=4)
    shown = tables("t2micro-cloud", series, cell, series=("s",))
    assert shown["t2micro-cloud: cpu"].rows[2][1] == "1 GFLOP/s"
    assert shown["t2micro-cloud: cpu series"].rows[0][1] == "10 GFLOP/s"


def test_linpack_has_its_average_and_its_best() -> None:
    ours = result("cpu_linpack", "rate", 20e9, n=1000, threads=2)
    row = tables("cs553-kvm", ours)["cs553-kvm: cpu reference"].rows[0]
    assert row == ["n=1000, 2 threads", "40 GFLOP/s", "40 GFLOP/s", "0.9999", "60 GFLOP/s", "54.25 GFLOP/s", "1.106"]


def test_messages_and_ranks_have_their_own_places() -> None:
    cost = [
        msgspec.structs.replace(
            each, summary=msgspec.structs.replace(each.summary, stop="derived")
        )
        for each in (
            result("mpi_pingpong", "startup_time", 181.6e-6), result("mpi_pingpong", "startup_time", 2 * 275.2e-6),
            result("mpi_pingpong", "incremental_cost", 1e-8), result("mpi_pingpong", "incremental_cost", 1e-9),
        )
    ]  # fmt: skip
    shown = tables("cse557-now", *cost, result("cpu_workset", "rate", 350e6), result("cpu_workset", "rate", 35e6))
    assert shown["cse557-now: below 1500 bytes"].rows[0][1:4] == ["181.6 us", "181.6 us", "1"]
    assert shown["cse557-now: from 1500 bytes"].rows[0][3] == "2"
    assert shown["cse557-now: from 1500 bytes"].rows[0][7] == "8000 Mbit/s"
    assert shown["cse557-now: melmak"].rows[0][1:4] == ["350 MFLOP/s", "175 MFLOP/s", "2"]
    ranks = msgspec.structs.replace(
        result("mpi_stream", "node_bandwidth", 1.0, op="copy"),
        evidence={"rank_average": 2826.8e6, "rank_worst_s": 0.05837, "longest_best": 134939.7e6},
    )
    shown = tables("distributed-stream", ranks)
    rows = {str(row[0]): row for row in shown["distributed-stream: rank"].rows}
    assert rows["copy"][1:4] == ["2827 MB/s", "2827 MB/s", "1"]
    assert "2" in rows["copy"]


def test_the_theoretical_peak_is_computed_as_the_study_did() -> None:
    ours = result("cpu_flops", "rate", 8e9, mix="mixed", threads=1)
    table = tables("t2micro-posix", ours)["t2micro-posix: theoretical peak"]
    formula = "cpu_flops peak: 2.00 GHz (cpu MHz of /proc/cpuinfo) × 2 cores × 4 per cycle"
    assert table.rows[0] == [formula, "10 GFLOP/s", "16 GFLOP/s", None]
    assert table.rows[1] == ["  x", None, "8 GFLOP/s", "50.0%"]


def test_figures_are_drawn_of_what_has_a_unit() -> None:
    ours = result("cpu_flops", "rate", 1e9, mix="mixed", threads=2)
    _, drawn = study_of("cs553-kvm", [ours], frozenset(), MACHINE)
    cpu = next(each for each in drawn if each.title == "cpu: cpu_flops rate in GFLOP/s")
    assert cpu.rows[:2] == [("mixed, 1 thread", None, 1.50988), ("mixed, 2 threads", 1.0, 2.543246)]
    assert not any("theory" in each.title for each in drawn)


def test_reference_tools_show_their_figure_or_why_there_is_none() -> None:
    said = Reference(
        tool="iozone", version="1", command="iozone -a", work="w", metric="bandwidth", unit="B/s", value=1e9, reason=""
    )
    missing = msgspec.structs.replace(said, tool="stream", value=None, reason="not installed")
    table = reference_table([said, missing])
    assert table.rows[0] == ["iozone 1", "w", "bandwidth", Quantity(1e9, "B/s"), "iozone -a"]
    assert table.rows[1][3] == "not installed"


@pytest.mark.parametrize("plan", STUDIES)
def test_the_plan_measures_every_figure_of_its_study(plan: str, described: dict[str, ProbeInfo]) -> None:
    """With the whole budget, whatever it takes, and an MPI job."""
    built = build_plan(read_plan(plan), described, {}, {**MACHINE, "job": {"ranks": 2, "nodes": ["a"]}})
    defaults = {name: {p.name: p.default for p in info.parameters} for name, info in described.items()}
    cells = [(cell.probe, {**defaults[cell.probe], **cell.params}) for cell in built.experiments if not cell.interval_s]
    for figure in published(plan):
        if figure.table.endswith("-theory"):
            continue
        place = place_of(figure)
        # What is automatic has no default here.
        assert any(
            probe == place.probe
            and all(params[name] is None or str(params[name]) == str(value) for name, value in place.params.items())
            for probe, params in cells
        ), figure


@pytest.mark.parametrize("plan", [plan for plan in STUDIES if read_plan(plan).fit])
def test_a_short_budget_is_kept_and_said(plan: str, described: dict[str, ProbeInfo]) -> None:
    full = build_plan(read_plan(plan), described, {}, MACHINE)
    short = build_plan(read_plan(plan), described, {"budget": "10min"}, MACHINE)
    assert any(
        re.fullmatch(r"slices and series have \d+\.\d% of their full length, to fit 600 s", n) for n in short.notes
    )
    assert sum(e.slice_s for e in short.experiments) < sum(e.slice_s for e in full.experiments) / 4
    assert {e.id for e in full.experiments} >= {e.id for e in short.experiments}


def test_all_five_are_shipped() -> None:
    assert set(STUDIES) <= set(shipped_plans())
