"""List the facts at the top of a run's part of the report: the machine as the system shows it, and how the run was
made.
"""

from __future__ import annotations

from collections import Counter

from nameplate.records.machine_record import Cache, Cpu, GroupLimits, Machine, Memory, Module, Topology
from nameplate.records.result import Report
from nameplate.report.content.format import count, quantity
from nameplate.report.content.platform_words import platform_words
from nameplate.units import size_text

_NO_MODULES = {
    None: "not recorded",
    "no_table": "not shown: there is no DMI table",
    "no_permission": "not shown: only root may read the DMI table",
    "damaged": "not known: the DMI table is damaged",
}


def machine_facts(machine: Machine | None) -> list[tuple[str, str]]:
    """Return the machine's properties in the order of the page, each as (label, text), such as ("cores", "4 cores, …").

    They do not include the host name, or anything else that identifies the individual machine. For None, the only fact
    is that the machine was not recorded.
    """
    if machine is None:
        return [("machine", "not recorded")]
    cpu, topology, memory = machine.cpu, machine.topology, machine.memory
    facts = [
        ("CPU", f"{cpu.model or 'unknown model'} ({cpu.architecture})"),
        ("cores", _cores(topology)),
        ("allowed", f"{topology.allowed_cores} cores; {machine.default_threads} threads by default"),
        ("nominal clock", _clock_on_paper(cpu)),
    ]
    facts += [(f"L{cache.level} {cache.type}", _cache(cache)) for cache in topology.caches]
    facts += cpuid_facts(topology)
    facts += [
        ("memory", memory_and_pages(memory)),
        ("memory modules", memory_modules(memory)),
        ("NUMA nodes", str(len(topology.numa_nodes))),
        ("platform", platform_words(machine) or "no hypervisor detected"),
        ("product", machine.product or "not shown"),
        ("limits", _limits(machine.limits)),
        ("system", f"{machine.distribution}, Linux {machine.kernel}"),
    ]
    job = machine.job
    if job:
        nodes = count(len(job.nodes), "node")
        facts.append(("MPI job", f"{count(job.ranks, 'rank')} on {nodes}, of which this is one; {job.library}"))
    return facts


def _cores(topology: Topology) -> str:
    if not topology.are_cores_listed:
        return unlisted_cores(topology)
    return f"{topology.cores} cores, {topology.threads} threads, {count(topology.packages, 'package')}"


def unlisted_cores(topology: Topology) -> str:
    """Return the number of CPUs as text, with the remark that the system does not show their cores."""
    return f"{count(topology.threads, 'CPU')}; each counts as a core, since the system does not show their cores"


def cpuid_facts(topology: Topology) -> list[tuple[str, str]]:
    """Return the caches whose size by CPUID differs from what the operating system shows, each as (label, text).

    An example is ("L2 unified, CPUID", "2 MiB; the system shows 1 MiB"). The list is empty if all sizes agree, or if
    CPUID lists no caches.
    """
    facts = []
    for cache in topology.cpuid_caches:
        alike = [c for c in topology.caches if (c.level, c.type) == (cache.level, cache.type)]
        if cache.size_bytes not in [c.size_bytes for c in alike]:
            shown = " and ".join(_binary(c.size_bytes) for c in alike) or "none"
            facts.append(
                (
                    f"L{cache.level} {cache.type}, CPUID",
                    f"{_binary(cache.size_bytes)}; the system shows {shown}",
                )
            )
    return facts


def memory_and_pages(memory: Memory) -> str:
    """Return the size of the memory and of the kernel's pages: ``24 GiB, pages of 4KiB, huge pages: madvise``."""
    huge = memory.transparent_huge_pages or "unknown"
    size = _binary(memory.total_bytes) if memory.total_bytes else "size unknown"
    return f"{size}, pages of {size_text(memory.page_bytes)}, huge pages: {huge}"


