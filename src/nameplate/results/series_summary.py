"""Summarise a long series: its levels, and its events with the conditions during each. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import msgspec
import numpy as np

from nameplate.records.run_record import Sample
from nameplate.records.series_events import CorrelatedCondition, Event, LevelOverTime, OverTime
from nameplate.statistics.change_points import MAX_STEPS, MIN_SAMPLES, Array, SeriesLevel, moved
from nameplate.statistics.series_findings import Findings, look_for_events
from nameplate.statistics.stats import median, reached_by

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
    "CPU time": (
        lambda sample: (sample.counters["cpu_user_s"] + sample.counters["cpu_system_s"]) / sample.elapsed_s,
        0.05,
    ),
}

# Higher values of these explain a faster machine; higher values of the others explain a slower one.
_GOOD = ("clock", "CPU time")

# CPU time falls with every cause of a loss. It explains an event only if nothing else does: other processes ran then.
_ONLY_ALONE = "CPU time"


def summarise_series(
    values: Sequence[float],
    samples: Sequence[Sample],
    better: Literal["higher", "lower"],
    interval_s: float,
    sustained: float,
) -> OverTime | None:
    """Return the levels and events of a series, or None if it has fewer than ``MIN_SAMPLES`` (20) samples.

    ``values`` has one value for each of ``samples``, which belong to one round and are in the order of time. ``better``
    says which values are better. ``interval_s`` is the planned time in seconds from the start of one sample to that of
    the next, and ``sustained`` is all work over all time in the unit of the values; both are copied to the result.
    Levels are in the unit of the values, times are in seconds from the start of the first sample, and changes are
    shares. Each event lists the conditions that changed with it (``CorrelatedCondition``). They are read from
    ``disturbed`` and ``counters`` of the samples, and a condition that any sample lacks is left out. Of a series of
    more than ``MAX_STEPS`` (1500) samples, means of neighbouring samples are searched. The methods are those of
    ``change_points`` and ``periodic_dips``.
    """
    if len(values) < MIN_SAMPLES:
        return None
    p1 = reached_by(values, 0.99, better == "higher")
    return _Look(values, samples, better).result(interval_s, sustained, p1)


class _Look:
    """A series in steps, which are its samples, or means of several samples of a very long series."""

    def __init__(self, values: Sequence[float], samples: Sequence[Sample], better: str) -> None:
        steps = min(len(values), MAX_STEPS)
        self._edges = [k * len(values) // steps for k in range(steps + 1)]
        begins = [sample.start_s - samples[0].start_s for sample in samples]
        ends = [begin + sample.elapsed_s for begin, sample in zip(begins, samples, strict=True)]
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
        self._own_share = between_s / ends[-1]

    def result(self, interval_s: float, sustained: float, p1: float) -> OverTime:
        found = look_for_events(self._goodness)
        burst, burst_s = self._burst(found.levels)
        return OverTime(
            interval_s=interval_s, burst=burst, burst_s=burst_s, sustained=sustained, p1=p1,
            own_share=self._own_share,
            levels=[
                LevelOverTime(self._times[level.begin], self._times[level.end], self._sign * level.value)
                for level in found.levels
            ],
            events=self._events(found), verdict=found.verdict, sensitivity=found.sensitivity,
        )  # fmt: skip

    def _means(self, values: Sequence[float]) -> Array:
        total = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype=np.float64))])
        edges = np.asarray(self._edges)
        means: Array = np.diff(total[edges]) / np.diff(edges)
        return means

    def _burst(self, found: Sequence[SeriesLevel]) -> tuple[float, float]:
        """Return the best level before the first lasting fall, or of the whole series, and the end of that time."""
        falls = [i for i in range(1, len(found)) if found[i].value < found[i - 1].value]
        before = found[: falls[0]] if falls else found
        return self._sign * max(level.value for level in before), self._times[before[-1].end]

    def _events(self, found: Findings) -> list[Event]:
        events = []
        for first, second in pairwise(found.levels):
            change = (second.value - first.value) / abs(first.value)
            events.append(self._event("level", change, [(second.begin, second.end)]))
        for drift in found.drifts:
            event = self._event("drift", drift.change, list(drift.inside))
            begin_s, end_s = self._times[drift.begin], self._times[drift.end]
            events.append(msgspec.structs.replace(event, begin_s=begin_s, end_s=end_s, width_s=end_s - begin_s))
        if found.dips:
            shape = found.dips.shape
            event = self._event("dips", -shape.depth, shape.stretches(len(self._goodness)))
            events.append(
                msgspec.structs.replace(
                    event, period_s=shape.period * self._step_s, width_s=shape.length * self._step_s
                )
            )
        return events + [self._event("run", run.change, [(run.begin, run.end)]) for run in found.runs]

    def _event(self, kind: Literal["level", "drift", "dips", "run"], change: float, inside: Stretches) -> Event:
        """Return an event; ``change`` is a share of the level, negative if it is worse."""
        mask = np.zeros(len(self._goodness), dtype=bool)
        for begin, end in inside:
            mask[begin:end] = True
        found: list[CorrelatedCondition] = []
        still: list[str] = []
        for name, values in self._conditions.items():
            if name == _ONLY_ALONE and found:
                continue
            now, else_ = float(values[mask].mean()), float(values[~mask].mean())
            difference = abs(now - else_) / (else_ if name == "clock" else 1.0)
            if difference < _CONDITIONS[name][1] or not moved(values, inside, len(self._conditions)):
                still.append(name)
            elif (now > else_) == ((name in _GOOD) == (change > 0)):
                found.append(CorrelatedCondition(name, now, else_))
        width = median([end - begin for begin, end in inside])
        return Event(
            kind=kind, begin_s=self._times[inside[0][0]], end_s=self._times[inside[-1][1]], change=self._sign * change,
            period_s=None, width_s=width * self._step_s, at_s=[self._times[begin] for begin, _ in inside],
            moved=found, still=still,
        )  # fmt: skip


def _is_known(read: Callable[[Sample], float], sample: Sample) -> bool:
    try:
        read(sample)
    except KeyError:
        return False
    return True
