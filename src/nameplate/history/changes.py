"""Evaluate a folder's index: runs compared with the typical values, changes, and metrics over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from nameplate.comparison.machine_settings import SettingDifference, differing_settings
from nameplate.errors import FileError, UsageError
from nameplate.history.index import Change, Entry, Index, Rows
from nameplate.history.update import days_of, in_time
from nameplate.records.run_record import MetricKey
from nameplate.results.run_file import read_header
from nameplate.statistics.benjamini_hochberg import benjamini_hochberg
from nameplate.statistics.constants import FALSE_DISCOVERY_RATE
from nameplate.statistics.trends import MIN_RUNS
from nameplate.units import size_text

# With fewer runs, the typical value is unknown.
_MIN_TYPICAL = 3
_MAX_NAMED = 10


def significant_changes(index: Index) -> list[Change]:
    """Return the changes that are significant when all metrics of all machines are judged together.

    They are in the order of ``index.changes``. The false discovery rate is 1 %. The number of tests is the number of
    pairs of a metric and a machine with at least ``MIN_RUNS`` runs. Source: Benjamini and Hochberg, "Controlling the
    False Discovery Rate", 1995.
    """
    judged = int(np.sum(index.typical["runs"] >= MIN_RUNS))
    probabilities = np.ones(max(judged, len(index.changes)))
    probabilities[: len(index.changes)] = [change.probability for change in index.changes]
    is_significant = benjamini_hochberg(probabilities, FALSE_DISCOVERY_RATE)[: len(index.changes)]
    return [change for change, real in zip(index.changes, is_significant, strict=True) if real]


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run compared with the typical values: the median of each metric over all runs of the same machine.

    - ``path``: relative to the folder; ``started``: in ISO 8601; ``plan``: the name of the plan
    - ``machine``: the host, node or job whose values are compared
    - ``unfinished``: the run was interrupted or is still running
    - ``slowed``: what slowed the run down, as a clause; it then does not count for changes and typical values
    - ``metrics``: the number of metrics of this machine in the run
    - ``relative_to_typical``: the median over the metrics of value ÷ typical value, inverted if lower is better, so
      that more than 1 is better
    - ``worst``: the metric with the lowest ratio; ``worst_relative_to_typical``: this ratio

    A metric counts only if at least three runs of this machine that were not slowed down measured it and neither its
    value nor its typical value is 0. The last three fields are None if no metric counts.
    """

    path: str
    started: str
    machine: str
    plan: str
    unfinished: bool
    slowed: str
    metrics: int = msgspec.field(name="figures")
    relative_to_typical: float | None = msgspec.field(name="beside_usual")
    worst: MetricKey | None
    worst_relative_to_typical: float | None = msgspec.field(name="worst_beside_usual")


def runs_of(index: Index, machine: str | None = None) -> list[int]:
    """Return the indices in ``index.entries`` of the runs of one machine, or of all runs, in the order of their starts.

    ``machine`` is a host name, the name of a node of a job, or the host list of a job; None stands for all. A run of a
    job is also a run of each of its nodes. Files that are not runs are left out. The result for None is empty if there
    are no runs.

    Raises:
        UsageError: the folder has no run of ``machine``.
    """
    is_of_machine = np.ones(len(index.entries), dtype=bool)
    if machine is not None:
        is_of_machine = np.isin(np.arange(len(is_of_machine)), index.values["run"][_of_machine(index, machine)])
    days = days_of(index.entries)
    return [int(i) for i in np.argsort(days, kind="stable") if is_of_machine[i] and not math.isnan(days[i])]


def run_rows(index: Index, places: Sequence[int], machine: str | None = None) -> list[RunRow]:
    """Return a comparison with the typical values for each of some runs, in the order of ``places``.

    ``places`` are indices of runs in ``index.entries``, as returned by ``runs_of``. ``machine`` is the machine whose
    values are compared, such as a node of the job that made the run; None stands for the host or the whole job of each
    run. ``machine`` is not checked: if a run has no values of this machine, the row has no metrics.
    """
    values = index.values[np.isin(index.values["run"], places)]
    values = values[np.argsort(values["run"], kind="stable")]
    ends = [np.searchsorted(values["run"], places, side) for side in ("left", "right")]
    # The array is indexed by machine and metric; nan stands for fewer than three runs.
    typical = np.full((len(index.machines), len(index.metrics)), np.nan)
    known = index.typical[index.typical["runs"] >= _MIN_TYPICAL]
    typical[known["machine"], known["metric"]] = known["value"]
    return [
        _run_row(index, index.entries[run], machine, values[start:end], typical)
        for run, start, end in zip(places, *ends, strict=True)
    ]


