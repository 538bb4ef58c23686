"""List the facts at the top of a run's part of the report: the machine as the system describes it, and the run."""

from __future__ import annotations

from collections import Counter

from nameplate.records.machine_record import Cpu, GroupLimits, Machine, Memory, Module, Topology
from nameplate.records.result import Report
from nameplate.report.content.format import count, quantity
from nameplate.report.content.platform_text import platform_text
from nameplate.units import size_text

_NO_MODULES = {
    None: "not recorded",
    "no_table": "not shown: there is no DMI table",
    "no_permission": "not shown: only root may read the DMI table",
    "damaged": "not known: the DMI table is damaged",
}


def machine_facts(machine: Machine | None) -> list[tuple[str, str]]:
    """Return the properties of a machine in the order of the page as (label, text), such as ("memory", "24 GiB, …").

    The host name and everything else that identifies the individual machine are left out. For None, the only fact is
    that the machine was not recorded.
    """
    if machine is None:
        return [("machine", "not recorded")]
    cpu, topology, memory = machine.cpu, machine.topology, machine.memory
    cores = f"{topology.cores} cores, {topology.threads} threads, {count(topology.packages, 'package')}"
    facts = [
        ("CPU", f"{cpu.model or 'unknown model'} ({cpu.architecture})"),
        ("cores", cores if topology.are_cores_listed else unlisted_cores(topology)),
        ("allowed", f"{topology.allowed_cores} cores; {machine.default_threads} threads by default"),
        ("nominal clock", clock_rates(cpu) or "not shown"),
    ]
    for cache in topology.caches:
        size = f"{cache.count} × {_binary(cache.size_bytes)}, each for {count(cache.shared_by, 'thread')}"
        facts.append((f"L{cache.level} {cache.type}", size))
    facts += cpuid_facts(topology)
    facts += [
        ("memory", memory_and_pages(memory)),
        ("memory modules", memory_modules(memory)),
        ("NUMA nodes", str(len(topology.numa_nodes))),
        ("platform", platform_text(machine) or "no hypervisor detected"),
        ("product", machine.product or "not shown"),
        ("limits", _limits(machine.limits)),
        ("system", f"{machine.distribution}, Linux {machine.kernel}"),
    ]
    job = machine.job
    if job:
        nodes = count(len(job.nodes), "node")
        facts.append(("MPI job", f"{count(job.ranks, 'rank')} on {nodes}, of which this is one; {job.library}"))
    return facts


def unlisted_cores(topology: Topology) -> str:
    """Return the number of CPUs as text, for a system that does not list their cores; the text says so."""
    return f"{count(topology.threads, 'CPU')}; each counts as a core, since the system does not show their cores"


def cpuid_facts(topology: Topology) -> list[tuple[str, str]]:
    """Return the caches whose size by CPUID differs from the size that the operating system lists, as (label, text).

    An example is ("L2 unified, CPUID", "2 MiB; the system shows 1 MiB"). The list is empty if all sizes agree, or if
    CPUID lists no caches.
    """
    facts = []
    for cache in topology.cpuid_caches:
        alike = [c for c in topology.caches if (c.level, c.type) == (cache.level, cache.type)]
        if cache.size_bytes not in [c.size_bytes for c in alike]:
            sizes = " and ".join(_binary(c.size_bytes) for c in alike) or "none"
            text = f"{_binary(cache.size_bytes)}; the system shows {sizes}"
            facts.append((f"L{cache.level} {cache.type}, CPUID", text))
    return facts


def memory_and_pages(memory: Memory) -> str:
    """Return the sizes of the memory and of its pages as text: ``24 GiB, pages of 4KiB, huge pages: madvise``."""
    huge = memory.transparent_huge_pages or "unknown"
    size = _binary(memory.total_bytes) if memory.total_bytes else "size unknown"
    return f"{size}, pages of {size_text(memory.page_bytes)}, huge pages: {huge}"