def memory_modules(memory: Memory) -> str:
    """Return memory modules such as ``2 × 8 GiB DDR4 at 3200 MT/s; 2 slots empty``, or why they are not known.

    The transfer rate is the configured one, or the rated one if that is not known; without either, it is left out. If
    all slots are empty, the text begins with ``none``.
    """
    if memory.modules_status != "read" or memory.modules is None:
        return _NO_MODULES.get(memory.modules_status, "not known")
    modules = Counter(_module(module) for module in memory.modules if module.size_bytes != 0)
    parts = [", ".join(f"{number} × {words}" for words, number in modules.items()) or "none"]
    slots_empty = len(memory.modules) - modules.total()
    parts += [f"{count(slots_empty, 'slot')} empty"] if slots_empty else []
    return "; ".join(parts)


def _module(module: Module) -> str:
    words = [_binary(module.size_bytes) if module.size_bytes else "unknown size", module.type or "memory"]
    transfers_per_s = module.configured_transfers_per_s or module.rated_transfers_per_s
    words += [f"at {transfers_per_s / 1e6:g} MT/s"] if transfers_per_s else []
    return " ".join(words)


def run_facts(report: Report) -> list[tuple[str, str]]:
    """Return what is needed to repeat the run, in the order of the page, each as (label, text).

    The labels are "started", "plan", "limits", "seed", "priority", "nameplate" (its version), "timed by" (the clock, or
    "not recorded") and, if the user gave any, "given reference values".
    """
    run, clock = report.run, report.clock
    facts = [
        ("started", run.started),
        ("plan", f"{run.plan.name}, {_n_experiments(report)}"),
        ("limits", _run_limits(report)),
        ("seed", str(run.seed)),
        ("priority", run.priority),
        ("nameplate", run.version),
        ("timed by", _timer(clock.source, clock.resolution_s, clock.cost_s) if clock else "not recorded"),
    ]
    given = ", ".join(f"{key.partition(' ')[0]}={quantity(v, key.partition(' ')[2])}" for key, v in run.rated.items())
    return [*facts, ("given reference values", given)] if given else facts


def _n_experiments(report: Report) -> str:
    """Return the number of experiments in the plan.

    Points of curves that are measured only where the curve bends are counted separately.
    """
    experiments = report.run.plan.experiments
    measured = {result.id for result in report.results}
    dense = [experiment for experiment in experiments if experiment.dense]
    words = count(len(experiments) - len(dense), "experiment")
    if dense:
        words += (
            f", and {sum(experiment.id in measured for experiment in dense)} of {len(dense)} more where a curve bends"
        )
    return words


def _timer(source: str, resolution_s: float, cost_s: float) -> str:
    return f"{source}, resolution {quantity(resolution_s, 's')}, {quantity(cost_s, 's')} per reading"


def _run_limits(report: Report) -> str:
    limits = report.run.plan.limits
    parts = [f"budget {limits.budget_s:g} s", f"precision {limits.precision * 100:g} %"]
    parts += [count(limits.rounds, "round")] if limits.rounds else []
    parts += [f"{limits.samples} samples per round"] if limits.samples else []
    parts += [f"{quantity(limits.sample_s, 's')} a sample"] if limits.sample_s else []
    parts += [f"series of {limits.series_s:g} s"] if limits.series_s else []
    return ", ".join(parts)


def _clock_on_paper(cpu: Cpu) -> str:
    return clock_rates(cpu) or "not shown"


def clock_rates(cpu: Cpu) -> str:
    """Return the clock rates that the system states as text, or "" if it states none.

    An example is ``base 2.400 GHz, maximum 3.500 GHz``. The kinds are base, maximum and listed, of which any may be
    missing.
    """
    named = (
        ("base", cpu.base_frequency_hz),
        ("maximum", cpu.maximum_frequency_hz),
        ("listed", cpu.listed_frequency_hz),
    )
    return ", ".join(f"{label} {quantity(rate_hz, 'Hz')}" for label, rate_hz in named if rate_hz)


def _cache(cache: Cache) -> str:
    return f"{cache.count} × {_binary(cache.size_bytes)}, each for {count(cache.shared_by, 'thread')}"


def _limits(limits: GroupLimits) -> str:
    parts = [f"{limits.cpus:g} CPUs"] if limits.cpus else []
    parts += [_binary(limits.memory_bytes)] if limits.memory_bytes else []
    if limits.are_visible is False:
        parts.append("others are not visible" if parts else "not visible")
    return ", ".join(parts) or "none by the control group"


def _binary(size: int) -> str:
    for factor, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} B"
