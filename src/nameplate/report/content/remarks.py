"""State what a reader must know about a run besides its verdict: warnings, and the basis of the verdict."""

from __future__ import annotations

from nameplate.records.result import CEILING_TOLERANCE, Report, Result
from nameplate.report.content.experiments import by_probe, title_of
from nameplate.report.content.format import count, first_few, parameters, quantity
from nameplate.report.content.machine_verdict import judged_by, main_results
from nameplate.report.content.slow_nodes import slow_nodes_text
from nameplate.report.content.trust import DISTURBED

CUT_OFF = "The run file is incomplete: the run was cut off. The report shows what was measured until then."
INTERRUPTED = "The run was interrupted; the report shows what was measured until then."
_MAX_NAMED = 3


def warnings_of(report: Report) -> list[str]:
    """Return sentences that warn the reader of a report, the most serious first; empty if there is nothing to warn of.

    The warnings are about values above their ceiling and about an early end of the run. The notes of the report follow,
    which name the experiments that failed or are missing.
    """
    return [*_above_ceiling(report), *_early_end(report), *report.notes]


def remarks(report: Report) -> list[str]:
    """Return sentences about the basis of the verdict on the machine and its limits, in the order to show them.

    The sentences are about the value and the reference value of each share in the verdict, the slow nodes of a job (or
    that no node is slow), probes without a reference value, experiments that were not measured, an early end of the
    run, disturbed samples, and values above their ceiling. The list is empty if none of this applies.
    """
    lines = [_basis(result) for result in judged_by(report)]
    if report.nodes:
        lines.append(f"Nodes: {slow_nodes_text(report.nodes)}.")
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
    measured = by_probe(result for result in main_results(report) if result.summary.value is not None)
    lines = []
    for probe, results in measured.items():
        if probe not in rated:
            # The reason of a result for which the user can give a reference value helps most.
            unknown = next((result for result in results if result.rated.can_be_given), results[0]).rated
            lines.append(f"{title_of(probe)}: no reference value ({unknown.source}).")
    return lines


def _missing(report: Report) -> list[str]:
    first = main_results(report)
    messages = {
        "invalid": "computed a wrong result, so their values are not shown",
        "failed": "could not be measured",
        "skipped": "skipped",
    }
    begun = [result for result in first if result.summary.was_begun]
    lines = []
    for outcome, said in messages.items():
        names = [result.id for result in begun if result.summary.outcome == outcome]
        lines += [f"{count(len(names), 'experiment')} {said}: {first_few(names, _MAX_NAMED, '; ')}."] if names else []
    known = {result.id for result in first}
    absent = sum(not experiment.dense and experiment.id not in known for experiment in report.run.plan.experiments)
    never = absent + len(first) - len(begun)
    if never > 0:
        lines.append(f"{count(never, 'experiment')} of the plan {'was' if never == 1 else 'were'} not measured.")
    return lines


def _early_end(report: Report) -> list[str]:
    if report.truncated:
        return [CUT_OFF]
    if report.interrupted:
        return [INTERRUPTED]
    return []


def _disturbed(report: Report) -> list[str]:
    with_value = [result for result in main_results(report) if result.summary.value is not None]
    noisy = [result for result in with_value if result.summary.disturbed > DISTURBED]
    return [
        f"The machine was busy: in {len(noisy)} of {count(len(with_value), 'experiment')}, more than "
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
