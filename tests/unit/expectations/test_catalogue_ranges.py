"""Ranges from the catalogue: of the type, its family or its generation, for experiments that do the same work."""

from __future__ import annotations

import math
import re

import pytest

from catalogue_samples import instance_of, shipped_catalogue, type_named
from machines import MACHINE, machine_with
from nameplate.expectations.catalogue_file import Catalogue, CatalogueMachine
from nameplate.expectations.catalogue_ranges import VALUES, catalogue_expectation, family_of, is_same_work, predict
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.machine_type import machine_type
from nameplate.planning.plan_file import build_plan, read_plan
from nameplate.planning.sweep import ProbeInfo
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Value

CATALOGUE = shipped_catalogue()
LATENCY, READ, UPDATE = VALUES
GIB = 1 << 30


def stream(op: str, threads: int, **params: Value) -> Experiment:
    complete = {"op": op, "threads": threads, "unit": "step", **params}
    return Experiment(f"{op}{threads}{params}", "memory_stream", complete)


def experiments(threads: int) -> list[Experiment]:
    return [
        Experiment("latency", "memory_latency", {"size": GIB}), stream("read", threads), stream("update", threads),
        Experiment("triad", "memory_stream", {"op": "triad", "stores": "nontemporal", "unit": "step"}),
    ]  # fmt: skip


def expectation(machine: Machine, name: str = "", catalogue: Catalogue = CATALOGUE) -> Expectation:
    actual = machine_type(machine, catalogue, name)
    return catalogue_expectation(catalogue, machine, actual, experiments(machine.topology.threads))


def entry(index: int, read: float | None, **changes: object) -> CatalogueMachine:
    given = {"vendor": "v", "type": f"t{index}", "architecture": "x86_64", "cpu": "AMD EPYC 9V74", "vcpus": 2,
             "threads_per_core": 1, "sockets": 1, "dmi": "D", "latency_s": None, "read_bytes_per_s": read,
             "update_bytes_per_s": None, "triad_floor_bytes_per_s": None, **changes}  # fmt: skip
    return CatalogueMachine(**given)  # type: ignore[arg-type]


def test_the_type_itself_comes_first() -> None:
    catalogued = type_named(CATALOGUE, "c7i.large")
    actual = expectation(instance_of(catalogued))
    read = next(item for item in actual.ranges if item.experiment.startswith("read"))
    assert catalogued.read_bytes_per_s is not None
    assert read.low < catalogued.read_bytes_per_s < read.typical < read.high
    assert (read.unit, read.kind, read.machines) == ("B/s", "capability", 1)
    assert actual.machine == "aws c7i.large (from the DMI)"
    (source,) = [line for line in actual.sources if line.startswith("read: ")]
    assert actual.origins[actual.ranges.index(read)] == source
    assert source.startswith("read: aws c7i.large, 1 machine; ")
    assert re.search(r"\d+ with its CPU: 10th to 90th percentile [\d.]+ to [\d.]+ GB/s$", source)


def test_an_unknown_type_of_a_known_cpu_has_the_range_of_its_family() -> None:
    machine = instance_of(type_named(CATALOGUE, "Standard_D4ads_v6"))
    latency = next(item for item in expectation(machine).ranges if item.experiment == "latency")
    assert latency.machines > 10
    assert 90e-9 < latency.low < latency.typical < latency.high < 200e-9


def test_another_model_of_a_generation_is_uncertain() -> None:
    machine = machine_with(instance_of(type_named(CATALOGUE, "Standard_D4ads_v6")), product=None,
                           cpu={"model": "AMD EPYC 9994 999-Core Processor"})  # fmt: skip
    actual = expectation(machine)
    assert actual.machine == "no type of the catalogue; CPU by its name: EPYC 9004 (Zen 4)"
    assert all(source.split(": ")[1].startswith("Zen 4 CPUs of any provider, ") for source in actual.sources)
    assert all(item.low < 0.6 * item.typical for item in actual.ranges if item.unit == "B/s")


def test_a_cpu_whose_name_is_hidden_is_known_by_its_signature() -> None:
    hidden = {"vendor": "AuthenticAMD", "model": "AMD EPYC", "family_number": 25, "model_number": 17, "stepping": 1}
    machine = machine_with(instance_of(type_named(CATALOGUE, "Standard_D4ads_v6")), product=None, cpu=hidden)
    actual = expectation(machine)
    assert actual.machine == "no type of the catalogue; CPU by its CPUID signature: EPYC 9004 (Zen 4)"
    assert [item.metric for item in actual.ranges] == ["latency", "bandwidth", "bandwidth"]
    assert expectation(machine_with(machine, cpu={"model_number": 99})).ranges == []


