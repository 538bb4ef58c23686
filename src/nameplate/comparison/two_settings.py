"""Compare two settings that a run measured in alternation (``nameplate ab``)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nameplate.comparison.metric_rows import Capable, ComparisonRow, MetricPair, metric_rows
from nameplate.records.result import Report, Result
from nameplate.statistics.paired_change import PairedRounds, capability_of_round, judge_paired
from nameplate.statistics.stats import median
from nameplate.statistics.verdict import SAME_WITHIN, Judged

_NAMES = ("A", "B")


def compare_settings(report: Report, same_within: float = SAME_WITHIN) -> list[ComparisonRow]:
    """Return the verdict on setting B compared with setting A, for each metric that both have.

    The run has one experiment of each setting (``Experiment.setting``), measured in the same rounds, and these are
    compared one by one, so that a drift of the machine is not taken for a difference. The verdicts hold although one
    looks after every round. ``params`` of a row are those that both settings share. The list is empty if a setting has
    no value yet.
    """
    settings = {experiment.id: experiment.setting for experiment in report.run.plan.experiments}
    sides = {
        side: {r.summary.metric: r for r in report.results if settings.get(r.id) == side and r.kind == "measured"}
        for side in ("a", "b")
    }
    pairs = [
        MetricPair(_key(sides["a"][metric], b), sides["a"][metric], b, _NAMES)
        for metric, b in sides["b"].items()
        if metric in sides["a"]
    ]
    return metric_rows(pairs, partial(_judge_settings, same_within=same_within))


def _key(a: Result, b: Result) -> tuple[str, str, tuple[tuple[str, str | int | float], ...]]:
    shared = {item for item in b.summary.params.items() if a.summary.params.get(item[0]) == item[1]}
    return b.summary.probe, b.summary.metric, tuple(sorted(shared))


def _judge_settings(pairs: Sequence[MetricPair], same_within: float) -> list[tuple[Judged, Capable | None]]:
    typical = [PairedRounds(pair.base.round_values, pair.new.round_values, pair.base.better) for pair in pairs]
    capable = [_capable(pair) for pair in pairs]
    found = iter(judge_paired([each for each in capable if each], same_within))
    capabilities = [Capable(next(found), median(each.base), median(each.new)) if each else None for each in capable]
    return list(zip(judge_paired(typical, same_within), capabilities, strict=True))


def _capable(pair: MetricPair) -> PairedRounds | None:
    if pair.base.summary.capability is None or pair.new.summary.capability is None:
        return None
    base, new = _capabilities(pair.base), _capabilities(pair.new)
    return PairedRounds(base, new, pair.base.better) if base and new and min(*base, *new) > 0 else None


def _capabilities(result: Result) -> list[float]:
    rounds: dict[int, list[float]] = {}
    for number, value in zip(result.series.round, result.series.value, strict=True):
        rounds.setdefault(number, []).append(value)
    return [capability_of_round(rounds[number], result.better) for number in sorted(rounds)]
