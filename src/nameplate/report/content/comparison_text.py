"""Describe what changed between two runs, in the same sentences for the terminal and the exports."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.comparison.gate import NO_CAPABILITY, is_gate_loss
from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow
from nameplate.comparison.run_comparison import RunComparison
from nameplate.probes import probe_of
from nameplate.probes.shared.areas import order_of_area, text_of_area
from nameplate.records.plan_record import Value
from nameplate.report.content.format import count, first_few, list_text, parameters, share
from nameplate.statistics.stats import median
from nameplate.statistics.verdict import Verdict

# The order in which verdicts are shown.
VERDICT_ORDER: tuple[Verdict, ...] = ("SLOWER", "FASTER", "UNSURE", "INCOMPARABLE", "SAME")
_MAX_IN_SUMMARY = 3
# A larger loss is noticed without a gate.
# A loss that differs from that of the clock by less is explained by the clock.
_CLOCK_EXPLAINS_WITHIN = 0.03
_MAX_LOSS = 0.6


@dataclass(frozen=True)
class AreaVerdicts:
    """The verdicts on the metrics of an area.

    ``counts`` has the number of metrics by verdict. ``detectable`` is the median over the metrics of the smallest
    change that the runs would show, as a share (0.05 is 5 %), None if it is not known for any metric.
    """

    area: str
    counts: Counter[Verdict]
    detectable: float | None


def summary(rows: Sequence[ComparisonRow]) -> str:
    """Return a sentence on how many metrics are FASTER or SLOWER, with up to three of the largest changes.

    A change is that of the capability, or of the typical value if a run has no capability. If no metric can be compared
    or ``rows`` is empty, the sentence says why.
    """
    changed = [row for row in rows if row.machine_verdict in ("FASTER", "SLOWER")]
    if not rows:
        return "The runs have no metric in common."
    if all(row.machine_verdict == "INCOMPARABLE" for row in rows):
        reasons = list(dict.fromkeys(row.reason for row in rows))
        more = f", and {count(len(reasons) - 1, 'other reason')}" if len(reasons) > 1 else ""
        return f"None of {count(len(rows), 'metric')} can be compared: {reasons[0]}{more}."
    if not changed:
        same = sum(row.machine_verdict == "SAME" for row in rows)
        return f"No change was found in {count(len(rows), 'metric')}, of which {same} are the SAME."
    by_size = sorted(changed, key=lambda row: -abs(math.log(judged_side(row).ratio or 1.0)))
    texts = [f"{change_text(row)} ({row.machine_verdict})" for row in by_size]
    return f"{len(changed)} of {count(len(rows), 'metric')} changed: {first_few(texts, _MAX_IN_SUMMARY)}."


def change_text(row: ComparisonRow) -> str:
    """Return the change of a metric, such as "cpu_flops rate 10 % lower".

    The percentage is new ÷ base − 1 of the capability, or of the typical value if a run has no capability. An unknown
    ratio gives "0 % lower".
    """
    ratio = judged_side(row).ratio
    if ratio is None:
        return f"{row.probe} {row.metric}"
    return f"{row.probe} {row.metric} {abs(ratio - 1) * 100:.0f} % {'higher' if ratio > 1 else 'lower'}"


def gate_sentences(comparison: RunComparison) -> list[str]:
    """Return the verdict on the machine as sentences: what is worse, and the smallest loss that would have shown.

    If every metric decides (``comparison.gate`` is None), or no main value can be compared, the only sentence is
    ``summary`` of the rows. If the machine is not judged, the only sentence gives the reason and the remedy.
    """
    gate, rows = comparison.gate, comparison.rows
    if gate is None or gate.verdict == "INCOMPARABLE":
        return [summary(rows)]
    main = [row for row in rows if row.is_main]
    if gate.reason:
        remedy = "raise --budget" if gate.reason == NO_CAPABILITY else "measure again when nothing else limits the CPUs"
        return [f"UNSURE: {gate.reason}; {remedy}."]
    means = [f"the mean of {text_of_area(area.area)} {share(area.loss)} slower" for area in gate.area_losses]
    worse = [*(change_text(row) for row in main if is_gate_loss(row)), *means]
    better = [change_text(row) for row in main if row.capability and row.capability.verdict == "FASTER"]
    parts = [f"worse: {', '.join(worse)}"] * bool(worse) + [f"better: {', '.join(better)}"] * bool(better)
    values = count(gate.values, "main value")
    if gate.values < len(main):
        values = f"the {gate.values} comparable of {count(len(main), 'main value')}"
    return [
        f"{gate.verdict}: {'; '.join(parts)} (of {values})." if parts else f"None of {values} is worse.",
        *_cause_of_losses(main),
        f"A loss of at least this size would have shown: {power_text(gate.detectable)}.",
        *_untested(main, gate.detectable),
    ]


def _cause_of_losses(main: Sequence[ComparisonRow]) -> list[str]:
    """Return a sentence on the clock if it explains the losses of the CPU's main values, or no sentence."""
    clocks = [ratio for row in main if row.probe == "cpu_clock" and (ratio := judged_side(row).ratio)]
    losses = [judged_side(row).ratio or 0.0 for row in main if is_gate_loss(row) and row.probe.startswith("cpu_")]
    # A clock that is hardly lower explains no loss.
    if not losses or not clocks or clocks[0] > 1 - _CLOCK_EXPLAINS_WITHIN:
        return []
    if any(abs(loss / clocks[0] - 1) > _CLOCK_EXPLAINS_WITHIN for loss in losses):
        return []
    return [
        f"The clock was {share(1 - clocks[0])} lower, too: heat, a power limit or other guests of its host lower it."
    ]


