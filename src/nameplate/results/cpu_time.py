"""Find how much of the CPU time that a run could use it got; other programs and guests took the rest."""

from __future__ import annotations

from nameplate.probes import probe_of
from nameplate.records.machine_record import binding_quota_cpus
from nameplate.records.result import Report, Result
from nameplate.statistics.stats import median

# Workers that got a smaller share were kept from running.
ENOUGH_CPU = 0.9


def share_of_cpu_time(report: Report) -> float | None:
    """Return the share of the CPU time that the workers of a run could use and got, about 1 if nothing else ran.

    It is the median over the experiments that compute all the time and have the most threads: those of the CPU, or
    those of the memory if the run has none. It is None without such an experiment, and where a CPU quota binds, since
    that also keeps workers from running.
    """
    if report.machine and binding_quota_cpus(report.machine):
        return None
    shares = {result.id: share for result in report.results if (share := share_of_experiment(result)) is not None}
    for area in ("cpu", "memory"):
        own = {
            result.id: _threads(result)
            for result in report.results
            if result.id in shares and probe_of(result.summary.probe).area == area
        }
        most = max(own.values(), default=0)
        if own:
            return median([shares[identity] for identity, threads in own.items() if threads == most])
    return None


def share_of_experiment(result: Result) -> float | None:
    """Return the share of the CPU time that the workers of an experiment could use and got.

    It is None if the workers wait for something else, as for a disk, share CPUs with each other, or were not timed.
    """
    is_busy = probe_of(result.summary.probe).is_always_computing
    if not is_busy or result.oversubscribed or not result.utilisation:
        return None
    return result.utilisation / _threads(result)


def _threads(result: Result) -> int:
    return int(result.summary.params.get("threads", 1))
