"""Choose the results of a run by which its machine is judged."""

from __future__ import annotations

from itertools import groupby

from nameplate.expectations.expected_range import Kind
from nameplate.planning.budget import MIN_ROUNDS
from nameplate.probes import probe_of
from nameplate.records.machine_record import binding_quota_cpus
from nameplate.records.result import Report, Result


def judged_results(report: Report) -> list[Result]:
    """Return the results of the first screen's lines, by which a machine is judged, in the order of the run.

    They are all experiments that fit a line, of which the screen shows one. Lines of several metrics are left out, such
    as the sizes of the caches, and so are oversubscribed results and those of the loopback, which is no network.
    Results of one probe must be adjacent, as ``summarise`` returns them.
    """
    found: dict[tuple[str, str], Result] = {}
    for name, group in groupby(report.results, key=lambda result: result.summary.probe):
        lines = [line for line in probe_of(name).screen if len(line.metrics) == 1]
        for result in group:
            if is_judged(result) and any(line.fits(result) for line in lines):
                found.setdefault((result.id, result.summary.metric), result)
    return list(found.values())


def is_judged(result: Result) -> bool:
    """Return whether a result says something about the machine and no other: see ``judged_results``."""
    return result.kind != "imported" and not result.oversubscribed and not result.facts.get("is_local")


def known_value(result: Result, kind: Kind) -> tuple[float, tuple[float, float]] | None:
    """Return the capability or the typical value of a result and its 95 % interval, or None if either is unknown."""
    row = result.summary
    if kind == "capability":
        value, interval = row.capability, row.capability_ci
    else:
        value, interval = row.value, row.ci if row.rounds >= MIN_ROUNDS else None
    return (value, interval) if value and interval else None


def why_not_judged(report: Report) -> str:
    """Return why a run says nothing about what its machine should deliver, or "" if it does."""
    if report.machine is None:
        return "it does not say on which machine it was measured"
    if report.machine.emulator:
        return "its processor was emulated"
    if report.truncated or report.interrupted:
        return "it did not reach its end"
    if binding_quota_cpus(report.machine) is not None:
        return "a CPU quota limited it"
    if report.nodes is not None:
        return "it has several nodes, of which each needs a run of its own"
    return ""