def _untested(main: Sequence[ComparisonRow], tested: Mapping[str, float]) -> list[str]:
    """Return a sentence on the areas whose main values have no capability in both runs, or no sentence."""
    areas = sorted({probe_of(row.probe).area for row in main} - {*tested}, key=order_of_area)
    if not areas:
        return []
    return [f"Not compared for lack of rounds: {list_text([text_of_area(area) for area in areas])}; raise --budget."]


def power_text(detectable: Mapping[str, float]) -> str:
    """Return the smallest loss that shows in each area, such as "CPU 4.0 %, memory 20.0 %; network: none below 60 %".

    ``detectable`` has this loss by area, as a share (0.05 is 5 %). Areas in which only a loss above 60 %
    (``_MAX_LOSS``) shows come last. The text is "none" if ``detectable`` is empty.
    """
    areas = sorted(detectable, key=order_of_area)
    sizes = [f"{text_of_area(area)} {share(detectable[area])}" for area in areas if detectable[area] <= _MAX_LOSS]
    rest = [text_of_area(area) for area in areas if detectable[area] > _MAX_LOSS]
    none = f"{', '.join(rest)}: none below {_MAX_LOSS * 100:.0f} %" if rest else ""
    return "; ".join(filter(None, [", ".join(sizes), none])) or "none"


def has_changed(row: ComparisonRow) -> bool:
    """Return whether the capability or the typical value of a metric is FASTER or SLOWER."""
    return not {row.machine_verdict, row.verdict}.isdisjoint(("FASTER", "SLOWER"))


def in_order(rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """Return the rows sorted by the verdict on the machine, then by the typical verdict, each in ``VERDICT_ORDER``.

    The verdict on the machine is the one on the capability, or on the typical value without a capability.
    """
    return sorted(rows, key=lambda row: (VERDICT_ORDER.index(row.machine_verdict), VERDICT_ORDER.index(row.verdict)))


def verdicts_by_area(rows: Sequence[ComparisonRow]) -> list[AreaVerdicts]:
    """Return the verdicts on the metrics of each area, in the order of the areas on the first screen.

    The verdict on a metric is the one on its capability, or on its typical value without a capability. Areas without
    metrics are left out.
    """
    areas: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        areas.setdefault(row.probe.partition("_")[0], []).append(row)
    verdicts = []
    for area in sorted(areas, key=order_of_area):
        changes = [judged_side(row).detectable for row in areas[area]]
        known = [change for change in changes if change is not None]
        counts = Counter(row.machine_verdict for row in areas[area])
        verdicts.append(AreaVerdicts(area, counts, median(known) if known else None))
    return verdicts


def judged_side(row: ComparisonRow) -> ComparisonRow | CapabilityChange:
    """Return the part of a row from which the verdict on the machine follows.

    This is ``row.capability``, or the row itself (its typical value) if ``row.capability`` is None.
    """
    return row.capability or row


def meanings(comparison: RunComparison) -> list[str]:
    """Return sentences that explain SLOWER, at most one for the capability and one for the typical value.

    Only the kinds of SLOWER that occur in the deciding rows are explained: the main values, or all rows without a gate.
    The list is empty if none of them is SLOWER.
    """
    rows = [row for row in comparison.rows if row.is_main or comparison.gate is None]
    lines = []
    if any(row.machine_verdict == "SLOWER" and row.capability for row in rows):
        lines.append("SLOWER in capability: the machine or its settings changed.")
    if any(row.verdict == "SLOWER" and row.capability and row.capability.verdict != "SLOWER" for row in rows):
        lines.append("SLOWER only in what is typical: other programs or guests took more of the machine.")
    return lines


def metric_text(probe: str, params: Mapping[str, Value], metric: str) -> str:
    """Return the name of a metric with its probe and its parameters, such as "cpu_flops threads=2 rate"."""
    return " ".join(filter(None, [probe, parameters(params), metric]))


def ratio_interval_text(ci: tuple[float, float] | None) -> str:
    """Return the interval (lower bound, upper bound) of a ratio as text, such as "0.99–1.03"; None becomes "–"."""
    return f"{ci[0]:.2f}–{ci[1]:.2f}" if ci else "–"


def detectable_text(change: float | None) -> str:
    """Return the smallest detectable change, a share, in percent, such as "4.0 %" for 0.04; None becomes "–".

    A share above 1, which only a value more than twice as large or as small would show, becomes "> 2×".
    """
    return "> 2×" if change is not None and change > 1 else share(change)
