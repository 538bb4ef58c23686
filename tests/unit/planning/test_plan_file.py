"""Plan files: shipped ones, the user's own, and error messages."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from machines import MACHINE, machine_with
from nameplate.errors import FileError, NameplateError, UsageError
from nameplate.planning.budget import MIN_ROUNDS, MIN_SLICE_S, min_plan_s, overhead_s
from nameplate.planning.plan_file import (
    DEFAULT_SLICE_S,
    PlanText,
    build_plan,
    make_limits,
    parse_series,
    read_plan,
    shipped_plans,
    sweep_plan,
)
from nameplate.planning.sweep import Parameter, ProbeInfo, parse_values
from nameplate.probes import ParameterSweep, load_probes
from nameplate.records.plan_record import ReferenceWork

PROBES = {
    "null": ProbeInfo(
        "null", "", [],
        [Parameter(name="threads", type="integer", summary="", default="1", automatic="", minimum=1, maximum=8)],
        [], [],
    )
}  # fmt: skip

SIZE = Parameter(name="size", type="size", summary="", default="1", automatic="", minimum=1, maximum=2**50)


def number_of(sweep: ParameterSweep) -> int:
    return math.prod(
        len(parse_values(SIZE, text)) if ".." in text else text.count(",") + 1 for text in sweep.params.values()
    )


def test_quick_fits_into_a_minute() -> None:
    """Include the experiments that are measured later, in the six rounds that the budget must hold."""
    round_s = sum(
        number_of(sweep) * (sweep.slice_s + (probe.overhead_s if sweep.overhead_s is None else sweep.overhead_s))
        for probe in load_probes().values()
        for sweep in probe.quick
    )
    assert round_s * MIN_ROUNDS <= make_limits(read_plan("quick").limits).budget_s <= 55


@pytest.mark.parametrize("name", shipped_plans())
def test_a_shipped_plan_can_be_measured(name: str, described: dict[str, ProbeInfo]) -> None:
    try:
        build_plan(read_plan(name), described, {}, MACHINE)
    except NameplateError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.mark.parametrize("plan", ["quick", "full", "sweep"])
@pytest.mark.parametrize("name", load_probes())
def test_the_core_has_the_parameters_that_a_probe_declares(
    name: str, plan: str, described: dict[str, ProbeInfo]
) -> None:
    sweeps: Sequence[ParameterSweep] = getattr(load_probes()[name], plan)
    experiments = [{"probe": sweep.probe or name, **sweep.params} for sweep in sweeps]
    text = PlanText("x", "", "", {}, experiments, path=f"src/nameplate/probes/{name}.py: {plan}")
    try:
        assert not sweeps or build_plan(text, described, {}, MACHINE).experiments
    except UsageError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.mark.parametrize("present", [1, 8, 9, 64])
def test_full_says_which_numa_nodes_are_measured(described: dict[str, ProbeInfo], present: int) -> None:
    listed = [{"index": index, "cpus": "", "memory_bytes": 1} for index in range(present)]
    full = build_plan(read_plan("full"), described, {}, machine_with(topology={"numa_nodes": listed}))
    pairs = {
        (experiment.params["node"], experiment.params["memory_node"])
        for experiment in full.experiments
        if "node" in experiment.params
    }
    assert len(pairs) == (0 if present == 1 else 64)
    notes = [note for note in full.notes if "NUMA nodes" in note]
    assert notes == {
        9: ["of 9 NUMA nodes, 0, 1, 2, 3, 4, 5, 6, 7 are measured from each other"],
        64: ["of 64 NUMA nodes, 0, 8, 16, 24, 32, 40, 48, 56 are measured from each other"],
    }.get(present, [])


def test_a_sweep_states_the_overhead_of_its_own_experiments(described: dict[str, ProbeInfo]) -> None:
    quick = build_plan(read_plan("quick"), described, {}, MACHINE)
    copy = next(experiment for experiment in quick.experiments if experiment.id.startswith("memory_block op=copy"))
    assert copy.overhead_s == 0.25
    assert (
        overhead_s(copy, quick.limits) < 0.5 < overhead_s(msgspec.structs.replace(copy, overhead_s=None), quick.limits)
    )


def test_a_plan_may_ask_for_a_high_priority_and_for_short_samples(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('priority = "high"\n\n[[experiment]]\nprobe = "null"\nsample = "1ms"\n')
    plan = build_plan(read_plan(str(path)), PROBES, {}, MACHINE)
    assert plan.priority == "high"
    assert [e.sample_s for e in plan.experiments] == [0.001]
    path.write_text('priority = "low"\n\n[[experiment]]\nprobe = "null"\n')
    with pytest.raises(FileError, match="priority = 'low': not a valid value; use high"):
        read_plan(str(path))
    path.write_text('[[experiment]]\nprobe = "null"\nsample = "often"\n')
    with pytest.raises(UsageError, match=r"mine.toml, line 3: sample = 'often' is not a duration"):
        build_plan(read_plan(str(path)), PROBES, {}, MACHINE)


def test_a_file_that_could_not_be_larger_than_the_memory_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('budget = "1s"\n\n[[experiment]]\nprobe = "sized"\nsize = "{beyond_memory}"\n')
    plan = build_plan(read_plan(str(path)), {"sized": ProbeInfo("sized", "", [], [SIZE], [], [])}, {}, MACHINE)
    assert [e.params["size"] for e in plan.experiments] == [1280 << 20]
    assert plan.notes[0].startswith("the disk file has 1280MiB instead of 10GiB")


def test_names_in_braces_stand_for_properties_of_the_machine(tmp_path: Path) -> None:
    """``{beyond}`` ends a sweep beyond the caches that the system lists, and ``{nodes}`` stands for the NUMA nodes."""
    path = tmp_path / "mine.toml"
    path.write_text('[[experiment]]\nprobe = "sized"\nsize = "1MiB..{beyond}*2"\nnode = "{nodes}"\n')
    node = Parameter(name="node", type="integer", summary="", default="0", automatic="", minimum=0, maximum=8)
    probes = {"sized": ProbeInfo("sized", "", [], [SIZE, node], [], [])}
    small = build_plan(read_plan(str(path)), probes, {}, MACHINE)
    assert small.experiments[-1].params == {"size": 128 << 20, "node": 0}
    caches = [{"level": 3, "type": "unified", "size_bytes": 100 << 20, "count": 2, "shared_by": 1},
              {"level": 2, "type": "unified", "size_bytes": 1 << 20, "count": 64, "shared_by": 1}]  # fmt: skip
    nodes = [{"index": 0, "cpus": "0"}, {"index": 2, "cpus": "1"}]
    large = machine_with(topology={"caches": caches, "numa_nodes": nodes})
    assert build_plan(read_plan(str(path)), probes, {}, large).experiments[-1].params == {"size": 800 << 20, "node": 2}


def sized(name: str) -> dict[str, ProbeInfo]:
    choices = {"op": ["read", "copy"], "stride": [], "threads": []}
    parameters = [
        SIZE,
        Parameter(name="op", type="choice", summary="", default="copy", automatic="", choices=choices["op"]),
        *(msgspec.structs.replace(SIZE, name=other) for other in ("stride", "threads")),
        Parameter(name="build", type="choice", summary="", default="vector", automatic="", choices=["vector", "plain"]),
    ]
    return {probe: ProbeInfo(probe, "", [], parameters, [], []) for probe in (name, "memory_latency", "memory_stream")}


def test_a_probes_own_sweep_and_given_sizes_that_replace_it() -> None:
    """The probe's own sweep is sparse at first; sizes that are given are measured as they are, and nothing else."""
    plan = sweep_plan("cpu_workset", {}, sized("cpu_workset"), {}, MACHINE)
    sweep = [e for e in plan.experiments if e.probe == "cpu_workset"]
    sizes = sorted(int(e.params["size"]) for e in sweep)
    assert (sizes[0], sizes[-1]) == (1024, 128 << 20)
    assert all(math.isclose(b / a, 2 ** (1 / 8), rel_tol=0.02) for a, b in itertools.pairwise(sizes))
    assert sum(not e.dense for e in sweep) == math.ceil(len(sweep) / 4)
    assert {e.probe for e in plan.experiments} == {"cpu_workset", "memory_latency", "memory_stream"}
    assert plan.limits.budget_s <= 60
    given = sweep_plan("cpu_workset", {"size": "1KiB,2KiB"}, sized("cpu_workset"), {}, MACHINE)
    assert [(e.params, e.dense) for e in given.experiments] == [({"size": 1024}, False), ({"size": 2048}, False)]


