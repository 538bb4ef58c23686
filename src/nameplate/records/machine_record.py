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
    """The processor."""

    architecture: str
    vendor: str = ""
    model: str
    listed_frequency_hz: Frequency
    base_frequency_hz: Frequency
    maximum_frequency_hz: Frequency
    governor: str | None = None
    turbo: bool | None = None
    smt: bool | None = None
    flags: list[str] = []


class Module(msgspec.Struct, frozen=True, kw_only=True):
    """A slot for memory."""

    locator: str
    bank: str
    size_bytes: Count | None
    width_bits: Count | None
    rated_transfers_per_s: Positive | None
    configured_transfers_per_s: Positive | None
    type: str | None


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory."""

    total_bytes: Count
    transparent_huge_pages: str
    available_bytes: Count = 0
    swap_bytes: Count = 0
    swap_used_bytes: Count = 0
    modules_status: str | None = None
    modules: list[Module] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if the modules are missing although they were read."""
        if self.modules_status == "read" and self.modules is None:
            raise ValueError("`modules_status` is `read`, so `modules` must be there")


class CpuidCache(msgspec.Struct, frozen=True, kw_only=True):
    """A cache as listed by CPUID."""

    level: Count
    type: str
    size_bytes: Count
    line_bytes: Count = 0
    ways: Count = 0
    shared_by: Count = 0


class Cache(CpuidCache, frozen=True, kw_only=True):
    """Caches of one kind, with their number."""

    count: Count
    shared_by: Count


class NumaNode(msgspec.Struct, frozen=True, kw_only=True):
    """A NUMA node."""

    index: Count
    cpus: str


class CoreKind(msgspec.Struct, frozen=True, kw_only=True):
    """Cores of one kind, in a processor with several kinds."""

    name: str
    cores: Count
    maximum_frequency_hz: Frequency = None


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """Cores and caches."""

    packages: Count
    cores: Count
    threads: Count
    caches: list[Cache]
    numa_nodes: list[NumaNode]
    allowed_cores: Number
    core_kinds: list[CoreKind] = []
    allowed_cpus: list[Count] = []
    cpuid_caches: list[CpuidCache] = []


class GroupLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of the control group."""

    cgroup_version: Count = 0
    cpus: Annotated[float, msgspec.Meta(ge=0, le=1e9)] | None
    memory_bytes: Count | None
    memory_available_bytes: Count | None = None


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """The power supply."""

    on_battery: bool | None
    profile: str | None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """The MPI job that was measured. ``hardware`` and ``placement`` are run-length encoded."""

    library: str
    ranks: Number
    nodes: Annotated[list[Name], msgspec.Meta(min_length=1, max_length=MAX_RANKS)]
    placement: list[tuple[Count, Number]]
    hardware: list[tuple[str, Number]] | None = None
    eager_limits: dict[str, Real] | None = None
    mtu_bytes: dict[str, Real] | None = None
    socket_buffer_bytes: dict[str, Real] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if the run lengths do not add up to the job's ranks and nodes."""
        placed, classed = sum(n for _, n in self.placement), sum(n for _, n in self.hardware or [])
        if placed != self.ranks:
            raise ValueError(f"`placement` has {placed} ranks, the job {self.ranks}")
        if any(node >= len(self.nodes) for node, _ in self.placement):
            raise ValueError(f"`placement` names a node above {len(self.nodes) - 1}, the last of `nodes`")
        if self.hardware is not None and classed != len(self.nodes):
            raise ValueError(f"`hardware` has {classed} nodes, the job {len(self.nodes)}")


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine."""

    hostname: Name
    kernel: str
    distribution: str
    hypervisor: str | None
    product: str | None
    load_1min: Real | None = None
    default_threads: Count
    cpu: Cpu
    memory: Memory
    topology: Topology
    limits: GroupLimits
    vulnerable_to: list[str] = []
    mitigated: list[str] = []
    power: Power | None = None
    job: Job | None = None


def job_of(ranks: int, nodes: int) -> Job:
    """Return a job that is not running yet: unnamed nodes, among which the ranks are divided evenly."""
    each, more = divmod(ranks, nodes)
    shares = [each + (node < more) for node in range(nodes)]
    placement = [(node, share) for node, share in enumerate(shares) if share]
    return Job(library="", ranks=ranks, nodes=[""] * nodes, placement=placement)


def n_nodes_of(machine: Machine | None) -> int:
    """Return the number of nodes of the job; 0 without a job."""
    return len(machine.job.nodes) if machine and machine.job else 0
