"""Turn pairs of results into rows of a comparison: the verdicts on each metric, and what may explain a difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

from nameplate.probes import probe_of
from nameplate.records.plan_record import Value
from nameplate.records.result import Result
from nameplate.statistics.two_samples import Rounds
from nameplate.statistics.verdict import Judged, Verdict

# A probe, a metric, and the parameters in alphabetical order.
Key: TypeAlias = tuple[str, str, tuple[tuple[str, Value], ...]]

# If more of a run's samples were disturbed, the verdict's reason says so.
MUCH_DISTURBED = 0.25


class CapabilityChange(msgspec.Struct, frozen=True, kw_only=True):
    """The capability of the machine in two runs, or at two values of a parameter.

    ``base`` and ``new`` are the capabilities in the SI base unit of the metric, ``ratio`` is new ÷ base and ``ci`` its
    99 % interval (lower, upper). For two variants in one run, the capability is that of a round
    (``paired_change.capability_of_round``), both values are medians over the rounds, and ``ratio`` is the median of the
    rounds' ratios. ``verdict`` is on ``new``, and ``reason`` says what would decide it if it is UNSURE.
    ``detectable`` is the smallest change, as a share, that these two runs would show with a probability of 80 %. ``ci``
    and ``detectable`` are None if there are too few rounds.
    """

    base: float
    new: float
    verdict: Verdict
    ratio: float
    ci: tuple[float, float] | None
    reason: str
    detectable: float | None


class ComparisonRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in two runs, or at two values of a parameter: typically, and in what the machine is capable of.

    ``params`` are those of the run that names more of them; for two values of a parameter, they are those of ``new``.
    ``base`` and ``new`` are the medians of the rounds in the SI base unit ``unit``, None without a value. ``ratio`` is
    new ÷ base and ``ci`` its 99 % interval (lower, upper); both are None if the verdict is INCOMPARABLE, and ``ci``
    also if there are too few rounds. For two variants, the ratio is the median of the rounds' ratios. ``verdict`` is on
    ``new``: FASTER means better, a higher rate or a lower time. ``reason`` says why a verdict is open or impossible,
    and what may explain a difference, such as disturbed samples; it is "" if there is nothing to say. ``detectable`` is
    the smallest change, as a share, that these two runs would show with a probability of 80 %, None without an
    interval. ``capability`` is None if either side has no capability
    with an interval. ``id`` is the experiment of ``new`` in its plan.
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

    @property
    def machine_verdict(self) -> Verdict:
        """Return the verdict on the machine and its settings: that on the capability, or else the typical one."""
        return self.capability.verdict if self.capability else self.verdict


def is_loss(row: ComparisonRow, limit: float) -> bool:
    """Return whether the capability of a metric is SLOWER by at least ``limit``, a share; 0 counts any loss.

    The loss is 50 % both for a rate that halved and for a time that doubled. Without a capability, the typical value
    decides.
    """
    ratio = (row.capability.ratio if row.capability else row.ratio) or 1.0
    return row.machine_verdict == "SLOWER" and 1 - min(ratio, 1 / ratio) >= limit


def overall_verdict(rows: Sequence[ComparisonRow], limit: float) -> Verdict:
    """Return the verdict on two runs as a whole, from those on their metrics (``machine_verdict``).

    It is SLOWER if any metric is by at least ``limit``, a share; 0 counts any loss. It is INCOMPARABLE if no metric can
    be compared, otherwise UNSURE if any metric is, FASTER if any metric is, and else SAME.
    """
    verdicts = {row.machine_verdict for row in rows}
    if any(is_loss(row, limit) for row in rows):
        return "SLOWER"
    if not verdicts - {"INCOMPARABLE"}:
        return "INCOMPARABLE"
    return "UNSURE" if "UNSURE" in verdicts else "FASTER" if "FASTER" in verdicts else "SAME"


@dataclass(frozen=True)
class MetricPair:
    """A metric's two results, and the names of the two sides in sentences.

    ``run_to_run`` is the standard deviation of the logarithm of the capability between runs of an unchanged machine, 0
    if both were measured in one run. ``is_sequential`` says that a run was ended when it had a verdict. ``cpu_shares``
    are the shares of the CPU time that both runs could use and got, where that may have hidden the capability of the
    metric; 1 where it may not. ``cpus_may_move`` says that a host may have placed the CPUs of the two runs differently.
    ``measured_s`` is the time in seconds that each run took, 0 if it is not known (``Report.measured_s``).
    """

    key: Key
    base: Result
    new: Result
    names: tuple[str, str]
    run_to_run: float = 0.0
    is_sequential: bool = False
    cpu_shares: tuple[float, float] = (1.0, 1.0)
    cpus_may_move: bool = False
    measured_s: tuple[float, float] = (0.0, 0.0)

    @property
    def family(self) -> str:
        """Return the area of the probe, such as "disk": its metrics are judged together."""
        return self.key[0].partition("_")[0]

    @property
    def sides(self) -> tuple[tuple[str, Result], tuple[str, Result]]:
        """Return the name and the result of both sides."""
        return (self.names[0], self.base), (self.names[1], self.new)


# Returns for each pair the verdict on what was typical, and that on the capability if both sides have one.
JudgePairs = Callable[[Sequence[MetricPair]], Sequence[tuple[Judged, CapabilityChange | None]]]


def capability_change(found: Judged, base: float, new: float) -> CapabilityChange:
    """Return the verdict on the capability of a metric with the two values that it is on."""
    return CapabilityChange(
        base=base, new=new, verdict=found.verdict, ratio=found.ratio, ci=found.ci, reason=found.reason,
        detectable=found.detectable,
    )  # fmt: skip


def rounds_of(base: Result, new: Result, *, family: str = "", is_sequential: bool = False) -> Rounds:
    """Return the rounds of a metric in two runs, with the rounding of their values."""
    return Rounds(
        base.round_values, new.round_values, base.better, family, is_sequential, (base.rounding, new.rounding)
    )


def metric_rows(pairs: Sequence[MetricPair], judge_pairs: JudgePairs) -> list[ComparisonRow]:
    """Return a row for each pair, in the same order. ``judge_pairs`` judges all comparable pairs together."""
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


def _row(pair: MetricPair, found: Judged, capability: CapabilityChange | None = None) -> ComparisonRow:
    base, new = pair.base.summary, pair.new.summary
    return ComparisonRow(
        id=pair.new.id,
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


def _why_incomparable(pair: MetricPair) -> str:
    base, new = pair.base, pair.new
    if reason := next(filter(None, (why_without_ratio(*side) for side in pair.sides)), ""):
        return reason
    if base.summary.unit != new.summary.unit:
        return f"the units differ: {base.summary.unit} and {new.summary.unit}"
    return work_difference(*pair.sides)


def why_without_ratio(name: str, result: Result) -> str:
    """Return why a result of the run ``name`` has no ratio to any other, or "" if it has one."""
    if result.summary.value is None:
        return f"{name} has no value ({result.summary.why_no_value})"
    if min(result.round_values) <= 0:
        return f"{name} has a round with the value {min(result.round_values):g}, which has no ratio"
    if unknown := _unknown_params(result):
        return f"{name} does not tell {' and '.join(unknown)}, without which the value is not defined"
    return ""


def why_not_judged(name: str, result: Result) -> str:
    """Return why a result of the run ``name`` says nothing about the machine, or "" if it does."""
    return why_without_ratio(name, result) or (f"{result.restriction} in {name}" if result.restriction else "")


def _unknown_params(result: Result) -> list[str]:
    """Return the parameters that define an imported value and are not known."""
    if result.kind != "imported":
        return []
    known = {*result.summary.params, *result.possible}
    return [name for name in probe_of(result.summary.probe).defining if name not in known]


def work_difference(base: tuple[str, Result], new: tuple[str, Result]) -> str:
    """Return how the work of two results differed, each with the name of its run, or "" if it did not.

    Different sources may have served it. The output of another tool does not tell that, which counts as the same; it
    may exclude what the other one did (``Result.possible``), although the parameters that both tell are equal.
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
    """Return what may explain a difference: disturbed samples, and choices of set-up that differ."""
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
