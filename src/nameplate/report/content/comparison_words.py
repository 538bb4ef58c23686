"""Say in words what changed between two runs, the same in the terminal and in what is exported."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow
from nameplate.probes.shared.areas import order_of_area
from nameplate.records.plan_record import Value
from nameplate.report.content.format import count, parameters, share
from nameplate.statistics.stats import median
from nameplate.statistics.verdict import Verdict

# The order in which verdicts are shown.
VERDICT_ORDER: tuple[Verdict, ...] = ("SLOWER", "FASTER", "UNSURE", "INCOMPARABLE", "SAME")
_MAX_IN_SUMMARY = 3


@dataclass(frozen=True)
class AreaVerdicts:
    """The number of metrics of an area by their verdict, and the change that half of them would show, if known."""

    area: str
    counts: Counter[Verdict]
    detectable: float | None


def summary(rows: Sequence[ComparisonRow]) -> str:
    """Return a sentence on how many metrics changed, with the largest changes: of the capability if it is known.

    If none can be compared, it has the reason.
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
    by_size = sorted(changed, key=lambda row: -abs(math.log(_judged_ratio(row))))
    named = [f"{row.probe} {row.metric} {_change_words(row)}" for row in by_size[:_MAX_IN_SUMMARY]]
    more = f" and {len(changed) - len(named)} more" if len(changed) > len(named) else ""
    return f"{len(changed)} of {count(len(rows), 'metric')} changed: {', '.join(named)}{more}."


def has_changed(row: ComparisonRow) -> bool:
    """Return whether the capability or the typical value of a metric is FASTER or SLOWER."""
    return not {row.machine_verdict, row.verdict}.isdisjoint(("FASTER", "SLOWER"))


def in_order(rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """Return the rows sorted by the verdict on the capability, SLOWER first, and then by the typical one."""
    return sorted(rows, key=lambda row: (VERDICT_ORDER.index(row.machine_verdict), VERDICT_ORDER.index(row.verdict)))


def verdicts_by_area(rows: Sequence[ComparisonRow]) -> list[AreaVerdicts]:
    """Return the verdicts on the capability of each area, or on the typical value where there is no capability."""
    areas: dict[str, list[ComparisonRow]] = {}
    for row in rows:
        areas.setdefault(row.probe.partition("_")[0], []).append(row)
    found = []
    for area in sorted(areas, key=order_of_area):
        changes = [judged_side(row).detectable for row in areas[area]]
        known = [each for each in changes if each is not None]
        counts = Counter(row.machine_verdict for row in areas[area])
        found.append(AreaVerdicts(area, counts, median(known) if known else None))
    return found


def judged_side(row: ComparisonRow) -> ComparisonRow | CapabilityChange:
    """Return the part of a row that its verdict on the machine is on: the capability, or else the typical value."""
    return row.capability or row


def meanings(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return what SLOWER means for a machine that was measured twice, in each of the two questions."""
    lines = []
    if any(row.machine_verdict == "SLOWER" and row.capability for row in rows):
        lines.append("SLOWER in capability: the machine or its settings changed.")
    if any(row.verdict == "SLOWER" and row.capability and row.capability.verdict != "SLOWER" for row in rows):
        lines.append("SLOWER only in what is typical: other programs or guests took more of the machine.")
    return lines


def metric_words(probe: str, params: Mapping[str, Value], metric: str) -> str:
    """Return the name of a metric with its probe and its parameters, such as "cpu_flops threads=2 rate"."""
    return " ".join(filter(None, [probe, parameters(params), metric]))


def ratio_interval_text(ci: tuple[float, float] | None) -> str:
    """Return the interval of a ratio, such as "0.99–1.03", or "–" if it is unknown."""
    return f"{ci[0]:.2f}–{ci[1]:.2f}" if ci else "–"


def detectable_text(change: float | None) -> str:
    """Return the smallest detectable change, such as "4.0 %", or "–" if it is unknown."""
    return "> 100 %" if change is not None and change > 1 else share(change)


def _judged_ratio(row: ComparisonRow) -> float:
    return judged_side(row).ratio or 1.0


def _change_words(row: ComparisonRow) -> str:
    ratio = _judged_ratio(row)
    return f"{abs(ratio - 1) * 100:.0f} % {'higher' if ratio > 1 else 'lower'} ({row.machine_verdict})"
