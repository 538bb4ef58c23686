"""Plans: shipped ones, one's own, and what is wrong with some."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nameplate.errors import FileError, NameplateError
from nameplate.plan import build_plan, make_limits, parse_series, read_plan, shipped_plans
from nameplate.probes import load_probes
from nameplate.sweep import Parameter, ProbeInfo

PROBES = {
    "null": ProbeInfo(
        "null", "", [],
        [Parameter(name="threads", type="integer", summary="", default="1", automatic="", minimum=1, maximum=8)],
        [], [],
    )
}  # fmt: skip

# What a round costs an experiment beside its slice: set-up, tuning, warm-up, calibration.
OVERHEAD_S = 0.12
ROUNDS = 6


def test_quick_fits_into_a_minute() -> None:
    """Every probe's cells of the plan, later ones too, in the six rounds that the budget must hold."""
    own = [cells for probe in load_probes().values() for cells in probe.quick]
    numbers = [math.prod(text.count(",") + 1 for text in cells.params.values()) for cells in own]
    round_s = sum(number * (cells.slice_s + OVERHEAD_S) for number, cells in zip(numbers, own, strict=True))
    assert round_s * ROUNDS <= make_limits(read_plan("quick").limits).budget_s <= 55


@pytest.mark.parametrize("name", shipped_plans())
def test_every_shipped_plan_says_what_it_is_for(name: str) -> None:
    assert read_plan(name).summary


def test_a_plan_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'budget = "5s"\nprecision = "1%"\n[[experiment]]\nprobe = "null"\nslice = "20ms"\nthreads = [1, 2]\n'
    )
    plan = build_plan(read_plan(str(path)), PROBES, {"budget": "9s"})
    assert [e.id for e in plan.experiments] == ["null threads=1", "null threads=2"]
    assert plan.experiments[0].slice_s == 0.02
    assert plan.limits.budget_s == 9
    assert plan.limits.precision == 0.01


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget = ", "mine.toml: "),
        ("", "measures nothing"),
        ('budgt = "5s"\ncells = "quick"', "unknown key 'budgt': did you mean 'budget'?"),
        ("[[experiment]]\nthreads = 1", 'with its probe = "name"'),
        ('[[experiment]]\nprobe = "nul"', "unknown probe 'nul': did you mean 'null'?"),
        ('[[experiment]]\nprobe = "null"\nthread = 1', "did you mean 'threads'?"),
        ('cells = "quik"', "did you mean 'quick'?"),
        ('budget = "soon"\n[[experiment]]\nprobe = "null"', "budget: 'soon' is not a duration"),
    ],
)
def test_what_is_wrong_with_a_plan(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(NameplateError) as caught:
        build_plan(read_plan(str(path)), PROBES, {})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        read_plan(str(tmp_path / "none.toml"))
    with pytest.raises(NameplateError, match="unknown plan 'quik': did you mean 'quick'"):
        read_plan("quik")


def test_series() -> None:
    assert parse_series("600s/1s") == (600, 1)
    limits = make_limits({"series": "10s/100ms"})
    assert (limits.series_s, limits.interval_s, limits.rounds) == (10, 0.1, 1)
    for text in ("600s", "1s/600s", "600s/0s", "600s/1s/1s"):
        with pytest.raises(NameplateError):
            parse_series(text)


@pytest.mark.parametrize("options", [{"rounds": "0"}, {"samples": "0"}, {"budget": "0s"}, {"rounds": "x"}])
def test_limits_that_make_no_sense(options: dict[str, str]) -> None:
    with pytest.raises(NameplateError):
        make_limits(options)
