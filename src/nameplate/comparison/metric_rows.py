"""Turn pairs of results into rows of a comparison: verdicts on each metric, and possible causes of a difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from nameplate.comparison.run_to_run import RUN_TO_RUN, Resource
from nameplate.probes import probe_of
from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.statistics.estimate_change import Estimate, EstimatePair, usable
from nameplate.statistics.verdict import Judged, Verdict

# A probe, a metric, and the parameters in alphabetical order.
Key: TypeAlias = tuple[str, str, tuple[tuple[str, Value], ...]]

# If a larger share of a run's samples was disturbed, the verdict's reason says so.
MUCH_DISTURBED = 0.25


class CapabilityChange(msgspec.Struct, frozen=True, kw_only=True):
    """The capability of the machine in two runs, or at two values of a parameter.

    ``base`` and ``new`` are the capabilities in the SI base unit of the metric, ``ratio`` is new ÷ base and ``ci`` its
    99 % interval (lower, upper). For two variants in one run, a capability is estimated for each round
    (``paired_change.capability_of_round``); ``base`` and ``new`` are the medians over the rounds, and ``ratio`` is the
    median of the rounds' ratios. ``verdict`` says how ``new`` compares with ``base``: FASTER means better. If it is
    UNSURE, ``reason`` says why, and what would decide; otherwise ``reason`` is "". ``detectable`` is the smallest
    change, as a share (0.05 is 5 %), that runs like these two would show with a probability of 80 %. ``ci`` and
    ``detectable`` are None if there are too few rounds.
    """

    base: float
    new: float
    verdict: Verdict
    ratio: float
    ci: tuple[float, float] | None
    reason: str
    detectable: float | None


class ComparisonRow(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of one metric in two runs, or at two values of a parameter.

    It compares the typical values and the capabilities. ``id`` is the id of the experiment in the plan of the new run.
    If one run records more parameters than the other, ``params`` has the parameters of that run; for two values of a
    parameter, it has the parameters of ``new``. ``base`` and ``new`` are the typical values in the SI base unit
    ``unit``, None without a value. ``ratio`` is new ÷ base and ``ci`` its 99 % interval (lower, upper). For two
    variants of one run, the ratio is the median of the rounds' ratios. Both are None if the verdict is INCOMPARABLE;
    ``ci`` is also None with too few rounds. ``verdict`` says how ``new`` compares with ``base``: FASTER means better, a
    higher rate or a lower time. ``reason`` says why a verdict is UNSURE or INCOMPARABLE, and names possible causes of a
    difference, such as disturbed samples; it is "" if there is nothing to report. ``detectable`` is the smallest
    change, as a share (0.05 is 5 %), that runs like these two would show with a probability of 80 %, None without an
    interval. ``capability`` compares the capabilities; it is None unless both sides have a capability with an interval.
    ``is_main`` says that the row is one of the main values, which decide on the machine (``gate.py``).
    """

    id: str
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
    is_main: bool = msgspec.field(default=False, name="main")

    @property
    def machine_verdict(self) -> Verdict:
        """Return the verdict on the machine: on the capability if it is known, else on the typical value."""
        return self.capability.verdict if self.capability else self.verdict


def is_loss(row: ComparisonRow, limit: float) -> bool:
    """Return whether a metric is SLOWER by a loss of at least ``limit``, a share (0.05 is 5 %); 0 counts any loss.

    The capability decides if ``row`` has one, else the typical value. The loss is 50 % both for a rate that halved and
    for a time that doubled.
    """
    ratio = (row.capability.ratio if row.capability else row.ratio) or 1.0
    return row.machine_verdict == "SLOWER" and 1 - min(ratio, 1 / ratio) >= limit


def overall_verdict(rows: Sequence[ComparisonRow], limit: float) -> Verdict:
    """Return the verdict on two runs as a whole, from the ``machine_verdict`` of each of their metrics in ``rows``.

    The first of these rules that applies decides: SLOWER if any metric has a loss of at least ``limit``, a share (0.05
    is 5 %; 0 counts any loss); INCOMPARABLE if there is no comparable metric; UNSURE if any metric is UNSURE; FASTER if
    any metric is FASTER; otherwise SAME.
    """
    verdicts = {row.machine_verdict for row in rows}
    if any(is_loss(row, limit) for row in rows):
        return "SLOWER"
    if not verdicts - {"INCOMPARABLE"}:
        return "INCOMPARABLE"
    return "UNSURE" if "UNSURE" in verdicts else "FASTER" if "FASTER" in verdicts else "SAME"


