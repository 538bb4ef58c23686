"""Summarise the machines of a fleet as one report, as if they were the nodes of a job."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from nameplate.errors import FileError
from nameplate.fleet.host_values import FleetValues, HostMetric
from nameplate.probes import load_probes
from nameplate.records.fleet_record import Fleet, FleetHost
from nameplate.records.node_record import Nodes
from nameplate.records.result import Report, Result, Series
from nameplate.results.node_values import node_metric
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.statistics.outlier_nodes import NodeValues, judge
from nameplate.statistics.stats import median, median_interval

_NONE = np.empty(0)
# Each group has a block of its own in a map.
_MAX_GROUPS, _MIN_MEAN_SIZE = 100, 2


def fleet_report(fleet: FleetValues) -> Report:
    """Return the report of a fleet of at least one machine, and judge which machines are slow.

    ``Report.nodes`` has the value of each machine in each metric, and the judgement (``statistics.outlier_nodes``). A
    machine was measured in a run of its own, so the standard error of its value is that of the rounds of this run.
    Metrics with ``is_detail`` are not judged, nor are values of 0 or below.

    ``Report.results`` has for each metric the median of the machines of the largest hardware class, with its 95 %
    interval. The number of its rounds is the number of these machines. The run, the machine and the reference values
    are those of a machine of this class, the first that nothing slowed down; values that only single runs have, such as
    percentiles, are None.

    Raises:
        FileError: no run has a value, or the file of this machine can no longer be read.
    """
    if not len(fleet.values):
        raise FileError(f"{fleet.hosts[0].path}: no run of the fleet has a value")
    largest = Counter(fleet.classes).most_common(1)[0][0]
    in_class = np.array([name == largest for name in fleet.classes], dtype=bool)
    judged = []
    values_in_class: dict[tuple[str, str], NDArray[np.float64]] = {}
    ordered = np.sort(fleet.values, order=["metric", "host"])
    for rows in np.split(ordered, np.flatnonzero(np.diff(ordered["metric"])) + 1):
        metric = fleet.metrics[int(rows["metric"][0])]
        values_in_class[metric.name] = rows["value"][in_class[rows["host"]]]
        positive = rows[rows["value"] > 0]
        if len(positive) and not _is_detail(metric):
            judged.append(_values_by_host(metric, positive, len(fleet.hosts)))
    del ordered, rows  # as large as all values
    of_class = [host for host, is_member in zip(fleet.hosts, in_class, strict=True) if is_member]
    example = next((host for host in of_class if not host.slowed), of_class[0])
    first = summarise(read_run(Path(example.path)))
    results = [
        _median_of(result, values.tolist())
        for result in first.results
        if result.kind == "measured" and len(values := values_in_class.get((result.id, result.summary.metric), _NONE))
    ]
    judgements = deque(judge(judged, fleet.classes))
    judged.clear()
    # Of 10,000 machines, the arrays and the lists together would need 100 MB more.
    metrics = [node_metric(judgements.popleft()) for _ in range(len(judgements))]
    return Report(
        run=first.run, machine=first.machine, clock=None, results=results, tables=[], truncated=False,
        interrupted=False, notes=[f"each value is the median of {int(in_class.sum())} machines ({largest})"],
        nodes=Nodes([host.name for host in fleet.hosts], fleet.classes, metrics, _groups(fleet.hosts)),
        fleet=Fleet(hosts=fleet.hosts, left_out=fleet.left_out),
    )  # fmt: skip


def _groups(hosts: Sequence[FleetHost]) -> list[str]:
    """Return the group of each host: that of the controller, or the hosts whose names differ only in the last number.

    The result is empty if all hosts would be in one group, or in many small ones.
    """
    groups = [host.group or _name_without_number(host.name) for host in hosts]
    n_groups = len(set(groups))
    is_useful = 1 < n_groups <= _MAX_GROUPS and len(hosts) >= _MIN_MEAN_SIZE * n_groups
    return groups if is_useful else []


def _name_without_number(name: str) -> str:
    """Return "r1-web" for r1-web07.example.org, and "10.0.1" for root@10.0.1.7."""
    host = name.rpartition("@")[2].partition(" ")[0]
    if re.fullmatch(r"\d+\.\d+\.\d+\.\d+", host):
        return host.rpartition(".")[0]
    return re.sub(r"\d+$", "", host.partition(".")[0]) or host


def _is_detail(metric: HostMetric) -> bool:
    probe = load_probes().get(metric.key.probe)
    return probe is None or any(known.name == metric.key.metric and known.is_detail for known in probe.metrics)


def _values_by_host(metric: HostMetric, rows: NDArray[np.void], n_hosts: int) -> NodeValues:
    values, errors = np.full((1, n_hosts), np.nan), np.full(n_hosts, np.nan)
    values[0, rows["host"]], errors[rows["host"]] = rows["value"], rows["error"]
    key = metric.key
    return NodeValues(metric.experiment, key.metric, key.unit, key.better, values, errors)


def _median_of(result: Result, values: list[float]) -> Result:
    """Return a result of one machine with the median of several machines as its value."""
    interval = median_interval(values)
    row = result.summary
    summary = msgspec.structs.replace(
        row, value=median(values), ci=(interval.low, interval.high) if interval else None, rounds=len(values),
        samples=0, mean=None, best=None, sustained=None, p95=None, p99=None, disturbed=0.0, over_time=None,
        capability=None, capability_ci=None, efficiency=median(values) / row.rated if row.rated else None,
    )  # fmt: skip
    return msgspec.structs.replace(
        result, summary=summary, efficiency_ci=None, series=Series([], [], [], []), round_values=[], round_numbers=[],
        remarks=[], evidence={}, distribution=[], sample_s=0.0, sample_work=0.0, measured_s=0.0, limit="",
        capable_rounds=0, utilisation=0.0,
    )  # fmt: skip
