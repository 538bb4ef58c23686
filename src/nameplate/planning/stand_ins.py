"""Replace ``{name}`` in plans by values of the machine, such as sizes that no cache holds, or numbers of threads."""

from __future__ import annotations

import os
from collections import Counter

from nameplate.records.machine_record import Cache, Job, Machine

# A size that no cache holds: STREAM's rule, with a minimum for systems that list no cache or one that is too small.
BEYOND_CACHES = 4
SMALLEST_BEYOND = 128 << 20
# A core's part of an array, in bytes, that fits its L1, its L2 and its share of the L3 cache, for the cores of the last
# ten years.
IN_CACHES = (16 << 10, 256 << 10, 2 << 20)
# The time of a matrix grows with the square of the nodes: eight have 64 pairs, which take minutes.
MAX_NODES = 8


def stand_ins_of(machine: Machine) -> dict[str, str]:
    """Return the text that replaces ``{name}`` in a plan, for each name.

    ``machine`` is the machine of the job's first rank. Several numbers are separated by commas, as a list to sweep.

    - ``beyond``: a size in bytes that no cache holds (see ``beyond_caches_bytes``)
    - ``beyond_one``: a size in bytes that the caches of one core do not hold (see ``beyond_one_cache_bytes``)
    - ``in_caches``: sizes in bytes of arrays that fit the L1, the L2 and the L3 caches, for all cores that the process
      may use
    - ``nodes``: the indices of the NUMA nodes, such as ``0,1``; at most eight (see ``swept_nodes``), and ``0`` if the
      machine lists none
    - ``pairs``: 1, 2, 4 and so on, up to half the number of the job's ranks, and that maximum
    - ``one_three_six_pairs``: 1, 3 and 6, as far as the job has the ranks; a job of fewer than 12 ranks also has its
      largest number of pairs
    - ``ranks``: 1, 2, 4 and so on, up to the ranks of the node with the fewest, and that maximum
    - ``threads``: 1, 2, 4 and so on, up to the cores that the first rank may use, and that maximum
    - ``hardware_threads``: the number of hardware threads that the first rank may use
    - ``cores``: the number of cores that all ranks of the first rank's node may use
    - ``all_ranks``: the number of ranks on the node with the fewest
    - ``threads_each``: the number of threads for each of ``all_ranks`` ranks, so that they use all ``cores``;
      OMP_NUM_THREADS takes precedence

    Without a job, there is one rank and one pair. ``{beyond_memory}`` is not among the names; ``build_plan`` adds it.
    """
    job = machine.job
    pairs = max(1, job.ranks // 2) if job else 1
    ranks, threads = _ranks_per_node(job), machine.topology.allowed_cores
    # All ranks of the node are assumed to have as many cores as the first one.
    cores = min(machine.topology.cores, threads * ranks)
    return {
        "beyond": str(beyond_caches_bytes(machine)),
        "beyond_one": str(beyond_one_cache_bytes(machine)),
        "in_caches": ",".join(str(part * machine.topology.allowed_cores) for part in IN_CACHES),
        "nodes": ",".join(map(str, swept_nodes(machine))) or "0",
        "pairs": _doubling(pairs),
        "one_three_six_pairs": ",".join(map(str, sorted({n for n in (1, 3, 6, min(pairs, 6)) if n <= pairs}))),
        "ranks": _doubling(ranks),
        "all_ranks": str(ranks),
        "threads": _doubling(threads),
        "hardware_threads": str(len(machine.topology.allowed_cpus) or threads),
        "threads_each": str(_threads_per_rank(ranks, threads, cores)),
        "cores": str(cores),
    }


def beyond_caches_bytes(machine: Machine) -> int:
    """Return a size in bytes that no cache of this machine holds.

    It is four times the size of all last-level caches together, and at least 128 MiB. The factor is STREAM's rule for
    the size of an array. The minimum applies if the system lists no cache or only small caches.
    """
    return max(BEYOND_CACHES * sum(c.size_bytes * c.count for c in _last_level(machine)), SMALLEST_BEYOND)


def beyond_one_cache_bytes(machine: Machine) -> int:
    """Return a size in bytes that the caches of no single core hold.

    It is four times the size of the largest last-level cache, and at least 128 MiB. Use it for one thread: on a machine
    with many last-level caches, an array of ``beyond_caches_bytes`` takes long to fill.
    """
    return max(BEYOND_CACHES * max((c.size_bytes for c in _last_level(machine)), default=0), SMALLEST_BEYOND)


def swept_nodes(machine: Machine) -> list[int]:
    """Return the indices of the NUMA nodes between which a plan measures the memory, at most eight.

    If the machine has more nodes, the first node and others at equal distances in the machine's list are taken. The
    list is empty if the machine lists no nodes.
    """
    nodes = machine.topology.numa_nodes
    count = min(len(nodes), MAX_NODES)
    return [nodes[position * len(nodes) // count].index for position in range(count)]


def _last_level(machine: Machine) -> list[Cache]:
    caches = [c for c in machine.topology.caches if c.type != "instruction"]
    last = max((c.level for c in caches), default=0)
    return [c for c in caches if c.level == last]


def _doubling(maximum: int) -> str:
    """Return 1, 2, 4 and so on below ``maximum``, and ``maximum`` itself, as a list to sweep."""
    return ",".join(map(str, [*(1 << power for power in range(maximum.bit_length()) if 1 << power < maximum), maximum]))


def _ranks_per_node(job: Job | None) -> int:
    """Return the number of ranks on the node of the job that has the fewest."""
    if not job:
        return 1
    ranks: Counter[int] = Counter()
    for node, number in job.placement:
        ranks[node] += number
    return min(ranks.values())


def _threads_per_rank(ranks: int, threads: int, cores: int) -> int:
    """Return the threads of each rank if all ranks take part: OMP_NUM_THREADS, or the number that fills the node."""
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(given) if given.isdigit() and int(given) > 0 else max(1, min(threads, cores // ranks))
