"""Ceilings and their sources."""

from __future__ import annotations

from typing import Any

import pytest

from machines import machine_with
from nameplate.errors import UsageError
from nameplate.probes import ResolvedExperiment, load_probes
from nameplate.probes.shared.ceilings import (
    arithmetic_peak,
    count_ports,
    instructions_per_cycle,
    memory_bandwidth,
    nominal_clock,
    overriding,
    parse_rated,
    textbook_peak,
)
from nameplate.records.machine_record import Machine
from nameplate.records.result import Rated
from nameplate.records.run_record import Sample, Work


def facts(per_cycle: float) -> dict[str, float]:
    """Return the facts of a kernel that starts ``per_cycle`` instructions per cycle on a core at 3 GHz."""
    return {
        "burst_cycles": 32768,
        "port_burst_s": 32768 / 3e9,
        "port_block_instructions": 1e6,
        "port_block_s": 1e6 / per_cycle / 3e9,
        "operations_per_instruction": 16,
    }


def test_ports_are_a_whole_number_of_instructions_per_cycle() -> None:
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
    assert "2.50 GHz (measured in time)" in arithmetic_peak(facts(2), 32768 / 2.5e9, 4, "in time").source
    unknown = arithmetic_peak(facts(0.44), burst_s=1e-5, cores=4)
    assert unknown.value is None
    assert "0.44 instructions per cycle" in unknown.source


def machine(base: float | None, maximum: float | None, listed: float | None) -> Machine:
    cpu = {"base_frequency_hz": base, "maximum_frequency_hz": maximum, "listed_frequency_hz": listed}
    return machine_with(cpu=cpu, topology={"cores": 2})


def test_the_textbook_peak_uses_the_nominal_clock() -> None:
    assert textbook_peak(machine(2.3e9, 3.7e9, 2.1e9), 16, 2).value == pytest.approx(2.3e9 * 2 * 16)
    assert textbook_peak(machine(None, None, 2.1e9), 16, 2).value == pytest.approx(2.1e9 * 2 * 16)
    assert textbook_peak(machine(None, None, None), 16, 2).value is None


def test_a_guest_without_a_nominal_clock_says_so() -> None:
    assert nominal_clock(machine(2.3e9, 3.7e9, None)).value == 3.7e9
    assert nominal_clock(machine(2.3e9, 3.7e9, None)).is_ceiling
    assert nominal_clock(machine(2.3e9, None, None)).value == 2.3e9
    assert not nominal_clock(machine(2.3e9, None, None)).is_ceiling  # the turbo clock exceeds it
    unknown = nominal_clock(machine(None, None, 2.6e9))
    assert unknown.value is None
    assert "--rated cpu_clock=" in unknown.source


def test_given_values_override_by_probe_then_by_area_and_unit() -> None:
    rated = parse_rated(["# a machine type", "", "cpu=2TFLOP/s, memory=59.7GB/s", "cpu_clock=3.5GHz"])
    assert rated == {"cpu FLOP/s": 2e12, "memory B/s": pytest.approx(59.7e9), "cpu_clock Hz": 3.5e9}
    actual = overriding(rated, "cpu_flops", "FLOP/s")
    assert actual is not None
    assert actual.value == 2e12
    assert actual.source == "given: --rated cpu"
    assert overriding(rated, "cpu_clock", "Hz") is not None
    assert overriding(rated, "cpu_flops", "FLOP/cycle") is None
    assert overriding(rated, "disk_block", "B/s") is None


@pytest.mark.parametrize("line", ["memory", "=5GB/s", "memory=fast", "memory=5", "memory=0GB/s"])
def test_an_invalid_given_value_is_rejected(line: str) -> None:
    with pytest.raises(UsageError):
        parse_rated([line])


