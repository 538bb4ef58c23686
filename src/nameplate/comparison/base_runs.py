"""Compare a run with several base runs, which show how much this machine varies from run to run.

The variation that a comparison of two runs assumes (``run_to_run``) is that of many machines. Five or more base runs
show the variation of this one: a loss is tested against the spread of their values (a prediction interval for one
further run: Hahn and Meeker, "Statistical Intervals", 1991, section 4.7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import msgspec

from nameplate.comparison.gate import MainTest, decide, name_of
from nameplate.comparison.metric_rows import ComparisonRow, Key, capability_change
from nameplate.comparison.partners import metrics_by_key
from nameplate.comparison.run_comparison import RunComparison, compare_runs
from nameplate.errors import UsageError
from nameplate.probes import probe_of
from nameplate.records.result import Report, Result
from nameplate.results.cpu_time import why_slowed
from nameplate.statistics.constants import MIN_CHANGE
from nameplate.statistics.difference import Difference, judge_differences
from nameplate.statistics.estimate_change import MIN_ERROR
from nameplate.statistics.loss_tests import Loss
from nameplate.statistics.verdict import SAME_WITHIN, Judged

# With fewer base runs, a loss would have to be many times their spread.
MIN_BASE_RUNS = 5


@dataclass(frozen=True)
class _Sample:
    """The natural logarithms of one value in the base runs, at least two, and in the new run."""

    bases: Sequence[float]
    new: float
    result: Result

    @property
    def spread(self) -> float:
        """Return the standard deviation between the base runs."""
        return max(stdev(self.bases), MIN_ERROR)

    @property
    def sign(self) -> int:
        """Return the factor, 1 or -1, that turns a difference of logarithms into a loss."""
        return 1 if self.result.better == "lower" else -1

    def difference(self) -> Difference:
        """Return the difference of the new run from the mean of the base runs, with the error of one further run."""
        count = len(self.bases)
        return Difference(
            middle=self.new - fmean(self.bases), error=self.spread * math.sqrt(1 + 1 / count), freedom=count - 1,
            better=self.result.better, rounds=count, family=self.result.summary.probe.partition("_")[0], lasting=1.0,
        )  # fmt: skip


def compare_with_bases(
    bases: Sequence[Report], new: Report, same_within: float = SAME_WITHIN, min_loss: float = 0.0
) -> RunComparison:
    """Return the comparison of the main values of ``new`` with those of several runs of the same machine.

    ``base`` of a row is the geometric mean over the base runs, and ``ci`` the 99 % interval of ``ratio``, whose error
    is the variation of one further run of an unchanged machine. ``same_within`` and ``min_loss`` are as in
    ``compare_runs``, but the smallest loss that counts is 3 % or ``min_loss``, whichever is larger, for every resource.
    Base runs that a CPU quota or other programs slowed down are left out, and a note says how many. ``settings``,
    ``only_in_base`` and ``only_in_new`` compare ``new`` with the last remaining base run. If ``new`` itself was slowed
    down, the result is ``compare_runs`` with this base run: every verdict is UNSURE.

    Raises:
        UsageError: fewer than five base runs (``MIN_BASE_RUNS``) remain.
    """
    usable = [base for base in bases if not why_slowed(base)]
    n_slowed = len(bases) - len(usable)
    if len(usable) < MIN_BASE_RUNS:
        slowed = f", of which a quota or other programs slowed {n_slowed} down" if n_slowed else ""
        raise UsageError(f"{len(bases)} base runs{slowed}: give at least {MIN_BASE_RUNS}, which show how runs vary")
    comparison = compare_runs(usable[-1], new, same_within, min_loss)
    left_out = [f"left out: base runs that a quota or other programs slowed down ({n_slowed})"] if n_slowed else []
    notes = [*comparison.notes, *left_out]
    if why_slowed(new):
        return msgspec.structs.replace(comparison, notes=notes)
    by_run, of_new = [metrics_by_key(base.results) for base in usable], metrics_by_key(new.results)
    least = max(math.log1p(MIN_CHANGE), -math.log1p(-min_loss))
    rows, tests, capabilities = [], [], []
    main = [row for row in comparison.rows if row.is_main]
    typical = [_sample(row, by_run, of_new, is_capability=False) for row in main]
    judged = iter(judge_differences([sample.difference() for sample in typical if sample], same_within))
    for row, of_typical in zip(main, typical, strict=True):
        if of_typical:
            row = _with_typical(row, of_typical, next(judged))  # noqa: PLW2901
        capability = _sample(row, by_run, of_new, is_capability=True)
        if capability:
            row = _with_capability(row, capability, same_within)  # noqa: PLW2901
            tests.append(MainTest(row, _loss(name_of(row), capability, least), ""))
            capabilities.append(capability)
        else:
            row = msgspec.structs.replace(row, capability=None)  # noqa: PLW2901
        rows.append(row)
    rows, gate = decide(rows, tests, _means(capabilities, least))
    return msgspec.structs.replace(comparison, rows=rows, gate=gate, notes=notes)


def _sample(
    row: ComparisonRow, by_run: Sequence[Mapping[Key, Result]], of_new: Mapping[Key, Result], *, is_capability: bool
) -> _Sample | None:
    """Return one value of a row in all runs, None if it is missing in a base run or in the new run, or not above 0."""
    key = (row.probe, row.metric, tuple(sorted(row.params.items())))
    results = [results_of_run.get(key) for results_of_run in (*by_run, of_new)]
    values = [
        (result.summary.capability if is_capability else result.summary.value) or 0.0 for result in results if result
    ]
    if len(values) < len(results) or min(values) <= 0:
        return None
    *bases, new = map(math.log, values)
    return _Sample(bases, new, of_new[key])


def _with_typical(row: ComparisonRow, sample: _Sample, judged: Judged) -> ComparisonRow:
    return msgspec.structs.replace(
        row, base=math.exp(fmean(sample.bases)), verdict=judged.verdict, ratio=judged.ratio, ci=judged.ci,
        reason=judged.reason, detectable=judged.detectable,
    )  # fmt: skip


def _with_capability(row: ComparisonRow, sample: _Sample, same_within: float) -> ComparisonRow:
    """Return the row with the capability in the base runs and in the new run, whose verdict the gate replaces."""
    (judged,) = judge_differences([sample.difference()], same_within)
    change = capability_change(judged, math.exp(fmean(sample.bases)), math.exp(sample.new))
    return msgspec.structs.replace(row, capability=change)


def _loss(name: str, sample: _Sample, min_loss: float) -> Loss:
    difference = sample.difference()
    return Loss(
        name=name, area=probe_of(sample.result.summary.probe).area, middle=sample.sign * difference.middle,
        error=difference.error, freedom=difference.freedom, lasting=difference.error, min_loss=min_loss,
    )  # fmt: skip


def _means(samples: Sequence[_Sample], min_loss: float) -> list[Loss]:
    """Return the mean loss of each area with several values, weighted by precision.

    The mean of an area is taken in each run, so that the base runs show how much it varies: values of one area vary
    together.
    """
    by_area: dict[str, list[_Sample]] = {}
    for sample in samples:
        by_area.setdefault(probe_of(sample.result.summary.probe).area, []).append(sample)
    losses = []
    for area, members in by_area.items():
        if len(members) > 1:
            weights = [1 / member.spread**2 for member in members]
            runs = zip(*(_losses(member) for member in members), strict=True)
            *bases, new = (math.fsum(w * x for w, x in zip(weights, run, strict=True)) / sum(weights) for run in runs)
            mean = _Sample(bases, new, members[0].result)
            losses.append(replace(_loss(area, mean, min_loss), middle=new - fmean(bases)))
    return losses


def _losses(sample: _Sample) -> list[float]:
    """Return the logarithms of a sample in the base runs and in the new run, so that more is worse."""
    return [sample.sign * value for value in (*sample.bases, sample.new)]
