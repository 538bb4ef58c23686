"""State what a run says about its machine: a verdict in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import probe_of
from nameplate.probes.shared.areas import order_of_area, words_of_area
from nameplate.records.machine_record import Machine, binding_quota_cpus
from nameplate.records.result import Report, Result
from nameplate.report.content.experiments import headlines, is_derived, title_of
from nameplate.report.content.format import count, share
from nameplate.report.content.slow_nodes import found_slow
from nameplate.results.cpu_time import ENOUGH_CPU, share_of_cpu_time

# A typical share below this part of what the machine is capable of is worth a word.
CLEARLY_WORSE = 0.95


def verdict(report: Report) -> str:
    """Return in a few sentences what limits the machine, and which shares of their reference values its areas reach.

    First come a CPU quota below the number of CPUs, CPU time that other programs took, and slow nodes, each in a
    sentence of its own. The last one lists the areas, such as CPU and memory, unless other programs took CPU time. A
    share is that of the capability, since what other programs took is not the machine's fault; the typical share
    follows if it is clearly worse. Without a capability, the typical share is the only one. Nothing of this is said of
    an emulated processor.
    """
    measured = [result for result in main_results(report) if result.summary.value is not None]
    if not measured:
        return "Nothing was measured."
    if report.machine and report.machine.emulator:
        return (
            f"The processor is emulated by {report.machine.emulator}: the values are those of the emulator and are not "
            "rated."
        )
    taken = _taken_cpus(report)
    nodes = [f"Nodes: {found_slow(report.nodes)}."] if report.nodes else []
    return " ".join([*quota_limit(report.machine), *taken, *nodes, *([] if taken else _areas(report, measured))])


def quota_limit(machine: Machine | None) -> list[str]:
    """Return a sentence on the CPU quota if it is below the number of CPUs that processes may use, else no item."""
    cpus = len(machine.topology.allowed_cpus) if machine else 0
    quota_cpus = binding_quota_cpus(machine) if machine else None
    if quota_cpus is None:
        return []
    return [
        f"A CPU quota of the cgroup limits processes to {quota_cpus:g} of {count(cpus, 'CPU')}: "
        f"{share(quota_cpus / cpus)} of the machine's CPU time."
    ]


def _taken_cpus(report: Report) -> list[str]:
    """Return a sentence if the workers got clearly less CPU time than they could use, unless a quota binds."""
    got = share_of_cpu_time(report)
    if got is None or got >= ENOUGH_CPU:
        return []
    is_hidden = report.machine is not None and report.machine.limits.are_visible is False
    hidden = ", or a CPU quota that this system does not show," if is_hidden else ""
    return [
        f"The processes got {got * 100:.0f} % of the CPU time that they asked for: other programs{hidden} took the "
        "rest, so the machine is not judged. Measure again when they have ended."
    ]


def _areas(report: Report, measured: Sequence[Result]) -> list[str]:
    """Return a sentence on what the areas reach."""
    judged: dict[str, list[Result]] = {}
    for result in judged_by(report):
        judged.setdefault(probe_of(result.summary.probe).area, []).append(result)
    areas = sorted({probe_of(result.summary.probe).area for result in measured}, key=order_of_area)
    areas = [area for area in areas if area != "null"]
    parts = [part for area in areas for part in _reached(area, judged.get(area, []))]
    unknown = [words_of_area(area) for area in areas if area not in judged]
    if unknown:
        parts.append(f"{_listed(unknown)} {'has' if len(unknown) == 1 else 'have'} no reference value")
    sentence = "; ".join(parts)
    return [f"{sentence[:1].upper()}{sentence[1:]}."] if parts else ["Only the tool itself was measured."]


def _reached(area: str, results: Sequence[Result]) -> list[str]:
    """Return what is said of an area: rates together, and each time by itself."""
    name = words_of_area(area)
    rates = [result for result in results if result.better == "higher"]
    parts = []
    if rates:
        of = "its peak" if area == "cpu" else "its reference value"
        best, usual = [_best_share(result) for result in rates], [_typical_share(result) for result in rates]
        is_worse = min(usual) < CLEARLY_WORSE * min(best)
        parts.append(f"{name} reaches {_range(best)} of {of}" + (f", typically {_range(usual)}" if is_worse else ""))
    times = [result for result in results if result.better == "lower"]
    return parts + [f"{_noun(result)} takes {_range([_best_share(result)])} of its reference value" for result in times]


def _typical_share(result: Result) -> float:
    return result.summary.efficiency or 0.0


def _best_share(result: Result) -> float:
    row = result.summary
    return row.capability / row.rated if row.capability and row.rated else _typical_share(result)


def _range(shares: Sequence[float]) -> str:
    low, high = f"{min(shares) * 100:.0f}", f"{max(shares) * 100:.0f}"
    return f"{high} %" if low == high else f"{low} to {high} %"


def judged_by(report: Report) -> list[Result]:
    """Return for each probe the result that stands for the whole machine, in the order of the probes in the run.

    Only the first metric of each experiment counts. The result is that of the probe's first line on the first screen,
    where a reader finds its share. A probe without such a line is judged by the result with the highest reference
    value, and among equal ones by that with the highest share. For a metric of which less is better, it is the result
    with the lowest reference value, and among equal ones that with the largest memory region (the fact
    ``touched_bytes``, 0 if missing). Oversubscribed experiments count only if the probe has no others. Probes without a
    reference value are left out, and so are derived results: a cache that is smaller than listed is not slower than
    listed.
    """
    by_probe: dict[str, list[Result]] = {}
    for result in main_results(report):
        if result.summary.efficiency is not None:
            by_probe.setdefault(result.summary.probe, []).append(result)
    return [_on_first_screen(results) or _highest_reference(results) for results in by_probe.values()]


def _on_first_screen(results: Sequence[Result]) -> Result | None:
    """Return the result of the first line of the probe's screen that any of these results of one probe fits."""
    lines = probe_of(results[0].summary.probe).screen
    return next(filter(None, (line.best_of(results) for line in lines)), None)


def main_results(report: Report) -> list[Result]:
    """Return the first result of every experiment, with or without a value; derived values are left out."""
    return headlines(result for result in report.results if not is_derived(result))


def _highest_reference(results: list[Result]) -> Result:
    """Return the result with the highest reference value; of several, the one with the highest share.

    For latencies it is the one of the largest region, since the reference value is that of memory and caches are
    faster.
    """
    own = [result for result in results if not result.oversubscribed] or results
    if own[0].better == "higher":
        return max(own, key=lambda result: (result.summary.rated or 0.0, result.summary.efficiency or 0.0))
    return min(own, key=lambda result: (result.summary.rated or 0.0, -result.facts.get("touched_bytes", 0.0)))


def _noun(result: Result) -> str:
    title = title_of(result.summary.probe)
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)