@dataclass(frozen=True)
class MetricPair:
    """The two results of one metric that are compared, with what their verdict depends on.

    ``key`` identifies the metric. ``names`` are the names of the two sides in sentences, such as "the new run".
    ``resource`` limits the metric; it is None if both results are of one run. ``is_sequential`` says that a run was
    stopped when its verdict was known, so that tests must hold after every round. ``cpu_shares`` has for each run the
    share (0 to 1) of the CPU time it could use that it received, or 1 if a lack of CPU time cannot hide the capability
    of this metric. ``cpus_may_move`` says that a host may have placed the virtual CPUs of the two runs differently.
    ``measured_s`` is the duration of each run in seconds, 0 if unknown (``Report.measured_s``).
    """

    key: Key
    base: Result
    new: Result
    names: tuple[str, str]
    resource: Resource | None = None
    is_sequential: bool = False
    cpu_shares: tuple[float, float] = (1.0, 1.0)
    cpus_may_move: bool = False
    measured_s: tuple[float, float] = (0.0, 0.0)

    @property
    def family(self) -> str:
        """Return the area of the probe, such as "disk"; the false discovery rate is controlled within an area."""
        return self.key[0].partition("_")[0]

    @property
    def sides(self) -> tuple[tuple[str, Result], tuple[str, Result]]:
        """Return (name, result) of the base and of the new side."""
        return (self.names[0], self.base), (self.names[1], self.new)

    @property
    def run_to_run(self) -> float:
        """Return the standard deviation of the logarithm of the capability between runs of an unchanged machine."""
        return RUN_TO_RUN[self.resource] if self.resource else 0.0

    @property
    def is_pooled(self) -> bool:
        """Return whether the value of a side is computed from the operations of all rounds (``Result.is_pooled``)."""
        return self.base.is_pooled or self.new.is_pooled

    def capabilities(self) -> EstimatePair | None:
        """Return the capabilities of both sides, or None unless both have one with an interval."""
        return self._estimates(_capability_of(self.base), _capability_of(self.new), self.family)

    def pooled_values(self) -> EstimatePair | None:
        """Return the typical values of both sides, or None unless both have one with an interval.

        It is meant for pairs that are pooled: the rounds have too few operations for values of their own.
        """
        return self._estimates(_typical_of(self.base), _typical_of(self.new), f"{self.family} pooled")

    def _estimates(self, base: Estimate | None, new: Estimate | None, family: str) -> EstimatePair | None:
        if base is None or new is None:
            return None
        is_of_one_run = self.resource is None
        return EstimatePair(base, new, self.base.better, family, self.run_to_run, self.is_sequential, is_of_one_run)


def _capability_of(result: Result) -> Estimate | None:
    rounds = result.capable_rounds or result.summary.rounds
    return usable(result.summary.capability, result.summary.capability_ci, rounds)


def _typical_of(result: Result) -> Estimate | None:
    return usable(result.summary.value, result.summary.ci, result.summary.rounds)


# Returns for each pair the verdict on the typical values, and the change of the capability if both sides have one.
JudgePairs = Callable[[Sequence[MetricPair]], Sequence[tuple[Judged, CapabilityChange | None]]]


def capability_change(judged: Judged, base: float, new: float) -> CapabilityChange:
    """Return a verdict on the capability of a metric together with the two compared values.

    ``base`` and ``new`` are the capabilities in the SI base unit of the metric; the other fields are copied from
    ``judged``.
    """
    return CapabilityChange(
        base=base, new=new, verdict=judged.verdict, ratio=judged.ratio, ci=judged.ci, reason=judged.reason,
        detectable=judged.detectable,
    )  # fmt: skip


def metric_rows(pairs: Sequence[MetricPair], judge_pairs: JudgePairs) -> list[ComparisonRow]:
    """Return a comparison row for each pair, in the same order.

    ``judge_pairs`` is called once with all pairs that can be compared, since the false discovery rate is controlled
    over all of them. The other pairs are INCOMPARABLE.
    """
    reasons = [_why_incomparable(pair) for pair in pairs]
    comparable = [pair for pair, reason in zip(pairs, reasons, strict=True) if not reason]
    judged = iter(judge_pairs(comparable))
    return [
        _row(pair, Judged("INCOMPARABLE", math.nan, None, reason)) if reason else _judged(pair, *next(judged))
        for pair, reason in zip(pairs, reasons, strict=True)
    ]