@pytest.mark.parametrize(
    "lines", [["memory=5GB/s,memory=6GB/s"], ["net=8Gbit/s", "net=1GB/s"], ["cpu=1op/s", "cpu=1op/s"]]
)
def test_a_key_with_several_values_is_rejected(lines: list[str]) -> None:
    with pytest.raises(UsageError, match="has several reference values in "):
        parse_rated(lines)


def module(locator: str, bank: str = "", speed: float | None = 3200, kind: str | None = "DDR4", **fields: Any) -> Any:
    """Return a module of 16 GiB with 64 bits; ``speed`` is in MT/s."""
    configured = speed * 1e6 if speed else None
    return {
        "locator": locator, "bank": bank, "size_bytes": 16 * 2**30, "width_bits": 64, "type": kind,
        "rated_transfers_per_s": configured, "configured_transfers_per_s": configured, **fields,
    }  # fmt: skip


def empty(locator: str, bank: str = "") -> Any:
    """Return a slot without a module."""
    return module(locator, bank, None, None, size_bytes=0, width_bits=None)


def with_modules(*modules: Any, status: str = "read", hypervisor: str | None = None) -> Machine:
    memory = {"modules_status": status, "modules": list(modules) if status == "read" else None}
    return machine_with(hypervisor=hypervisor, memory=memory)


