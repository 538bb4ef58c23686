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

# A core never starts more instructions per cycle than it has ports; a rate that is higher by up to the first share is
# an error of the measured clock. If the rate is lower than a whole number by more than the second share, the number of
# ports is not known.
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
# The part of a module's name that identifies its channel, in capitals: "P0 CHANNEL A", "CHANNELB-DIMM0"; "CPU0_C2D1";
# "DIMM_A1", "P1-DIMMA1".
_CHANNEL = re.compile(r"CHANNEL[ _-]*(?P<channel>[A-Z](?![A-Z])|\d+)")
_CHANNEL_AND_DIMM = re.compile(r"(?<![A-Z])C(?P<channel>\d+)[ _-]?D\d+")
_LETTER_AND_SLOT = re.compile(r"(?:DIMM|DDR\d)[ _-]*(?:P\d+[ _-])?(?P<channel>[A-Z])(?P<slot>\d+)$")
# The part that identifies the channel's processor or controller. Each of them numbers its channels from the start.
_SOCKET = re.compile(r"(?<![A-Z])(CPU|PROC|P|SOCKET|NODE|CONTROLLER|MC|IMC)[ _-]*(\d+)")
_MAX_SLOTS_OF_A_CHANNEL = 3
_MAX_BYTES = 1 << 20


def parse_rated(lines: Iterable[str]) -> dict[str, float]:
    """Return the reference values in these lines: ``{"memory B/s": 59.7e9}`` for ``memory=59.7GB/s``.

    A key of the result is the name as given, a space, and the SI base unit; a rate in bits is converted to B/s. A line
    has one or more KEY=VALUE, separated by commas; spaces around keys and values are ignored. Values are written as for
    ``parse_quantity``. Blank lines and lines that start with ``#`` are ignored. The names are not checked. The result
    is empty if there are no values.

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
    """Return the lines of a UTF-8 file of reference values, which are valid for ``parse_rated``.

    Raises:
        FileError: the file cannot be read, other users can write it (``check_trusted``), it is larger than 1 MiB, a key
            has several values, or a line is wrong; the message then has the number of the line.
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

    ``rated`` is a result of ``parse_rated``, ``probe`` the name of the probe, ``unit`` the SI base unit of the metric,
    and ``op`` the experiment's parameter ``op``, "" without one. A value for the probe (``cpu_flops=2TFLOP/s``) takes
    precedence over a value for the area and the operation (``disk_write=3.1GB/s``), and this over a value for the area
    (``memory=59.7GB/s``). The result is a ceiling, its source names the key, and its value is as given, not multiplied
    by ``Rated.times``.
    """
    area = probe.partition("_")[0]
    for key in (probe, f"{area}_{op}", area):
        if f"{key} {unit}" in rated:
            return Rated(rated[f"{key} {unit}"], f"given: --rated {key}", kind="given")
    return None


def instructions_per_cycle(facts: Mapping[str, float]) -> float:
    """Return the instructions of the mix that one core executed per clock cycle, in the shortest trials of set-up.

    ``facts`` must have ``port_block_instructions`` (the instructions of a block), ``port_block_s`` (the seconds of a
    block), ``burst_cycles`` (the cycles of a burst of the clock chain) and ``port_burst_s`` (the seconds of such a
    burst), or KeyError is raised. Probes that record ``arithmetic.LOOP`` have these facts.
    """
    cycles = facts["port_block_s"] * facts["burst_cycles"] / facts["port_burst_s"]
    return facts["port_block_instructions"] / cycles


def count_ports(facts: Mapping[str, float]) -> int | None:
    """Return how many instructions of the mix the core can start per cycle: the measured rate, rounded up.

    ``facts`` has what ``instructions_per_cycle`` needs. Ports are counted by measurement, since published tables of
    ports per model are wrong for some products. A rate of up to 1 % above a whole number counts as that number. The
    result is None if the rate is more than 5 % below a whole number: either a unit is not pipelined (division), or the
    mix does not keep all its ports busy.
    """
    rate = instructions_per_cycle(facts)
    ports = math.ceil(rate / (1 + OVER_PORTS))
    return ports if rate >= ports * (1 - UNDER_PORTS) else None


def arithmetic_peak(facts: Mapping[str, float], burst_s: float, cores: int, when: str = "under this load") -> Rated:
    """Return the theoretical peak in operations per second: ports × operations per instruction × clock × cores.

    ``facts`` has what ``count_ports`` needs, and ``operations_per_instruction``. ``burst_s`` is the time in seconds of
    a burst of ``facts["burst_cycles"]`` dependent cycles, from which the clock is computed; ``when`` says in the source
    when the clock was measured. ``cores`` is the number of physical cores that work. If ``count_ports`` returns None,
    the result has no value, and its source says why.
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
    """Return the nominal clock of one core in Hz: the maximum of cpufreq, or else the base clock.

    The maximum of cpufreq is a ceiling. The base clock is not, since turbo may exceed it. If the system shows neither,
    the result has no value, and its source says what to do.
    """
    cpu = machine.cpu
    if cpu.maximum_frequency_hz:
        return Rated(cpu.maximum_frequency_hz, "maximum of cpufreq", kind="listed")
    if cpu.base_frequency_hz:
        return Rated(cpu.base_frequency_hz, "base clock from cpufreq or the model's name", is_ceiling=False,
                     kind="listed")  # fmt: skip
    return Rated(
        None, "the system shows no maximum or base clock (usual in a guest); give one with --rated cpu_clock=3.5GHz"
    )


