"""Choose the results of a run by which its machine is judged."""

from __future__ import annotations

from itertools import groupby

from nameplate.probes import probe_of
from nameplate.records.result import Report, Result


def judged_results(report: Report) -> list[Result]:
    """Return the results of the first screen's lines, by which a machine is judged, in the order of the run.

    Lines of several metrics are left out, such as the sizes of the caches, and so are oversubscribed results and those
    of the loopback, which is no network. Results of one probe must be adjacent, as ``summarise`` returns them.
    """
    found: dict[tuple[str, str], Result] = {}
    for name, group in groupby(report.results, key=lambda result: result.summary.probe):
        measured = [result for result in group if _is_judged(result)]
        for line in (line for line in probe_of(name).screen if len(line.metrics) == 1):
            best = line.best_of(result for result in measured if (result.id, line.metrics[0]) not in found)
            if best is not None:
                found[best.id, line.metrics[0]] = best
    return list(found.values())


def value_of(result: Result) -> float:
    """Return what the machine is capable of in the result's unit, or the typical value if no capability is known."""
    row = result.summary
    return row.capability or row.value or 0.0


def interval_of(result: Result) -> tuple[float, float] | None:
    """Return the 95 % interval of ``value_of``, or None if there were too few rounds for one."""
    row = result.summary
    return row.capability_ci if row.capability else row.ci


def _is_judged(result: Result) -> bool:
    return result.kind != "imported" and not result.oversubscribed and not result.facts.get("is_local")
