"""Compute the digest of a run: the value and interval of each metric.

A run file has its digest as the last line, so that a folder of many runs is read in seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from nameplate.hostlist import compress
from nameplate.probes.shared.job import nodes_of
from nameplate.records.machine_record import Machine
from nameplate.records.node_record import Nodes
from nameplate.records.result import Report
from nameplate.records.run_record import Digest, Judgeable, MetricKey, MetricValue, Run
from nameplate.results.cpu_time import why_slowed, why_slowed_in
from nameplate.results.judgeable import JudgeableRun, judgeable, judgeable_values, why_not_judged
from nameplate.results.measurements import RunFile
from nameplate.results.run_file import read_digest, read_header, read_run
from nameplate.results.summarise import MeasuredValue, measured_values, nodes_in, summarise
from nameplate.statistics.stats import median_error

# The version of the values that this code computes from the records of a run. A digest of another version is ignored.
# Raise it whenever a value, an interval or a key of a recorded run changes: ``test_values_version.py`` says when.
VALUES_VERSION = 5


def values_version() -> str:
    """Return the version of the values of a digest (``Digest.by``). Values of equal versions are computed alike."""
    return f"values {VALUES_VERSION}"


def digest_of(file: RunFile) -> Digest:
    """Return the digest of a run file: each metric's value, its 95 % interval, and its value on each node.

    The digest equals ``digest_of_report(summarise(file))``, but takes less time, since nothing else is computed:
    ``judgeable`` is None. Its ``crc32`` is 0; ``append_digest`` sets it.
    """
    return _digest(file.run, file.machine, measured_values(file), nodes_in(file), why_slowed_in(file), None)


def digest_of_report(report: Report) -> Digest:
    """Return the digest of summarised results: each metric's value, its 95 % interval, and its value on each node.

    Results without a value, derived results and imported results are left out. A metric that the plan measures both in
    rounds and as a long series has the value of the rounds. ``Digest.machine`` is the host name, the Slurm host list of
    a job with several nodes, or "unknown". The ``crc32`` is 0; ``append_digest`` sets it.
    """
    to_judge = Judgeable(judgeable_values(report), why_not_judged(report))
    measured = (
        MeasuredValue(result.id, MetricKey(row.probe, row.params, row.metric, row.unit, result.better), row.value,
                      row.ci, result.round_values)
        for result in report.results
        if result.kind == "measured" and (row := result.summary).value is not None
    )  # fmt: skip
    return _digest(report.run, report.machine, measured, report.nodes, why_slowed(report), to_judge)


def read_judgeable(path: Path) -> JudgeableRun:
    """Return the values of a run file by which its machine is judged, from its digest if that has them.

    Raises:
        ReadError: the file does not exist, cannot be read, or is not a regular file.
        FileError: the file is not a run file.
    """
    digest = read_digest(path, values_version())
    if digest is None or digest.judgeable is None:
        return judgeable(summarise(read_run(path)))
    return JudgeableRun(*read_header(path), digest.judgeable.values, digest.judgeable.why_not)


def _digest(
    run: Run, machine: Machine | None, measured: Iterable[MeasuredValue], nodes: Nodes | None, slowed: str,
    to_judge: Judgeable | None,
) -> Digest:  # fmt: skip
    of_nodes = _of_nodes(nodes)
    series = {experiment.id for experiment in run.plan.experiments if experiment.interval_s}
    values_of_metric: dict[bytes, MetricValue] = {}
    for experiment, key, value, ci, rounds in measured:
        encoded = msgspec.msgpack.encode(key, order="deterministic")
        if encoded not in values_of_metric or experiment not in series:
            values_of_metric[encoded] = MetricValue(
                key, value, ci, of_nodes.get((experiment, key.metric), {}), experiment, median_error(rounds)
            )
    names = nodes_of(machine)
    hostname = machine.hostname if machine else "unknown"
    return Digest(
        by=values_version(),
        crc32=0,
        started=run.started,
        seed=run.seed,
        machine=compress(names) if len(names) > 1 else hostname,
        plan=run.plan.name,
        slowed=slowed,
        values=list(values_of_metric.values()),
        judgeable=to_judge,
    )


def _of_nodes(nodes: Nodes | None) -> dict[tuple[str, str], dict[str, float]]:
    """Return the values by node name for each pair (experiment id, metric); {} if there are no nodes."""
    if nodes is None:
        return {}
    return {
        (metric.experiment, metric.metric): {
            name: value for name, value in zip(nodes.names, metric.value, strict=True) if value is not None
        }
        for metric in nodes.metrics
    }
