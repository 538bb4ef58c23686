"""Learn the expected ranges of each class of machines from runs on healthy machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

import msgspec

from nameplate.expectations.expected_range import ExpectedRange, Kind
from nameplate.expectations.machine_class import MachineClass, class_of
from nameplate.expectations.site_file import MIN_MACHINES, ClassRanges, Site, make_site
from nameplate.planning.budget import MIN_ROUNDS
from nameplate.records.run_record import JudgeableValue
from nameplate.results.judgeable import JudgeableRun, known_value
from nameplate.statistics.tolerance_interval import ToleranceInterval, tolerance_interval

# The share of healthy machines that all ranges together may judge BELOW.
FALSE_POSITIVE_RATE = 0.001
# A range whose low end is below this share of the typical value would find no slow machine.
_MIN_LOW = 0.25
# If a larger share of the machines is far from the others, they are of several kinds.
_MAX_LEFT_OUT = 0.15
_DIGITS = 6
_KINDS: tuple[Kind, ...] = ("capability", "typical")


@dataclass
class _Metric:
    """The values of a metric in ``unit``: by kind, then by host, one for each run."""

    unit: str
    values: dict[Kind, dict[str, list[float]]] = field(default_factory=lambda: {"capability": {}, "typical": {}})

    def add(self, kind: Kind, host: str, value: float) -> None:
        self.values[kind].setdefault(host, []).append(value)

    @property
    def kind(self) -> Kind:
        """Return "capability", or "typical" if fewer than half of the runs have a capability."""
        runs = {kind: sum(map(len, hosts.values())) for kind, hosts in self.values.items()}
        return "capability" if runs["capability"] * 2 >= max(runs["typical"], 1) else "typical"


@dataclass
class _Class:
    runs: int = 0
    hosts: set[str] = field(default_factory=set)
    metrics: dict[tuple[str, str], _Metric] = field(default_factory=dict)


class Learner:
    """The values of many runs, added one by one, and the ranges of healthy machines that follow from them."""

    def __init__(self) -> None:
        self._classes: dict[MachineClass, _Class] = {}
        self._seen: set[tuple[str, str, int | None]] = set()

    def add(self, run: JudgeableRun) -> str:
        """Add the values of a run, and return "", or a phrase that says why nothing can be learned from the run."""
        if run.why_not or run.machine is None:
            return run.why_not
        host = run.machine.hostname
        identity = (host, run.run.started, run.run.seed)
        if identity in self._seen:
            return "it is a copy of an earlier run"
        try:
            name = msgspec.convert(msgspec.to_builtins(class_of(run.machine)), MachineClass)
        except msgspec.ValidationError as error:
            return f"its machine has no class: {error}"
        main = [value for value in run.values if value.is_main]
        values = [(value, kind, known[0]) for value in main for kind in _KINDS
                  if (known := known_value(value, kind == "capability")) and known[0] > 0]  # fmt: skip
        if not values:
            return _why_no_value(main)
        self._seen.add(identity)
        learned = self._classes.setdefault(name, _Class())
        learned.runs += 1
        learned.hosts.add(host)
        for value, kind, number in values:
            metric = learned.metrics.setdefault((value.experiment, value.key.metric), _Metric(value.key.unit))
            metric.add(kind, host, number)
        return ""

    def site(self, learned: date) -> Site:
        """Return the expected ranges of each class of machines, from the runs added so far.

        All ranges of a class together judge at most a share ``FALSE_POSITIVE_RATE`` (0.001) of healthy machines BELOW.
        ``learned`` is the date that the site records. A class of fewer than ``MIN_MACHINES`` (10) machines is
        provisional; for a single machine, its runs are treated like machines. ``without_range`` of a class lists the
        metrics without a range, with reasons.
        """
        return make_site([_ranges(name, self._classes[name]) for name in sorted(self._classes)], learned)


def _why_no_value(values: Sequence[JudgeableValue]) -> str:
    if not values:
        return "it has none of the values by which a machine is judged: measure the plan quick"
    if max(value.rounds for value in values) < MIN_ROUNDS:
        return f"it has no value with an interval, which needs {MIN_ROUNDS} rounds"
    return "none of the values by which a machine is judged has an interval"


def learn(runs: Iterable[JudgeableRun], learned: date) -> Site:
    """Return the expected ranges of each class of machines in ``runs``, as ``Learner.site`` does.

    ``learned`` is the date that the site records. Runs from which nothing can be learned (``Learner.add``) are ignored.
    """
    learner = Learner()
    for run in runs:
        learner.add(run)
    return learner.site(learned)


def _ranges(name: MachineClass, seen: _Class) -> ClassRanges:
    ranges, without = [], []
    for key, metric in seen.metrics.items():
        learned_range = _range(key, metric, len(seen.metrics), len(seen.hosts))
        if isinstance(learned_range, str):
            without.append(f"{' '.join(key)}: {learned_range}")
        else:
            ranges.append(learned_range)
    return ClassRanges(
        machine=name,
        machines=len(seen.hosts),
        runs=seen.runs,
        provisional=len(seen.hosts) < MIN_MACHINES,
        without_range=without,
        range=ranges,
    )


def _range(key: tuple[str, str], metric: _Metric, metrics: int, machines: int) -> ExpectedRange | str:
    """Return the range of a metric, or a phrase that says why it has none."""
    by_host = metric.values[metric.kind]
    hosts = list(by_host)
    if len(hosts) == 1 and machines > 1:
        return "only one machine measured it"
    # With a single machine, its runs show at least how much this machine varies.
    groups = list(by_host.values()) if len(hosts) > 1 else [[value] for value in by_host[hosts[0]]]
    interval = tolerance_interval(groups, FALSE_POSITIVE_RATE / metrics)
    if interval is None:
        return "it was measured once"
    if why := _useless(interval, len(groups)):
        return why
    return ExpectedRange(
        experiment=key[0],
        metric=key[1],
        kind=metric.kind,
        unit=metric.unit,
        low=_rounded(interval.low),
        typical=_rounded(interval.typical),
        high=_rounded(interval.high),
        machines=interval.machines if len(hosts) > 1 else 1,
        left_out=sorted(hosts[index] for index in interval.left_out) if len(hosts) > 1 else [],
    )


def _useless(interval: ToleranceInterval, machines: int) -> str:
    if interval.low < _MIN_LOW * interval.typical:
        return "its values differ too much for a range"
    if len(interval.left_out) > _MAX_LEFT_OUT * machines:
        return f"{len(interval.left_out)} of {machines} machines are far from the others, so they are of several kinds"
    return ""


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