# These are based on public documentation of such machines (manuals, and output of `dmidecode` in bug reports), not on
# recordings.
PLATFORMS = {
    "Ryzen desktop: the second slot of each channel": (
        [
            slot(f"DIMM {number}", f"P0 CHANNEL {letter}")
            for letter in "AB" for number, slot in enumerate((empty, module))
        ],
        "2 channels × 3200 MT/s × 8 B", 51.2e9,
    ),
    "Ryzen desktop, DDR5: four modules in two channels, which makes them slower than they are": (
        [
            module(f"DIMM {n}", f"P0 CHANNEL {c}", 4200, "DDR5", rated_transfers_per_s=5600e6)
            for c in "AB" for n in range(2)
        ],
        "2 channels × 4200 MT/s × 8 B", 67.2e9,
    ),
    "Ryzen desktop, DDR5, overclocked": (
        [module("DIMM 1", f"P0 CHANNEL {c}", 6000, "DDR5", rated_transfers_per_s=4800e6) for c in "AB"],
        "2 channels × 6000 MT/s × 8 B", 96e9,
    ),
    "EPYC 7003 by AMD's reference firmware": (
        [module("DIMM 0", f"P0 CHANNEL {c}") for c in "ABCDEFGH"],
        "8 channels × 3200 MT/s × 8 B", 204.8e9,
    ),
    "EPYC 9004 with two sockets": (
        [module("DIMM 0", f"P{p} CHANNEL {c}", 4800, "DDR5") for p in range(2) for c in "ABCDEFGHIJKL"],
        "24 channels × 4800 MT/s × 8 B", 921.6e9,
    ),
    "Supermicro with an EPYC: eight channels of two slots, five filled": (
        [module(f"DIMM{c}1", f"P0_Node0_Channel{n}_Dimm0") for n, c in enumerate("ABCDE")]
        + [empty(f"DIMM{c}2", f"P0_Node0_Channel{n}_Dimm1") for n, c in enumerate("ABCDEFGH")],
        "5 channels × 3200 MT/s × 8 B", 128e9,
    ),
    "Supermicro with two Xeons: each memory controller counts from 0, the letters do not": (
        [
            module(f"P{p + 1}-DIMM{'ABCDEF'[3 * n + c]}1", f"P{p}_Node{n}_Channel{c}_Dimm0", 2666)
            for p in range(2) for n in range(2) for c in range(3)
        ],
        "12 channels × 2666 MT/s × 8 B", 255.936e9,
    ),
    "Intel server board: letters within each processor": (
        [module(f"CPU{p}_DIMM_{c}{n}", f"NODE {p}", 2400) for p in (1, 2) for c in "ABCD" for n in (1, 2)],
        "8 channels × 2400 MT/s × 8 B", 153.6e9,
    ),
    "Cisco": (
        [module(f"DIMM_{c}1", f"NODE 0 CHANNEL {n} DIMM 0", 2666) for n, c in enumerate("ABCDEF")],
        "6 channels × 2666 MT/s × 8 B", 127.968e9,
    ),
    "Huawei with two sockets": (
        [
            module(f"DIMM{p}{c}{d} J{d}", f"SOCKET {p} CHANNEL {c} DIMM {d}", 2933)
            for p in range(2) for c in range(8) for d in range(2)
        ],
        "16 channels × 2933 MT/s × 8 B", 375.424e9,
    ),
    "Inspur": (
        [module(f"CPU{p}_C{c}D{d}", "", 2933) for p in range(2) for c in range(6) for d in range(2)],
        "12 channels × 2933 MT/s × 8 B", 281.568e9,
    ),
    "Gigabyte server": (
        [module(f"DIMM_P0_{c}0", "BANK 0") for c in "ABCDEFGH"],
        "8 channels × 3200 MT/s × 8 B", 204.8e9,
    ),
    "Core i7, sixth generation": (
        [module(f"Channel{c}-DIMM{d}", f"BANK {2 * n + d}", 2400) for n, c in enumerate("AB") for d in range(2)],
        "2 channels × 2400 MT/s × 8 B", 38.4e9,
    ),
    "Core i7, twelfth generation: two controllers with a channel A each": (
        [module("Controller0-ChannelA-DIMM0", "BANK 0"), module("Controller1-ChannelA-DIMM0", "BANK 0")],
        "2 channels × 3200 MT/s × 8 B", 51.2e9,
    ),
    "laptop with LPDDR5 on eight narrow channels": (
        [
            module(f"Controller{m}-Channel{c}-DIMM0", f"BANK {n}", 6400, "LPDDR5", width_bits=16)
            for m in range(2) for n, c in enumerate("ABCD")
        ],
        "8 channels × 6400 MT/s × 2 B", 102.4e9,
    ),
    "ASUS: the bank tells too": (
        [module("DIMM_A2", "Channel A", 2133), empty("DIMM_A1", "Channel A"), empty("DIMM_B1", "Channel B")],
        "1 channel × 2133 MT/s × 8 B", 17.064e9,
    ),
    "one module alone": ([module("ChannelA-DIMM0", "BANK 0", 2666)], "1 channel × 2666 MT/s × 8 B", 21.328e9),
    "channels of different speed": (
        [module("ChannelA-DIMM0", "", 3200), module("ChannelA-DIMM1", "", 2666), module("ChannelB-DIMM0", "", 3200)],
        "1 channel × 2666 MT/s × 8 B + 1 channel × 3200 MT/s × 8 B", 46.928e9,
    ),
    "persistent memory next to the channels' DRAM": (
        [module("CPU0_DIMM_A0", "A0_Node0_Channel0_Dimm0", 2666),
         module("CPU0_DIMM_A1", "A0_Node0_Channel0_Dimm1", 2666, "logical non-volatile device")],
        "1 channel × 2666 MT/s × 8 B", 21.328e9,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLATFORMS)
def test_the_reference_value_of_memory_follows_from_its_channels(name: str) -> None:
    modules, source, value = PLATFORMS[name]
    rated = memory_bandwidth(with_modules(*modules))
    assert rated.source == f"{source} (DMI)"
    assert rated.value == pytest.approx(value)
    assert rated.is_ceiling


UNTOLD = {
    "HPE: slots counted over all channels": [
        module(f"PROC {p} DIMM {n}", "Not Specified") for p in (1, 2) for n in (1, 3)
    ],
    "Dell with DDR3: the letter is the processor": [
        *[module(f"DIMM_{p}{n}") for p in "AB" for n in (1, 2)],
        *[empty(f"DIMM_{p}{n}") for p in "AB" for n in range(3, 7)],
    ],
    "Dell with DDR4": [module(f"{p}{n}", "Not Specified") for p in "AB" for n in (1, 2)],
    "coreboot: every place bears the same names": [module("Channel-0-DIMM-0", "BANK 0")] * 4,
    "counted slots": [module(f"DIMM {n}") for n in range(4)],
    "more modules in a channel than fit": [module(f"Channel A Slot {n}") for n in range(4)],
    "some tell": [module("ChannelA-DIMM0"), *[module(f"DIMM {n}") for n in range(3)]],
}  # fmt: skip


@pytest.mark.parametrize("name", UNTOLD)
def test_without_known_locators_each_module_is_a_channel(name: str) -> None:
    rated = memory_bandwidth(with_modules(*UNTOLD[name]))
    assert rated.value == pytest.approx(4 * 3200e6 * 8)
    assert not rated.is_ceiling
    assert rated.source.startswith("4 channels × 3200 MT/s × 8 B (DMI; it does not report which modules share")


def test_a_clock_rate_instead_of_a_transfer_rate_is_detected() -> None:
    modules = [module("DIMM 0", f"P0 CHANNEL {c}", 2666, configured_transfers_per_s=1333e6) for c in "AB"]
    rated = memory_bandwidth(with_modules(*modules))
    assert rated.value == pytest.approx(2 * 2666e6 * 8)
    assert not rated.is_ceiling
    assert "taken for the clock in MHz" in rated.source


def test_without_a_configured_speed_the_speed_of_the_module_is_used() -> None:
    rated = memory_bandwidth(with_modules(module("DIMM_A1", "", 1600, "DDR3", configured_transfers_per_s=None)))
    assert rated.value == pytest.approx(12.8e9)
    assert not rated.is_ceiling
    assert "the modules' maximum speed" in rated.source


def test_memory_modules_shown_by_a_hypervisor_are_no_ceiling() -> None:
    rated = memory_bandwidth(with_modules(module("Not Specified", "Not Specified", 2666), hypervisor="kvm"))
    assert rated.value == pytest.approx(21.328e9)
    assert not rated.is_ceiling
    assert "it is what kvm shows to its guest" in rated.source


@pytest.mark.parametrize(
    ("machine_without", "reason"),
    [
        (with_modules(status="no_table"), "no DMI table"),
        (with_modules(status="no_permission"), "only root may read"),
        (with_modules(status="damaged"), "damaged"),
        (machine_with(), "did not read the list of memory modules"),
        (with_modules(), "no memory module"),
        (with_modules(empty("DIMM 0"), empty("DIMM 1")), "no memory module"),
        (with_modules(module("DIMM 0", "", None, "RAM", width_bits=None), hypervisor="kvm"), "usual under QEMU"),
        (with_modules(module("DIMM 0", width_bits=None)), "the memory's width"),
    ],
)  # fmt: skip
def test_unknown_memory_says_why_and_what_to_do(machine_without: Machine, reason: str) -> None:
    rated = memory_bandwidth(machine_without)
    assert rated.value is None
    assert reason in rated.source
    assert rated.source.endswith("give one with --rated memory=59.7GB/s")


def genoa(cores: int, packages: int = 1, hypervisor: str | None = "kvm") -> Machine:
    """Return a machine with an EPYC 9004, whose largest socket has 96 cores, that does not show its modules."""
    return machine_with(
        hypervisor=hypervisor, cpu={"model": "AMD EPYC 9R14"}, topology={"cores": cores, "packages": packages},
        memory={"modules_status": "no_table", "modules": None},
    )  # fmt: skip


@pytest.mark.parametrize(("machine", "sockets"), [(genoa(96), 1), (genoa(49), 1), (genoa(176, 2), 2),
                                                   (genoa(16, hypervisor=None), 1)])  # fmt: skip
def test_a_machine_with_whole_sockets_has_their_documented_bandwidth(machine: Machine, sockets: int) -> None:
    rated = memory_bandwidth(machine)
    assert rated.value == pytest.approx(sockets * 12 * 4800e6 * 8)
    assert not rated.is_ceiling
    assert rated.kind == "derived"
    message = f"{sockets} socket{'s' if sockets > 1 else ''} × 12 channels × 4800 MT/s × 8 B, the most of EPYC 9004"
    assert rated.source.startswith(message)
    assert "PowerEdge R6615" in rated.source


@pytest.mark.parametrize("machine", [genoa(2), genoa(48), genoa(96, 96), genoa(96, 0), genoa(192)])
def test_a_small_guest_is_not_compared_with_a_socket_that_it_shares(machine: Machine) -> None:
    rated = memory_bandwidth(machine)
    assert rated.value is None
    assert "a whole socket of EPYC 9004 has 460.8 GB/s at most (12 channels × 4800 MT/s" in rated.source
    assert "up to 96 cores share" in rated.source
    assert rated.source.endswith("give one with --rated memory=59.7GB/s")


def test_arm_does_not_tell_a_guest_from_a_machine() -> None:
    arm = {"architecture": "aarch64", "vendor": "ARM", "model": "Neoverse-N1"}
    assert memory_bandwidth(machine_with(genoa(2, hypervisor=None), cpu=arm)).value is None
    complete = memory_bandwidth(machine_with(genoa(80, hypervisor=None), cpu=arm))
    assert complete.value == pytest.approx(8 * 3200e6 * 8)


FLOPS = load_probes()["cpu_flops"]


def fma_peak(
    per_cycle: float, model: str = "AMD EPYC 9R14", wide: float = 16, architecture: str = "x86_64", **params: object
) -> Rated:
    """Return the reference value of a rate, with ``wide`` operations per instruction and a measured 2.5 GHz."""
    experiment = ResolvedExperiment(
        {"precision": "fp64", "mix": "fma", "threads": 2, **params},  # type: ignore[dict-item]
        {**facts(per_cycle), "operations_per_instruction": wide},
        machine_with(cpu={"model": model, "architecture": architecture}),
    )  # fmt: skip
    sample = Sample(
        id="x", index=0, start_s=0.0, elapsed_s=1.0, repetitions=1, work=Work(0, 1, 0), disturbed={},
        counters={"burst_s": 32768 / 2.5e9},
    )  # fmt: skip
    return FLOPS.rated(FLOPS.metrics[0], experiment, [sample])


def test_documented_units_count_where_ports_could_not_be_counted() -> None:
    assert fma_peak(1.0).value == pytest.approx(1 * 16 * 2.5e9 * 2), "an AVX-512 instruction takes both units"
    assert fma_peak(1.0).kind == "measured"
    for wide, precision, per_cycle in ((16, "fp64", 16), (32, "fp32", 32), (8, "fp64", 16), (4, "fp64", 8)):
        rated = fma_peak(0.8, wide=wide, precision=precision)
        assert rated.value == pytest.approx(per_cycle * 2.5e9 * 2), (wide, precision)
        assert not rated.is_ceiling
        assert rated.source.startswith("2 units for fused multiply-add × ")
        assert "X86ScheduleZnver4" in rated.source


def test_narrow_instructions_of_arm_may_be_split_into_more_units() -> None:
    v1 = {"model": "Neoverse-V1", "architecture": "aarch64"}
    assert fma_peak(0.8, wide=8, **v1).value == pytest.approx(16 * 2.5e9 * 2)
    assert fma_peak(0.8, wide=4, **v1).value is None


@pytest.mark.parametrize("other", [{"mix": "div"}, {"precision": "bf16"}, {"model": "Unheard Of"}])
def test_without_documents_an_uncounted_port_leaves_no_reference_value(other: dict[str, str]) -> None:
    rated = fma_peak(0.8, **other)  # type: ignore[arg-type]
    assert rated.value is None
    assert "0.80 instructions per cycle are not close to a whole number of ports" in rated.source