def textbook_clock(machine: Machine) -> Rated:
    """Return the clock in Hz for ``textbook_peak``: the base clock, or else the clock in /proc/cpuinfo.

    If the system shows neither, ``value`` of the result is None.
    """
    cpu = machine.cpu
    if cpu.base_frequency_hz:
        return Rated(cpu.base_frequency_hz, "base clock")
    return Rated(cpu.listed_frequency_hz, "cpu MHz of /proc/cpuinfo")


def textbook_peak(machine: Machine, operations_per_cycle: float, cores: int) -> Rated:
    """Return the textbook's theoretical peak in operations per second: clock × cores × operations per cycle and core.

    The clock is the nominal one of ``textbook_clock``, while ``arithmetic_peak`` uses the clock under load. ``cores``
    is the number of cores that work. If the clock is not known, the result has no value.
    """
    clock = textbook_clock(machine)
    if clock.value is None:
        return Rated(None, "the system lists no clock")
    text = f"{cores} core{'s' if cores > 1 else ''}"
    source = f"{clock.value / 1e9:.2f} GHz ({clock.source}) × {text} × {operations_per_cycle:g} per cycle"
    return Rated(clock.value * cores * operations_per_cycle, source)


def disk_link(bytes_per_s: float, name: str) -> Rated:
    """Return the bandwidth of the link between the machine and its disk as a reference value in B/s.

    ``bytes_per_s`` is the rate after line coding that the system shows, 0 if it shows no link. ``name`` is the name of
    the link for the source. If ``bytes_per_s`` is 0, the result has no value, and its source says how to give one.
    """
    if bytes_per_s > 0:
        return Rated(bytes_per_s, f"{name}, after line coding", kind="listed")
    return Rated(None, "the system shows no link to the device (usual in a guest); give one with --rated disk=3.5GB/s")


def network_link(bytes_per_s: float, interface: str) -> Rated:
    """Return the speed of the network interface to the peer as a reference value in B/s.

    ``bytes_per_s`` is the speed that the system reports, 0 or less if it reports none. ``interface`` is the interface's
    name, "" if it is not known. Without a speed the result has no value, and its source says how to give one.
    """
    if bytes_per_s > 0:
        return Rated(bytes_per_s, f"speed of {interface}, excluding headers", kind="listed")
    who = interface or "the interface"
    return Rated(None, f"{who} reports no speed (usual in a guest); give one with --rated net=10Gbit/s")


