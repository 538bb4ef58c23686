"""State the verdict of a run on its machine in a few sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nameplate.probes import probe_of
from nameplate.probes.shared.areas import order_of_area, text_of_area
from nameplate.records.machine_record import Machine, binding_quota_cpus
from nameplate.records.result import Report, Result
from nameplate.report.content.experiments import GOOD, by_probe, headlines, is_derived
from nameplate.report.content.format import count, list_text, share
from nameplate.report.content.screen_row import OVERSUBSCRIBED, ScreenRow
from nameplate.report.content.slow_nodes import slow_nodes_text
from nameplate.results.cpu_time import ENOUGH_CPU, share_of_cpu_time

# A value that differs by less from that of other machines is as usual.
TYPICAL_WITHIN = 0.1

# The form of a reference value that a user gives for an area.
_EXAMPLES = {"cpu": "cpu_flops=RATE", "memory": "memory=RATE", "disk": "disk=RATE", "net": "net=RATE"}


def verdict(report: Report, rows: Sequence[ScreenRow]) -> str:
    """Return sentences on what limits the machine, and on how its values compare with their reference values.

    ``rows`` are the lines of the run's first screen: every number of a sentence about the areas is a share of theirs,
    or its distance from 100 %. The sentences, each only if it applies, are about a CPU quota below the number of CPUs,
    CPU time that other programs took, slow nodes, and the areas, such as CPU and memory. If a quota or other programs
    slowed the run down, there is no sentence about the areas. For an emulated processor, and for a run without values,
    a single sentence says so.
    """
    measured = [result for result in main_results(report) if result.summary.value is not None]
    if not measured:
        return "Nothing was measured."
    if report.machine and report.machine.emulator:
        return (
            f"The processor is emulated by {report.machine.emulator}: the values are those of the emulator and are not "
            "rated."
        )
    limits = [] if report.fleet else [*quota_limit(report.machine), *_taken_cpus(report)]
    nodes = [f"Nodes: {slow_nodes_text(report.nodes)}."] if report.nodes else []
    measured_areas = {probe_of(result.summary.probe).area for result in measured}
    printed = {(row.probe, row.metrics[0]) for row in rows}
    givable = {
        probe_of(result.summary.probe).area
        for result in report.results
        if result.rated.can_be_given and (result.summary.probe, result.summary.metric) in printed
    }
    return " ".join([*limits, *nodes, *([] if limits else _areas(measured_areas, rows, givable))])


def quota_limit(machine: Machine | None) -> list[str]:
    """Return a list with a sentence on the CPU quota of the cgroup, or an empty list if no quota limits the processes.

    A quota limits the processes if it is below the number of CPUs that they may use. The list is also empty if
    ``machine`` is None.
    """
    cpus = len(machine.topology.allowed_cpus) if machine else 0
    quota_cpus = binding_quota_cpus(machine) if machine else None
    if quota_cpus is None:
        return []
    return [
        f"A CPU quota of the cgroup limits processes to {quota_cpus:g} of {count(cpus, 'CPU')}: "
        f"{share(quota_cpus / cpus)} of the machine's CPU time, so the machine is not judged."
    ]


def _taken_cpus(report: Report) -> list[str]:
    """Return a list with a sentence if the workers got clearly less CPU time than they could use, or no item."""
    got = share_of_cpu_time(report)
    if got is None or got >= ENOUGH_CPU:
        return []
    is_hidden = report.machine is not None and report.machine.limits.are_visible is False
    hidden = ", or a CPU quota that this system does not show," if is_hidden else ""
    return [
        f"The processes got {got * 100:.0f} % of the CPU time that they asked for: other programs{hidden} took the "
        "rest, so the machine is not judged. Measure again when they have ended."
    ]


def _areas(measured: Collection[str], rows: Sequence[ScreenRow], givable: Collection[str]) -> list[str]:
    """Return sentences on the areas ``measured``: their shares, or that there is nothing to compare with.

    ``givable`` has the areas with a value on the screen for which a user can give a reference value.
    """
    areas = [area for area in sorted(measured, key=order_of_area) if area != "null"]
    if not areas:
        return ["Only the tool itself was measured."]
    rated = [row for row in rows if row.share is not None and OVERSUBSCRIBED not in row.remark]
    sentences = []
    for area in areas:
        of_area = [row for row in rated if row.area == area]
        for kind in "plg":
            rates = [row for row in of_area if row.reference_kind == kind and row.better == "higher"]
            times = [[row] for row in of_area if row.reference_kind == kind and row.better == "lower"]
            sentences += [_reached(kind, group) for group in ([rates] if rates else []) + times]
        sentences += [_compared_with_peers(row) for row in of_area if row.reference_kind == "o"]
    unknown = [area for area in areas if area not in {row.area for row in rated}]
    if unknown:
        examples = ",".join(_EXAMPLES[area] for area in unknown if area in _EXAMPLES and area in givable)
        names = list_text([text_of_area(area) for area in unknown])
        sentences.append(f"{names}: nothing to compare with{f'; give --rated {examples}' if examples else ''}.")
    return [sentence[:1].upper() + sentence[1:] for sentence in sentences]


def _reached(kind: str, rows: Sequence[ScreenRow]) -> str:
    """Return a sentence on rates of an area, or on one time, as shares of peaks, of listed or of given values."""
    of = {"p": "of the peak", "l": "of what the system lists", "g": "of the given value"}[kind]
    shares = [row.share or 0.0 for row in rows]
    low, high = f"{min(shares) * 100:.0f}", f"{max(shares) * 100:.0f}"
    text = f"{high if low == high else f'{low} to {high}'} % {of}"
    is_time = rows[0].better == "lower"
    name = f"{text_of_area(rows[0].area)}{f' {rows[0].label}' if is_time else ''}"
    is_rated = max(shares) <= 1 / GOOD if is_time else min(shares) >= GOOD
    return f"{name} as rated: {text}." if is_rated else f"{name} at {text}."


def _compared_with_peers(row: ScreenRow) -> str:
    """Return a sentence that compares a value with that of other machines."""
    share_of_peers = row.share or 0.0
    name = f"{text_of_area(row.area)} {row.label}"
    if abs(share_of_peers - 1) <= TYPICAL_WITHIN:
        return f"{name}: as usual, {share_of_peers * 100:.0f} % of {row.peers}."
    word = "better" if (share_of_peers > 1) == (row.better == "higher") else "worse"
    return f"{name}: {abs(share_of_peers - 1) * 100:.0f} % {word} than {row.peers}."


def judged_by(report: Report) -> list[Result]:
    """Return for each probe the one result by which the machine is judged, in the order of the probes in the run.

    Only the first metric of each experiment is considered. The result of a probe is the one that its first line on the
    first screen shows. If no line of the probe fits, it is the result with the highest reference value and, of several
    of these, with the highest share. If lower values are better, it is the result with the lowest reference value and,
    of several of these, with the largest memory region (the fact ``touched_bytes``, 0 if missing). In these two cases,
    oversubscribed experiments are considered only if the probe has no other experiments. Probes without a reference
    value are left out. Derived results are left out since, for example, a cache that is smaller than listed is not
    slower than listed.
    """
    rated = by_probe(result for result in main_results(report) if result.summary.efficiency is not None)
    return [_on_first_screen(results) or _highest_reference(results) for results in rated.values()]


def _on_first_screen(results: Sequence[Result]) -> Result | None:
    """Return the result that the first fitting line of the probe's screen shows, or None if no line fits."""
    lines = probe_of(results[0].summary.probe).screen
    return next(filter(None, (line.best_of(results) for line in lines)), None)


def main_results(report: Report) -> list[Result]:
    """Return the result of the first metric of every experiment, even if it has no value, without derived results."""
    return headlines(result for result in report.results if not is_derived(result))


def _highest_reference(results: list[Result]) -> Result:
    """Return the result with the highest reference value and, of several of these, with the highest share.

    For latencies, return the result with the lowest reference value and, of several of these, the largest region: the
    reference value is the latency of memory, and smaller regions are in caches, which are faster.
    """
    within_cores = [result for result in results if not result.oversubscribed] or results
    if within_cores[0].better == "higher":
        return max(within_cores, key=lambda result: (result.summary.rated or 0.0, result.summary.efficiency or 0.0))
    return min(within_cores, key=lambda result: (result.summary.rated or 0.0, -result.facts.get("touched_bytes", 0.0)))
