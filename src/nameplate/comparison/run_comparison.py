"""Compare runs: verdicts on the metrics that they share, and reasons why others cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from nameplate.comparison.doubts import may_move, share_for, unless_doubtful
from nameplate.comparison.gate import Gate, gated, without_verdicts
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
    overall_verdict,
)
from nameplate.comparison.partners import ambiguities, key_of, metrics_by_key, partners
from nameplate.comparison.run_to_run import CORES, least_repeatable, resource_of
from nameplate.comparison.typical_values import judge_typical
from nameplate.errors import UsageError
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.results.cpu_time import share_of_cpu_time, why_slowed
from nameplate.statistics.difference import judge_differences
from nameplate.statistics.estimate_change import EstimatePair
from nameplate.statistics.verdict import SAME_WITHIN, Judged, Verdict

# The metrics that decide on the machine: the main values, or every metric.
Deciding: TypeAlias = Literal["main", "all"]

_RUNS = ("the base", "the new run")
_VALUES = ("the first", "this one")


class RunComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of two runs: the metrics that both have, the verdict on the machine, and the settings that differ.

    ``gate`` is the verdict on the machine from the main values; None if every metric decides (``overall_verdict`` of
    ``rows``). ``rows`` are in the order of the base run's results, and ``settings`` in a fixed order. ``only_in_base``
    and ``only_in_new`` name the metrics that the other run does not have, as ``probe name=value … metric``.
    ``unchecked`` names parameters and settings that could not be compared because only one of the runs recorded them.
    ``notes`` are sentences about parts of other tools' outputs that were not read, and about metrics that match several
    metrics of the other run.
    """

    rows: list[ComparisonRow]
    gate: Gate | None = None
    settings: list[SettingDifference]
    only_in_base: list[str]
    only_in_new: list[str]
    unchecked: list[str] = []
    notes: list[str] = []

    def verdict(self, limit: float) -> Verdict:
        """Return the verdict on the machine: that of ``gate``, or without a gate, the ``overall_verdict`` of ``rows``.

        ``limit`` is the smallest loss of a metric that counts, a share (0.05 is 5 %). It is ignored if there is a gate,
        which was made with ``min_loss``.
        """
        return self.gate.verdict if self.gate else overall_verdict(self.rows, limit)


