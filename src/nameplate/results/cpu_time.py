"""Compute the share of the available CPU time that a run got; other programs and guests took the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nameplate.probes import probe_of
from nameplate.records.machine_record import Machine, binding_quota_cpus
from nameplate.records.result import Report, Result
from nameplate.records.run_record import Sample
from nameplate.results.duplicates import duplicates
from nameplate.results.measurements import RunFile
from nameplate.results.rounds import good_rounds, rounds_by_experiment
from nameplate.statistics.stats import median

# With a smaller share, other programs or guests kept the workers from running.
ENOUGH_CPU = 0.9


def share_of_cpu_time(report: Report) -> float | None:
    """Return the share of the available CPU time that the workers of a run got: 1 if no other program or guest used it.

    The result is the median over the experiments that compute all the time and have the highest number of threads,
    among the experiments of the CPU, or of the memory if the run has none of the CPU. It is None if the run has no such
    experiment, and if a CPU quota applies, since a quota also stops workers.
    """
    shares = {result.id: (result.summary.probe, _threads(result), share)
              for result in report.results if (share := share_of_experiment(result)) is not None}  # fmt: skip
    return _share(report.machine, shares.values())


def _share(machine: Machine | None, shares: Collection[tuple[str, int, float]]) -> float | None:
    """Return the share of CPU time of a run from (probe, threads, share) of its experiments."""
    if machine and binding_quota_cpus(machine):
        return None
    for area in ("cpu", "memory"):
        of_area = [(threads, share) for probe, threads, share in shares if probe_of(probe).area == area]
        if of_area:
            most = max(threads for threads, _ in of_area)
            return median([share for threads, share in of_area if threads == most])
    return None


def why_slowed(report: Report) -> str:
    """Return what slowed a whole run down, so that it does not show what its machine delivers, as a clause, or "".

    The reasons are a CPU quota below the number of CPUs, and other programs that took CPU time from the workers. For a
    fleet it is "", since each machine has its own (``FleetHost.slowed``).
    """
    return "" if report.fleet else _why(report.machine, share_of_cpu_time(report))


def why_slowed_in(file: RunFile) -> str:
    """Return what ``why_slowed`` returns for the results of a run file, without computing the results."""
    by_id = rounds_by_experiment(file)
    same = duplicates(file.run.plan.experiments, by_id)
    shares = []
    for identity, measurements in by_id.items():
        rounds = [] if identity in same else good_rounds(measurements)
        if not rounds:
            continue
        outcome, samples = rounds[-1].outcome, [sample for measurement in rounds for sample in measurement.samples]
        threads = int(outcome.params.get("threads", 1))
        share = _share_of_workers(outcome.probe, outcome.oversubscribed, busy_cores(samples), threads)
        if share is not None:
            shares.append((outcome.probe, threads, share))
    return _why(file.machine, _share(file.machine, shares))


def _why(machine: Machine | None, got: float | None) -> str:
    quota_cpus = binding_quota_cpus(machine) if machine else None
    if quota_cpus is not None:
        return f"a CPU quota allowed the time of {quota_cpus:g} CPUs"
    if got is not None and got < ENOUGH_CPU:
        return f"other programs took {(1 - got) * 100:.0f} % of the CPU time"
    return ""


def share_of_experiment(result: Result) -> float | None:
    """Return the share of the available CPU time that an experiment's workers got: CPU time ÷ elapsed time ÷ threads.

    It is None if the workers also wait, as for a disk, if several workers share a CPU, or if no CPU time was recorded.
    """
    return _share_of_workers(result.summary.probe, result.oversubscribed, result.utilisation, _threads(result))


def _share_of_workers(probe: str, is_oversubscribed: bool, cores: float, threads: int) -> float | None:
    if not probe_of(probe).is_always_computing or is_oversubscribed or not cores:
        return None
    return cores / threads


def busy_cores(samples: Sequence[Sample]) -> float:
    """Return the mean number of cores that a process kept busy: CPU time ÷ elapsed time of at least one sample."""
    return sum(sample.cpu_s for sample in samples) / sum(sample.elapsed_s for sample in samples)


def _threads(result: Result) -> int:
    return int(result.summary.params.get("threads", 1))
