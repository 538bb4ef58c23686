"""The plan and the screen of ``nameplate-core quick``, made from the declarations of the probes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import core_plan
from nameplate.errors import NameplateError
from nameplate.planning.plan_file import read_plan
from nameplate.probes import ParameterSweep, Ratio, load_probes, operations
from nameplate.probes.interface.screen_line import CoreLine, ScreenLine

DISK = load_probes()["disk_block"]


def test_the_core_can_measure_and_compute_its_plan() -> None:
    try:
        core_plan.core_plan()
    except NameplateError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def test_a_line_that_the_core_cannot_compute_is_named() -> None:
    line = ScreenLine("x", ("m",))
    probe = replace(DISK, metrics=(Ratio("m", "s", "lower", lambda _, __: 1.0, operations),), screen=(line,))
    position = "^src/nameplate/probes/disk_block.py: metric of a ScreenLine: "
    with pytest.raises(core_plan.PlanError, match=f"{position}.* cannot compute it; use Counter, Fact, Scaled or Sum$"):
        [*core_plan.lines_of(probe)]


def test_a_line_of_the_core_with_an_unknown_metric_is_named() -> None:
    probe = replace(DISK, screen=(ScreenLine("x", ("levels",), in_core=CoreLine("iop", {"block": "4KiB"})),))
    with pytest.raises(core_plan.PlanError, match="CoreLine of 'x': no metric iop; did you mean 'iops'"):
        [*core_plan.lines_of(probe)]


def test_a_curve_is_refused() -> None:
    probe = replace(DISK, quick=(ParameterSweep({"block": "1KiB..1MiB*2"}, 0.1, curve="block"),))
    with pytest.raises(core_plan.PlanError, match=r"disk_block.py: quick: curve='block': .*; leave out curve, or move"):
        [*core_plan.experiments_of(probe)]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("references", "references = ['stream']"),
        ("per_node", "per_node = 'in-turn'"),
        ("experiment", "[[experiment]]\nprobe = 'null'"),
    ],
)
def test_a_plan_with_more_than_limits_is_refused(key: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "quick.toml"
    path.write_text(f"budget = '55s'\nexperiments = 'quick'\n{text}\n")
    with pytest.raises(core_plan.PlanError, match=rf"quick.toml: {key}: .*, and leave out the rest"):
        core_plan.limits_of(read_plan(str(path)))


def test_a_wrong_declaration_ends_the_build_with_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(core_plan, "PLAN", "soak")
    with pytest.raises(SystemExit, match=r"^cmake/core_plan.py: .*/soak.toml: experiment: [^\n]*$"):
        core_plan.main(tmp_path / "plan.cpp")


def test_lines_with_a_condition_or_a_derived_metric_need_a_line_for_the_core() -> None:
    lines = (
        ScreenLine("derived", ("levels",)),
        ScreenLine("second derived", ("bandwidth", "levels")),
        ScreenLine("conditional", ("bandwidth",), when=lambda _: False),
        ScreenLine("own", ("levels",), in_core=CoreLine("iops", {"block": "4KiB"})),
        ScreenLine("above", ("iops",), below={"derived below": ("levels",), "below": ("bandwidth",)}),
    )
    printed = [*core_plan.lines_of(replace(DISK, screen=lines))]
    assert [(line["label"], line["given"]) for line in printed] == [("own", {"block": 4096}), ("above", {})]
    assert [below["label"] for below in printed[1]["below"]] == ["below"]


def test_probes_outside_the_plan_have_no_lines() -> None:
    assert not [*core_plan.lines_of(replace(DISK, quick=()))]


@pytest.mark.parametrize(
    ("text", "values"),
    [("4KiB..16KiB*2", [4096, 8192, 16384]), ("32", [32]), ("tcp,udp", ["tcp", "udp"]), ("{beyond}", ["{beyond}"])],
)
def test_texts_become_values_of_a_run_file(text: str, values: list[str | int]) -> None:
    assert core_plan.values_of(text) == values