def _of_machine(index: Index, machine: str) -> NDArray[np.bool_]:
    # The runs of a known machine may all have been removed.
    known = {index.machines[machine_index] for machine_index in np.unique(index.values["machine"])}
    if machine not in known:
        there = ", ".join(sorted(known)[:_MAX_NAMED])
        raise UsageError(f"--machine {machine}: no runs; the folder has runs of {there}")
    return np.asarray(index.values["machine"] == index.machines.index(machine))


def _run_row(index: Index, entry: Entry, machine: str | None, values: Rows, typical: NDArray[np.float64]) -> RunRow:
    whose = machine or entry.machine
    of_machine = (
        values[[index.machines[machine_index] == whose for machine_index in values["machine"]]]
        if len(values)
        else values
    )
    turned = np.array([1.0 if index.metrics[i].better == "higher" else -1.0 for i in of_machine["metric"]])
    with np.errstate(divide="ignore", invalid="ignore"):
        goodness = (of_machine["value"] / typical[of_machine["machine"], of_machine["metric"]]) ** turned
    is_known = np.isfinite(goodness) & (goodness > 0)
    worst = int(np.argmin(np.where(is_known, goodness, np.inf))) if is_known.any() else None
    return RunRow(
        path=entry.path, started=entry.started, machine=whose, plan=entry.plan, unfinished=entry.unfinished,
        slowed=entry.slowed, metrics=len(of_machine),
        relative_to_typical=float(np.median(goodness[is_known])) if worst is not None else None,
        worst=index.metrics[of_machine["metric"][worst]] if worst is not None else None,
        worst_relative_to_typical=float(goodness[worst]) if worst is not None else None,
    )  # fmt: skip


class Point(msgspec.Struct, frozen=True):
    """The value of a metric in one run.

    ``path`` is relative to the folder, ``started`` is in ISO 8601, and ``value`` is in the SI base unit. ``ci`` is the
    95 % interval (lower, upper) in the same unit. It is None for a run with fewer than six rounds and for the value of
    a node of a job.
    """

    path: str
    started: str
    value: float
    ci: tuple[float, float] | None


class MetricHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The values of a metric on a machine over time.

    ``key`` is the metric with its parameters. ``points`` has one value per run, at least one, in the order of the runs'
    starts. ``typical`` is the median of these values in the SI base unit.
    """

    key: MetricKey = msgspec.field(name="figure")
    machine: str
    typical: float = msgspec.field(name="usual")
    points: list[Point]


def series_of(index: Index, metrics: Sequence[int], machine: str | None = None) -> list[MetricHistory]:
    """Return the values of some metrics over time, one entry for each pair of a metric and a machine.

    ``metrics`` are indices in ``index.metrics``, in any order. ``machine`` is a host name, the name of a node, or the
    host list of a job; None stands for all machines. Entries are ordered by the index of the metric, then of the
    machine. Runs that were slowed down are left out, unless no other run has one of the metrics. A metric without
    values on a machine has no entry. The result is empty if ``metrics`` is empty.

    Raises:
        UsageError: the folder has no run of ``machine``.
    """
    judged = [run for run, entry in enumerate(index.entries) if not entry.slowed]
    chosen = np.isin(index.values["metric"], metrics)
    if machine is not None:
        chosen &= _of_machine(index, machine)
    of_judged = chosen & np.isin(index.values["run"], judged)
    chosen = of_judged if of_judged.any() else chosen
    ordered = in_time(index.values[chosen], days_of(index.entries))
    return [
        MetricHistory(
            key=index.metrics[int(rows["metric"][0])], machine=index.machines[int(rows["machine"][0])],
            typical=float(np.median(rows["value"])), points=[_point(index.entries, row) for row in rows.tolist()],
        )
        for rows in ordered
    ]  # fmt: skip


def _point(entries: Sequence[Entry], row: tuple[int, int, int, float, float, float]) -> Point:
    entry = entries[row[0]]
    return Point(entry.path, entry.started, row[3], None if math.isnan(row[4]) else (row[4], row[5]))


def metrics_named(index: Index, terms: Sequence[str]) -> list[int]:
    """Return the indices in ``index.metrics`` of the metrics that match every one of ``terms``; without terms, all.

    The indices ascend. A term is the name of a probe (``memory_stream``), an area (``memory``, the part of the probe's
    name before ``_``), the name of a metric (``bandwidth``), or a parameter with its value (``op=triad``). The value of
    a whole number may also be written as a size (``size=4096`` or ``size=4KiB``). A term matches only as a whole and in
    the same case.

    Raises:
        UsageError: no metric matches, or the index has no metrics.
    """
    matches = [i for i, key in enumerate(index.metrics) if all(_has(key, word) for word in terms)]
    if not matches:
        probes = sorted({key.probe for key in index.metrics})
        raise UsageError(
            f"no metric here matches '{' '.join(terms)}'; use a probe ({', '.join(probes)}), name=value of its "
            "parameters, or the name of a metric"
        )
    return matches


def _has(key: MetricKey, word: str) -> bool:
    name, is_parameter, value = word.partition("=")
    if not is_parameter:
        return word in (key.probe, key.probe.partition("_")[0], key.metric)
    text = key.params.get(name)
    return text is not None and (str(text) == value or (isinstance(text, int) and size_text(text) == value))


class ChangeReport(msgspec.Struct, frozen=True, kw_only=True):
    """A change, with the settings of the machine that changed at the same time.

    - ``verdict``: FASTER if the metric became better, otherwise SLOWER
    - ``kind``: "step" for a change point, "drift" for a drift over all runs
    - ``until``, ``since``: the paths of the last run before and the first run after a change point, or of the first and
      the last run of a drift; ``until_started``, ``since_started``: the starts of these two runs in ISO 8601
    - ``runs``: the number of runs since a change point, or of the whole drift
    - ``before``, ``after``: the levels in the SI base unit of ``key``; for a drift, the fitted values at the first and
      the last run
    - ``settings``: empty for a drift, if no setting changed, or if one of the two run files can no longer be read
    """

    verdict: Literal["FASTER", "SLOWER"]
    kind: Literal["step", "drift"]
    key: MetricKey = msgspec.field(name="figure")
    machine: str
    until: str
    until_started: str
    since: str
    since_started: str
    runs: int
    before: float
    after: float
    settings: list[SettingDifference]


def change_reports(index: Index, changes: Sequence[Change], folder: Path) -> list[ChangeReport]:
    """Return a report on each change, newest first, with the settings of the machine that changed at the same time.

    ``changes`` are changes of this ``index``, such as the result of ``significant_changes``, and ``folder`` is the
    folder of the index. The settings are read from the run files, for change points only; a file that cannot be read is
    not an error. Changes of the same kind at the same run of a machine are adjacent.
    """
    started = {entry.path: entry.started for entry in index.entries}
    settings = {(change.until, change.since): _settings(folder, change) for change in changes if change.kind == "step"}
    reports = [
        _change_report(index, change, started, settings.get((change.until, change.since), [])) for change in changes
    ]
    return sorted(
        reports,
        key=lambda report: (
            report.since_started,
            report.machine,
            report.since,
            report.kind,
            report.until,
            report.verdict,
        ),
        reverse=True,
    )


def _change_report(
    index: Index, change: Change, started: Mapping[str, str], settings: list[SettingDifference]
) -> ChangeReport:
    key = index.metrics[change.metric]
    is_better = (change.after > change.before) == (key.better == "higher")
    return ChangeReport(
        verdict="FASTER" if is_better else "SLOWER", kind=change.kind, key=key,
        machine=index.machines[change.machine], until=change.until, until_started=started[change.until],
        since=change.since, since_started=started[change.since], runs=change.runs, before=change.before,
        after=change.after, settings=settings,
    )  # fmt: skip


def _settings(folder: Path, change: Change) -> list[SettingDifference]:
    try:
        differing, _ = differing_settings(read_header(folder / change.until), read_header(folder / change.since))
    except FileError:  # the file was removed or changed after the index was made
        return []
    return differing