def compare_runs(
    base: Report, new: Report, same_within: float = SAME_WITHIN, min_loss: float = 0.0, deciding: Deciding = "main"
) -> RunComparison:
    """Return the comparison of run ``new`` with run ``base``, with a verdict on every metric that both have.

    The main values decide on the machine (``gate.py``), or every metric if ``deciding`` is "all". ``min_loss`` is the
    smallest loss of a main value that decides, a share of its performance (0.05 is 5 %). If a CPU quota or other
    programs slowed one of the runs down, every verdict is UNSURE.

    Metrics match if their probe, name and parameters are equal; if one run recorded fewer parameters, the closest
    metric matches (``partners``). Derived values, such as the size of a cache, are left out. ``same_within`` is a share
    (0.05 is 5 %): SAME means that an equivalence test with significance level 0.05 rules out a larger change. FASTER
    and SLOWER are defined in ``statistics/two_samples.py``, for percentiles of all operations in
    ``statistics/difference.py``; the false discovery rate is controlled within each area (the first word of a probe's
    name). If one of the runs was measured until it had a verdict (``Limits.detect``), tests that hold after every round
    are used. A metric is INCOMPARABLE if a run has no value or the value of a round at or below 0, if the units differ,
    or if different sources served the bytes.

    The capabilities are compared as well (``ComparisonRow.capability``): if only the typical value is worse, other
    programs took more of the machine. A verdict on the capability is UNSURE if something other than the machine may
    have caused or hidden a difference (``comparison/doubts.py``).
    """
    ours, theirs = metrics_by_key(base.results), metrics_by_key(new.results)
    pairs = partners(ours, theirs)
    settings, unchecked = differing_settings((base.run, base.machine), (new.run, new.machine))
    metric_pairs = _pairs(_Side(base, ours), _Side(new, theirs), pairs)
    rows = metric_rows(metric_pairs, partial(judge_runs, same_within=same_within))
    gate = None
    slowed = [f"in {name}, {why}" for name, run in zip(_RUNS, (base, new), strict=True) if (why := why_slowed(run))]
    if slowed:
        rows, gate = without_verdicts(rows, "; ".join(slowed))
    elif deciding == "main":
        rows, gate = gated(metric_pairs, rows, min_loss)
    return RunComparison(
        rows=rows,
        gate=gate,
        settings=settings,
        only_in_base=[_name(key) for key in ours if key not in pairs],
        only_in_new=[_name(key) for key in theirs if key not in pairs.values()],
        unchecked=[*_unrecorded(ours, theirs, pairs), *unchecked],
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
    """Return the pairs of results to compare; ``keys`` maps each key of ``base`` to its key of ``new``."""
    machines = base.report.machine, new.report.machine
    got = share_of_cpu_time(base.report), share_of_cpu_time(new.report)
    is_sequential = any(side.report.run.plan.limits.detect is not None for side in (base, new))
    have_moving_cpus = may_move(*machines)
    pairs = []
    for key, other in keys.items():
        results = base.results[key], new.results[other]
        sides = list(zip(results, machines, strict=True))
        resources = [resource_of(*side) for side in sides]
        pairs.append(MetricPair(
            max(key, other, key=lambda k: len(k[2])), *results, _RUNS, is_sequential=is_sequential,
            resource=least_repeatable(resources),
            cpu_shares=(share_for(*sides[0], got[0]), share_for(*sides[1], got[1])),
            cpus_may_move=have_moving_cpus and not {*resources} <= {*CORES},
            measured_s=(base.report.measured_s, new.report.measured_s),
        ))  # fmt: skip
    return pairs


def _unrecorded(ours: Mapping[Key, Result], theirs: Mapping[Key, Result], pairs: Mapping[Key, Key]) -> list[str]:
    """Return what only one of the two runs recorded: parameters, as ``name=``, and what served the bytes."""
    names = {name for pair in pairs.items() for name, _ in set(pair[0][2]) ^ set(pair[1][2])}
    is_source_unknown = any(bool(ours[key].source) != bool(theirs[other].source) for key, other in pairs.items())
    return [*(f"{name}=" for name in sorted(names)), *(["what served the bytes"] if is_source_unknown else [])]


def compare_by(report: Report, name: str, same_within: float = SAME_WITHIN) -> list[ComparisonRow]:
    """Return a comparison of each value of one parameter with its first value, within one run.

    ``name`` is the parameter, such as "threads". For each probe, metric and set of other parameters, the first result
    in ``report.results`` is ``base``, and each further one gives a row, with its parameters as ``params``.
    ``same_within`` and the verdicts are as in ``compare_runs``.

    Raises:
        UsageError: no metric was measured at several values of the parameter.
    """
    groups: dict[Key, list[Result]] = {}
    for (probe, metric, params), result in metrics_by_key(report.results).items():
        remaining = tuple(item for item in params if item[0] != name)
        if len(remaining) < len(params):
            groups.setdefault((probe, metric, remaining), []).append(result)
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
    several = sorted(name for name, values_of_name in values.items() if len(values_of_name) > 1)
    return f"this run varied {', '.join(several)}" if several else "this run varied no parameter"


def _name(key: Key) -> str:
    text = " ".join(f"{name}={value}" for name, value in key[2])
    return f"{key[0]} {text} {key[1]}"


def judge_runs(pairs: Sequence[MetricPair], same_within: float) -> list[tuple[Judged, CapabilityChange | None]]:
    """Return for each pair, in the same order, the verdict on the typical values, and the change of the capability.

    The change is None if a side has no capability with an interval. The pairs are of independent runs, or of
    independent experiments of one run. ``same_within`` is a share (0.05 is 5 %), as in ``compare_runs``. All pairs of a
    comparison must be passed together, since the false discovery rate is controlled over all of them.
    """
    typical = list(map(with_time, judge_typical(pairs, same_within), pairs))
    changes = [pair.capabilities() for pair in pairs]
    judged_capabilities = iter(judge_differences([change.difference() for change in changes if change], same_within))
    capabilities = [
        _on_capability(next(judged_capabilities), change, typical_verdict.verdict, pair) if change else None
        for change, typical_verdict, pair in zip(changes, typical, pairs, strict=True)
    ]
    return list(zip(typical, capabilities, strict=True))


def _on_capability(judged: Judged, change: EstimatePair, typical: Verdict, pair: MetricPair) -> CapabilityChange:
    timed = with_time(judged, pair, of_capability=True)
    return unless_doubtful(capability_change(timed, change.base.value, change.new.value), typical, pair)
