"""Compute reference values: theoretical peaks and link speeds, each with its source. Pure functions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nameplate.errors import FileError, UsageError
from nameplate.probes.shared.cpu_product import CHANNEL_BYTES, CpuProduct, product_of
from nameplate.records.inputs import read_text
from nameplate.records.machine_record import Machine, Module
from nameplate.records.result import Rated
from nameplate.records.trusted_files import check_trusted
from nameplate.units import parse_quantity

# A core never starts more instructions per cycle than it has ports, except for the error of the measured clock. A mix
# with a lower utilisation of its ports leaves their number open.
OVER_PORTS = 0.01
UNDER_PORTS = 0.05

_GIVE_MEMORY = "give one with --rated memory=59.7GB/s"
_NO_MODULES = {
    None: "this run was recorded by a version of nameplate that did not read the list of memory modules",
    "no_table": "the system has no DMI table, which would list the memory modules (usual in a guest)",
    "no_permission": "only root may read the DMI table, which lists the memory modules",
    "damaged": "the DMI table, which lists the memory modules, is damaged",
}
_NOT_MEMORY = {"ROM", "Flash", "EEPROM", "FEPROM", "EPROM", "VRAM", "logical non-volatile device"}
# What identifies a module's channel, in capitals: "P0 CHANNEL A", "CHANNELB-DIMM0"; "CPU0_C2D1"; "DIMM_A1",
# "P1-DIMMA1".
_CHANNEL = re.compile(r"CHANNEL[ _-]*(?P<channel>[A-Z](?![A-Z])|\d+)")
_CHANNEL_AND_DIMM = re.compile(r"(?<![A-Z])C(?P<channel>\d+)[ _-]?D\d+")
_LETTER_AND_SLOT = re.compile(r"(?:DIMM|DDR\d)[ _-]*(?:P\d+[ _-])?(?P<channel>[A-Z])(?P<slot>\d+)$")
# What identifies the channel's processor or controller, each of which counts its channels from the start.
_PLACE = re.compile(r"(?<![A-Z])(CPU|PROC|P|SOCKET|NODE|CONTROLLER|MC|IMC)[ _-]*(\d+)")
_MAX_SLOTS_OF_A_CHANNEL = 3
_MAX_BYTES = 1 << 20


def parse_rated(lines: Iterable[str]) -> dict[str, float]:
    """Return the reference values in these lines: ``{"memory B/s": 59.7e9}`` for ``memory=59.7GB/s``.

    A key of the result is the name as given, a space, and the SI base unit; a rate in bits is converted to B/s. Values
    are written as for ``parse_quantity``; spaces around names and values are ignored. A line may have several values,
    separated by commas. Blank lines and lines that start with ``#`` are ignored.
    The names are not checked. Without values the result is empty.

    Raises:
        UsageError: an entry is not KEY=VALUE, has an unknown unit, or is not above 0, or a key has several values.
    """
    result: dict[str, float] = {}
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        for part in line.strip().split(","):
            key, equals, text = part.strip().partition("=")
            if not equals or not key.strip():
                raise UsageError(f"'{part}': not a reference value; use KEY=VALUE, such as memory=59.7GB/s")
            value, unit = parse_quantity(text.strip())
            if value <= 0:
                raise UsageError(f"'{part.strip()}': a reference value must be above 0")
            if unit == "bit/s":  # networks are specified in bits; measured values are in bytes
                value, unit = value / 8, "B/s"
            if f"{key.strip()} {unit}" in result:
                raise UsageError(f"{key.strip()} has several reference values in {unit}: give one")
            result[f"{key.strip()} {unit}"] = value
    return result


def read_rated_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file of reference values, for ``parse_rated``, with which they were checked.

    Raises:
        FileError: the file cannot be read, others can write it (``check_trusted``), it is larger than 1 MiB, or a line
            is wrong; then the message has its number. Or a key has several values.
    """
    check_trusted(path)
    lines = read_text(path, _MAX_BYTES, "file of reference values").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            parse_rated([line])
        except UsageError as error:
            raise FileError(f"{path}: line {number}: {error}") from None
    try:
        parse_rated(lines)
    except UsageError as error:
        raise FileError(f"{path}: {error}") from None
    return lines