def test_dense_sizes_lie_between_those_that_are_always_measured() -> None:
    pairs = Parameter(name="pairs", type="integer", summary="", default="1", automatic="", minimum=1, maximum=100)
    parameters = [msgspec.structs.replace(SIZE, minimum=0), pairs]
    probes = {"mpi_pingpong": ProbeInfo("mpi_pingpong", "", [], parameters, [], [])}
    plan = sweep_plan("mpi_pingpong", {}, probes, {}, machine_with(job={"placement": [[0, 9]]}))
    dense = [int(e.params["size"]) for e in plan.experiments if e.dense]
    certain = [int(e.params["size"]) for e in plan.experiments if not e.dense and e.params["pairs"] == 1]
    assert {*range(0, 100_001, 1000)} < {*certain}
    assert dense == [size for size in range(64, 100_001, 64) if size not in certain]
    assert {e.params["pairs"] for e in plan.experiments} == {1, 2, 4}
    assert plan.limits.budget_s >= MIN_ROUNDS * len(certain) * 0.07


def test_a_long_sweep_gets_time_for_six_rounds() -> None:
    many = sweep_plan("memory_block", {"size": "1KiB..1GiB*2^(1/8)"}, sized("memory_block"), {}, MACHINE)
    assert many.limits.budget_s >= MIN_ROUNDS * len(many.experiments) * 0.5
    assert sweep_plan("memory_block", {"size": "1KiB"}, sized("memory_block"), {}, MACHINE).limits.budget_s == 30
    assert (
        sweep_plan("memory_block", {"size": "1KiB"}, sized("memory_block"), {"budget": "9s"}, MACHINE).limits.budget_s
        == 9
    )