def memory_bandwidth(machine: Machine) -> Rated:
    """Return the machine's theoretical memory bandwidth in B/s, from the modules that the DMI table (SMBIOS) lists.

    The bandwidth is the sum over the populated channels of transfers per second × bytes per transfer. It is not a
    ceiling if the table leaves doubts, which the source names: channels that cannot be told apart, speeds that are not
    the configured ones, or a hypervisor. If the table is missing, not readable or incomplete, the result is that of
    ``documented_bandwidth``.
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
    """Return the maximum memory bandwidth of the machine's sockets in B/s, as published for its CPU.

    ``why`` says in the source why the memory modules are not known. The result has a value for an x86-64 machine
    without a hypervisor, and for any machine with more than half of the cores of its sockets, by the product's largest
    socket. A smaller guest shares its sockets with other guests: the result then has no value, and its source names the
    peak of one socket. There is no value either if the CPU, its memory channels or its number of cores are not known.
    The value is not a ceiling, since modules may be faster than the published ones.
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
    text = f"{sockets} socket{'s' if sockets > 1 else ''} × {parts}, the most of {product.name}"
    return Rated(channels.bytes_per_s * sockets, f"{text} ({channels.source}; {why})", is_ceiling=False)


def _has_sockets(machine: Machine, product: CpuProduct) -> bool:
    """Return whether a machine has its sockets to itself, or more than half of their cores.

    The result is False if the numbers of sockets and cores do not fit the product.
    """
    sockets, cores = machine.topology.packages, machine.topology.cores
    if product.cores is None or not 0 < cores <= sockets * product.cores.max_cores:
        return False
    # Arm has no flag that distinguishes a guest from a physical machine.
    is_alone = machine.hypervisor is None and machine.is_hypervisor_known and machine.cpu.architecture == "x86_64"
    return is_alone or cores > sockets * product.cores.max_cores / 2


def _bandwidth_of(modules: Sequence[Module], slots: Sequence[Module], hypervisor: str | None) -> Rated:
    channels = _channels(modules, slots)
    doubts = [] if channels else ["it does not report which modules share a channel; each counts as its own"]
    doubts += _doubts_of_speed(modules)
    doubts += [f"it is what {hypervisor} shows to its guest"] if hypervisor else []
    # Modules on one channel share its bandwidth, and run at the speed of the slowest module.
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
    """Return whether the configured speed is the clock, as some firmware reports it. A cycle has two transfers."""
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
        int(match["slot"]) <= _MAX_SLOTS_OF_A_CHANNEL
        for slot in slots
        if (match := _LETTER_AND_SLOT.search(slot.locator.upper()))
    )
    channels: dict[object, list[Module]] = {}
    for module in modules:
        channels.setdefault(_channel(module, letters), []).append(module)
    # Identical locators do not distinguish channels.
    distinct = len({(m.bank, m.locator) for m in modules}) == len(modules)
    crowded = any(len(channel) > _MAX_SLOTS_OF_A_CHANNEL for channel in channels.values())
    return list(channels.values()) if distinct and not crowded and None not in channels else []


def _channel(module: Module, letters: bool) -> object:
    """Return a key that is equal for the modules of one channel; None if the locators do not show it."""
    bank, locator = module.bank.upper(), module.locator.upper()
    numbered = _CHANNEL.search(bank) or _CHANNEL.search(locator) or _CHANNEL_AND_DIMM.search(locator)
    lettered = _LETTER_AND_SLOT.search(locator) if letters else None
    if not numbered and not lettered:
        return None
    places = frozenset(_SOCKET.findall(bank) + _SOCKET.findall(locator))
    return places, numbered and numbered["channel"], lettered and lettered["channel"]
