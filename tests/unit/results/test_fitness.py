from __future__ import annotations

from typing import Any

import msgspec
import pytest

from machines import machine_with
from nameplate.results.fitness import (
    Finding,
    busy_shares,
    judge_machine,
    judge_other_load,
    judge_spins,
    judge_steal,
    overall,
)

CACHE = {"count": 2, "level": 1, "shared_by": 1, "size_bytes": 32768, "type": "data", "line_bytes": 64, "ways": 8}
FIT = machine_with(
    cpu={"governor": "performance", "turbo": False}, mitigated=[], power={"on_battery": None, "profile": None},
    memory={"swap_used_bytes": 0}, topology={"caches": [CACHE]},
)  # fmt: skip


def grades(**changes: Any) -> dict[str, str]:
    """Return the grades that are not A, by what was judged."""
    return {
        finding.aspect: finding.grade for finding in judge_machine(machine_with(FIT, **changes)) if finding.grade != "A"
    }


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        ({"hypervisor": "kvm"}, {"virtualisation": "B", "caches": "B"}),
        ({"hypervisor": "kvm", "emulator": "QEMU (TCG)"}, {"virtualisation": "F", "caches": "B"}),
        ({"container": "docker", "blocked_calls": ["io_uring_setup"]}, {}),
        ({"limits": {"are_visible": False}}, {"cgroup": "C"}),
        ({"limits": {"are_visible": False, "cpus": 0.25}}, {"cgroup": "D"}),
        ({"limits": {"are_visible": True}}, {}),
        ({"cpu": {"governor": "powersave"}}, {"governor": "C"}),
        ({"cpu": {"governor": None}}, {"governor": "B"}),
        ({"cpu": {"turbo": True, "base_frequency_hz": 2e9, "maximum_frequency_hz": 3e9}}, {"turbo": "C"}),
        ({"cpu": {"turbo": True}}, {"turbo": "B"}),
        ({"cpu": {"turbo": None}}, {"turbo": "B"}),
        ({"is_hypervisor_known": False}, {"virtualisation": "?", "caches": "?"}),
        ({"topology": {"are_cores_listed": False}}, {"SMT": "?"}),
        ({"topology": {"caches": []}}, {"caches": "?"}),
        ({"hypervisor": "unknown", "topology": {"caches": []}}, {"virtualisation": "B", "caches": "?"}),
        ({"power": {"is_visible": False}}, {"power": "?"}),
        ({"memory": {"transparent_huge_pages": ""}}, {"huge pages": "?"}),
        ({"memory": {"swap_bytes": None, "swap_used_bytes": None}}, {"swap": "?"}),
        ({"mitigated": None}, {"mitigations": "?"}),
        ({"memory": {"transparent_huge_pages": "never"}}, {"huge pages": "C"}),
        ({"memory": {"swap_bytes": 2**30, "swap_used_bytes": 2**20}}, {"swap": "B"}),
        ({"memory": {"swap_bytes": 2**30, "swap_used_bytes": 0}}, {}),
        ({"limits": {"cpus": 1.5}}, {"cgroup": "D"}),
        ({"limits": {"cpus": 2.0}}, {"cgroup": "C"}),
        ({"limits": {"memory_bytes": 2**30}}, {}),
        ({"power": {"on_battery": True, "profile": None}}, {"power": "D"}),
        ({"power": {"on_battery": False, "profile": "low-power"}}, {"power": "D"}),
        ({"power": {"on_battery": False, "profile": "balanced"}}, {}),
        ({"mitigated": ["meltdown"]}, {}),
    ],
)
def test_conditions_that_spoil_measurements_are_graded(changes: dict[str, Any], expected: dict[str, str]) -> None:
    assert grades(**changes) == expected


def test_a_bad_condition_has_its_cost_and_its_remedy() -> None:
    worse = [
        *judge_machine(machine_with(FIT, hypervisor="kvm", limits={"cpus": 0.5})),
        judge_spins([1.0] * 18 + [1.5] * 2), judge_steal(0.2, 1.0, 2), judge_other_load({0: 1.0, 1: 0.6}, has_smt=True),
    ]  # fmt: skip
    bad = [finding for finding in worse if finding.grade != "A"]
    assert len(bad) == 6
    assert all(finding.cost and finding.advice for finding in bad)


