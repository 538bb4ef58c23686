"""Compare two variants that a run measured in alternation (``nameplate ab``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nameplate.comparison.longer_runs import with_time
from nameplate.comparison.metric_rows import (
    CapabilityChange,
    ComparisonRow,
    Key,
    MetricPair,
    capability_change,
    metric_rows,
)
from nameplate.records.result import Report, Result
from nameplate.statistics.paired_change import PairedRounds, capability_of_round, judge_paired
from nameplate.statistics.stats import median
from nameplate.statistics.verdict import SAME_WITHIN, Judged

_NAMES = ("A", "B")


def compare_variants(report: Report, same_within: float = SAME_WITHIN) -> list[ComparisonRow]:
    """Return the verdict on variant B compared with variant A, for each metric that both have.

    The run has one experiment of each variant (``Experiment.variant``), measured in the same rounds, and these are
    compared one by one, so that a drift of the machine mostly cancels. Rounds in which only one has a value are left
    out. The verdicts hold even if the results are looked at after every round. ``params`` of a row are the parameters
    that have the same value in both variants. The list is empty if a variant has no value yet.
    """
    variants = {experiment.id: experiment.variant for experiment in report.run.plan.experiments}
    sides = {
        side: {r.summary.metric: r for r in report.results if variants.get(r.id) == side and r.kind == "measured"}
        for side in ("a", "b")
    }
    both_s = report.measured_s, report.measured_s
    pairs = [
        MetricPair(_key(sides["a"][metric], b), sides["a"][metric], b, _NAMES, measured_s=both_s)
        for metric, b in sides["b"].items()
        if metric in sides["a"]
    ]
    return metric_rows(pairs, partial(_judge_variants, same_within=same_within))


def _key(a: Result, b: Result) -> Key:
    shared = {item for item in b.summary.params.items() if a.summary.params.get(item[0]) == item[1]}
    return b.summary.probe, b.summary.metric, tuple(sorted(shared))


def _judge_variants(pairs: Sequence[MetricPair], same_within: float) -> list[tuple[Judged, CapabilityChange | None]]:
    typical = judge_paired([_paired(pair, _values_by_round) for pair in pairs], same_within)
    capable = [_paired(pair, _capabilities_by_round) if _is_capable(pair) else None for pair in pairs]
    found = iter(judge_paired([each for each in capable if each], same_within))
    capabilities = [
        capability_change(with_time(next(found), pair), median(both.base), median(both.new)) if both else None
        for both, pair in zip(capable, pairs, strict=True)
    ]
    return list(zip(map(with_time, typical, pairs), capabilities, strict=True))


def _is_capable(pair: MetricPair) -> bool:
    values = (pair.base.summary.capability, pair.new.summary.capability)
    samples = (*pair.base.series.value, *pair.new.series.value)
    return None not in values and min(samples, default=0.0) > 0


def _paired(pair: MetricPair, by_round: Callable[[Result], dict[int, float]]) -> PairedRounds:
    """Return the values of the rounds in which both variants have one."""
    base, new = by_round(pair.base), by_round(pair.new)
    both = sorted(base.keys() & new.keys())
    return PairedRounds([base[number] for number in both], [new[number] for number in both], pair.base.better)


def _values_by_round(result: Result) -> dict[int, float]:
    return dict(zip(result.round_numbers, result.round_values, strict=True))


def _capabilities_by_round(result: Result) -> dict[int, float]:
    samples: dict[int, list[float]] = {}
    for place, value in zip(result.series.round, result.series.value, strict=True):
        samples.setdefault(result.round_numbers[place - 1], []).append(value)
    return {number: capability_of_round(own, result.better) for number, own in samples.items()}