def test_nothing_is_expected_of_a_machine_that_nobody_measured() -> None:
    nothing = Expectation(
        kind="catalogue", machine="no type of the catalogue", provisional=False, ranges=[], origins=[], peers=[]
    )
    assert expectation(MACHINE) == nothing


def test_a_floor_is_a_range_without_an_upper_end() -> None:
    machine = machine_with(instance_of(type_named(CATALOGUE, "Standard_D4ads_v6")))
    actual = expectation(machine, "Standard_HB120rs_v3")
    (floor,) = actual.ranges
    assert (floor.experiment, floor.low, floor.typical, floor.high) == ("triad", 320e9, 320e9, 1e30)
    assert actual.sources == ["triad: the floor of azure's health check for Standard_HB120rs_v3"]


def test_a_wide_family_has_a_wide_range() -> None:
    def low(values: list[float]) -> float:
        catalogue = Catalogue("", [], [entry(i, value) for i, value in enumerate(values)])
        family = family_of(catalogue, entry(99, None), READ, is_type_known=False)
        assert family is not None
        return predict(family, READ)[0]

    assert low([10e9, 10.1e9, 9.9e9, 10e9, 10e9]) > 1.4 * low([10e9, 14e9, 7e9, 10e9, 12e9])


def test_fewer_than_four_machines_are_no_family_and_do_not_shrink_a_range() -> None:
    few = Catalogue("", [], [entry(i, 10e9, cpu="Unnamed") for i in range(3)])
    assert family_of(few, entry(99, None, cpu="Unnamed"), READ, is_type_known=False) is None
    family = family_of(few, few.machines[0], READ, is_type_known=True)
    assert family is not None
    assert predict(family, READ)[0] < 0.7 * 10e9


def test_slower_is_on_the_other_side_for_a_time() -> None:
    machines = [entry(i, None, latency_s=value) for i, value in enumerate([1e-7, 1e-7, 1e-7, 1e-7, 3e-7])]
    family = family_of(Catalogue("", [], machines), entry(9, None), LATENCY, is_type_known=False)
    assert family is not None
    low, typical, high = predict(family, LATENCY)
    assert typical == pytest.approx(1e-7)
    assert math.log(high / typical) > 2 * math.log(typical / low)


@pytest.mark.parametrize(
    ("experiment", "is_same"),
    [
        (stream("read", 4), True), (stream("read", 2), False), (stream("update", 4), False),
        (stream("read", 4, size=1024), False), (stream("read", 4, pages="small"), False),
        (stream("read", 4, stores="plain", pages="huge", size=128 << 20), True),
        (stream("read", 4, stores="nontemporal"), False),
        (Experiment("x", "memory_stream", {"op": "read"}), False),
        (Experiment("x", "memory_block", {"op": "read"}), False),
    ],
)  # fmt: skip
def test_a_bandwidth_is_that_of_all_cpus_beyond_the_caches(experiment: Experiment, is_same: bool) -> None:
    machine = machine_with(default_threads=2, topology={"threads": 4, "allowed_cpus": [0, 1, 2, 3]})
    assert is_same_work(experiment, READ, machine) is is_same


def test_a_machine_of_which_only_a_part_may_be_used_is_not_compared() -> None:
    machine = machine_with(default_threads=2, topology={"threads": 4, "allowed_cpus": [0, 1]})
    assert not is_same_work(stream("read", 2), READ, machine)
    assert not is_same_work(stream("read", 4), READ, machine)


@pytest.mark.parametrize(("params", "is_same"), [
    ({"size": 128 << 20}, True), ({"size": 64 << 20}, True), ({"size": 32 << 20}, False), ({}, False),
    ({"size": GIB, "pages": "small"}, False), ({"size": GIB, "load": 10**9}, False),
])  # fmt: skip
def test_a_latency_is_that_beyond_the_caches_without_load(params: dict[str, Value], is_same: bool) -> None:
    assert is_same_work(Experiment("x", "memory_latency", params), LATENCY, MACHINE) is is_same


@pytest.mark.parametrize("name", ["quick", "full"])
def test_the_plans_measure_what_the_catalogue_has(name: str, described: dict[str, ProbeInfo]) -> None:
    """Threads of a core count as CPUs, as they do in the catalogue."""
    machine = machine_with(topology={"threads": 4, "allowed_cpus": [0, 2, 1, 3]})
    plan = build_plan(read_plan(name), described, {}, machine)
    for kind in VALUES:
        assert [experiment for experiment in plan.experiments if is_same_work(experiment, kind, machine)], kind
