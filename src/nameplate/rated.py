"""What the nameplate promises: the ceiling beside every measured figure, and where it comes from. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from nameplate.errors import UsageError
from nameplate.model import Rated
from nameplate.units import parse_quantity

# A core never begins more instructions in a cycle than it has ports, but for the error of the measured clock; a mix
# that keeps its ports busy less than this leaves open how many there are.
OVER_PORTS = 0.01
UNDER_PORTS = 0.05


def parse_rated(lines: Iterable[str]) -> dict[str, float]:
    """``memory=59.7GB/s`` as ``{"memory B/s": 59.7e9}``; several may stand in a line, parted by commas.

    Blank lines and lines that begin with ``#`` are passed over. Raises UsageError.
    """
    result: dict[str, float] = {}
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        for part in line.strip().split(","):
            key, equals, text = part.strip().partition("=")
            if not equals or not key.strip():
                raise UsageError(f"'{part}' is not a rated value: write KEY=VALUE, such as memory=59.7GB/s")
            value, unit = parse_quantity(text.strip())
            if value <= 0:
                raise UsageError(f"'{part.strip()}' is not a rated value: it must be more than 0")
            result[f"{key.strip()} {unit}"] = value
    return result


def overriding(rated: Mapping[str, float], probe: str, unit: str) -> Rated | None:
    """The user's value for a probe (``cpu_flops=2TFLOP/s``) or its whole area (``memory=59.7GB/s``), if any."""
    area = probe.partition("_")[0]
    for key in (probe, area):
        if f"{key} {unit}" in rated:
            return Rated(rated[f"{key} {unit}"], f"given: --rated {key}")
    return None


def instructions_per_cycle(facts: Mapping[str, float]) -> float:
    """Instructions of the mix per clock cycle on one core, from set-up's shortest trials."""
    cycles = facts["port_block_s"] * facts["burst_cycles"] / facts["port_burst_s"]
    return facts["port_block_instructions"] / cycles


def count_ports(facts: Mapping[str, float]) -> int | None:
    """How many instructions of the mix the core can begin in a cycle: the measured rate, rounded up.

    Tables of ports per model are wrong for single products, so ports are counted by measuring. None where the rate is
    not just below a whole number: a unit that is not pipelined (division), or a mix whose ports are not all kept busy.
    """
    rate = instructions_per_cycle(facts)
    ports = math.ceil(rate / (1 + OVER_PORTS))
    return ports if rate >= ports * (1 - UNDER_PORTS) else None


def arithmetic_peak(facts: Mapping[str, float], burst_s: float, cores: int) -> Rated:
    """Ports × operations per instruction × clock under this very load × cores.

    ``burst_s`` is the time of a burst of ``facts["burst_cycles"]`` dependent cycles under the load.
    """
    ports = count_ports(facts)
    if ports is None:
        rate = instructions_per_cycle(facts)
        return Rated(None, f"{rate:.2f} instructions a cycle is no whole number of ports, so no ceiling follows")
    frequency_hz = facts["burst_cycles"] / burst_s
    operations = facts["operations_per_instruction"]
    source = (
        f"{ports} port{'s' if ports > 1 else ''} (measured) × {operations:g} operations × "
        f"{frequency_hz / 1e9:.2f} GHz (measured under this load) × {cores} core{'s' if cores > 1 else ''}"
    )
    return Rated(ports * operations * frequency_hz * cores, source)


def nominal_clock(machine: Mapping[str, Any]) -> Rated:
    """The clock that the machine's papers state, as far as the system shows it."""
    cpu = machine["cpu"]
    if cpu["maximum_frequency_hz"]:
        return Rated(cpu["maximum_frequency_hz"], "maximum of cpufreq")
    if cpu["base_frequency_hz"]:
        return Rated(cpu["base_frequency_hz"], "base clock by cpufreq or the model's name", is_ceiling=False)
    return Rated(None, "the system shows no nominal clock (usual in a guest); give one with --rated cpu_clock=3.5GHz")


def textbook_clock(machine: Mapping[str, Any]) -> Rated:
    """The GHz of the textbook formula: base clock, or else what /proc/cpuinfo lists."""
    cpu = machine["cpu"]
    if cpu["base_frequency_hz"]:
        return Rated(cpu["base_frequency_hz"], "base clock")
    return Rated(cpu["listed_frequency_hz"], "cpu MHz of /proc/cpuinfo")


def textbook_peak(machine: Mapping[str, Any], operations_per_cycle: float) -> Rated:
    """GHz × cores × operations per cycle, as lecture notes and the reproduced studies compute a theoretical peak.

    It differs from ``arithmetic_peak`` by its clock: the one on paper, not the one under load.
    """
    clock = textbook_clock(machine)
    if clock.value is None:
        return Rated(None, "the system lists no clock at all")
    cores = machine["topology"]["cores"]
    source = f"{clock.value / 1e9:.2f} GHz ({clock.source}) × {cores} cores × {operations_per_cycle:g} per cycle"
    return Rated(clock.value * cores * operations_per_cycle, source)
