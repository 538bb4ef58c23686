"""State what a reader must know about a run next to its verdict: warnings, and the basis of the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.result import Report, Result
from nameplate.report.content.experiments import title_of
from nameplate.report.content.format import count, parameters, quantity
from nameplate.report.content.slow_nodes import found_slow
from nameplate.report.content.trust import DISTURBED
from nameplate.report.content.verdict import judged_by, main_results
from nameplate.results.summarise import CEILING_TOLERANCE

CUT_OFF = "The run file ends before the run did; the report shows what was measured until then."


def warnings_of(report: Report) -> list[str]:
    """Return sentences that warn of values, the most serious first.

    They name values above their ceiling and an early end of the run. The notes of the report follow, which name the
    experiments that failed or are missing.
    """
    return [*_above_ceiling(report), *_early_end(report), *report.notes]


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
    return [*lines, *_missing(report), *_early_end(report), *_disturbed(report), *_above_ceiling(report)]


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
    for result in main_results(report):
        if result.summary.value is not None and result.summary.probe not in rated:
            measured.setdefault(result.summary.probe, []).append(result)
    return [f"{title_of(probe)}: no reference value ({_why_unknown(results)})." for probe, results in measured.items()]


def _why_unknown(results: Sequence[Result]) -> str:
    """Return the reason for a missing reference value; one that the user can remove by giving the value comes first."""
    return next((result for result in results if result.rated.can_be_given), results[0]).rated.source


def _missing(report: Report) -> list[str]:
    first = main_results(report)
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


def _early_end(report: Report) -> list[str]:
    if report.truncated:
        return [CUT_OFF]
    if report.interrupted:
        return ["The run was interrupted; the report shows what was measured until then."]
    return []


def _disturbed(report: Report) -> list[str]:
    shown = [result for result in main_results(report) if result.summary.value is not None]
    noisy = [result for result in shown if result.summary.disturbed > DISTURBED]
    return [
        f"The machine was busy: in {len(noisy)} of {count(len(shown), 'experiment')}, more than "
        f"{DISTURBED * 100:.0f} % of the samples were disturbed (steal, throttling, preemption or a slower "
        "clock). It may reach more."
    ] if noisy else []  # fmt: skip


def _above_ceiling(report: Report) -> list[str]:
    over = [
        result for result in main_results(report)
        if result.rated.is_ceiling and result.efficiency_ci and result.efficiency_ci[0] > 1 + CEILING_TOLERANCE
    ]  # fmt: skip
    return [
        f"{count(len(over), 'value')} exceeded the ceiling: either the measurement or the reference value is wrong."
    ] if over else []  # fmt: skip