def overriding(rated: Mapping[str, float], probe: str, unit: str, op: str = "") -> Rated | None:
    """Return the user's reference value for a metric of a probe; None if the user gave none.

    ``rated`` is a result of ``parse_rated``, ``unit`` the SI base unit of the metric, and ``op`` the experiment's
    parameter ``op``, "" without one. A value for the probe (``cpu_flops=2TFLOP/s``) counts before one for the operation
    (``disk_write=3.1GB/s``, the area and ``op``) and one for the area (``memory=59.7GB/s``). The result is marked as a
    ceiling, its source names the key, and its value is as given, not multiplied by ``Rated.times``.
    """
    area = probe.partition("_")[0]
    for key in (probe, f"{area}_{op}", area):
        if f"{key} {unit}" in rated:
            return Rated(rated[f"{key} {unit}"], f"given: --rated {key}", kind="given")
    return None


def instructions_per_cycle(facts: Mapping[str, float]) -> float:
    """Return the instructions of the mix per clock cycle on one core, from the shortest trials of set-up.

    It reads the facts ``port_block_instructions`` (the instructions of a block), ``port_block_s`` (its seconds),
    ``burst_cycles`` (the cycles of a burst of the clock chain) and ``port_burst_s`` (its seconds), which the probes
    that record ``arithmetic.LOOP`` have, and raises KeyError if one is missing.
    """
    cycles = facts["port_block_s"] * facts["burst_cycles"] / facts["port_burst_s"]
    return facts["port_block_instructions"] / cycles


def count_ports(facts: Mapping[str, float]) -> int | None:
    """Return how many instructions of the mix the core can start per cycle: the measured rate, rounded up.

    ``facts`` has what ``instructions_per_cycle`` reads. Ports are counted by measurement, since tables of ports
    per model are wrong for some products. A rate of up to 1 % above a whole number counts as that number. The result is
    None if the rate is more than 5 % below a whole number: a unit is not pipelined (division), or the mix does not keep
    all its ports busy.
    """
    rate = instructions_per_cycle(facts)
    ports = math.ceil(rate / (1 + OVER_PORTS))
    return ports if rate >= ports * (1 - UNDER_PORTS) else None


def arithmetic_peak(facts: Mapping[str, float], burst_s: float, cores: int, when: str = "under this load") -> Rated:
    """Return the theoretical peak in operations per second: ports × operations per instruction × clock × cores.

    ``facts`` has what ``count_ports`` reads, and ``operations_per_instruction``. ``burst_s`` is the time in
    seconds of a burst of ``facts["burst_cycles"]`` dependent cycles, which gives the clock; ``when`` says in the source
    when it was measured. ``cores`` is the number of physical cores that work. If ``count_ports`` returns None, the
    result has no value, and its source says why.
    """
    ports = count_ports(facts)
    if ports is None:
        rate = instructions_per_cycle(facts)
        return Rated(None, f"no ceiling: {rate:.2f} instructions per cycle are not close to a whole number of ports")
    frequency_hz = facts["burst_cycles"] / burst_s
    operations = facts["operations_per_instruction"]
    source = (
        f"{ports} port{'s' if ports > 1 else ''} (measured) × {operations:g} operations × "
        f"{frequency_hz / 1e9:.2f} GHz (measured {when}) × {cores} core{'s' if cores > 1 else ''}"
    )
    return Rated(ports * operations * frequency_hz * cores, source, kind="measured")


def nominal_clock(machine: Machine) -> Rated:
    """Return the nominal clock of one core in Hz, as far as the system shows it.

    It is the maximum of cpufreq, a ceiling. Otherwise it is the base clock, which turbo may exceed. If the system shows
    neither, the result has no value, and its source says what to do.
    """
    cpu = machine.cpu
    if cpu.maximum_frequency_hz:
        return Rated(cpu.maximum_frequency_hz, "maximum of cpufreq")
    if cpu.base_frequency_hz:
        return Rated(cpu.base_frequency_hz, "base clock from cpufreq or the model's name", is_ceiling=False)
    return Rated(
        None, "the system shows no maximum or base clock (usual in a guest); give one with --rated cpu_clock=3.5GHz"
    )


def textbook_clock(machine: Machine) -> Rated:
    """Return the clock in Hz for ``textbook_peak``: the base clock, or else the clock that /proc/cpuinfo lists.

    The value is None if the system shows neither.
    """
    cpu = machine.cpu
    if cpu.base_frequency_hz:
        return Rated(cpu.base_frequency_hz, "base clock")
    return Rated(cpu.listed_frequency_hz, "cpu MHz of /proc/cpuinfo")


