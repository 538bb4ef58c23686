"""Ceilings and where they come from."""

from __future__ import annotations

import pytest

from nameplate.errors import UsageError
from nameplate.rated import (
    arithmetic_peak,
    count_ports,
    instructions_per_cycle,
    nominal_clock,
    overriding,
    parse_rated,
    textbook_peak,
)


def facts(per_cycle: float) -> dict[str, float]:
    """Of a kernel that begins so many instructions in a cycle, on a core at 3 GHz."""
    return {
        "burst_cycles": 32768,
        "port_burst_s": 32768 / 3e9,
        "port_block_instructions": 1e6,
        "port_block_s": 1e6 / per_cycle / 3e9,
        "operations_per_instruction": 16,
    }


def test_ports_are_a_whole_number_of_instructions_a_cycle() -> None:
    assert instructions_per_cycle(facts(1.99)) == pytest.approx(1.99)
    assert count_ports(facts(0.997)) == 1
    assert count_ports(facts(1.92)) == 2
    assert count_ports(facts(2.01)) == 2
    assert count_ports(facts(2.1)) is None
    assert count_ports(facts(3.24)) is None
    assert count_ports(facts(3.33)) is None
    assert count_ports(facts(0.44)) is None


def test_the_peak_is_ports_times_operations_times_clock_times_cores() -> None:
    rated = arithmetic_peak(facts(2), burst_s=32768 / 2.5e9, cores=4)
    assert rated.value == pytest.approx(2 * 16 * 2.5e9 * 4)
    assert rated.source == "2 ports (measured) × 16 operations × 2.50 GHz (measured under this load) × 4 cores"
    unknown = arithmetic_peak(facts(0.44), burst_s=1e-5, cores=4)
    assert unknown.value is None
    assert "0.44 instructions a cycle" in unknown.source


def machine(base: float | None, maximum: float | None, listed: float | None) -> dict[str, object]:
    cpu = {"base_frequency_hz": base, "maximum_frequency_hz": maximum, "listed_frequency_hz": listed}
    return {"cpu": cpu, "topology": {"cores": 2}}


def test_the_textbook_takes_the_clock_on_paper() -> None:
    assert textbook_peak(machine(2.3e9, 3.7e9, 2.1e9), 16).value == pytest.approx(2.3e9 * 2 * 16)
    assert textbook_peak(machine(None, None, 2.1e9), 16).value == pytest.approx(2.1e9 * 2 * 16)
    assert textbook_peak(machine(None, None, None), 16).value is None


def test_a_guest_without_a_nominal_clock_says_so() -> None:
    assert nominal_clock(machine(2.3e9, 3.7e9, None)).value == 3.7e9
    assert nominal_clock(machine(2.3e9, 3.7e9, None)).is_ceiling
    assert nominal_clock(machine(2.3e9, None, None)).value == 2.3e9
    assert not nominal_clock(machine(2.3e9, None, None)).is_ceiling  # turbo goes past it
    unknown = nominal_clock(machine(None, None, 2.6e9))
    assert unknown.value is None
    assert "--rated cpu_clock=" in unknown.source


def test_given_values_override_by_probe_then_by_area_and_unit() -> None:
    rated = parse_rated(["# a machine type", "", "cpu=2TFLOP/s, memory=59.7GB/s", "cpu_clock=3.5GHz"])
    assert rated == {"cpu FLOP/s": 2e12, "memory B/s": pytest.approx(59.7e9), "cpu_clock Hz": 3.5e9}
    found = overriding(rated, "cpu_flops", "FLOP/s")
    assert found is not None
    assert found.value == 2e12
    assert found.source == "given: --rated cpu"
    assert overriding(rated, "cpu_clock", "Hz") is not None
    assert overriding(rated, "cpu_flops", "FLOP/cycle") is None
    assert overriding(rated, "disk_block", "B/s") is None


@pytest.mark.parametrize("line", ["memory", "=5GB/s", "memory=fast", "memory=5", "memory=0GB/s"])
def test_a_rated_value_that_is_none(line: str) -> None:
    with pytest.raises(UsageError):
        parse_rated([line])
