"""Compare runs: verdicts on the metrics that they share, and reasons why others cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from nameplate.errors import UsageError
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.records.run_record import Run
from nameplate.statistics.capability_change import CapabilityPair, Estimate, judge_capability, usable
from nameplate.statistics.two_samples import SAME_WITHIN, Judged, Rounds, Verdict, judge

Key: TypeAlias = tuple[str, str, tuple[tuple[str, Value], ...]]

# A run with a larger share of disturbed samples is named next to an open verdict.
MUCH_DISTURBED = 0.25

# The standard deviation of the logarithm of a capability between runs of an unchanged machine, by area.
# docs/measurements/comparison.md has the runs that it comes from.
RUN_TO_RUN = {"cpu": 0.006, "memory": 0.03, "disk": 0.08}
RUN_TO_RUN_OF_OTHERS = 0.1

_RUNS = ("the base", "the new run")
_VALUES = ("the first", "this one")


class CapabilityChange(msgspec.Struct, frozen=True, kw_only=True):
    """The capability of the machine in two runs, or at two values of a parameter.

    ``base`` and ``new`` are the capabilities in the SI base unit of the metric, ``ratio`` is new ÷ base and ``ci`` its
    99 % interval (lower, upper). ``verdict`` is on ``new``, and ``reason`` says what would decide it if it is UNSURE.
    ``detectable`` is the smallest change, as a share, that these two runs would show with a probability of 80 %.
    """

    base: float
    new: float
    verdict: Verdict
    ratio: float
    ci: tuple[float, float]
    reason: str
    detectable: float


class ComparisonRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in two runs, or at two values of a parameter: typically, and in what the machine is capable of.

    ``params`` are those of the run that names more of them; for two values of a parameter, they are those of ``new``.
    ``base`` and ``new`` are the medians of the rounds in the SI base unit ``unit``, None without a value. ``ratio`` is
    new ÷ base and ``ci`` its 99 % interval (lower, upper); both are None if the verdict is INCOMPARABLE, and ``ci``
    also if there are too few rounds. ``verdict`` is on ``new``: FASTER means better, a higher rate or a lower time.
    ``reason`` says why a verdict is open or impossible, and what may explain a difference, such as disturbed samples;
    it is "" if there is nothing to say. ``detectable`` is the smallest change, as a share, that these two runs would
    show with a probability of 80 %, None without an interval. ``capability`` is None if either side has no capability
    with an interval.
    """

    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    base: float | None
    new: float | None
    verdict: Verdict
    ratio: float | None
    ci: tuple[float, float] | None
    reason: str
    detectable: float | None = None
    capability: CapabilityChange | None = None

    @property
    def machine_verdict(self) -> Verdict:
        """Return the verdict on the machine and its settings: that on the capability, or else the typical one."""
        return self.capability.verdict if self.capability else self.verdict


class SettingDifference(msgspec.Struct, frozen=True):
    """A property of the machine or the run that differs between two runs, such as "governor" or "kernel".

    ``base`` and ``new`` are its values as text, "not recorded" if a run does not have it.
    """

    name: str
    base: str
    new: str


