"""Choose the results of a run by which its machine is judged."""

from __future__ import annotations

from itertools import groupby

from nameplate.expectations.expected_range import Kind
from nameplate.planning.budget import MIN_ROUNDS
from nameplate.probes import probe_of
from nameplate.records.result import Report, Result
from nameplate.results.cpu_time import why_slowed


def judged_results(report: Report) -> list[Result]:
    """Return the results by which the machine of a run is judged, in the order of the run.

    They are the results that fit a line of the run's summary (``Probe.screen``) with a single metric; of several that
    fit a line, all are returned, although the summary shows one. Oversubscribed results and those of the loopback,
    which is no network, are left out. Results of one probe must be adjacent in ``report``, as ``summarise`` returns
    them.
    """
    by_key: dict[tuple[str, str], Result] = {}
    for name, group in groupby(report.results, key=lambda result: result.summary.probe):
        lines = [line for line in probe_of(name).screen if len(line.metrics) == 1]
        for result in group:
            if is_judged(result) and any(line.fits(result) for line in lines):
                by_key.setdefault((result.id, result.summary.metric), result)
    return list(by_key.values())


def is_judged(result: Result) -> bool:
    """Return whether a machine can be judged by a result of its run.

    The answer is no for imported results, for oversubscribed results, and for results of the loopback, which is no
    network.
    """
    return result.kind != "imported" and not result.oversubscribed and not result.facts.get("is_local")


def known_value(result: Result, kind: Kind) -> tuple[float, tuple[float, float]] | None:
    """Return a value of a result and its 95 % interval (lower, upper), or None if either is unknown.

    ``kind`` chooses the capability or the typical value; the latter needs six rounds. Both are in the SI base unit of
    the metric.
    """
    row = result.summary
    if kind == "capability":
        value, interval = row.capability, row.capability_ci
    else:
        value, interval = row.value, row.ci if row.rounds >= MIN_ROUNDS else None
    return (value, interval) if value and interval else None


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
