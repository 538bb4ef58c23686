"""Compare runs: verdicts on the metrics that they share, and reasons why others cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import msgspec

from nameplate.comparison.doubts import may_move, share_for, unless_doubtful
from nameplate.comparison.input_notes import input_notes
from nameplate.comparison.longer_runs import with_time
from nameplate.comparison.machine_settings import SettingDifference, differing_settings
from nameplate.comparison.metric_rows import (
    CapabilityChange,
    ComparisonRow,
    Key,
    MetricPair,
    capability_change,
    metric_rows,
    rounds_of,
)
from nameplate.comparison.partners import ambiguities, key_of, metrics_by_key, partners
from nameplate.comparison.run_to_run import resource_of, run_to_run
from nameplate.errors import UsageError
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.results.cpu_time import share_of_cpu_time
from nameplate.statistics.capability_change import CapabilityPair, Estimate, usable
from nameplate.statistics.difference import judge_differences
from nameplate.statistics.two_samples import judge
from nameplate.statistics.verdict import SAME_WITHIN, Judged, Verdict

_RUNS = ("the base", "the new run")
_VALUES = ("the first", "this one")


class RunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs compared: the metrics of both, and the settings that differ.

    ``rows`` are in the order of the base run's results. ``only_in_base`` and ``only_in_new`` are metrics that the other
    run does not have, as ``probe name=value … metric``. ``unchecked`` names what could not be compared, since one of
    the two did not record it. ``notes`` say what is not read of outputs of other tools (``input_notes``).
    """

    rows: list[ComparisonRow]
    settings: list[SettingDifference]
    only_in_base: list[str]
    only_in_new: list[str]
    unchecked: list[str] = []
    notes: list[str] = []


def compare_runs(base: Report, new: Report, same_within: float = SAME_WITHIN) -> RunComparison:
    """Return the verdicts on the metrics that both runs have; each is on ``new`` compared with ``base``.

    Metrics are the same if their probe, name and parameters are equal, or closest if one has fewer (``partners``). Of
    what another tool did not record, only what its output excludes counts as different (``Result.possible``); the rest
    is ``unchecked``. Derived values, such as the size of a
    cache, are left out. SAME means that an equivalence test at 5 % rules out a change by more than ``same_within``, a
    share such as 0.05. If one of the runs was measured until it had a verdict (``Limits.detect``), the tests hold after
    every round. What the machine is capable of is compared as well (``ComparisonRow.capability``): if only the typical
    value is worse, other programs took more of the machine. A verdict on the capability is UNSURE where something else
    than the machine may have made the difference, or hidden one (``comparison/doubts.py``). The false discovery rate is
    controlled within each area, the first word of a probe's name. Metrics without a value, with a round at or below 0,
    with different units, or served by different sources are INCOMPARABLE. The method is that of
    ``statistics/two_samples.py``.
    """
    ours, theirs = metrics_by_key(base.results), metrics_by_key(new.results)
    pairs = partners(ours, theirs)
    settings, unchecked = differing_settings((base.run, base.machine), (new.run, new.machine))
    return RunComparison(
        rows=metric_rows(
            _pairs(_Side(base, ours), _Side(new, theirs), pairs), partial(judge_runs, same_within=same_within)
        ),
        settings=settings,
        only_in_base=[_name(key) for key in ours if key not in pairs],
        only_in_new=[_name(key) for key in theirs if key not in pairs.values()],
        unchecked=[*_unrecorded_params(pairs), *_unrecorded_source(ours, theirs, pairs), *unchecked],
        notes=[
            *input_notes(zip(_RUNS, (base, new), strict=True)),
            *ambiguities(ours, theirs, _RUNS[1]),
            *ambiguities(theirs, ours, _RUNS[0]),
        ],
    )


class _Side(NamedTuple):
    """A run with its results by metric."""

    report: Report
    results: Mapping[Key, Result]


def _pairs(base: _Side, new: _Side, keys: Mapping[Key, Key]) -> list[MetricPair]:
    """Return the metrics of two runs that are compared, with what their verdicts depend on."""
    machines = base.report.machine, new.report.machine
    got = share_of_cpu_time(base.report), share_of_cpu_time(new.report)
    is_sequential = any(side.report.run.plan.limits.detect is not None for side in (base, new))
    have_moving_cpus = may_move(*machines)
    pairs = []
    for key, other in keys.items():
        results = base.results[key], new.results[other]
        sides = list(zip(results, machines, strict=True))
        pairs.append(MetricPair(
            max(key, other, key=lambda k: len(k[2])), *results, _RUNS, is_sequential=is_sequential,
            run_to_run=max(run_to_run(*side) for side in sides),
            cpu_shares=(share_for(*sides[0], got[0]), share_for(*sides[1], got[1])),
            cpus_may_move=have_moving_cpus and any(resource_of(*side) != "core" for side in sides),
            measured_s=(base.report.measured_s, new.report.measured_s),
        ))  # fmt: skip
    return pairs