class Several(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in several runs.

    ``values`` are the medians in the SI base unit ``unit``, one per run in the order of the runs, None for a run that
    does not have the metric or has no value of it. ``best`` has the indices of the runs with the best value and with
    values that are not significantly worse, in ascending order. If fewer than two runs have a value with all rounds
    above 0, or the runs did not do the same work, it is empty and ``reason`` says so; otherwise ``reason`` is "".
    """

    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    values: list[float | None]
    best: list[int]
    reason: str


class RunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs compared: the metrics of both, and the settings that differ.

    ``rows`` are in the order of the base run's results. ``only_in_base`` and ``only_in_new`` are metrics that the other
    run does not have, as ``probe name=value … metric``.
    """

    rows: list[ComparisonRow]
    settings: list[SettingDifference]
    only_in_base: list[str]
    only_in_new: list[str]


def compare_runs(base: Report, new: Report, same_within: float = SAME_WITHIN) -> RunComparison:
    """Return the verdicts on the metrics that both runs have; each is on ``new`` compared with ``base``.

    Metrics are the same if their probe, name and parameters are equal. If one has fewer parameters, but the same values
    for these, the two are compared if no other metric fits. Derived values, such as the size of a cache, are left out.
    SAME means that the 99 % interval of the ratio rules out a change by more than ``same_within``, a share such as
    0.05. What the machine is capable of is compared as well (``ComparisonRow.capability``): if only the typical value
    is worse, other programs took more of the machine. The false discovery rate is controlled within each area, the
    first word of a probe's name. Metrics without a value, with a round at or below 0, with different units, or served
    by different sources are INCOMPARABLE. The method is that of ``statistics/two_samples.py``.
    """
    ours, theirs = _metrics(base.results), _metrics(new.results)
    partners = _partners(list(ours), list(theirs))
    pairs = [_Pair(max(key, other, key=lambda k: len(k[2])), ours[key], theirs[other], _RUNS)
             for key, other in partners.items()]  # fmt: skip
    return RunComparison(
        rows=_rows(pairs, same_within),
        settings=differing_settings((base.run, base.machine), (new.run, new.machine)),
        only_in_base=[_name(key) for key in ours if key not in partners],
        only_in_new=[_name(key) for key in theirs if key not in partners.values()],
    )


def _partners(ours: Sequence[Key], theirs: Sequence[Key]) -> dict[Key, Key]:
    """Return each metric's counterpart: the one with the same parameters, or the only one with a subset or superset.

    Outputs of other tools, and of earlier versions of nameplate, have fewer parameters.
    """
    found = {key: key for key in ours if key in set(theirs)}
    for key in ours:
        if key not in found:
            likely = [other for other in theirs if other not in found and _is_part(key, other)]
            if len(likely) == 1 and sum(_is_part(each, likely[0]) for each in ours if each not in found) == 1:
                found[key] = likely[0]
    return {key: found[key] for key in ours if key in found}


def _is_part(one: Key, other: Key) -> bool:
    first, second = set(one[2]), set(other[2])
    return one[:2] == other[:2] and (first <= second or second <= first)


def compare_by(report: Report, name: str, same_within: float = SAME_WITHIN) -> list[ComparisonRow]:
    """Return the verdicts on one run's metrics at each value of a parameter compared with its first value.

    ``name`` is the parameter, such as "threads". The first value is the one measured first in the order of
    ``report.results``; it is ``base`` in every row, and a row's ``params`` have the value that is compared with it. All
    other parameters of the two are equal. ``same_within`` and the verdicts are as in ``compare_runs``.

    Raises:
        UsageError: no metric was measured at several values of the parameter.
    """
    groups: dict[Key, list[Result]] = {}
    for (probe, metric, params), result in _metrics(report.results).items():
        others = tuple(item for item in params if item[0] != name)
        if len(others) < len(params):
            groups.setdefault((probe, metric, others), []).append(result)
    pairs = [_Pair(_key(other), first, other, _VALUES) for first, *rest in groups.values() for other in rest]
    if not pairs:
        raise UsageError(f"--by {name}: no metric was measured at several values of it; {_varied(report)}")
    return _rows(pairs, same_within)


def _varied(report: Report) -> str:
    values: dict[str, set[Value]] = {}
    for result in report.results:
        for name, value in result.summary.params.items():
            values.setdefault(name, set()).add(value)
    several = sorted(name for name, found in values.items() if len(found) > 1)
    return f"this run varied {', '.join(several)}" if several else "this run varied no parameter"


def _metrics(results: Iterable[Result]) -> dict[Key, Result]:
    return {_key(result): result for result in results if result.kind != "derived"}


def _key(result: Result) -> Key:
    row = result.summary
    return row.probe, row.metric, tuple(sorted(row.params.items()))


def _name(key: Key) -> str:
    words = " ".join(f"{name}={value}" for name, value in key[2])
    return f"{key[0]} {words} {key[1]}"


@dataclass(frozen=True)
class _Pair:
    """A metric's two results, and the names of the two sides in sentences."""

    key: Key
    base: Result
    new: Result
    names: tuple[str, str]

    @property
    def family(self) -> str:
        """Return the area of the probe, such as "disk": its metrics are judged together."""
        return self.key[0].partition("_")[0]

    @property
    def sides(self) -> tuple[tuple[str, Result], tuple[str, Result]]:
        return (self.names[0], self.base), (self.names[1], self.new)


def _rows(pairs: Sequence[_Pair], same_within: float) -> list[ComparisonRow]:
    reasons = [_why_incomparable(pair) for pair in pairs]
    comparable = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
    rounds = [Rounds(p.base.round_values, p.new.round_values, p.base.better, p.family) for p in comparable]
    judged = iter(judge(rounds, same_within))
    capabilities = iter(_capability_changes(comparable, same_within))
    return [
        _incomparable(pair, reason) if reason else _judged(pair, next(judged), next(capabilities))
        for pair, reason in zip(pairs, reasons, strict=True)
    ]


def _capability_changes(pairs: Sequence[_Pair], same_within: float) -> list[CapabilityChange | None]:
    both = [(pair, _estimate(pair.base), _estimate(pair.new)) for pair in pairs]
    known = [(pair, base, new) for pair, base, new in both if base and new]
    judged = judge_capability(
        [CapabilityPair(base, new, p.base.better, p.family, _run_to_run(p)) for p, base, new in known], same_within
    )
    found = {
        id(pair): CapabilityChange(
            base=base.value, new=new.value, verdict=each.verdict, ratio=each.ratio, ci=each.ci, reason=each.reason,
            detectable=each.detectable,
        )
        for (pair, base, new), each in zip(known, judged, strict=True)
        if each.ci is not None and each.detectable is not None
    }  # fmt: skip
    return [found.get(id(pair)) for pair in pairs]


def _run_to_run(pair: _Pair) -> float:
    return RUN_TO_RUN.get(pair.family, RUN_TO_RUN_OF_OTHERS)


def _estimate(result: Result) -> Estimate | None:
    return usable(result.summary.capability, result.summary.capability_ci, result.summary.rounds)


def _incomparable(pair: _Pair, reason: str) -> ComparisonRow:
    return _row(pair, Judged("INCOMPARABLE", math.nan, None, reason))


def _judged(pair: _Pair, found: Judged, capability: CapabilityChange | None) -> ComparisonRow:
    parts = [found.reason, *(_circumstances(pair) if found.verdict != "SAME" else [])]
    reason = "; ".join(part for part in parts if part)
    return _row(pair, replace(found, reason=reason), capability)


def _row(pair: _Pair, found: Judged, capability: CapabilityChange | None = None) -> ComparisonRow:
    base, new = pair.base.summary, pair.new.summary
    return ComparisonRow(
        probe=pair.key[0],
        params=dict(pair.key[2]),
        metric=pair.key[1],
        unit=base.unit or new.unit,
        base=base.value,
        new=new.value,
        verdict=found.verdict,
        ratio=None if math.isnan(found.ratio) else found.ratio,
        ci=found.ci,
        reason=found.reason,
        detectable=found.detectable,
        capability=capability,
    )


def _why_incomparable(pair: _Pair) -> str:
    base, new = pair.base, pair.new
    for name, result in pair.sides:
        if result.summary.value is None:
            return f"{name} has no value ({result.summary.why_no_value})"
        if min(result.round_values) <= 0:
            return f"{name} has a round with the value {min(result.round_values):g}, which has no ratio"
    if base.summary.unit != new.summary.unit:
        return f"the units differ: {base.summary.unit} and {new.summary.unit}"
    if base.source != new.source:
        return f"not the same work: served by {base.source} in {pair.names[0]} and by {new.source} in {pair.names[1]}"
    return ""


def _circumstances(pair: _Pair) -> list[str]:
    """Return what may explain a difference: disturbed samples, and choices of set-up that differ."""
    disturbed = [
        f"{result.summary.disturbed * 100:.0f} % of the samples of {name} were disturbed"
        for name, result in pair.sides
        if result.summary.disturbed > MUCH_DISTURBED
    ]
    labels = {label: [result.labels.get(label) or "none" for _, result in pair.sides]
              for label in sorted({*pair.base.labels, *pair.new.labels})}  # fmt: skip
    return disturbed + [
        f"{label} is {base} in {pair.names[0]} and {new} in {pair.names[1]}"
        for label, (base, new) in labels.items()
        if base != new
    ]


def differing_settings(base: tuple[Run, Machine | None], new: tuple[Run, Machine | None]) -> list[SettingDifference]:
    """Return the properties that differ between two runs and their machines, in a fixed order; empty if none differs.

    Each side is (run, its machine). Only properties that are stable and affect results are compared: those of the
    machine, the priority, and the version of nameplate. The machine is None if it was not recorded; its properties are
    then "not recorded".
    """
    shown = [
        *((name, _shown_of(look, base[1]), _shown_of(look, new[1])) for name, look in _MACHINE_SETTINGS.items()),
        ("priority", base[0].priority, new[0].priority),
        ("nameplate", base[0].version, new[0].version),
    ]
    return [SettingDifference(*each) for each in shown if each[1] != each[2]]


def _shown_of(look: Callable[[Machine], object], machine: Machine | None) -> str:
    value = look(machine) if machine else None
    if value is None:
        return "not recorded"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


_MACHINE_SETTINGS: dict[str, Callable[[Machine], object]] = {
    "CPU": lambda m: m.cpu.model,
    "nominal clock": lambda m: m.cpu.listed_frequency_hz and f"{m.cpu.listed_frequency_hz / 1e9:.1f} GHz",
    "governor": lambda m: m.cpu.governor,
    "turbo": lambda m: m.cpu.turbo,
    "SMT": lambda m: m.cpu.smt,
    "cores": lambda m: m.topology.cores,
    "CPUs allowed": lambda m: m.topology.allowed_cpus,
    "CPU quota": lambda m: m.limits.cpus or "none",
    "memory": lambda m: f"{m.memory.total_bytes / 2**30:.1f} GiB",
    "memory limit": lambda m: m.limits.memory_bytes or "none",
    "huge pages": lambda m: m.memory.transparent_huge_pages,
    "NUMA nodes": lambda m: len(m.topology.numa_nodes),
    "vulnerable to": lambda m: m.vulnerable_to,
    "mitigations": lambda m: m.mitigated,
    "on battery": lambda m: m.power and m.power.on_battery,
    "power profile": lambda m: m.power and m.power.profile,
    "hypervisor": lambda m: m.hypervisor or "none",
    "kernel": lambda m: m.kernel,
    "distribution": lambda m: m.distribution,
}


def compare_several(reports: Sequence[Report]) -> list[Several]:
    """Return a row for every metric that at least two of the runs have, in the order of their first appearance.

    Each run is compared with the best one, by the method of ``statistics/two_samples.py``. Metrics are the same if
    their probe, name and parameters are equal. Derived values are left out. The list is empty for fewer than two runs.
    """
    by_run = [_metrics(report.results) for report in reports]
    keys = dict.fromkeys(key for run in by_run for key in run)
    shared = [[run.get(key) for run in by_run] for key in keys if sum(key in run for run in by_run) > 1]
    names = [key for key in keys if sum(key in run for run in by_run) > 1]
    others = [(row, place) for row, results in enumerate(shared) for place in _places_except_best(results)]
    pairs = [(shared[row][_best(shared[row])], shared[row][place]) for row, place in others]
    judged = judge(
        [Rounds(best.round_values, other.round_values, best.better) for best, other in pairs if best and other]
    )
    behind = {which for which, found in zip(others, judged, strict=True) if found.verdict == "SLOWER"}
    return [_several(key, row, results, behind) for row, (key, results) in enumerate(zip(names, shared, strict=True))]


def _several(key: Key, row: int, results: Sequence[Result | None], behind: set[tuple[int, int]]) -> Several:
    measured = [result for result in results if result]
    candidates = [_best(results), *_places_except_best(results)] if _is_comparable(results) else []
    return Several(
        probe=key[0],
        params=dict(key[2]),
        metric=key[1],
        unit=measured[0].summary.unit,
        values=[result.summary.value if result else None for result in results],
        best=sorted(place for place in candidates if (row, place) not in behind),
        reason="" if _is_comparable(results) else "not the same work, or too few runs have a value",
    )


def _is_comparable(results: Sequence[Result | None]) -> bool:
    usable = [results[place] for place in _usable(results)]
    return len(usable) > 1 and len({result.source for result in usable if result}) == 1


def _usable(results: Sequence[Result | None]) -> list[int]:
    return [
        place
        for place, result in enumerate(results)
        if result and result.summary.value is not None and min(result.round_values) > 0
    ]


def _best(results: Sequence[Result | None]) -> int:
    def height(place: int) -> float:
        result = results[place]
        value = (result.summary.value if result else None) or 0.0
        return value if result and result.better == "higher" else -value

    return max(_usable(results), key=height)


def _places_except_best(results: Sequence[Result | None]) -> list[int]:
    return [place for place in _usable(results) if place != _best(results)] if _is_comparable(results) else []