def _judged(pair: MetricPair, typical: Judged, capability: CapabilityChange | None) -> ComparisonRow:
    restrictions = [f"{result.restriction} in {name}" for name, result in pair.sides if result.restriction]
    circumstances = _circumstances(pair) if typical.verdict != "SAME" else []
    reason = "; ".join(part for part in (*restrictions, typical.reason, *circumstances) if part)
    # A rate that was asked for says nothing about the machine.
    verdict = "UNSURE" if restrictions else typical.verdict
    return _row(pair, replace(typical, verdict=verdict, reason=reason), capability)


def _row(pair: MetricPair, judged: Judged, capability: CapabilityChange | None = None) -> ComparisonRow:
    base, new = pair.base.summary, pair.new.summary
    return ComparisonRow(
        id=pair.new.id,
        probe=pair.key[0],
        params=dict(pair.key[2]),
        metric=pair.key[1],
        unit=base.unit or new.unit,
        base=base.value,
        new=new.value,
        verdict=judged.verdict,
        ratio=None if math.isnan(judged.ratio) else judged.ratio,
        ci=judged.ci,
        reason=judged.reason,
        detectable=judged.detectable,
        capability=capability,
    )


def _why_incomparable(pair: MetricPair) -> str:
    base, new = pair.base, pair.new
    if reason := next(filter(None, (why_without_ratio(*side) for side in pair.sides)), ""):
        return reason
    if base.is_pooled != new.is_pooled and "imported" not in (base.kind, new.kind):
        pooled, of_rounds = pair.names if base.is_pooled else pair.names[::-1]
        return f"the value in {pooled} is of the operations of all rounds, in {of_rounds} the median of the rounds"
    if base.summary.unit != new.summary.unit:
        return f"the units differ: {base.summary.unit} and {new.summary.unit}"
    return work_difference(*pair.sides)


def why_without_ratio(name: str, result: Result) -> str:
    """Return why a result cannot be compared with any other, as a phrase, or "" if it can.

    ``name`` is the name of its run, with which the phrase begins. A result has no ratio without a value, with a round
    at or below 0, or if it is imported and its tool did not record a parameter that defines the value.
    """
    if result.summary.value is None:
        return f"{name} has no value ({result.summary.why_no_value})"
    if min(result.round_values) <= 0:
        return f"{name} has a round with the value {min(result.round_values):g}, which has no ratio"
    if result.kind == "imported":
        known = {*result.summary.params, *result.possible}
        unknown = [param for param in probe_of(result.summary.probe).defining if param not in known]
        if unknown:
            return f"{name} does not report {' and '.join(unknown)}, without which the value is not defined"
    return ""


def why_not_judged(name: str, result: Result) -> str:
    """Return why a result says nothing about the machine, as a phrase, or "" if it does.

    ``name`` is the name of its run. The reasons are those of ``why_without_ratio``, and a restriction on the work, such
    as a requested rate limit.
    """
    return why_without_ratio(name, result) or (f"{result.restriction} in {name}" if result.restriction else "")


def work_difference(base: tuple[str, Result], new: tuple[str, Result]) -> str:
    """Return how the work of two results of one metric differs, as a phrase, or "" if no difference is known.

    ``base`` and ``new`` are (name of the run, result). The work differs if different sources served the bytes, such as
    a cache and a device. The output of another tool does not name the source; its work differs only if the values that
    are possible for a parameter (``Result.possible``) exclude each other.
    """
    (base_name, one), (new_name, other) = base, new
    if "imported" not in (one.kind, other.kind):
        if one.source == other.source:
            return ""
        return f"not the same work: served by {one.source} in {base_name} and by {other.source} in {new_name}"
    for name in sorted(one.possible.keys() & other.possible.keys()):
        base_values, new_values = one.possible[name] or ["not used"], other.possible[name] or ["not used"]
        if set(base_values).isdisjoint(new_values):
            in_base, in_new = (" or ".join(map(str, values)) for values in (base_values, new_values))
            return f"not the same work: {name} is {in_base} in {base_name} and {in_new} in {new_name}"
    return ""


def _circumstances(pair: MetricPair) -> list[str]:
    """Return possible causes of a difference as phrases: disturbed samples, and differing labels of set-up."""
    disturbed = [
        f"{result.summary.disturbed * 100:.0f} % of the samples of {name} were disturbed"
        for name, result in pair.sides
        if result.summary.disturbed > MUCH_DISTURBED
    ]
    if "imported" in (pair.base.kind, pair.new.kind):  # no label of the other side is known
        return disturbed
    labels = {label: [result.labels.get(label) or "none" for _, result in pair.sides]
              for label in sorted({*pair.base.labels, *pair.new.labels})}  # fmt: skip
    return disturbed + [
        f"{label} is {base} in {pair.names[0]} and {new} in {pair.names[1]}"
        for label, (base, new) in labels.items()
        if base != new
    ]