def _unrecorded_params(pairs: Mapping[Key, Key]) -> list[str]:
    """Return the parameters that only one side of a pair names."""
    names = {name for pair in pairs.items() for name, _ in set(pair[0][2]) ^ set(pair[1][2])}
    return [f"{name}=" for name in sorted(names)]


def _unrecorded_source(ours: Mapping[Key, Result], theirs: Mapping[Key, Result], pairs: Mapping[Key, Key]) -> list[str]:
    """Return that it is not known in one of the runs what served the bytes, if the other one knows it."""
    is_unknown = any(bool(ours[key].source) != bool(theirs[other].source) for key, other in pairs.items())
    return ["what served the bytes"] if is_unknown else []


def compare_by(report: Report, name: str, same_within: float = SAME_WITHIN) -> list[ComparisonRow]:
    """Return the verdicts on one run's metrics at each value of a parameter compared with its first value.

    ``name`` is the parameter, such as "threads". The first value is the one measured first in the order of
    ``report.results``; it is ``base`` in every row, and a row's ``params`` have the value that is compared with it. All
    other parameters of the two are equal. ``same_within`` and the verdicts are as in ``compare_runs``.

    Raises:
        UsageError: no metric was measured at several values of the parameter.
    """
    groups: dict[Key, list[Result]] = {}
    for (probe, metric, params), result in metrics_by_key(report.results).items():
        others = tuple(item for item in params if item[0] != name)
        if len(others) < len(params):
            groups.setdefault((probe, metric, others), []).append(result)
    is_sequential = report.run.plan.limits.detect is not None
    both_s = report.measured_s, report.measured_s
    pairs = [
        MetricPair(key_of(other), first, other, _VALUES, is_sequential=is_sequential, measured_s=both_s)
        for first, *rest in groups.values()
        for other in rest
    ]
    if not pairs:
        raise UsageError(f"--by {name}: no metric was measured at several values of it; {_varied(report)}")
    return metric_rows(pairs, partial(judge_runs, same_within=same_within))


def _varied(report: Report) -> str:
    values: dict[str, set[Value]] = {}
    for result in report.results:
        for name, value in result.summary.params.items():
            values.setdefault(name, set()).add(value)
    several = sorted(name for name, found in values.items() if len(found) > 1)
    return f"this run varied {', '.join(several)}" if several else "this run varied no parameter"


def _name(key: Key) -> str:
    words = " ".join(f"{name}={value}" for name, value in key[2])
    return f"{key[0]} {words} {key[1]}"


def judge_runs(pairs: Sequence[MetricPair], same_within: float) -> list[tuple[Judged, CapabilityChange | None]]:
    """Return the verdicts on what was typical and on the capability, for pairs from runs that are independent."""
    rounds = [rounds_of(pair.base, pair.new, family=pair.family, is_sequential=pair.is_sequential) for pair in pairs]
    typical = [
        with_time(_with_ratio_of_values(each, pair), pair)
        for each, pair in zip(judge(rounds, same_within), pairs, strict=True)
    ]
    changes = [_capability_pair(pair) for pair in pairs]
    found = iter(judge_differences([change.difference() for change in changes if change], same_within))
    capabilities = [
        _on_capability(next(found), change, own.verdict, pair) if change else None
        for change, own, pair in zip(changes, typical, pairs, strict=True)
    ]
    return list(zip(typical, capabilities, strict=True))


def _on_capability(found: Judged, change: CapabilityPair, typical: Verdict, pair: MetricPair) -> CapabilityChange:
    timed = with_time(found, pair, of_capability=True)
    return unless_doubtful(capability_change(timed, change.base.value, change.new.value), typical, pair)


def _with_ratio_of_values(found: Judged, pair: MetricPair) -> Judged:
    """Return a verdict with the ratio of the values that are shown next to it.

    The test's own estimate (Hodges and Lehmann) is not exactly the ratio of the medians; its interval is widened to
    that if necessary.
    """
    base, new = pair.base.summary.value, pair.new.summary.value
    if not base or not new:
        return found
    ratio = new / base
    ci = (min(found.ci[0], ratio), max(found.ci[1], ratio)) if found.ci else None
    return replace(found, ratio=ratio, ci=ci)


def _capability_pair(pair: MetricPair) -> CapabilityPair | None:
    base, new = _estimate(pair.base), _estimate(pair.new)
    if base is None or new is None:
        return None
    return CapabilityPair(base, new, pair.base.better, pair.family, pair.run_to_run, pair.is_sequential)


def _estimate(result: Result) -> Estimate | None:
    rounds = result.capable_rounds or result.summary.rounds
    return usable(result.summary.capability, result.summary.capability_ci, rounds)
