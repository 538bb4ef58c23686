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
from nameplate.comparison.typical_values import judge_typical
from nameplate.probes import probe_of
from nameplate.records.result import Report, Result
from nameplate.statistics.paired_change import PairedRounds, capability_of_round, judge_paired
from nameplate.statistics.stats import median
from nameplate.statistics.verdict import SAME_WITHIN, Judged

_NAMES = ("A", "B")


def compare_variants(report: Report, same_within: float = SAME_WITHIN) -> list[ComparisonRow]:
    """Return the comparison of variant B (``new``) with variant A (``base``) for each metric that both have.

    The run has one experiment of each variant (``Experiment.variant``), measured in the same rounds. The rounds are
    compared one by one, so that a drift of the machine mostly cancels; rounds in which only one variant has a value are
    left out. Percentiles of all operations are compared by their intervals (``judge_typical``). The verdicts hold even
    if the results are examined after every round. ``same_within`` is a share (0.05 is 5 %): SAME means that an
    equivalence test with significance level 0.05 rules out a larger change. ``params`` of a row has the parameters
    whose value is equal in both variants. The rows are in the order in which the probe declares its metrics: the first
    row has the verdict on the variants, since the other metrics follow from the same samples. The list is empty if a
    variant has no value yet.
    """
    variants = {experiment.id: experiment.variant for experiment in report.run.plan.experiments}
    sides = {
        side: {r.summary.metric: r for r in report.results if variants.get(r.id) == side and r.kind == "measured"}
        for side in ("a", "b")
    }
    both_s = report.measured_s, report.measured_s
    declared = [metric.name for b in sides["b"].values() for metric in probe_of(b.summary.probe).metrics]
    pairs = [
        MetricPair(_key(sides["a"][metric], b), sides["a"][metric], b, _NAMES, is_sequential=True, measured_s=both_s)
        for metric, b in sorted(sides["b"].items(), key=lambda item: declared.index(item[0]))
        if metric in sides["a"]
    ]
    return metric_rows(pairs, partial(_judge_variants, same_within=same_within))


def _key(a: Result, b: Result) -> Key:
    shared = {item for item in b.summary.params.items() if a.summary.params.get(item[0]) == item[1]}
    return b.summary.probe, b.summary.metric, tuple(sorted(shared))


def _judge_variants(pairs: Sequence[MetricPair], same_within: float) -> list[tuple[Judged, CapabilityChange | None]]:
    by_round = iter(judge_paired([_paired(p, _values_by_round) for p in pairs if not p.is_pooled], same_within))
    pooled = iter(judge_typical([pair for pair in pairs if pair.is_pooled], same_within))
    typical = [next(pooled) if pair.is_pooled else next(by_round) for pair in pairs]
    capable = [_paired(pair, _capabilities_by_round) if _is_capable(pair) else None for pair in pairs]
    judgements = iter(judge_paired([capability for capability in capable if capability], same_within))
    capabilities = [
        capability_change(with_time(next(judgements), pair), median(both.base), median(both.new)) if both else None
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
    for index, value in zip(result.series.round, result.series.value, strict=True):
        samples.setdefault(result.round_numbers[index - 1], []).append(value)
    return {number: capability_of_round(values, result.better) for number, values in samples.items()}
