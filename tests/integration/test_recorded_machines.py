"""The core's description of recorded machines: the facts in their files, and nothing that identifies a unit."""

import json
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import recorded_machine
from catalogue_samples import shipped_catalogue
from nameplate.command_line import run
from nameplate.expectations.machine_type import machine_type
from nameplate.probes.shared.ceilings import memory_bandwidth
from nameplate.records.machine_record import Machine as MachineRecord

Machine = dict[str, Any]
Describe = Callable[[str], Machine]
DescribeChanged = Callable[[str, dict[str, str]], Machine]

KIBI = 1024
MEBI = 1024 * KIBI
GIBI = 1024 * MEBI

NAMES = ["arm-server", "cloud-guest", "epyc-2s", "hybrid-laptop", "this-vm", "xeon-2s"]
IDENTIFYING_KEYS = {"serial", "uuid", "mac", "address", "asset"}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
HARDWARE_ADDRESS = re.compile(r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}", re.IGNORECASE)


def described(core: Path, root: Path) -> Machine:
    command = [str(core), "--machine", "--root", str(root)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    machine: Machine = json.loads(output)
    return machine


@pytest.fixture(scope="module")
def describe(core_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Describe:
    """Return a function that unpacks a machine and returns the core's description of it, once per machine."""
    known: dict[str, Machine] = {}

    def of(name: str) -> Machine:
        if name not in known:
            root = tmp_path_factory.mktemp(name)
            recorded_machine.unpack(name, root)
            known[name] = described(core_path, root)
        return known[name]

    return of


@pytest.fixture
def changed(core_path: Path, tmp_path: Path) -> DescribeChanged:
    """Return a function that returns the core's description of a machine after some of its files were changed."""

    def of(name: str, files: dict[str, str]) -> Machine:
        recorded_machine.unpack(name, tmp_path)
        for path, content in files.items():
            (tmp_path / path).write_text(content + "\n", encoding="utf-8")
        return described(core_path, tmp_path)

    return of


def counts(machine: Machine) -> tuple[int, int, int]:
    topology = machine["topology"]
    return topology["packages"], topology["cores"], topology["threads"]


def caches(machine: Machine) -> set[tuple[int, str, int, int, int, int]]:
    """Return the caches as (level, type, bytes, ways, count, threads that share one)."""
    fields = ("level", "type", "size_bytes", "ways", "count", "shared_by")
    return {tuple(cache[field] for field in fields) for cache in machine["topology"]["caches"]}


def cpuid_caches(machine: Machine) -> list[tuple[int, str, int, int, int]]:
    """Return the caches of CPUID as (level, type, bytes, ways, threads that may share one)."""
    fields = ("level", "type", "size_bytes", "ways", "shared_by")
    return [tuple(cache[field] for field in fields) for cache in machine["topology"]["cpuid_caches"]]


def unlimited(version: int) -> dict[str, int | None]:
    """Return the limits of control groups of this version without any limit."""
    return {
        "cgroup_version": version,
        "are_visible": True,
        "cpus": None,
        "memory_bytes": None,
        "memory_available_bytes": None,
    }


def nodes(machine: Machine) -> dict[int, str]:
    return {node["index"]: node["cpus"] for node in machine["topology"]["numa_nodes"]}


def kinds(machine: Machine) -> list[tuple[int, int]]:
    """Return the kinds of cores as (cores, maximum frequency), in the core's order."""
    return [(kind["cores"], kind["maximum_frequency_hz"]) for kind in machine["topology"]["core_kinds"]]


def frequencies(machine: Machine) -> tuple[float | None, float | None, float | None]:
    """Return the frequencies as (base, maximum, listed)."""
    cpu = machine["cpu"]
    return cpu["base_frequency_hz"], cpu["maximum_frequency_hz"], cpu["listed_frequency_hz"]


def settings(machine: Machine) -> tuple[str | None, bool | None, bool | None]:
    """Return the settings as (governor, turbo, hardware threads)."""
    cpu = machine["cpu"]
    return cpu["governor"], cpu["turbo"], cpu["smt"]


def signature(machine: Machine) -> tuple[int | None, int | None, int | None]:
    """Return the CPUID signature as (family, model, stepping)."""
    cpu = machine["cpu"]
    return cpu["family_number"], cpu["model_number"], cpu["stepping"]


def identity(machine: Machine) -> tuple[str, str, str]:
    cpu = machine["cpu"]
    return cpu["architecture"], cpu["vendor"], cpu["model"]


def test_every_recorded_machine_is_tested() -> None:
    assert recorded_machine.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_machine_has_an_origin(name: str) -> None:
    assert re.fullmatch(r"recorded|written after public documentation: .{20,}", recorded_machine.origin(name))


def test_patterns_expand_to_files(tmp_path: Path) -> None:
    recorded_machine.unpack("xeon-2s", tmp_path)

    def content(path: str) -> str:
        return (tmp_path / "sys/devices/system" / path).read_text(encoding="utf-8")

    assert content("cpu/cpu2/topology/core_cpus") == "40,00000004\n"
    assert content("cpu/cpu53/topology/core_cpus") == "200000,00020000\n"
    assert content("cpu/cpu53/topology/core_id") == "17\n"
    assert content("node/node0/cpumap") == "3ffff0,0003ffff\n"
    assert content("node/node1/cpumap") == "ff,ffc0000f,fffc0000\n"


class TestThisVm:
    @pytest.fixture
    def machine(self, describe: Describe) -> Machine:
        return describe("this-vm")

    def test_cpu(self, machine: Machine) -> None:
        assert identity(machine) == ("x86_64", "AuthenticAMD", "AMD EPYC")
        assert signature(machine) == (25, 17, 1)
        assert frequencies(machine) == (None, None, 2_596_150_000)
        assert settings(machine) == (None, None, False)
        assert {"hypervisor", "avx512f", "avx512_vnni"} <= set(machine["cpu"]["flags"])

    def test_topology(self, machine: Machine) -> None:
        assert counts(machine) == (1, 2, 2)
        assert nodes(machine) == {0: "0-1"}
        assert kinds(machine) == [(2, 0)]
        assert caches(machine) == {
            (1, "data", 32 * KIBI, 8, 2, 1),
            (1, "instruction", 32 * KIBI, 8, 2, 1),
            (2, "unified", 1 * MEBI, 8, 2, 1),
            (3, "unified", 32 * MEBI, 16, 1, 2),
        }

    def test_memory(self, machine: Machine) -> None:
        assert machine["memory"] == {
            "total_bytes": 24684084 * KIBI,
            "available_bytes": 23245508 * KIBI,
            "swap_bytes": 0,
            "swap_used_bytes": 0,
            "page_bytes": resource.getpagesize(),
            "transparent_huge_pages": "madvise",
            "modules_status": "no_table",
            "modules": None,
        }
        assert "no DMI table" in memory_bandwidth(msgspec.convert(machine, MachineRecord)).source

    def test_cpuid_agrees_with_the_kernel(self, machine: Machine) -> None:
        assert cpuid_caches(machine) == [
            (1, "data", 32 * KIBI, 8, 1),
            (1, "instruction", 32 * KIBI, 8, 1),
            (2, "unified", 1 * MEBI, 8, 1),
            (3, "unified", 32 * MEBI, 16, 2),
        ]

    def test_a_version_1_group_without_limits(self, machine: Machine) -> None:
        assert machine["limits"] == unlimited(1)
        assert machine["topology"]["allowed_cpus"] == [0, 1]
        assert machine["default_threads"] == 2

    def test_system(self, machine: Machine) -> None:
        assert machine["hostname"] == "recorded"
        assert machine["kernel"] == "6.18.44-fc-v669"
        assert (machine["emulator"], machine["container"], machine["blocked_calls"]) == (None, None, [])
        assert machine["distribution"] == "Debian GNU/Linux 12 (bookworm)"
        assert machine["hypervisor"] == "kvm"
        assert machine["product"] is None
        assert machine["load_1min"] == 2.1
        assert machine["vulnerable_to"] == ["spec_rstack_overflow", "spec_store_bypass"]
        assert machine["mitigated"] == ["spectre_v1", "spectre_v2"]
        assert machine["power"] == {"on_battery": None, "profile": None, "is_visible": False}


class TestEpycWithTwoSocketsAndEightNodes:
    @pytest.fixture
    def machine(self, describe: Describe) -> Machine:
        return describe("epyc-2s")

    def test_cpu(self, machine: Machine) -> None:
        assert identity(machine) == ("x86_64", "AuthenticAMD", "AMD EPYC 9754 128-Core Processor")
        assert signature(machine) == (25, 160, 2)
        assert settings(machine) == ("performance", True, True)

    def test_topology(self, machine: Machine) -> None:
        assert counts(machine) == (2, 256, 512)
        assert nodes(machine) == {n: f"{32 * n}-{32 * n + 31},{256 + 32 * n}-{287 + 32 * n}" for n in range(8)}
        assert caches(machine) == {
            (1, "data", 32 * KIBI, 8, 256, 2),
            (1, "instruction", 32 * KIBI, 8, 256, 2),
            (2, "unified", 1 * MEBI, 8, 256, 2),
            (3, "unified", 16 * MEBI, 16, 32, 16),
        }
        assert machine["topology"]["allowed_cores"] == 256

    @pytest.mark.parametrize("plan", ["quick", "full"])
    def test_six_rounds_of_a_plan_fit_its_budget(
        self, plan: str, core_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        recorded_machine.unpack("epyc-2s", tmp_path / "root")
        core = tmp_path / "core"
        core.write_text(f'#!/bin/sh\nexec "{core_path}" --root "{tmp_path}/root" "$@"\n')
        core.chmod(0o755)
        monkeypatch.setenv("NAMEPLATE_CORE", str(core))
        monkeypatch.chdir(tmp_path)
        assert run(["run", plan, "--dry-run"]) == 0
        printed = capsys.readouterr().out
        actual = re.search(r"6 rounds take about (\d+) s; measuring ends within (\d+) s", printed)
        assert actual
        assert 0 < int(actual[1]) <= int(actual[2])
        assert "threads=512" in printed
        assert ("node=7 memory_node=0" in printed) == (plan == "full")


class TestXeonWithTwoSockets:
    @pytest.fixture
    def machine(self, describe: Describe) -> Machine:
        return describe("xeon-2s")

    def test_cpu(self, machine: Machine) -> None:
        assert identity(machine) == ("x86_64", "GenuineIntel", "Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz")
        assert signature(machine) == (6, 85, 4)
        assert frequencies(machine) == (2_300_000_000, 3_700_000_000, 1_000_128_000)
        assert settings(machine) == ("powersave", True, True)

    def test_topology(self, machine: Machine) -> None:
        assert counts(machine) == (2, 36, 72)
        assert nodes(machine) == {0: "0-17,36-53", 1: "18-35,54-71"}
        assert kinds(machine) == [(36, 3_700_000_000)]
        assert caches(machine) == {
            (1, "data", 32 * KIBI, 8, 36, 2),
            (1, "instruction", 32 * KIBI, 8, 36, 2),
            (2, "unified", 1 * MEBI, 16, 36, 2),
            (3, "unified", 25344 * KIBI, 11, 2, 36),
        }

    def test_cpuid_counts_the_possible_threads(self, machine: Machine) -> None:
        assert cpuid_caches(machine) == [
            (1, "data", 32 * KIBI, 8, 2),
            (1, "instruction", 32 * KIBI, 8, 2),
            (2, "unified", 1 * MEBI, 16, 2),
            (3, "unified", 25344 * KIBI, 11, 64),
        ]

    def test_workers_use_every_core_before_a_sibling(self, machine: Machine) -> None:
        allowed = machine["topology"]["allowed_cpus"]
        assert set(allowed[:36]) == set(range(36))
        assert set(allowed[36:]) == set(range(36, 72))
        assert machine["topology"]["allowed_cores"] == 36
        assert machine["default_threads"] == 36

    def test_memory_and_limits(self, machine: Machine) -> None:
        assert machine["memory"]["total_bytes"] == 197584128 * KIBI
        assert machine["memory"]["swap_bytes"] == 8388604 * KIBI
        assert machine["limits"] == unlimited(2)

    def test_system(self, machine: Machine) -> None:
        assert machine["hypervisor"] is None
        assert machine["product"] == "HPE ProLiant DL380 Gen10"
        assert machine["distribution"] == "Ubuntu 22.04.4 LTS"
        assert machine["vulnerable_to"] == ["mmio_stale_data"]


class TestHybridLaptop:
    @pytest.fixture
    def machine(self, describe: Describe) -> Machine:
        return describe("hybrid-laptop")

    def test_cpu(self, machine: Machine) -> None:
        assert identity(machine) == ("x86_64", "GenuineIntel", "12th Gen Intel(R) Core(TM) i7-1260P")
        assert signature(machine) == (6, 154, 3)
        assert frequencies(machine) == (2_100_000_000, 4_700_000_000, 400_000_000)
        assert settings(machine) == ("powersave", True, True)

    def test_it_runs_on_battery(self, machine: Machine) -> None:
        assert machine["power"] == {"on_battery": True, "profile": "low-power", "is_visible": True}
        assert machine["memory"]["swap_used_bytes"] == 262144 * KIBI

    def test_topology(self, machine: Machine) -> None:
        assert counts(machine) == (1, 12, 16)
        assert nodes(machine) == {0: "0-15"}
        assert caches(machine) == {
            (1, "data", 48 * KIBI, 12, 4, 2),
            (1, "data", 32 * KIBI, 8, 8, 1),
            (1, "instruction", 32 * KIBI, 8, 4, 2),
            (1, "instruction", 64 * KIBI, 8, 8, 1),
            (2, "unified", 1280 * KIBI, 10, 4, 2),
            (2, "unified", 2 * MEBI, 16, 2, 4),
            (3, "unified", 18 * MEBI, 12, 1, 16),
        }

    def test_without_recorded_cpuid_the_host_cpu_is_not_queried(self, machine: Machine) -> None:
        assert cpuid_caches(machine) == []

    def test_memory_modules(self, machine: Machine) -> None:
        assert machine["memory"]["modules_status"] == "read"
        assert machine["memory"]["modules"] == [
            {
                "locator": f"Controller{n}-ChannelA-DIMM0", "bank": f"BANK {n}", "size_bytes": 8 * GIBI,
                "width_bits": 64, "rated_transfers_per_s": 3_200_000_000, "configured_transfers_per_s": 3_200_000_000,
                "type": "DDR4",
            }
            for n in range(2)
        ]  # fmt: skip
        rated = memory_bandwidth(msgspec.convert(machine, MachineRecord))
        assert rated.value == 51_200_000_000
        assert rated.is_ceiling

    def test_two_kinds_of_cores_are_listed_slower_first(self, machine: Machine) -> None:
        assert kinds(machine) == [(8, 3_400_000_000), (4, 4_700_000_000)]

    def test_kinds_have_names(self, machine: Machine) -> None:
        names = [kind["name"] for kind in machine["topology"]["core_kinds"]]
        assert names == ["IntelAtom", "IntelCore"]

    def test_workers_take_fast_cores_then_slow_ones_then_siblings(self, machine: Machine) -> None:
        allowed = machine["topology"]["allowed_cpus"]
        assert set(allowed[:4]) == {0, 2, 4, 6}
        assert set(allowed[4:12]) == set(range(8, 16))
        assert set(allowed[12:]) == {1, 3, 5, 7}
        assert machine["default_threads"] == 12

    def test_system(self, machine: Machine) -> None:
        assert machine["memory"]["total_bytes"] == 16077176 * KIBI
        assert machine["memory"]["transparent_huge_pages"] == "always"
        assert machine["limits"] == unlimited(2)
        assert machine["hypervisor"] is None
        assert machine["product"] == "Framework Laptop (12th Gen Intel Core)"
        assert machine["distribution"] == "Fedora Linux 39 (Workstation Edition)"
        assert machine["vulnerable_to"] == []


class TestArmServer:
    @pytest.fixture
    def machine(self, describe: Describe) -> Machine:
        return describe("arm-server")

    def test_cpu(self, machine: Machine) -> None:
        assert identity(machine) == ("aarch64", "ARM", "Neoverse-N1")
        assert signature(machine) == (None, None, None)
        assert frequencies(machine) == (None, 3_000_000_000, None)
        assert settings(machine) == ("ondemand", None, False)
        assert {"asimd", "asimddp", "atomics"} <= set(machine["cpu"]["flags"])

    def test_topology_without_a_third_level_cache(self, machine: Machine) -> None:
        assert counts(machine) == (1, 80, 80)
        assert nodes(machine) == {0: "0-79"}
        assert kinds(machine) == [(80, 3_000_000_000)]
        assert caches(machine) == {
            (1, "data", 64 * KIBI, 4, 80, 1),
            (1, "instruction", 64 * KIBI, 4, 80, 1),
            (2, "unified", 1 * MEBI, 8, 80, 1),
        }

    def test_all_cores_are_allowed(self, machine: Machine) -> None:
        assert machine["topology"]["allowed_cpus"] == list(range(80))
        assert machine["limits"] == unlimited(2)
        assert machine["default_threads"] == 80

    def test_system(self, machine: Machine) -> None:
        assert machine["memory"]["total_bytes"] == 263781376 * KIBI
        assert machine["hypervisor"] is None
        assert machine["product"] == "GIGABYTE R272-P30-JG"
        assert machine["vulnerable_to"] == []


class TestCloudGuest:
    @pytest.fixture
    def machine(self, describe: Describe) -> Machine:
        return describe("cloud-guest")

    def test_cpu(self, machine: Machine) -> None:
        assert identity(machine) == ("x86_64", "AuthenticAMD", "AMD EPYC 9R14")
        assert signature(machine) == (25, 17, 1)
        assert frequencies(machine) == (None, None, 2_600_000_000)
        assert settings(machine) == (None, None, False)

    def test_last_level_cache_is_hidden(self, machine: Machine) -> None:
        assert counts(machine) == (1, 2, 2)
        assert nodes(machine) == {0: "0-1"}
        assert caches(machine) == {
            (1, "data", 32 * KIBI, 8, 2, 1),
            (1, "instruction", 32 * KIBI, 8, 2, 1),
            (2, "unified", 1 * MEBI, 8, 2, 1),
        }

    def test_the_tightest_group_limits_threads_and_memory(self, machine: Machine) -> None:
        # Of the 768 MiB in use, 384 MiB are page cache that can be dropped.
        available = 2 * GIBI - 384 * MEBI
        assert machine["limits"] == {
            "cgroup_version": 2, "cpus": 1.5, "memory_bytes": 2 * GIBI, "memory_available_bytes": available,
            "are_visible": True,
        }  # fmt: skip
        assert machine["topology"]["allowed_cores"] == 2
        assert machine["default_threads"] == 1

    def test_system(self, machine: Machine) -> None:
        assert machine["memory"]["total_bytes"] == 7934976 * KIBI
        assert machine["hypervisor"] == "kvm"
        assert machine["product"] == "Amazon EC2 m7a.large"
        assert machine["distribution"] == "Amazon Linux 2023.4.20240416"


class TestCpuset:
    """A server whose control group allows the process four cores of the first socket."""

    @pytest.fixture
    def machine(self, changed: DescribeChanged) -> Machine:
        group = "sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope"
        files = {f"{group}/cpuset.cpus.effective": "0-3,36-39", f"{group}/cpuset.mems.effective": "0"}
        return changed("xeon-2s", files)

    def test_it_limits_the_allowed_cores(self, machine: Machine) -> None:
        assert machine["topology"]["allowed_cpus"] == [0, 1, 2, 3, 36, 37, 38, 39]
        assert machine["topology"]["allowed_cores"] == 4
        assert machine["default_threads"] == 4

    def test_it_does_not_change_the_topology(self, machine: Machine, describe: Describe) -> None:
        assert counts(machine) == (2, 36, 72)
        assert nodes(machine) == {0: "0-17,36-53", 1: "18-35,54-71"}
        assert caches(machine) == caches(describe("xeon-2s"))


def test_the_maximum_frequency_is_that_of_the_fastest_core(changed: DescribeChanged) -> None:
    fastest = {f"sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq": "3900000" for cpu in (3, 39)}
    assert changed("xeon-2s", fastest)["cpu"]["maximum_frequency_hz"] == 3_900_000_000


def keys_and_values(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, content in value.items():
            yield from keys_and_values(content, str(name))
    elif isinstance(value, list):
        for content in value:
            yield from keys_and_values(content, key)
    else:
        yield key, str(value)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_identifies_a_unit(name: str, describe: Describe) -> None:
    for key, value in keys_and_values(describe(name)):
        assert not IDENTIFYING_KEYS & set(key.split("_")), key
        assert not UUID.search(value), value
        assert not HARDWARE_ADDRESS.search(value), value


def test_serial_numbers_of_memory_modules_are_left_out(describe: Describe, tmp_path: Path) -> None:
    recorded_machine.unpack("hybrid-laptop", tmp_path)
    assert b"INVENTED-SERIAL-0" in (tmp_path / "sys/firmware/dmi/tables/DMI").read_bytes()
    assert "INVENTED" not in json.dumps(describe("hybrid-laptop"))


def test_a_damaged_dmi_table_is_reported(core_path: Path, tmp_path: Path) -> None:
    recorded_machine.unpack("hybrid-laptop", tmp_path)
    table = tmp_path / "sys/firmware/dmi/tables/DMI"
    table.write_bytes(table.read_bytes()[:-20])
    memory = described(core_path, tmp_path)["memory"]
    assert (memory["modules_status"], memory["modules"]) == ("damaged", None)


def test_planted_identifiers_are_left_out(describe: Describe, tmp_path: Path) -> None:
    recorded_machine.unpack("xeon-2s", tmp_path)
    said = json.dumps(describe("xeon-2s"))
    for path in ("class/dmi/id/product_serial", "class/dmi/id/product_uuid", "class/net/eno1/address"):
        assert (tmp_path / "sys" / path).read_text(encoding="utf-8").strip() not in said


@pytest.mark.parametrize("name", NAMES)
def test_an_instance_type_is_recognised_and_other_machines_are_none(name: str, describe: Describe) -> None:
    machine = msgspec.convert(describe(name), MachineRecord)
    message = "aws m7a.large (from the DMI)" if name == "cloud-guest" else "no type of the catalogue"
    assert machine_type(machine, shipped_catalogue()).description == message


def change(root: Path, path: str, content: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(content, encoding="utf-8")


class TestHostileRecording:
    """Files that Linux never has, for which hwloc would wait or allocate memory without end."""

    @staticmethod
    def rejection(core: Path, root: Path) -> str:
        """Return the only line that the core writes; it must not wait."""
        command = [str(core), "--machine", "--root", str(root)]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (answer.returncode, answer.stdout) == (2, "")
        (line,) = answer.stderr.splitlines()
        return line.removeprefix("nameplate-core: ")

    @pytest.mark.parametrize(
        "path",
        [
            "proc/cpuinfo", "proc/stat", "proc/mounts", "sys/devices/system/cpu/online",
            "sys/devices/system/cpu/cpu1/cache/index0/size", "sys/devices/system/node/node0/meminfo",
            "sys/class/dmi/id/product_name",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("kind", ["pipe", "link to a pipe"])
    def test_a_named_pipe_is_rejected(self, path: str, kind: str, core_path: Path, tmp_path: Path) -> None:
        recorded_machine.unpack("this-vm", tmp_path)
        target = tmp_path / path
        target.unlink(missing_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(target if kind == "pipe" else tmp_path / "pipe")
        if kind != "pipe":
            target.symlink_to(tmp_path / "pipe")
        assert self.rejection(core_path, tmp_path).startswith(f"/{path}: not a regular file")

    @pytest.mark.parametrize(
        ("path", "content"),
        [
            ("sys/devices/system/cpu/online", "0-1000000000"),
            ("sys/devices/system/cpu/possible", "0,99999999999999999999999"),
            ("sys/devices/system/node/online", "0-1000000000"),
            ("sys/devices/system/node/node0/cpulist", "0-1000000000"),
            ("sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0-1000000000"),
            ("sys/devices/cpu_core/cpus", "0-1000000000"),
            ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-1000000000"),
            ("sys/fs/cgroup/cpuset.cpus.effective", "0-1000000000"),
            ("sys/devices/system/cpu/cpu1000000000/topology/core_id", "0"),
            ("sys/devices/system/node/node1000000000/cpulist", "0"),
            ("proc/cpuinfo", "processor\t: 1000000000"),
        ],
    )
    def test_a_number_that_linux_cannot_have_is_rejected(
        self, path: str, content: str, core_path: Path, tmp_path: Path
    ) -> None:
        recorded_machine.unpack("this-vm", tmp_path)
        change(tmp_path, path, content + "\n")
        line = self.rejection(core_path, tmp_path)
        assert re.match(r"/(proc|sys)/[\w/.]+: the number 9*1?0*9* is above 65535, the highest for a CPU or node", line)

    def test_a_mask_or_list_of_any_length_is_rejected(self, core_path: Path, tmp_path: Path) -> None:
        recorded_machine.unpack("this-vm", tmp_path)
        change(tmp_path, "sys/devices/system/cpu/cpu0/topology/core_cpus", "ffffffff," * 100_000 + "1\n")
        assert "core_cpus: larger than 65536 bytes" in self.rejection(core_path, tmp_path)

    def test_a_file_without_end_is_rejected(self, core_path: Path, tmp_path: Path) -> None:
        recorded_machine.unpack("this-vm", tmp_path)
        with (tmp_path / "proc/meminfo").open("ab") as file:
            file.truncate(1 << 40)
        assert self.rejection(core_path, tmp_path).startswith("/proc/meminfo: larger than 67108864 bytes")

    def test_impossible_numbers_are_unknown(self, core_path: Path, tmp_path: Path) -> None:
        recorded_machine.unpack("this-vm", tmp_path)
        change(tmp_path, "proc/meminfo", "MemTotal: 1e300 kB\nMemAvailable: -5 kB\nSwapTotal: nan kB\nSwapFree: 7 kB\n")
        change(tmp_path, "proc/cpuinfo", "processor: 0\ncpu family: 1e300\nmodel: -7\nstepping: inf\nflags: fpu\n")
        machine = described(core_path, tmp_path)
        assert signature(machine) == (None, None, None)
        memory = machine["memory"]
        assert (memory["total_bytes"], memory["available_bytes"]) == (0, None)
        assert (memory["swap_bytes"], memory["swap_used_bytes"]) == (None, None)

    def test_nameplate_shows_the_reason(
        self, core_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("NAMEPLATE_CORE", str(core_path))
        recorded_machine.unpack("this-vm", tmp_path)
        (tmp_path / "proc/cpuinfo").unlink()
        os.mkfifo(tmp_path / "proc/cpuinfo")
        assert run(["machine", "--root", str(tmp_path)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "/proc/cpuinfo: not a regular file" in line


class TestMachineThatHidesFiles:
    """A fact that the system does not report is unknown, and not 0, none or bare metal."""

    @staticmethod
    def without(name: str, core: Path, root: Path, *paths: str) -> Machine:
        recorded_machine.unpack(name, root)
        for path in paths:
            target = root / path
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        return described(core, root)

    def test_its_hypervisor(self, core_path: Path, tmp_path: Path) -> None:
        (tmp_path / "x86").mkdir()
        x86 = self.without("this-vm", core_path, tmp_path / "x86", "proc/cpuinfo", "recorded/cpuid")
        assert (x86["hypervisor"], x86["is_hypervisor_known"]) == (None, False)
        (tmp_path / "arm").mkdir()
        arm = self.without("arm-server", core_path, tmp_path / "arm", "sys/class/dmi")
        assert (arm["hypervisor"], arm["is_hypervisor_known"]) == (None, False)

    def test_cpuid_tells_what_a_hidden_cpuinfo_does_not(self, core_path: Path, tmp_path: Path) -> None:
        recorded_machine.unpack("this-vm", tmp_path)
        (tmp_path / "proc/cpuinfo").unlink()
        for ecx, expected in (("80000000", ("kvm", True)), ("00000000", (None, True))):
            cpuid = f"0x00000001 0x00: eax=0x00000000 ebx=0x00000000 ecx=0x{ecx} edx=0x00000000\n"
            change(tmp_path, "recorded/cpuid", cpuid)
            machine = described(core_path, tmp_path)
            assert (machine["hypervisor"], machine["is_hypervisor_known"]) == expected

    def test_its_memory_load_and_vulnerabilities(self, core_path: Path, tmp_path: Path) -> None:
        hidden = ("proc/meminfo", "proc/loadavg", "sys/devices/system/cpu/vulnerabilities", "sys/kernel/mm")
        machine = self.without("this-vm", core_path, tmp_path, *hidden)
        memory = machine["memory"]
        assert [memory[key] for key in ("available_bytes", "swap_bytes", "swap_used_bytes")] == [None, None, None]
        assert memory["transparent_huge_pages"] == ""
        assert [machine[key] for key in ("load_1min", "vulnerable_to", "mitigated")] == [None, None, None]

    def test_its_cores(
        self, core_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        recorded_machine.unpack("xeon-2s", tmp_path)
        for topology in (tmp_path / "sys/devices/system/cpu").glob("cpu*/topology"):
            shutil.rmtree(topology)
        machine = described(core_path, tmp_path)
        topology = machine["topology"]
        assert (topology["cores"], topology["threads"], topology["are_cores_listed"]) == (72, 72, False)
        assert (topology["allowed_cores"], sorted(topology["allowed_cpus"])) == (72, list(range(72)))
        assert machine["default_threads"] == 72
        monkeypatch.setenv("NAMEPLATE_CORE", str(core_path))
        assert run(["machine", "--root", str(tmp_path)]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert "72 CPUs; each counts as a core, since the system does not show their cores" in printed