def test_soak_is_three_series_that_fit_any_budget(described: dict[str, ProbeInfo]) -> None:
    complete = build_plan(read_plan("soak"), described, {}, MACHINE)
    short = build_plan(read_plan("soak"), described, {"budget": "2min"}, MACHINE)
    assert [(experiment.slice_s, experiment.interval_s) for experiment in complete.experiments] == [(600.0, 1.0)] * 3
    assert all(
        experiment.params["op"] == "read" for experiment in complete.experiments if experiment.probe == "disk_block"
    )
    assert 100 < sum(experiment.slice_s for experiment in short.experiments) < 120


def test_per_node_of_a_plan_has_valid_values_only(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('per_node = "sometimes"\nexperiments = "quick"\n')
    with pytest.raises(FileError, match="per_node = 'sometimes': not a valid value; use in-turn or at-once"):
        read_plan(str(path))


@pytest.mark.parametrize("name", shipped_plans())
def test_every_shipped_plan_has_a_description(name: str) -> None:
    assert read_plan(name).summary


def test_a_plan_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'budget = "5s"\nprecision = "1%"\n[[experiment]]\nprobe = "null"\nslice = "20ms"\nthreads = [1, 2]\n'
    )
    plan = build_plan(read_plan(str(path)), PROBES, {"budget": "9s"}, MACHINE)
    assert [e.id for e in plan.experiments] == ["null threads=1", "null threads=2"]
    assert plan.experiments[0].slice_s == 0.02
    assert plan.limits.budget_s == 9
    assert plan.limits.precision == 0.01


