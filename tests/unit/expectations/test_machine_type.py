"""Instance types are recognised from the facts that a guest shows."""

from __future__ import annotations

from collections import Counter

import pytest

from catalogue_samples import instance_of, shipped_catalogue, type_named
from machines import MACHINE, machine_with
from nameplate.errors import UsageError
from nameplate.expectations.catalogue_file import Catalogue, CatalogueMachine
from nameplate.expectations.machine_type import machine_type

CATALOGUE = shipped_catalogue()
# From each vendor, and of AWS with and without a DMI that tells.
SOME = [
    *("c7i.large", "m5.xlarge", "m6g.medium", "t3.nano", "r7a.2xlarge", "c5n.18xlarge", "x8i.large", "m8g.4xlarge"),
    *("Standard_D4s_v5", "Standard_D2as_v6", "Standard_F16s_v2", "Standard_E8ps_v6", "Standard_D4ads_v6"),
    *("n2-standard-4", "c3-standard-8", "t2d-standard-2", "c4a-standard-4", "e2-medium", "n4-standard-2"),
    *("ecs.g7.xlarge", "ecs.c8y.large", "ecs.g6.2xlarge", "ecs.c6.large", "ecs.g8i.xlarge"),
    *("cax11", "cax21", "ccx13", "cpx22", "cx23"),
    *("b3-8", "b3-16", "c3-4", "d2-4", "r3-32"),
]


def present(name: str) -> bool:
    return any(machine.type == name for machine in CATALOGUE.machines)


NAMES = [name for name in SOME if present(name)]


def test_enough_types_are_tried() -> None:
    assert len(NAMES) >= 30
    assert len({type_named(CATALOGUE, name).vendor for name in NAMES}) >= 6


@pytest.mark.parametrize("name", NAMES)
def test_a_type_is_among_those_that_its_machine_may_be(name: str) -> None:
    entry = type_named(CATALOGUE, name)
    actual = machine_type(instance_of(entry), CATALOGUE)
    assert entry in actual.candidates
    assert actual.vendor == entry.vendor
    assert {candidate.cpu for candidate in actual.candidates} == {entry.cpu}
    if entry.vendor == "aws":
        assert actual.known == entry
        assert actual.description == f"aws {name} (from the DMI)"
    else:
        assert actual.known is None
        assert actual.description.endswith("(from the CPU)")


def test_every_type_of_the_catalogue_is_among_its_candidates() -> None:
    wrong = Counter(
        entry.vendor for entry in CATALOGUE.machines
        if entry.vcpus and entry not in machine_type(instance_of(entry), CATALOGUE).candidates
    )  # fmt: skip
    assert not wrong


def test_without_dmi_the_cpu_tells_the_candidates_of_all_vendors() -> None:
    entry = type_named(CATALOGUE, "m6g.medium")
    actual = machine_type(machine_with(instance_of(entry), product=None), CATALOGUE)
    assert entry in actual.candidates
    assert actual.vendor == ""


def test_an_unknown_machine_is_none_of_them() -> None:
    actual = machine_type(MACHINE, CATALOGUE)
    assert (actual.candidates, actual.known, actual.description) == ((), None, "no type of the catalogue")


def test_the_user_says_the_type_in_any_case() -> None:
    entry = type_named(CATALOGUE, "Standard_D4s_v5")
    actual = machine_type(instance_of(entry), CATALOGUE, "standard_d4S_V5")
    assert actual.known == entry
    assert actual.description == "azure Standard_D4s_v5 (from --type)"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("Standard_D4s_v55", "has no such type; did you mean Standard_D4s_v5"),
        ("nothing like it", "the catalogue of 2026-11-23 has no such type$"),
        ("c7i.24xlarge", "this type has 96 CPUs, but the machine has 4"),
    ],
)
def test_a_wrong_type_is_refused(given: str, message: str) -> None:
    machine = instance_of(type_named(CATALOGUE, "Standard_D4s_v5"))
    with pytest.raises(UsageError, match=message):
        machine_type(machine, CATALOGUE, given)


def test_a_few_of_many_candidates_are_named() -> None:
    alike = [CatalogueMachine("v", f"t{i}", "x86_64", "M", 2, 1, 1, "D", None, None, None, None) for i in range(5)]
    machine = machine_with(product="D")
    assert (
        machine_type(machine, Catalogue("", [], alike)).description == "v t0, v t1, v t2 or 2 more types (from the CPU)"
    )
    assert machine_type(machine, Catalogue("", [], alike[:2])).description == "v t0 or v t1 (from the CPU)"
