"""Compute the digest of a run: the value and interval of each metric.

A run file has its digest as the last line, so that a folder of many runs is read in seconds.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from nameplate.hostlist import compress
from nameplate.probes.shared.job import nodes_of
from nameplate.records.machine_record import Machine
from nameplate.records.result import Nodes, Report
from nameplate.records.run_record import Digest, MetricKey, MetricValue, Run
from nameplate.results.measurements import RunFile
from nameplate.results.summarise import MeasuredValue, measured_values, nodes_in

# The version of the values that this code computes from the records of a run. A digest of another version is computed
# anew. Raise it whenever a value, an interval or a key of a recorded run changes: ``test_values_version.py`` says when.
VALUES_VERSION = 1


def values_version() -> str:
    """Return the text that identifies the values of a digest, its ``by``: equal texts stand for equal values."""
    return f"values {VALUES_VERSION}"


def digest_of(file: RunFile) -> Digest:
    """Return the digest of a run file: the value and 95 % interval of each metric, and its values by node.

    It equals ``digest_of_report(summarise(file))``, but takes less time, since nothing else is computed. The ``crc32``
    of the result is 0; ``append_digest`` sets it.
    """
    return _digest(file.run, file.machine, measured_values(file), nodes_in(file))


def digest_of_report(report: Report) -> Digest:
    """Return the digest of a run from its results: the value and 95 % interval of each metric, and its values by node.

    Results without a value, and those derived from others or imported, are left out. A metric that the plan measures
    both in rounds and as a long series has the value of the rounds. The machine is the name of the host, the list of
    the nodes of a job, or "unknown". The ``crc32`` of the result is 0; ``append_digest`` sets it.
    """
    measured = (
        (result.id, MetricKey(row.probe, row.params, row.metric, row.unit, result.better), row.value, row.ci)
        for result in report.results
        if result.kind == "measured" and (row := result.summary).value is not None
    )
    return _digest(report.run, report.machine, measured, report.nodes)


def _digest(run: Run, machine: Machine | None, measured: Iterable[MeasuredValue], nodes: Nodes | None) -> Digest:
    of_nodes = _of_nodes(nodes)
    series = {experiment.id for experiment in run.plan.experiments if experiment.interval_s}
    own: dict[bytes, MetricValue] = {}
    for identity, key, value, ci in measured:
        encoded = msgspec.msgpack.encode(key, order="deterministic")
        if encoded not in own or identity not in series:
            own[encoded] = MetricValue(key, value, ci, of_nodes.get((identity, key.metric), {}))
    return Digest(
        by=values_version(),
        crc32=0,
        started=run.started,
        seed=run.seed,
        machine=_machine_of(machine),
        plan=run.plan.name,
        values=list(own.values()),
    )


def _of_nodes(nodes: Nodes | None) -> dict[tuple[str, str], dict[str, float]]:
    """Return the value of each node by its name, for each pair of experiment and metric."""
    if nodes is None:
        return {}
    return {
        (metric.experiment, metric.metric): {
            name: value for name, value in zip(nodes.names, metric.value, strict=True) if value is not None
        }
        for metric in nodes.metrics
    }


def _machine_of(machine: Machine | None) -> str:
    names = nodes_of(machine)
    if len(names) > 1:
        return compress(names)
    return machine.hostname if machine else "unknown"
