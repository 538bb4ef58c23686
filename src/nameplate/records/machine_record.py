"""The types and ranges of a recorded machine, with every field that ``nameplate-core --machine`` prints.

Fields with a default are missing in the records of some versions. Unknown fields are ignored.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from nameplate.records.numbers import Count, Positive, Real

# More ranks and nodes than any job has.
MAX_RANKS = 1 << 22
MAX_NAME = 255

Name = Annotated[str, msgspec.Meta(max_length=MAX_NAME)]
Number = Annotated[int, msgspec.Meta(ge=1, le=MAX_RANKS)]
Frequency = Annotated[float, msgspec.Meta(ge=0, le=1e15)] | None


class Cpu(msgspec.Struct, frozen=True, kw_only=True):
    """The processor; None, "" or an empty list means that the system does not report the value.

    ``architecture`` is as in ``uname -m``, such as ``x86_64`` or ``aarch64``. ``vendor`` is ``vendor_id`` of
    /proc/cpuinfo, such as ``GenuineIntel``, or ``ARM``. ``model`` is "model name" of /proc/cpuinfo. ``family_number``,
    ``model_number`` and ``stepping`` are the CPUID signature of an x86 CPU. ``listed_frequency_hz`` is "cpu MHz" of
    /proc/cpuinfo when the machine was read. ``base_frequency_hz`` is the clock without turbo, from cpufreq or from the
    model's name, and ``maximum_frequency_hz`` the clock with turbo, from cpufreq. ``governor`` is the frequency
    governor of cpufreq. ``turbo`` and ``smt`` (simultaneous multithreading) say whether they are enabled. ``flags`` are
    as in /proc/cpuinfo.
    """

    architecture: str
    vendor: str = ""
    model: str
    family_number: Count | None = None
    model_number: Count | None = None
    stepping: Count | None = None
    listed_frequency_hz: Frequency
    base_frequency_hz: Frequency
    maximum_frequency_hz: Frequency
    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    flags: list[str] = []


class Module(msgspec.Struct, frozen=True, kw_only=True):
    """A slot for a memory module and what it holds, by DMI type 17 (DMTF DSP0134); None means not stated.

    ``locator`` and ``bank`` are the board's names of the slot, such as ``DIMM_A1``. ``size_bytes`` is 0 for an empty
    slot. ``width_bits`` is the data width without error correction. ``rated_transfers_per_s`` is the highest speed of
    the module, ``configured_transfers_per_s`` the speed at which it runs; some firmware lists the clock instead, which
    is half of it. ``type`` is, for example, ``DDR4``.
    """

    locator: str
    bank: str
    size_bytes: Count | None
    width_bits: Count | None
    rated_transfers_per_s: Positive | None
    configured_transfers_per_s: Positive | None
    type: str | None


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """The main memory, its swap space and its modules when the machine was read.

    ``total_bytes`` is MemTotal, 0 if unknown, and ``available_bytes`` MemAvailable of /proc/meminfo. ``swap_bytes`` is
    the size of the swap space, and ``swap_used_bytes`` the used part. ``available_bytes`` and both swap sizes are None
    if unknown. ``page_bytes`` is the size of the kernel's base page; records of versions that did not read it are of
    x86-64 machines, where it is 4 KiB. ``transparent_huge_pages`` is ``always``, ``madvise``, ``never``, or "" if
    unknown. ``modules`` has one entry per slot, including empty slots. ``modules_status`` is ``read``, or the reason
    why ``modules`` is None: ``no_table`` (no DMI table, as in most guests), ``no_permission`` (only root may read it)
    or ``damaged``; None means that the version of nameplate-core did not read it. If ``modules_status`` is ``read``,
    ``modules`` must not be None.
    """

    total_bytes: Count
    transparent_huge_pages: str
    available_bytes: Count | None = None
    swap_bytes: Count | None = None
    swap_used_bytes: Count | None = None
    page_bytes: Count = 4096
    modules_status: str | None = None
    modules: list[Module] | None = None

    def __post_init__(self) -> None:
        """Check that ``modules`` is there if it was read.

        Raises:
            ValueError: ``modules_status`` is ``read`` but ``modules`` is None.
        """
        if self.modules_status == "read" and self.modules is None:
            raise ValueError("`modules_status` is `read`, so `modules` must not be null")


class CpuidCache(msgspec.Struct, frozen=True, kw_only=True):
    """A cache as listed by CPUID, leaf 4 (Intel) or 0x8000001D (AMD).

    ``type`` is ``data``, ``instruction`` or ``unified``. ``ways`` is the associativity, and ``shared_by`` the number of
    hardware thread IDs that are reserved for one such cache, often more than the number of threads. 0 means not
    reported.
    """

    level: Count
    type: str
    size_bytes: Count
    line_bytes: Count = 0
    ways: Count = 0
    shared_by: Count = 0


class Cache(CpuidCache, frozen=True, kw_only=True):
    """Caches of one level, type and size, as the kernel lists them.

    ``count`` is the number of such caches in the machine, and ``shared_by`` the number of hardware threads that share
    one such cache. ``type`` is ``data``, ``instruction`` or ``unified``. For ``line_bytes`` and ``ways``, 0 means not
    reported.
    """

    count: Count
    shared_by: Count


class NumaNode(msgspec.Struct, frozen=True, kw_only=True):
    """A NUMA node: its number, and its hardware threads as a list such as ``0-3,8``, empty if it has none."""

    index: Count
    cpus: str


class CoreKind(msgspec.Struct, frozen=True, kw_only=True):
    """Cores of one kind in a hybrid processor; an ordinary processor has one kind or none.

    ``name`` is, for example, ``IntelCore`` or ``IntelAtom``, empty if unknown, and ``cores`` the number of cores.
    ``maximum_frequency_hz`` is 0 or None if the system does not report it.
    """

    name: str
    cores: Count
    maximum_frequency_hz: Frequency = None


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """The sockets, cores, caches and NUMA nodes of the machine, as hwloc finds them.

    ``packages``, ``cores`` and ``threads`` are the numbers of sockets, physical cores and hardware threads of the whole
    machine. Unless ``are_cores_listed``, the system does not show which hardware threads share a core, and each such
    thread counts as a core. ``caches`` are the caches that the kernel lists; ``cpuid_caches`` are the caches that CPUID
    reports on the CPU of the first worker, empty on processors without CPUID. ``core_kinds`` are the kinds of cores,
    the most energy-efficient and slowest first. ``allowed_cores`` is the number of physical cores that the process may
    use, and ``allowed_cpus`` has the numbers of their hardware threads in the order in which workers take them: the
    first thread of every core, then the siblings.
    """

    packages: Count
    cores: Count
    threads: Count
    are_cores_listed: bool = True
    caches: list[Cache]
    numa_nodes: list[NumaNode]
    allowed_cores: Number
    core_kinds: list[CoreKind] = []
    allowed_cpus: list[Count] = []
    cpuid_caches: list[CpuidCache] = []


# The usual period of a CPU quota (Linux, cpu.cfs_period_us).
QUOTA_PERIOD_S = 0.1


class GroupLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of the control group and of its parents; None means no limit.

    ``cgroup_version`` is 1 or 2, 0 if there is none. ``are_visible`` says whether the files of the group could be read;
    if not, there may be limits that the fields do not show. It is None in records of versions that did not check.
    ``cpus`` is the CPU quota in seconds of CPU time per second. ``memory_bytes`` is the lowest memory limit, and
    ``memory_available_bytes`` the smallest amount that was left below any memory limit when the machine was read,
    counting page cache that can be dropped. The latter is None also in records of versions that did not read it.
    """

    cgroup_version: Count = 0
    are_visible: bool | None = None
    cpus: Annotated[float, msgspec.Meta(ge=0, le=1e9)] | None
    memory_bytes: Count | None
    memory_available_bytes: Count | None = None


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """The power supply.

    ``on_battery`` is None if the system lists no power supply. ``profile`` is ACPI's platform profile, such as
    ``balanced``, None if there is none. If ``is_visible`` is False, the system hides both values.
    """

    on_battery: bool | None
    is_visible: bool = True
    profile: str | None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The MPI job that was measured.

    ``library`` is the MPI library with its version, ``ranks`` the number of ranks. ``nodes`` has the names of the nodes
    in the order of their first ranks. ``placement`` is a run-length encoding of the node of each rank: pairs (index of
    the node, number of consecutive ranks). ``hardware`` encodes the hardware class of each node in the same way: pairs
    (class, number of consecutive nodes). Nodes of one class should be equally fast.

    ``eager_limits`` maps MPI_T names to the sizes in bytes up to which the library sends messages without a handshake.
    ``mtu_bytes`` has the MTU of each network interface of the leading node except the loopback, and
    ``socket_buffer_bytes`` its TCP buffers, with the keys ``tcp_rmem default``, ``tcp_rmem greatest``, ``tcp_wmem
    default`` and ``tcp_wmem greatest``. None means that the version of nameplate-core did not record it.
    """

    library: str
    ranks: Number
    nodes: Annotated[list[Name], msgspec.Meta(min_length=1, max_length=MAX_RANKS)]
    placement: list[tuple[Count, Number]]
    hardware: list[tuple[str, Number]] | None = None
    eager_limits: dict[str, Real] | None = None
    mtu_bytes: dict[str, Real] | None = None
    socket_buffer_bytes: dict[str, Real] | None = None

    def __post_init__(self) -> None:
        """Check the run-length encodings.

        Raises:
            ValueError: ``placement`` or ``hardware`` does not add up to the job's ranks or nodes, or ``placement`` has
                an index outside of ``nodes``.
        """
        placed, classed = sum(n for _, n in self.placement), sum(n for _, n in self.hardware or [])
        if placed != self.ranks:
            raise ValueError(f"`placement` has {placed} ranks, but the job has {self.ranks}")
        if any(node >= len(self.nodes) for node, _ in self.placement):
            highest = max(node for node, _ in self.placement)
            raise ValueError(f"`placement` names node {highest}, but the last of `nodes` is {len(self.nodes) - 1}")
        if self.hardware is not None and classed != len(self.nodes):
            raise ValueError(f"`hardware` has {classed} nodes, but the job has {len(self.nodes)}")


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine, or the first node of a job, before anything was measured.

    ``boot_id`` is a random text that is new at each boot, by which machines of the same name differ; "" if unknown and
    in records of earlier versions. ``kernel`` is the release of the kernel, ``distribution`` the name in
    /etc/os-release, "" if unknown. ``hypervisor`` is, for example, ``kvm``, None if none is detected; unless
    ``is_hypervisor_known``, the system does not report one. ``emulator`` names the software that emulates the
    processor, such as ``QEMU (TCG)`` or ``a program on x86_64``, None if the processor is real. ``container`` is, for
    example, ``docker``, None if none is detected. ``blocked_calls`` are the system calls that probes use and that the
    process may not make. ``product`` is the vendor and the product name of the DMI, None if unknown. ``load_1min`` is
    the load average of the last minute. ``default_threads`` is the default number of workers: the physical cores that
    affinity and CPU quota allow. ``limits`` are the limits of the control group. ``vulnerable_to`` and ``mitigated``
    name the vulnerabilities of the processor without and with a mitigation, as in
    /sys/devices/system/cpu/vulnerabilities, None if unknown. ``job`` is None without MPI. ``load_1min`` is None if
    unknown, and ``power`` is None in records of versions that did not read it.
    """

    hostname: Name
    boot_id: Name = ""
    kernel: str
    distribution: str
    hypervisor: str | None
    is_hypervisor_known: bool = True
    emulator: str | None = None
    container: str | None = None
    blocked_calls: list[str] = []
    product: str | None
    load_1min: Real | None = None
    default_threads: Count
    cpu: Cpu
    memory: Memory
    topology: Topology
    limits: GroupLimits
    vulnerable_to: list[str] | None = None
    mitigated: list[str] | None = None
    power: Power | None = None
    job: Job | None = None


def binding_quota_cpus(machine: Machine) -> float | None:
    """Return the CPU quota of a machine if it limits processes, else None.

    The quota is in CPUs (seconds of CPU time per second). It limits processes if it is below the number of CPUs that
    they may use.
    """
    quota_cpus = machine.limits.cpus
    return quota_cpus if quota_cpus is not None and quota_cpus < len(machine.topology.allowed_cpus) else None


def job_of(ranks: int, nodes: int) -> Job:
    """Return the description of a job that has not started, for planning.

    ``ranks`` are divided among ``nodes`` (at least 1) as evenly as possible: the first nodes get one more if they
    cannot be divided evenly, and with fewer ranks than nodes the last nodes get none. The nodes have empty names,
    ``library`` is "", and the optional fields are None.
    """
    ranks_per_node, more = divmod(ranks, nodes)
    shares = [ranks_per_node + (node < more) for node in range(nodes)]
    placement = [(node, share) for node, share in enumerate(shares) if share]
    return Job(library="", ranks=ranks, nodes=[""] * nodes, placement=placement)
