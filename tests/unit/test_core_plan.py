"""The plan and the screen of ``nameplate-core quick``, made from the declarations of the probes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import core_plan
from nameplate.probes import ParameterSweep, Ratio, load_probes, operations
from nameplate.probes.shared.screen_line import CoreLine, ScreenLine

DISK = load_probes()["disk_block"]


def test_the_build_fails_if_the_core_cannot_compute_a_line_of_its_screen() -> None:
    line = ScreenLine("x", ("m",))
    probe = replace(DISK, metrics=(Ratio("m", "s", "lower", lambda _, __: 1.0, operations),), screen=(line,))
    with pytest.raises(ValueError, match="nameplate-core cannot compute it"):
        [*core_plan.lines_of(probe)]


def test_a_curve_is_refused() -> None:
    probe = replace(DISK, quick=(ParameterSweep({"block": "1KiB..1MiB*2"}, 0.1, curve="block"),))
    with pytest.raises(ValueError, match="disk_block: the core's quick has no curves"):
        [*core_plan.experiments_of(probe)]


def test_lines_with_a_condition_or_a_derived_metric_need_a_line_for_the_core() -> None:
    lines = (
        ScreenLine("derived", ("levels",)),
        ScreenLine("conditional", ("bandwidth",), when=lambda _: False),
        ScreenLine("own", ("levels",), in_core=CoreLine("iops", {"block": "4KiB"})),
    )
    shown = [*core_plan.lines_of(replace(DISK, screen=lines))]
    assert [(line["label"], line["given"]) for line in shown] == [("own", {"block": 4096})]


def test_probes_outside_the_plan_have_no_lines() -> None:
    assert not [*core_plan.lines_of(replace(DISK, quick=()))]


@pytest.mark.parametrize(
    ("text", "values"),
    [("4KiB..16KiB*2", [4096, 8192, 16384]), ("32", [32]), ("tcp,udp", ["tcp", "udp"]), ("{beyond}", ["{beyond}"])],
)
def test_texts_become_values_of_a_run_file(text: str, values: list[str | int]) -> None:
    assert core_plan.values_of(text) == values
