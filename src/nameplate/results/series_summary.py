"""Summarise a long series: its levels, and its events with the conditions during each. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import msgspec
import numpy as np

from nameplate.records.run_record import Sample
from nameplate.records.series_events import CorrelatedCondition, Event, LevelOverTime, OverTime
from nameplate.statistics.change_points import MAX_STEPS, MIN_SAMPLES, Array, moved
from nameplate.statistics.series_findings import Findings, find_events
from nameplate.statistics.stats import median, reached_by

# Each stretch is (its first step, the step after its last).
Stretches = list[tuple[int, int]]

# The conditions of a sample, and the smallest difference of each that matters: steal and CPU time in CPUs, throttling
# and switches in events per second, the clock as a share, the temperature in degrees Celsius.
_CONDITIONS: Mapping[str, tuple[Callable[[Sample], float], float]] = {
    "steal": (lambda sample: sample.disturbed["steal_s"] / sample.elapsed_s, 0.01),
    "cgroup throttling": (lambda sample: sample.disturbed["cgroup_throttled"] / sample.elapsed_s, 0.2),
    "thermal throttling": (lambda sample: sample.disturbed["thermal_throttled"] / sample.elapsed_s, 0.02),
    "clock": (lambda sample: 1 / sample.disturbed["burst_s"], 0.01),
    "involuntary switches": (lambda sample: sample.disturbed["involuntary_switches"] / sample.elapsed_s, 3.0),
    "temperature": (lambda sample: sample.disturbed["temperature_celsius"], 2.0),
    "CPU time": (lambda sample: sample.cpu_s / sample.elapsed_s, 0.05),
}

# Higher values of these conditions explain a faster machine; higher values of the others explain a slower one.
_GOOD = ("clock", "CPU time")

# CPU time falls with every cause of a loss. It explains an event, by other processes, only if no other condition does.
_ONLY_ALONE = "CPU time"


def summarise_series(
    values: Sequence[float],
    samples: Sequence[Sample],
    better: Literal["higher", "lower"],
    interval_s: float,
    sustained: float,
) -> OverTime | None:
    """Return the levels and events of a long series; None if it has fewer than ``MIN_SAMPLES`` (20) samples.

    - ``values``: one value for each of ``samples``; ``samples``: the samples of one round in the order of time
    - ``better``: whether higher or lower values are better
    - ``interval_s``: the planned time in seconds from the start of one sample to the start of the next
    - ``sustained``: all work ÷ all time, in the unit of the values

    ``interval_s`` and ``sustained`` are copied to the result. Levels are in the unit of the values, times are in
    seconds from the start of the first sample, and changes are shares (0.05 is 5 %). Each event lists the conditions of
    the machine that changed with it (``CorrelatedCondition``), which are read from ``disturbed`` and ``counters`` of
    the samples; a condition that any sample lacks is left out. If there are more than ``MAX_STEPS`` (1500) samples,
    means of neighbouring samples are analysed. The methods are in ``statistics/change_points.py`` and
    ``statistics/periodic_dips.py``.
    """
    if len(values) < MIN_SAMPLES:
        return None
    p1 = reached_by(values, 0.99, better == "higher")
    return _SeriesReader(values, samples, better).result(interval_s, sustained, p1)


class _SeriesReader:
    """A series in steps: its samples, or means of neighbouring samples if it has more than ``MAX_STEPS``."""

    def __init__(self, values: Sequence[float], samples: Sequence[Sample], better: str) -> None:
        steps = min(len(values), MAX_STEPS)
        self._edges = [k * len(values) // steps for k in range(steps + 1)]
        begins = [sample.start_s - samples[0].start_s for sample in samples]
        ends = [start + sample.elapsed_s for start, sample in zip(begins, samples, strict=True)]
        self._times = [*(begins[edge] for edge in self._edges[:-1]), ends[-1]]
        self._step_s = ends[-1] / steps
        self._sign = 1.0 if better == "higher" else -1.0
        self._goodness = self._sign * self._means(values)
        self._conditions = {
            name: self._means([read(sample) for sample in samples])
            for name, (read, _) in _CONDITIONS.items()
            if all(_is_known(read, sample) for sample in samples)
        }
        between_s = sum(sample.disturbed.get("between_calls_s", 0.0) for sample in samples)
        self._overhead_share = between_s / ends[-1]

    def result(self, interval_s: float, sustained: float, p1: float) -> OverTime:
        findings = find_events(self._goodness)
        levels = findings.levels
        falls = [i for i in range(1, len(levels)) if levels[i].value < levels[i - 1].value]
        # The burst is the best level before the first lasting fall, or of a series without one.
        before = levels[: falls[0]] if falls else levels
        return OverTime(
            interval_s=interval_s, burst=self._sign * max(level.value for level in before),
            burst_s=self._times[before[-1].end], sustained=sustained, p1=p1,
            overhead_share=self._overhead_share,
            levels=[
                LevelOverTime(self._times[level.start], self._times[level.end], self._sign * level.value)
                for level in levels
            ],
            events=self._events(findings), verdict=findings.verdict, sensitivity=findings.sensitivity,
        )  # fmt: skip

    def _means(self, values: Sequence[float]) -> Array:
        total = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64))])
        edges = np.asarray(self._edges)
        means: Array = np.diff(total[edges]) / np.diff(edges)
        return means

    def _events(self, findings: Findings) -> list[Event]:
        events = []
        for first, second in pairwise(findings.levels):
            change = (second.value - first.value) / abs(first.value)
            events.append(self._event("level", change, [(second.start, second.end)]))
        for drift in findings.drifts:
            event = self._event("drift", drift.change, list(drift.inside))
            start_s, end_s = self._times[drift.start], self._times[drift.end]
            events.append(msgspec.structs.replace(event, start_s=start_s, end_s=end_s, width_s=end_s - start_s))
        if findings.dips:
            shape = findings.dips.shape
            event = self._event("dips", -shape.depth, shape.stretches(len(self._goodness)))
            events.append(
                msgspec.structs.replace(
                    event, period_s=shape.period * self._step_s, width_s=shape.length * self._step_s
                )
            )
        return events + [self._event("run", run.change, [(run.start, run.end)]) for run in findings.runs]

    def _event(self, kind: Literal["level", "drift", "dips", "run"], change: float, inside: Stretches) -> Event:
        """Return an event that covers the steps of ``inside``, pairs of the first step and the step after the last.

        ``change`` is a share of the level, negative if the series became worse.
        """
        mask = np.zeros(len(self._goodness), dtype=bool)
        for start, end in inside:
            mask[start:end] = True
        conditions: list[CorrelatedCondition] = []
        still: list[str] = []
        for name, values in self._conditions.items():
            if name == _ONLY_ALONE and conditions:
                continue
            now, else_ = float(values[mask].mean()), float(values[~mask].mean())
            difference = abs(now - else_) / (else_ if name == "clock" else 1.0)
            if difference < _CONDITIONS[name][1] or not moved(values, inside, len(self._conditions)):
                still.append(name)
            elif (now > else_) == ((name in _GOOD) == (change > 0)):
                conditions.append(CorrelatedCondition(name, now, else_))
        width = median([end - start for start, end in inside])
        return Event(
            kind=kind, start_s=self._times[inside[0][0]], end_s=self._times[inside[-1][1]], change=self._sign * change,
            period_s=None, width_s=width * self._step_s, at_s=[self._times[start] for start, _ in inside],
            moved=conditions, still=still,
        )  # fmt: skip


def _is_known(read: Callable[[Sample], float], sample: Sample) -> bool:
    try:
        read(sample)
    except KeyError:
        return False
    return True