def textbook_peak(machine: Machine, operations_per_cycle: float, cores: int) -> Rated:
    """Return the textbook's theoretical peak in operations per second: clock × cores × operations per cycle and core.

    The reproduced studies use it. It differs from ``arithmetic_peak`` in its clock, the nominal one of
    ``textbook_clock`` and not the one under load. ``cores`` is the number of cores that work. Without a clock the
    result has no value.
    """
    clock = textbook_clock(machine)
    if clock.value is None:
        return Rated(None, "the system lists no clock")
    words = f"{cores} core{'s' if cores > 1 else ''}"
    source = f"{clock.value / 1e9:.2f} GHz ({clock.source}) × {words} × {operations_per_cycle:g} per cycle"
    return Rated(clock.value * cores * operations_per_cycle, source)


def disk_link(bytes_per_s: float, name: str) -> Rated:
    """Return the bandwidth of the link between the machine and its device as a reference value in B/s.

    ``bytes_per_s`` is the rate after line coding that the system shows, 0 if it shows no link. ``name`` names the link
    in the source; it is not used for 0. The result for 0 has no value, and its source says how to give one.
    """
    if bytes_per_s > 0:
        return Rated(bytes_per_s, f"{name}, after line coding")
    return Rated(None, "the system shows no link to the device (usual in a guest); give one with --rated disk=3.5GB/s")


def network_link(bytes_per_s: float, interface: str) -> Rated:
    """Return the speed of the network interface to the peer as a reference value in B/s.

    ``bytes_per_s`` is what the system reports, 0 or less if it reports none, and ``interface`` is the interface's name,
    "" if it is not known. Without a speed the result has no value, and its source says how to give one.
    """
    if bytes_per_s > 0:
        return Rated(bytes_per_s, f"speed of {interface}, excluding headers")
    who = interface or "the interface"
    return Rated(None, f"{who} reports no speed (usual in a guest); give one with --rated net=10Gbit/s")


def memory_bandwidth(machine: Machine) -> Rated:
    """Return the machine's theoretical memory bandwidth in B/s, from the modules that the DMI table (SMBIOS) lists.

    It is transfers per second × bytes per transfer, added up over the populated channels. It is not a ceiling if the
    table leaves doubts, which the source names: channels that cannot be told apart, speeds that are not the configured
    ones, or a hypervisor. Without a readable and complete table it is what ``documented_bandwidth`` returns.
    """
    memory = machine.memory
    status = memory.modules_status
    if status != "read" or memory.modules is None:
        return documented_bandwidth(machine, _NO_MODULES.get(status, str(status)))
    # A module whose size is not stated is populated; an empty slot states 0.
    modules = [m for m in memory.modules if m.size_bytes != 0 and m.type not in _NOT_MEMORY]
    if not modules:
        return documented_bandwidth(machine, "the DMI table lists no memory modules")
    if not all(m.configured_transfers_per_s or m.rated_transfers_per_s for m in modules):
        return documented_bandwidth(machine, "the DMI table does not state the memory's speed (usual under QEMU)")
    if not all(m.width_bits for m in modules):
        return documented_bandwidth(machine, "the DMI table does not state the memory's width")
    return _bandwidth_of(modules, memory.modules, machine.hypervisor)


def documented_bandwidth(machine: Machine, why: str) -> Rated:
    """Return the most that the sockets' memory can deliver in B/s, by what is published about the CPU.

    ``why`` says why the modules are not known. It is a value only if the machine has most of the sockets: without a
    hypervisor, or as a guest with more than half of the cores of the largest such sockets. A smaller guest shares them
    with others, and its source names the peak of a socket without comparing with it. It has no value either if the CPU
    or the number of sockets is not known. It is not a ceiling, since modules may be faster than was published.
    """
    product = product_of(machine.cpu)
    if product is None or product.memory is None:
        return Rated(None, f"{why}; {_GIVE_MEMORY}")
    channels, sockets = product.memory, machine.topology.packages
    parts = f"{channels.channels} channels × {channels.transfers_per_s / 1e6:g} MT/s × {CHANNEL_BYTES} B"
    if not _has_sockets(machine, product):
        shared = f", which up to {product.cores.max_cores} cores share" if product.cores else ""
        peak = f"{channels.bytes_per_s / 1e9:.4g} GB/s at most ({parts}; {channels.source})"
        return Rated(None, f"{why}; a whole socket of {product.name} has {peak}{shared}; {_GIVE_MEMORY}")
    words = f"{sockets} socket{'s' if sockets > 1 else ''} × {parts}, the most of {product.name}"
    return Rated(channels.bytes_per_s * sockets, f"{words} ({channels.source}; {why})", is_ceiling=False)