def test_a_hypervisor_without_a_name_is_called_unknown() -> None:
    states = [finding.state for finding in judge_machine(machine_with(FIT, hypervisor="unknown"))]
    assert "a guest of an unknown hypervisor" in states


def test_a_run_of_an_older_build_knows_less() -> None:
    known = msgspec.structs.replace(FIT, power=None)
    assert {finding.grade for finding in judge_machine(known)} == {"A"}


@pytest.mark.parametrize(
    ("late", "grade"), [(1.0, "A"), (1.009, "A"), (1.015, "B"), (1.03, "C"), (1.07, "D"), (1.5, "F")]
)
def test_the_spread_of_a_control_loop(late: float, grade: str) -> None:
    assert judge_spins([1.0] * 18 + [late] * 2).grade == grade


@pytest.mark.parametrize(
    ("steal_s", "grade"), [(0.0, "A"), (0.001, "B"), (0.02, "B"), (0.1, "C"), (0.3, "D"), (0.6, "F")]
)
def test_stolen_time(steal_s: float, grade: str) -> None:
    assert judge_steal(2 * steal_s, 1.0, 2).grade == grade


def test_what_is_not_counted_is_unknown() -> None:
    for finding in (judge_steal(None, 1.0, 2), judge_steal(0.0, 0.0, 2), judge_other_load({}, has_smt=False)):
        assert finding.grade == "?"
        assert finding.state.startswith("unknown")
        assert finding.cost
        assert finding.advice


def test_the_busiest_cpu_is_the_one_that_measures() -> None:
    assert judge_other_load({0: 1.0, 1: 0.002}, has_smt=False).grade == "A"
    assert judge_other_load({0: 0.3, 1: 1.0, 2: 0.0}, has_smt=False).grade == "D"
    assert judge_other_load({0: 1.0}, has_smt=False).grade == "A"
    assert "sibling" in judge_other_load({0: 1.0, 1: 0.9}, has_smt=True).cost
    assert "sibling" not in judge_other_load({0: 1.0, 1: 0.9}, has_smt=False).cost


def test_busy_shares_follow_from_two_readings() -> None:
    before = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 10 0 0 90 0 0 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0 0 0\nintr 5\n"
    after = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 60 0 0 140 0 0 0 0 0 0\ncpu1 0 0 0 190 10 0 0 0 0 0\ncpu2 1 1 1 1 1 1 1 1\n"
    assert busy_shares(before, after) == {0: 0.5, 1: 0.0}


@pytest.mark.parametrize(
    "text",
    ["", "cpu0 0 0 0 0 0 0 0 0 0 0\n", "cpu0 10 0 0 90 0 0 0 0 0 0\n", "cpu0\n", "cpu0 7 0\n", "cpu0 x y z\n"],
)
def test_a_cpu_whose_time_does_not_advance_has_no_busy_share(text: str) -> None:
    assert busy_shares(text, text) == {}


def test_the_grade_of_the_environment_is_its_worst_finding() -> None:
    assert overall([Finding("A", "x", ""), Finding("D", "y", ""), Finding("C", "z", "")]) == "D"
    assert overall([]) == "A"


def test_an_unknown_finding_is_worse_than_c_and_better_than_d() -> None:
    unknown = Finding("?", "x", "")
    assert overall([Finding("A", "y", ""), unknown]) == "?"
    assert overall([Finding("C", "y", ""), unknown]) == "?"
    assert overall([unknown, Finding("D", "y", "")]) == "D"


def test_a_container_is_named_with_what_it_takes_away() -> None:
    def finding(**changes: Any) -> Finding:
        return next(one for one in judge_machine(machine_with(FIT, **changes)) if one.aspect == "container")

    assert finding().state == "none detected"
    assert finding(container="podman") == Finding("A", "container", "in podman")
    blocked = finding(container="docker", blocked_calls=["io_uring_setup", "mbind"])
    assert blocked.state == "in docker; blocked: io_uring_setup, mbind"
    assert blocked.cost == "disk_block library=uring is skipped; memory on a chosen NUMA node is skipped"
    assert finding(blocked_calls=["mbind"]).state == "none detected; blocked: mbind"
