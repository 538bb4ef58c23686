"""Replace ``{name}`` in plans by values of the machine: sizes that no cache holds, numbers of pairs, ranks and
threads.
"""

from __future__ import annotations

import os
from collections import Counter

from nameplate.records.machine_record import Cache, Job, Machine

# A size that no cache holds: STREAM's rule, with a minimum for systems that list no cache or one that is too small.
BEYOND_CACHES = 4
SMALLEST_BEYOND = 128 << 20
# A core's part of an array in its L1, its L2 and its share of the L3 cache, of the cores of the last ten years.
IN_CACHES = (16 << 10, 256 << 10, 2 << 20)
# The time of a matrix grows with the square of the nodes: eight have 64 pairs, which take minutes.
MAX_NODES = 8


def stand_ins_of(machine: Machine) -> dict[str, str]:
    """Return the text that replaces ``{name}`` in a plan, for each name. ``machine`` is that of the job's first rank.

    - ``beyond``: a size in bytes that no cache holds (``beyond_caches_bytes``)
    - ``beyond_one``: a size in bytes that the caches of one core do not hold (``beyond_one_cache_bytes``)
    - ``in_caches``: sizes in bytes to sweep, of arrays whose parts for each core the process may use fit its caches
    - ``nodes``: the indices of the NUMA nodes, as a list to sweep (``0,1``); ``0`` if the machine lists none, and only
      some of them if it has many (``swept_nodes``)
    - ``pairs``, ``up_to_4_pairs``: numbers of pairs of ranks to sweep, up to half the job's ranks: 1, 2, 4 … and the
      maximum, or all numbers up to 4
    - ``ranks``, ``threads``: numbers to sweep (1, 2, 4 … and the maximum), up to the ranks of a node and the cores that
      the first rank may use
    - ``hardware_threads``: the number of hardware threads that the first rank may use
    - ``cores``: the number of cores that a node's ranks may use
    - ``all_ranks``, ``threads_each``: the number of ranks on the node with the fewest, and of the threads of each,
      which use all these cores unless OMP_NUM_THREADS says otherwise

    Without a job, there is one rank and one pair. ``{beyond_memory}`` is not among the names; ``build_plan`` adds it.
    """
    job = machine.job
    pairs = max(1, job.ranks // 2) if job else 1
    ranks, threads, cores = _ranks_per_node(job), machine.topology.allowed_cores, _cores_of_node(machine)
    return {
        "beyond": str(beyond_caches_bytes(machine)),
        "beyond_one": str(beyond_one_cache_bytes(machine)),
        "in_caches": ",".join(str(part * machine.topology.allowed_cores) for part in IN_CACHES),
        "nodes": ",".join(map(str, swept_nodes(machine))) or "0",
        "pairs": _doubling(pairs),
        "up_to_4_pairs": ",".join(map(str, range(1, min(4, pairs) + 1))),
        "ranks": _doubling(ranks),
        "all_ranks": str(ranks),
        "threads": _doubling(threads),
        "hardware_threads": str(len(machine.topology.allowed_cpus) or threads),
        "threads_each": str(_threads_each(ranks, threads, cores)),
        "cores": str(cores),
    }


def beyond_caches_bytes(machine: Machine) -> int:
    """Return a size in bytes that no cache of this machine holds: four times the last-level caches, at least 128 MiB.

    The factor is STREAM's rule for the size of an array. The minimum is for systems that list no cache or only a small
    one.
    """
    return max(BEYOND_CACHES * sum(c.size_bytes * c.count for c in _last_level(machine)), SMALLEST_BEYOND)


def beyond_one_cache_bytes(machine: Machine) -> int:
    """Return a size in bytes that the caches of no single core hold: four times a last-level cache, at least 128 MiB.

    It is for one thread: on a machine with many last-level caches, ``beyond_caches_bytes`` takes long to fill.
    """
    return max(BEYOND_CACHES * max((c.size_bytes for c in _last_level(machine)), default=0), SMALLEST_BEYOND)


def swept_nodes(machine: Machine) -> list[int]:
    """Return the indices of the NUMA nodes whose memory a plan measures from each other, at most eight.

    Of more nodes, they are the first one and others at equal distances in the machine's list. The list is empty if the
    machine lists no nodes.
    """
    nodes = machine.topology.numa_nodes
    count = min(len(nodes), MAX_NODES)
    return [nodes[place * len(nodes) // count].index for place in range(count)]


def _last_level(machine: Machine) -> list[Cache]:
    caches = [c for c in machine.topology.caches if c.type != "instruction"]
    last = max((c.level for c in caches), default=0)
    return [c for c in caches if c.level == last]


def _doubling(maximum: int) -> str:
    """Return 1, 2, 4 and so on below ``maximum``, and ``maximum`` itself, as a list to sweep."""
    return ",".join(map(str, [*(1 << power for power in range(maximum.bit_length()) if 1 << power < maximum), maximum]))


def _ranks_per_node(job: Job | None) -> int:
    """Return the number of ranks that every node of the job has at least."""
    if not job:
        return 1
    ranks: Counter[int] = Counter()
    for node, number in job.placement:
        ranks[node] += number
    return min(ranks.values())


def _cores_of_node(machine: Machine) -> int:
    """Return the cores that the ranks on the first rank's node may use, if each has as many as the first one."""
    topology, ranks = machine.topology, _ranks_per_node(machine.job)
    return min(topology.cores, topology.allowed_cores * ranks)


def _threads_each(ranks: int, threads: int, cores: int) -> int:
    """Return the threads of each rank if all take part: OMP_NUM_THREADS, or the number that fills the node."""
    given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(given) if given.isdigit() and int(given) > 0 else max(1, min(threads, cores // ranks))