def _has_sockets(machine: Machine, product: CpuProduct) -> bool:
    """Return whether a machine has most of its sockets' cores; a count of sockets that cannot be is not believed."""
    sockets, cores = machine.topology.packages, machine.topology.cores
    if product.cores is None or not 0 < cores <= sockets * product.cores.max_cores:
        return False
    # Arm has no flag that tells a guest from a machine.
    is_alone = machine.hypervisor is None and machine.is_hypervisor_known and machine.cpu.architecture == "x86_64"
    return is_alone or cores > sockets * product.cores.max_cores / 2


def _bandwidth_of(modules: Sequence[Module], slots: Sequence[Module], hypervisor: str | None) -> Rated:
    channels = _channels(modules, slots)
    doubts = [] if channels else ["it does not tell which modules share a channel; each counts as its own"]
    doubts += _doubts_of_speed(modules)
    doubts += [f"it is what {hypervisor} shows to its guest"] if hypervisor else []
    # Modules on one channel take turns, at the speed of the slowest.
    alike = Counter(
        (min(_transfers_per_s(m) for m in channel), max((m.width_bits or 0) / 8 for m in channel))
        for channel in channels or [[m] for m in modules]
    )
    parts = [
        f"{number} channel{'s' if number > 1 else ''} × {rate / 1e6:g} MT/s × {width_bytes:g} B"
        for (rate, width_bytes), number in alike.items()
    ]
    source = f"{' + '.join(parts)} (DMI{'; '.join(['', *doubts])})"
    value = sum(number * rate * width_bytes for (rate, width_bytes), number in alike.items())
    return Rated(value, source, is_ceiling=not doubts)


def _transfers_per_s(module: Module) -> float:
    configured, rated = module.configured_transfers_per_s, module.rated_transfers_per_s
    return (rated if not configured or _is_clock(module) else configured) or 0.0


def _is_clock(module: Module) -> bool:
    """Return whether the configured speed is the clock, as some firmware reports it; a cycle makes two transfers."""
    configured, rated = module.configured_transfers_per_s, module.rated_transfers_per_s
    return bool(configured and rated and abs(2 * configured - rated) <= 2e6)


def _doubts_of_speed(modules: Sequence[Module]) -> list[str]:
    doubts = []
    if not all(m.configured_transfers_per_s for m in modules):
        doubts.append("it states the modules' maximum speed, not the configured one")
    if any(_is_clock(m) for m in modules):
        doubts.append("its configured speed is half the modules' maximum, so it is taken for the clock in MHz")
    return doubts


def _channels(modules: Sequence[Module], slots: Sequence[Module]) -> list[list[Module]]:
    """Return the modules by channel; empty if their locators do not identify channels."""
    # On boards whose letters go beyond the third slot, letters name processors, not channels.
    letters = all(
        int(found["slot"]) <= _MAX_SLOTS_OF_A_CHANNEL
        for slot in slots
        if (found := _LETTER_AND_SLOT.search(slot.locator.upper()))
    )
    channels: dict[object, list[Module]] = {}
    for module in modules:
        channels.setdefault(_channel(module, letters), []).append(module)
    # Identical locators do not distinguish channels.
    distinct = len({(m.bank, m.locator) for m in modules}) == len(modules)
    crowded = any(len(channel) > _MAX_SLOTS_OF_A_CHANNEL for channel in channels.values())
    return list(channels.values()) if distinct and not crowded and None not in channels else []


def _channel(module: Module, letters: bool) -> object:
    """Return a key that is equal for the modules of one channel; None if the locators do not tell."""
    bank, locator = module.bank.upper(), module.locator.upper()
    numbered = _CHANNEL.search(bank) or _CHANNEL.search(locator) or _CHANNEL_AND_DIMM.search(locator)
    lettered = _LETTER_AND_SLOT.search(locator) if letters else None
    if not numbered and not lettered:
        return None
    places = frozenset(_PLACE.findall(bank) + _PLACE.findall(locator))
    return places, numbered and numbered["channel"], lettered and lettered["channel"]
