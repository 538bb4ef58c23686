"""Present a folder's index: runs relative to the usual values, changes, and a metric over time."""

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
from nameplate.results.run_file import read_beginning
from nameplate.statistics.benjamini_hochberg import benjamini_hochberg
from nameplate.statistics.constants import FALSE_DISCOVERY_RATE
from nameplate.statistics.trends import MIN_RUNS
from nameplate.units import size_text

# The usual value is known from this number of runs.
_MIN_USUAL = 3
_MAX_NAMED = 10


def changes_found(index: Index) -> list[Change]:
    """Return the changes that are significant when all metrics of all machines are judged together.

    They are in the order of ``index.changes``. The false discovery rate is 1 % among the metrics with at least
    ``MIN_RUNS`` runs on a machine. Source: Benjamini and Hochberg, "Controlling the False Discovery Rate", 1995.
    """
    judged = int(np.sum(index.usual["runs"] >= MIN_RUNS))
    probabilities = np.ones(max(judged, len(index.changes)))
    probabilities[: len(index.changes)] = [change.probability for change in index.changes]
    is_found = benjamini_hochberg(probabilities, FALSE_DISCOVERY_RATE)[: len(index.changes)]
    return [change for change, real in zip(index.changes, is_found, strict=True) if real]


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run relative to the usual values: the median of each metric over all runs of the same machine.

    ``path`` is relative to the folder, and ``started`` is in ISO 8601. ``unfinished`` says that the run was
    interrupted, or is still running. ``metrics`` is the number of its metrics. ``relative_to_usual`` is the median over
    its metrics of value ÷ usual value, inverted if lower is better, so that more than 1 is better. ``worst`` is the
    metric with the lowest ratio, which is ``worst_relative_to_usual``. A metric counts only if it was measured in at
    least three runs of this machine and neither its value nor its usual value is 0; the three fields are None if no
    metric counts.
    """

    path: str
    started: str
    machine: str
    plan: str
    unfinished: bool
    metrics: int = msgspec.field(name="figures")
    relative_to_usual: float | None = msgspec.field(name="beside_usual")
    worst: MetricKey | None
    worst_relative_to_usual: float | None = msgspec.field(name="worst_beside_usual")


def runs_of(index: Index, machine: str | None = None) -> list[int]:
    """Return the indices in ``index.entries`` of the runs of one machine, or of all, in the order of their starts.

    ``machine`` is a host, a node of a job, or the host list of a job; None means all. A run of a job is also a run of
    each of its nodes. Files that are not runs are left out. An index without runs gives an empty list for None.

    Raises:
        UsageError: there is no run of the machine.
    """
    is_own = np.ones(len(index.entries), dtype=bool)
    if machine is not None:
        is_own = np.isin(np.arange(len(is_own)), index.values["run"][_of_machine(index, machine)])
    days = days_of(index.entries)
    return [int(i) for i in np.argsort(days, kind="stable") if is_own[i] and not math.isnan(days[i])]


def run_rows(index: Index, places: Sequence[int], machine: str | None = None) -> list[RunRow]:
    """Return the runs with the indices ``places`` in ``index.entries``, in that order, relative to the usual values.

    ``machine`` is one machine of all these runs: for a job's run, one of its nodes, whose values are then taken. With
    None, the values are those of the host or the job. ``machine`` is not checked: a run without it has a row without
    metrics.
    """
    values = index.values[np.isin(index.values["run"], places)]
    values = values[np.argsort(values["run"], kind="stable")]
    ends = [np.searchsorted(values["run"], places, side) for side in ("left", "right")]
    usual = _usual_values(index)
    return [
        _run_row(index, index.entries[place], machine, values[begin:end], usual)
        for place, begin, end in zip(places, *ends, strict=True)
    ]


def _of_machine(index: Index, machine: str) -> NDArray[np.bool_]:
    # The runs of a known machine may all have been removed.
    known = {index.machines[place] for place in np.unique(index.values["machine"])}
    if machine not in known:
        there = ", ".join(sorted(known)[:_MAX_NAMED])
        raise UsageError(f"--machine {machine}: no runs; the folder has runs of {there}")
    return np.asarray(index.values["machine"] == index.machines.index(machine))


def _usual_values(index: Index) -> NDArray[np.float64]:
    """Return the usual values by machine and metric; nan where they are not known."""
    known = index.usual[index.usual["runs"] >= _MIN_USUAL]
    values = np.full((len(index.machines), len(index.metrics)), np.nan)
    values[known["machine"], known["metric"]] = known["value"]
    return values


def _run_row(index: Index, entry: Entry, machine: str | None, values: Rows, usual: NDArray[np.float64]) -> RunRow:
    whose = machine or entry.machine
    own = values[[index.machines[place] == whose for place in values["machine"]]] if len(values) else values
    turned = np.array([1.0 if index.metrics[i].better == "higher" else -1.0 for i in own["metric"]])
    with np.errstate(divide="ignore", invalid="ignore"):
        goodness = (own["value"] / usual[own["machine"], own["metric"]]) ** turned
    is_known = np.isfinite(goodness) & (goodness > 0)
    worst = int(np.argmin(np.where(is_known, goodness, np.inf))) if is_known.any() else None
    return RunRow(
        path=entry.path, started=entry.started, machine=whose, plan=entry.plan, unfinished=entry.unfinished,
        metrics=len(own), relative_to_usual=float(np.median(goodness[is_known])) if worst is not None else None,
        worst=index.metrics[own["metric"][worst]] if worst is not None else None,
        worst_relative_to_usual=float(goodness[worst]) if worst is not None else None,
    )  # fmt: skip


class Point(msgspec.Struct, frozen=True):
    """The value of a metric in one run.

    ``path`` is relative to the folder, ``started`` is in ISO 8601, and ``value`` is in the SI base unit. ``ci`` is the
    95 % interval (lower, upper) in the same unit, None if there is none, as with fewer than six rounds and for a node
    of a job.
    """

    path: str
    started: str
    value: float
    ci: tuple[float, float] | None


class MetricHistory(msgspec.Struct, frozen=True, kw_only=True):
    """A metric of a machine over time: its values in the order of the runs' starts, and as ``usual`` their median.

    There is at least one point.
    """

    key: MetricKey = msgspec.field(name="figure")
    machine: str
    usual: float
    points: list[Point]


def series_of(index: Index, metrics: Sequence[int], machine: str | None = None) -> list[MetricHistory]:
    """Return the values of some metrics over time, ordered by the index of the metric, then of the machine.

    ``metrics`` are indices in ``index.metrics``, in any order; with none, the list is empty. ``machine`` is a host, a
    node or the host list of a job; None means all. A metric that a machine does not have is left out.

    Raises:
        UsageError: there is no run of the machine.
    """
    chosen = np.isin(index.values["metric"], metrics)
    if machine is not None:
        chosen &= _of_machine(index, machine)
    found = in_time(index.values[chosen], days_of(index.entries))
    return [
        MetricHistory(
            key=index.metrics[int(own["metric"][0])], machine=index.machines[int(own["machine"][0])],
            usual=float(np.median(own["value"])), points=[_point(index.entries, row) for row in own.tolist()],
        )
        for own in found
    ]  # fmt: skip


def _point(entries: Sequence[Entry], row: tuple[int, int, int, float, float, float]) -> Point:
    entry = entries[row[0]]
    return Point(entry.path, entry.started, row[3], None if math.isnan(row[4]) else (row[4], row[5]))


def metrics_named(index: Index, words: Sequence[str]) -> list[int]:
    """Return the indices in ``index.metrics`` of the metrics that match every word; all of them without words.

    A word is the name of a probe (``memory_stream``), an area (``memory``, the part of the probe's name before ``_``),
    the name of a metric (``bandwidth``), or a parameter with its value: ``op=triad``, and for a whole number the digits
    or the size as ``size_text`` writes it (``size=4096`` or ``size=4KiB``). The whole word must match, in the same
    case.

    Raises:
        UsageError: no metric matches, or the index has none.
    """
    found = [i for i, key in enumerate(index.metrics) if all(_has(key, word) for word in words)]
    if not found:
        probes = sorted({key.probe for key in index.metrics})
        raise UsageError(
            f"no metric here matches '{' '.join(words)}'; use a probe ({', '.join(probes)}), name=value of its "
            "parameters, or the name of a metric"
        )
    return found


def _has(key: MetricKey, word: str) -> bool:
    name, is_parameter, value = word.partition("=")
    if not is_parameter:
        return word in (key.probe, key.probe.partition("_")[0], key.metric)
    own = key.params.get(name)
    return own is not None and (str(own) == value or (isinstance(own, int) and size_text(own) == value))


class ChangeReport(msgspec.Struct, frozen=True, kw_only=True):
    """A change, with the settings of the machine that changed at the same time.

    ``verdict`` is FASTER if the metric became better. ``kind`` is "step" for a change point, "drift" for a drift over
    all runs. ``until`` and ``since`` are the paths of two runs: the last run before and the first run after a change
    point, or the first and the last run of a drift. ``until_started`` and ``since_started`` are their starts in ISO
    8601. ``runs`` is the number of runs since a change point, or of the whole drift. ``before`` and ``after`` are the
    levels in the SI base unit of ``key``; for a drift, the fitted values at the first and the last run. ``settings``
    are empty for a drift, if no setting changed, and if one of the two run files can no longer be read.
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
    """Return the changes with the settings that changed at the same time, newest first.

    Changes of the same kind at the same run of a machine are adjacent. ``changes`` are from ``changes_found`` for this
    ``index``, or some of them. The settings are read from the run files in ``folder``, the folder of ``index``, for
    change points only; a file that cannot be read is not an error.
    """
    started = {entry.path: entry.started for entry in index.entries}
    settings = {(change.until, change.since): _settings(folder, change) for change in changes if change.kind == "step"}
    reports = [
        _change_report(index, change, started, settings.get((change.until, change.since), [])) for change in changes
    ]
    return sorted(
        reports,
        key=lambda each: (each.since_started, each.machine, each.since, each.kind, each.until, each.verdict),
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
        differing, _ = differing_settings(read_beginning(folder / change.until), read_beginning(folder / change.since))
    except FileError:  # removed since the index was made
        return []
    return differing