def memory_modules(memory: Memory) -> str:
    """Return the memory modules as text, such as ``2 × 8 GiB DDR4 at 3200 MT/s; 2 slots empty``.

    The transfer rate is the configured one, or the rated one if that is not known; without either, it is left out. If
    all slots are empty, the text starts with ``none``. If the modules are not known, the text is the reason.
    """
    if memory.modules_status != "read" or memory.modules is None:
        return _NO_MODULES.get(memory.modules_status, "not known")
    modules = Counter(_module(module) for module in memory.modules if module.size_bytes != 0)
    parts = [", ".join(f"{number} × {text}" for text, number in modules.items()) or "none"]
    slots_empty = len(memory.modules) - modules.total()
    parts += [f"{count(slots_empty, 'slot')} empty"] if slots_empty else []
    return "; ".join(parts)


def _module(module: Module) -> str:
    parts = [_binary(module.size_bytes) if module.size_bytes else "unknown size", module.type or "memory"]
    transfers_per_s = module.configured_transfers_per_s or module.rated_transfers_per_s
    parts += [f"at {transfers_per_s / 1e6:g} MT/s"] if transfers_per_s else []
    return " ".join(parts)


def run_facts(report: Report) -> list[tuple[str, str]]:
    """Return what is needed to repeat a run, in the order of the page, as (label, text).

    The labels are "started", "plan", "limits", "seed", "priority", "nameplate" (its version), "timed by" (the clock, or
    "not recorded") and, if the user gave any, "given reference values".
    """
    run, clock = report.run, report.clock
    timer = "not recorded"
    if clock:
        resolution, cost = quantity(clock.resolution_s, "s"), quantity(clock.cost_s, "s")
        timer = f"{clock.source}, resolution {resolution}, {cost} per reading"
    facts = [
        ("started", run.started),
        ("plan", f"{run.plan.name}, {_n_experiments(report)}"),
        ("limits", _run_limits(report)),
        ("seed", str(run.seed)),
        ("priority", run.priority),
        ("nameplate", run.version),
        ("timed by", timer),
    ]
    given = ", ".join(f"{key.partition(' ')[0]}={quantity(v, key.partition(' ')[2])}" for key, v in run.rated.items())
    return [*facts, ("given reference values", given)] if given else facts


def _n_experiments(report: Report) -> str:
    """Return the number of experiments in the plan as text.

    Experiments that are measured only if a curve bends near them are counted separately.
    """
    experiments = report.run.plan.experiments
    measured = {result.id for result in report.results}
    dense = [experiment for experiment in experiments if experiment.dense]
    text = count(len(experiments) - len(dense), "experiment")
    n_measured = sum(experiment.id in measured for experiment in dense)
    return f"{text}, and {n_measured} of {len(dense)} more where a curve bends" if dense else text


def _run_limits(report: Report) -> str:
    limits = report.run.plan.limits
    parts = [f"budget {limits.budget_s:g} s", f"precision {limits.precision * 100:g} %"]
    parts += [count(limits.rounds, "round")] if limits.rounds else []
    parts += [f"{limits.samples} samples per round"] if limits.samples else []
    parts += [f"{quantity(limits.sample_s, 's')} a sample"] if limits.sample_s else []
    parts += [f"series of {limits.series_s:g} s"] if limits.series_s else []
    return ", ".join(parts)


def clock_rates(cpu: Cpu) -> str:
    """Return the clock rates of a CPU that the system lists as text, such as ``base 2.400 GHz, maximum 3.500 GHz``.

    The kinds are base, maximum and listed; a rate that the system does not state is left out. The text is "" without
    any.
    """
    named = (
        ("base", cpu.base_frequency_hz),
        ("maximum", cpu.maximum_frequency_hz),
        ("listed", cpu.listed_frequency_hz),
    )
    return ", ".join(f"{label} {quantity(rate_hz, 'Hz')}" for label, rate_hz in named if rate_hz)


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
