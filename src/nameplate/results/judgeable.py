"""Choose the values of a run by which its machine is judged."""

from __future__ import annotations

import msgspec

from nameplate.planning.budget import MIN_ROUNDS
from nameplate.probes import probe_of
from nameplate.records.machine_record import Machine
from nameplate.records.result import Report, Result
from nameplate.records.run_record import JudgeableValue, MetricKey, Run
from nameplate.results.cpu_time import why_slowed


class JudgeableRun(msgspec.Struct, frozen=True):
    """A run with the values by which its machine is judged.

    ``why_not`` says why the machine cannot be judged by this run, as a clause about the run, "" if it can.
    """

    run: Run
    machine: Machine | None
    values: list[JudgeableValue]
    why_not: str


def judgeable(report: Report) -> JudgeableRun:
    """Return the values of a report by which its machine is judged, in the order of the report."""
    return JudgeableRun(report.run, report.machine, judgeable_values(report), why_not_judged(report))


def judgeable_values(report: Report) -> list[JudgeableValue]:
    """Return the values by which the machine of a run can be judged, in the order of the run.

    Imported values, oversubscribed ones, and those of the loopback, which is no network, are left out. ``is_main`` is
    True for values that fit a line of the run's summary (``Probe.screen``) with a single metric.
    """
    return [
        JudgeableValue(
            experiment=result.id,
            key=MetricKey(row.probe, row.params, row.metric, row.unit, result.better),
            value=row.value,
            ci=row.ci,
            rounds=row.rounds,
            capability=row.capability,
            capability_ci=row.capability_ci,
            is_main=_is_main(result),
        )
        for result in report.results
        if _is_judgeable(result) and (row := result.summary).value is not None
    ]


def _is_judgeable(result: Result) -> bool:
    return result.kind != "imported" and not result.oversubscribed and not result.facts.get("is_local")


def _is_main(result: Result) -> bool:
    return any(line.fits(result) for line in probe_of(result.summary.probe).screen if len(line.metrics) == 1)


def known_value(value: JudgeableValue, is_capability: bool) -> tuple[float, tuple[float, float]] | None:
    """Return the capability or the typical value with its 95 % interval (lower, upper), None if either is unknown.

    The typical value needs six rounds. Both are in the SI base unit of the metric.
    """
    if is_capability:
        number, interval = value.capability, value.capability_ci
    else:
        number, interval = value.value, value.ci if value.rounds >= MIN_ROUNDS else None
    return (number, interval) if number and interval else None


def why_not_judged(report: Report) -> str:
    """Return why a machine cannot be judged by a run, as a clause about the run, or "" if it can.

    For example, the run may be incomplete, or other programs took CPU time from it.
    """
    return why_without_class(report) or why_slowed(report)


def why_without_class(report: Report) -> str:
    """Return why no expected range fits the machine of a run, as a clause about the run, or "" if one may."""
    if report.machine is None:
        return "it does not say on which machine it was measured"
    if report.machine.emulator:
        return "its processor was emulated"
    if report.truncated or report.interrupted:
        return "it is incomplete"
    if report.nodes is not None:
        return "it has several nodes; measure each node in a separate run"
    return ""
