"""State what a run says about its machine: a verdict in one sentence, and remarks on it."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.machine_record import Machine, binding_quota_cpus
from nameplate.records.result import Report, Result
from nameplate.report.aliases import name_of
from nameplate.report.experiments import headlines, is_derived, title_of
from nameplate.report.format import count, parameters, quantity, share
from nameplate.report.terminal.nodes import found_slow
from nameplate.results.summarise import CEILING_TOLERANCE

# A machine with a larger share of disturbed samples was too busy to be judged by them.
NOT_QUIET = 0.1


def verdict(report: Report) -> str:
    """Return in one sentence which shares of their reference values the machine reaches.

    The sentence starts with the name of the machine and lists the results of ``judged_by``, first those of which more
    is better, then those of which less is better, with 95 % intervals if they are known. If no measured value has a
    reference value, the sentence says so. A CPU quota below the number of CPUs comes first, in a sentence of its own.
    """
    return " ".join([*quota_limit(report.machine), _shares(report)])


def quota_limit(machine: Machine | None) -> list[str]:
    """Return a sentence on the CPU quota if it is below the number of CPUs that processes may use, else no item."""
    cpus = len(machine.topology.allowed_cpus) if machine else 0
    quota_cpus = binding_quota_cpus(machine) if machine else None
    if quota_cpus is None:
        return []
    return [
        f"A CPU quota limits processes to {quota_cpus:g} of {count(cpus, 'CPU')} on average: "
        f"{share(quota_cpus / cpus)} of their time."
    ]


def _shares(report: Report) -> str:
    judged = judged_by(report)
    who = name_of(report)
    if not judged:
        return f"There is no verdict on {who}: none of the measured values has a reference value."
    delivered = [_share_of_reference(result) for result in judged if result.better == "higher"]
    taken = [_share_of_reference(result) for result in judged if result.better == "lower"]
    parts = ["reaches " + _listed(delivered)] * bool(delivered) + ["takes " + _listed(taken)] * bool(taken)
    return f"{who[:1].upper()}{who[1:]} {' and '.join(parts)}."


def remarks(report: Report) -> list[str]:
    """Return sentences about the basis of the verdict and its limits, in the order in which they are shown.

    They name the value and the reference value behind each share, the slow nodes of a job (or that there are none),
    probes without a reference value, experiments that were not measured, an early end of the run, disturbed samples,
    and values above their ceiling. The list is empty if none of this applies.
    """
    lines = [_basis(result) for result in judged_by(report)]
    if report.nodes:
        lines.append(f"Nodes: {found_slow(report.nodes)}.")
    lines += _unknown(report)
    lines += _missing(report)
    if report.truncated:
        lines.append("The run file ends before the run did; the report shows what was measured until then.")
    elif report.interrupted:
        lines.append("The run was interrupted; the report shows what was measured until then.")
    return lines + _doubts(report)


def judged_by(report: Report) -> list[Result]:
    """Return for each probe the result that stands for the whole machine, in the order of the probes in the run.

    Only the first metric of each experiment counts. The result is that with the highest reference value, and among
    equal ones that with the highest share. For a metric of which less is better, it is that with the lowest reference
    value, and among equal ones that with the largest memory region (the fact ``touched_bytes``, 0 if missing).
    Oversubscribed experiments count only if the probe has no others. Probes without a reference value are left out, and
    so are derived results: a cache that is smaller than listed is not slower than listed.
    """
    by_probe: dict[str, list[Result]] = {}
    for result in _experiments(report):
        if result.summary.efficiency is not None:
            by_probe.setdefault(result.summary.probe, []).append(result)
    return [_highest_reference(results) for results in by_probe.values()]


def _experiments(report: Report) -> list[Result]:
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


def _share_of_reference(result: Result) -> str:
    interval = result.efficiency_ci
    between = f" (95 % interval: {interval[0] * 100:.1f} to {share(interval[1])})" if interval else ""
    return f"{share(result.summary.efficiency)}{between} of the reference value for {_noun(result)}"


def _noun(result: Result) -> str:
    title = title_of(result.summary.probe)
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)


def _basis(result: Result) -> str:
    row = result.summary
    unsure = "" if result.efficiency_ci else " There are too few rounds for an interval."
    return (
        f"{title_of(row.probe)}: {quantity(row.value, row.unit)} with {parameters(row.params)}; reference value "
        f"{quantity(row.rated, row.unit)} = {result.rated.source}.{unsure}"
    )


def _unknown(report: Report) -> list[str]:
    rated = {result.summary.probe for result in judged_by(report)}
    measured: dict[str, list[Result]] = {}
    for result in _experiments(report):
        if result.summary.value is not None and result.summary.probe not in rated:
            measured.setdefault(result.summary.probe, []).append(result)
    return [f"{title_of(probe)}: no reference value ({_why_unknown(results)})." for probe, results in measured.items()]


def _why_unknown(results: Sequence[Result]) -> str:
    """Return the reason for a missing reference value; one that the user can remove by giving the value comes first."""
    return next((result for result in results if result.rated.can_be_given), results[0]).rated.source


def _missing(report: Report) -> list[str]:
    first = _experiments(report)
    words = {
        "invalid": "computed a wrong result, so their values are not shown",
        "failed": "could not be measured",
        "skipped": "skipped",
    }
    begun = [result for result in first if result.summary.was_begun]
    lines = []
    for outcome, said in words.items():
        names = [result.id for result in begun if result.summary.outcome == outcome]
        lines += [f"{count(len(names), 'experiment')} {said}: {_some(names)}."] if names else []
    known = {result.id for result in first}
    absent = sum(not experiment.dense and experiment.id not in known for experiment in report.run.plan.experiments)
    never = absent + len(first) - len(begun)
    return lines + (
        [(f"{count(never, 'experiment')} of the plan {'was' if never == 1 else 'were'} not measured.")]
        if never > 0
        else []
    )


def _some(names: Sequence[str], limit: int = 3) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return "; ".join(names[:limit]) + more


def _doubts(report: Report) -> list[str]:
    shown = [result for result in _experiments(report) if result.summary.value is not None]
    noisy = [result for result in shown if result.summary.disturbed > NOT_QUIET]
    over = [
        result for result in shown
        if result.rated.is_ceiling and result.efficiency_ci and result.efficiency_ci[0] > 1 + CEILING_TOLERANCE
    ]  # fmt: skip
    lines = []
    if noisy:
        lines.append(
            f"The machine was busy: in {len(noisy)} of {count(len(shown), 'experiment')}, more than "
            f"{NOT_QUIET * 100:.0f} % of the samples were disturbed (steal, throttling, preemption or a slower "
            "clock). It may reach more."
        )
    if over:
        lines.append(
            f"{count(len(over), 'value')} exceeded the ceiling: either the measurement or the reference value is wrong."
        )
    return lines