TWO = '[[experiment]]\nprobe = "null"\n\n[[experiment]]\nprobe = "null"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("budget = ", "mine.toml: "),
        ("", "nothing to measure"),
        ('budgt = "5s"\nexperiments = "quick"', "mine.toml, line 1: unknown key 'budgt'; did you mean 'budget'?"),
        (
            'experiments = "quick"\n[[experimnt]]\nprobe = "null"',
            "mine.toml, line 2: unknown key 'experimnt'; did you mean",
        ),
        ("[[experiment]]\nthreads = 1", 'probe = "name"'),
        ('\n[[experiment]]\nprobe = "nul"', "mine.toml, line 3: unknown probe 'nul'; did you mean 'null'?"),
        (
            '[[experiment]]\nprobe = "null"\nthread = 1',
            "mine.toml, line 3: null has no parameter 'thread'; did you mean",
        ),
        (TWO + "threads = 9", "mine.toml, line 6: threads=9: out of range; use 1 to 8"),
        (TWO + 'series = "9s"', "mine.toml, line 6: '9s': not a series; use LENGTH/INTERVAL, such as 600s/1s"),
        (
            TWO + 'experiments = "all"',
            "mine.toml, line 6: experiments = 'all': not a valid value; available: full, quick, ",
        ),
        (
            TWO + 'experiments = "full"\nthreads = 1',
            "mine.toml, line 6: experiments = 'full': takes no parameters; leave out threads",
        ),
        ('\ncells = "quick"', "mine.toml, line 2: the key cells is now called experiments: rename it"),
        (TWO + 'cells = "sweep"', "mine.toml, line 6: the key cells is now called experiments: rename it"),
        ('[[experiments]]\nprobe = "null"', "mine.toml, line 1: experiments: not the name of a plan; use "),
        (TWO + 'from_budget = "soon"', "mine.toml, line 6: from_budget = 'soon' is not a duration"),
        ("fit = 1\n" + TWO, "mine.toml: fit = 1: not a truth value; use true or false"),
        (
            "references = 1\n" + TWO,
            'mine.toml: references = 1: not a list of tools; use a list such as ["fio", "iperf3"]',
        ),
        ('budget = "1s"\nrounds = 100\nfit = true\n' + TWO, "--budget 1s: too short for 100 rounds of mine; use "),
        ('experiments = "quik"', "did you mean 'quick'?"),
        ('budget = "soon"\n[[experiment]]\nprobe = "null"', "mine.toml, line 1: budget: 'soon' is not a duration"),
    ],
)
def test_errors_in_a_plan_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(NameplateError) as caught:
        build_plan(read_plan(str(path)), PROBES, {}, MACHINE)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_series_that_differ_in_their_interval_have_different_names(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    table = '[[experiment]]\nprobe = "null"\nthreads = 1\n'
    path.write_text(f'{table}series = "60s/1s"\n{table}series = "60s/100ms"\n{table}slice = "1s"\n')
    names = [e.id for e in build_plan(read_plan(str(path)), PROBES, {}, MACHINE).experiments]
    assert names == ["null threads=1 series of 1 s", "null threads=1 series of 0.1 s", "null threads=1"]


def test_a_plan_is_fitted_into_its_budget(tmp_path: Path) -> None:
    """The plan keeps its rounds, shortens slices and series, and leaves out experiments that do not fit."""
    path = tmp_path / "mine.toml"
    path.write_text(
        'budget = "100s"\nrounds = 3\nfit = true\n'
        '[[experiment]]\nprobe = "null"\nslice = "10s"\nthreads = [1, 2]\n'
        '[[experiment]]\nprobe = "null"\nseries = "40s/500ms"\nthreads = 1\n'
        '[[experiment]]\nprobe = "null"\nthreads = 8\nfrom_budget = "1min"\n'
    )
    complete = build_plan(read_plan(str(path)), PROBES, {"budget": "10min"}, MACHINE)
    assert [e.slice_s for e in complete.experiments] == [10, 10, 40, DEFAULT_SLICE_S]
    assert (complete.experiments[2].id, complete.experiments[2].interval_s) == ("null threads=1 series", 0.5)
    assert complete.notes == []
    short = build_plan(read_plan(str(path)), PROBES, {"budget": "51s"}, MACHINE)
    slices = [e.slice_s for e in short.experiments]
    assert 0 < slices[0] == slices[1] < 10
    assert slices[2] % 0.5 == 0
    assert 45 < min_plan_s(short) + 3 * sum(s - MIN_SLICE_S for s in slices[:2]) + slices[2] - 5 <= 51
    assert short.notes[0] == "null threads=8 is left out: it needs --budget 1min or more"
    assert short.notes[1].endswith("% of their full length, to fit 51 s")


FIXED = 'rounds = 2\n[[experiment]]\nprobe = "null"\nslice = "10s"\nthreads = [1, 2]\n'


@pytest.mark.parametrize(
    ("written", "options", "binds"),
    [
        ("", {}, False),
        ("", {"budget": "10s"}, True),
        ('budget = "10s"\n', {}, True),
        ('budget = "10s"\n', {"rounds": "3"}, False),
        ('budget = "10s"\n', {"rounds": "3", "budget": "10s"}, True),
        ('budget = "10s"\nfit = true\n', {"rounds": "3"}, True),
    ],
)
def test_a_budget_binds_fixed_rounds_unless_only_the_rounds_were_given(
    tmp_path: Path, written: str, options: dict[str, str], binds: bool
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(written + FIXED)
    plan = build_plan(read_plan(str(path)), PROBES, options, MACHINE)
    assert plan.limits.budget_binds == binds
    assert (sum(e.slice_s for e in plan.experiments) < 10) == binds


@pytest.mark.parametrize("name", ["cs553-kvm", "iozone-auto", "soak", "t2micro-cloud", "t2micro-posix"])
def test_the_smallest_budget_that_the_error_names_works(name: str, described: dict[str, ProbeInfo]) -> None:
    with pytest.raises(UsageError) as caught:
        build_plan(read_plan(name), described, {"budget": "3s"}, MACHINE, reserved_s=7.5)
    smallest = re.findall(r"use (\d+)s or more$", str(caught.value))
    plan = build_plan(read_plan(name), described, {"budget": f"{smallest[0]}s"}, MACHINE, reserved_s=7.5)
    assert min_plan_s(plan) + 7.5 <= int(smallest[0])


def test_a_series_of_the_command_line_is_not_shortened() -> None:
    with pytest.raises(UsageError, match=r"--budget 9s: too short for 1 round of null; use 1\ds or more"):
        sweep_plan("null", {"threads": "1"}, PROBES, {"series": "10s/1s", "budget": "9s"}, MACHINE)
    complete = sweep_plan("null", {"threads": "1"}, PROBES, {"series": "10s/1s"}, MACHINE)
    assert not complete.limits.budget_binds


def test_a_plan_chooses_the_work_of_a_reference_tool(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(TWO + '[[reference]]\ntool = "iozone"\nblock = ["8KiB", "8MiB"]\n')
    plan = build_plan(read_plan(str(path)), PROBES, {}, MACHINE)
    assert plan.reference_works == [ReferenceWork("iozone", {"block": "8KiB,8MiB"})]
    path.write_text(TWO + '[[reference]]\nblock = "8KiB"\n')
    with pytest.raises(FileError, match=r"\[\[reference\]\] and tool"):
        read_plan(str(path))


def test_without_a_launcher_mpi_probes_are_left_out_unless_nothing_else_is_planned() -> None:
    plan = build_plan(read_plan("cse557-now"), sized("cpu_workset"), {}, MACHINE)
    assert {e.probe for e in plan.experiments} == {"cpu_workset", "memory_latency", "memory_stream"}
    assert plan.notes == [
        f'{probe} is left out: it needs an MPI launcher; add --mpi "mpirun -n 2"'
        for probe in ("mpi_pingpong", "mpi_pairs")
    ]
    with pytest.raises(UsageError, match="distributed-stream has nothing to measure: mpi_stream is left out"):
        build_plan(read_plan("distributed-stream"), PROBES, {}, MACHINE)


def test_a_missing_plan_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        read_plan(str(tmp_path / "none.toml"))
    with pytest.raises(NameplateError, match="unknown plan 'quik'; did you mean 'quick'"):
        read_plan("quik")


def test_series() -> None:
    assert parse_series("600s/1s") == (600, 1)
    limits = make_limits({"series": "10s/100ms"})
    assert (limits.series_s, limits.interval_s, limits.rounds) == (10, 0.1, 1)
    for text in ("600s", "1s/600s", "600s/0s", "600s/1s/1s"):
        with pytest.raises(NameplateError):
            parse_series(text)


@pytest.mark.parametrize("options", [{"rounds": "0"}, {"samples": "0"}, {"budget": "0s"}, {"rounds": "x"}])
def test_invalid_limits_are_rejected(options: dict[str, str]) -> None:
    with pytest.raises(NameplateError):
        make_limits(options)


def test_a_condition_selects_experiments_of_a_sweep(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    text = '[[experiment]]\nprobe = "disk"\nsize = "1KiB,4KiB"\nblock = "1KiB..4KiB*2"\nwhere = "block <= size"\n'
    probes = {"disk": ProbeInfo("disk", "", [], [SIZE, msgspec.structs.replace(SIZE, name="block")], [], [])}
    path.write_text(text)
    plan = build_plan(read_plan(str(path)), probes, {}, MACHINE)
    places = {(experiment.params["size"], experiment.params["block"]) for experiment in plan.experiments}
    assert places == {(1024, 1024), (4096, 1024), (4096, 2048), (4096, 4096)}
    path.write_text(text.replace("block <= size", "block * 2 <= size * 1"))
    plan = build_plan(read_plan(str(path)), probes, {}, MACHINE)
    assert {(experiment.params["size"], experiment.params["block"]) for experiment in plan.experiments} == {
        (4096, 1024),
        (4096, 2048),
    }
    path.write_text(text.replace("block <= size", "block < size"))
    with pytest.raises(UsageError, match="not a condition; use two swept numbers"):
        build_plan(read_plan(str(path)), probes, {}, MACHINE)


def test_the_own_sweep_is_used_only_with_parameters_that_it_allows() -> None:
    names = ("op", "pattern", "block", "library", "depth", "cache", "sync", "file")
    arguments = [Parameter(name=n, type="text", summary="", default=None, automatic="x") for n in names]
    probes = {"disk_block": ProbeInfo("disk_block", "", [], arguments, [], [])}
    experiments = sweep_plan("disk_block", {"file": "/mnt"}, probes, {}, MACHINE).experiments
    assert len(experiments) > 8
    assert all(experiment.params["file"] == "/mnt" for experiment in experiments)
    asked = sweep_plan("disk_block", {"op": "write", "file": "/mnt"}, probes, {}, MACHINE).experiments
    assert [experiment.params for experiment in asked] == [{"op": "write", "file": "/mnt"}]
