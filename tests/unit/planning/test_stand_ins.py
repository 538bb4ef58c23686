"""The names in braces in a plan, above all those for ranks × threads of a job's nodes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from machines import machine_with
from nameplate.planning.plan_file import build_plan, read_plan
from nameplate.planning.stand_ins import stand_ins_of
from nameplate.planning.sweep import Parameter, ProbeInfo
from nameplate.records.machine_record import Machine


def machine(cores: int, allowed: int, *ranks: int) -> Machine:
    """Return a job's leading node, where a rank may use ``allowed`` cores; ``ranks`` has the ranks of each node."""
    placement = [[node, number] for node, number in enumerate(ranks)]
    return machine_with(topology={"cores": cores, "allowed_cores": allowed}, job={"placement": placement})


@pytest.fixture(autouse=True)
def no_thread_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.parametrize(
    ("allowed", "ranks", "expected"),
    [
        (48, (48, 48), ("1,2,4,8,16,32,48", "48", "1,2,4,8,16,32,48", "1", "48")),
        (48, (12,), ("1,2,4,8,12", "12", "1,2,4,8,16,32,48", "4", "48")),
        (1, (48,), ("1,2,4,8,16,32,48", "48", "1", "1", "48")),
        (24, (2,), ("1,2", "2", "1,2,4,8,16,24", "24", "48")),
        (1, (4,), ("1,2,4", "4", "1", "1", "4")),
        (48, (64, 63), ("1,2,4,8,16,32,63", "63", "1,2,4,8,16,32,48", "1", "48")),
    ],
    ids=["unbound", "unbound, few", "bound to cores", "bound to sockets", "few, bound to cores", "unequal"],
)
def test_ranks_and_threads_fill_a_node(allowed: int, ranks: tuple[int, ...], expected: tuple[str, ...]) -> None:
    actual = stand_ins_of(machine(48, allowed, *ranks))
    assert tuple(actual[name] for name in ("ranks", "all_ranks", "threads", "threads_each", "cores")) == expected


def test_ranks_that_alternate_between_nodes_are_counted() -> None:
    job = {"ranks": 4, "placement": [[0, 1], [1, 1], [0, 1], [1, 1]]}
    assert stand_ins_of(machine_with(machine(2, 2, 1), job=job))["all_ranks"] == "2"


def test_the_users_thread_count_is_that_of_the_whole_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert stand_ins_of(machine(48, 48, 12))["threads_each"] == "3"


def stream_info() -> ProbeInfo:
    op = Parameter(name="op", type="choice", summary="", default="triad", automatic="",
                   choices=["copy", "scale", "add", "triad"])  # fmt: skip
    numbers = [
        Parameter(name=name, type="integer", summary="", default=None, automatic="x", minimum=1, maximum=4096)
        for name in ("ranks_per_node", "threads")
    ]
    return ProbeInfo("mpi_stream", "", [], [op, *numbers], [], [])


def test_the_study_sweeps_every_configuration_that_fits_a_node_once() -> None:
    plan = build_plan(read_plan("distributed-stream"), {"mpi_stream": stream_info()}, {}, machine(4, 4, 4))
    points = [(e.params["op"], e.params["ranks_per_node"], e.params["threads"]) for e in plan.experiments]
    assert points[:4] == [(op, 4, 1) for op in ("copy", "scale", "add", "triad")], "the study's own come first"
    configurations = [(ranks, threads) for op, ranks, threads in points if op == "triad"]
    assert sorted(configurations) == [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2), (4, 1)]


def test_more_ranks_than_cores_are_measured_as_they_are() -> None:
    plan = build_plan(read_plan("distributed-stream"), {"mpi_stream": stream_info()}, {}, machine(2, 2, 4))
    triads = [(e.params["ranks_per_node"], e.params["threads"]) for e in plan.experiments if e.params["op"] == "triad"]
    assert triads == [(4, 1), (1, 1), (1, 2), (2, 1)]


def test_arrays_in_caches_grow_with_the_cores() -> None:
    assert stand_ins_of(machine(48, 2, 1))["in_caches"] == "32768,524288,4194304"
    assert stand_ins_of(machine(48, 1, 1))["in_caches"] == "16384,262144,2097152"


@pytest.mark.parametrize(
    ("indices", "swept"),
    [([], "0"), ([0, 2], "0,2"), (range(8), "0,1,2,3,4,5,6,7"), (range(17), "0,2,4,6,8,10,12,14"),
     (range(64), "0,8,16,24,32,40,48,56")],
)  # fmt: skip
def test_no_more_than_eight_nodes_are_measured_from_each_other(indices: Sequence[int], swept: str) -> None:
    nodes = [{"index": index, "cpus": "", "memory_bytes": 1} for index in indices]
    assert stand_ins_of(machine_with(topology={"numa_nodes": nodes}))["nodes"] == swept
