"""A run's efficiencies as bars of one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.model import Report, Result, Value
from nameplate.report.cells import common_params, headlines, label_of, mood_of, title_of
from nameplate.report.format import parameters, quantity, share


@dataclass(frozen=True)
class Bar:
    """An efficiency; lengths are in percent of the width that all bars of a run share."""

    label: str
    words: str
    mood: str
    length: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class BarGroup:
    """One probe's efficiencies, with the parameters that are the same in all of them."""

    title: str
    common: str
    bars: list[Bar]


@dataclass(frozen=True)
class Bars:
    """A run's efficiencies, and where their 100 % stands."""

    full: float
    groups: list[BarGroup]


def efficiencies(report: Report) -> Bars:
    """The headline of every cell that has a rated value."""
    rated = [result for result in headlines(report.results) if result.summary.efficiency is not None]
    ends = [end for result in rated for end in (result.summary.efficiency or 0.0, *(result.efficiency_ci or ()))]
    reach = max([1.0, *ends]) * 1.04
    groups: dict[str, list[Result]] = {}
    for result in rated:
        groups.setdefault(result.summary.probe, []).append(result)
    return Bars(100 / reach, [_bar_group(probe, results, reach) for probe, results in groups.items()])


def _bar_group(probe: str, results: Sequence[Result], reach: float) -> BarGroup:
    common = common_params(results)
    return BarGroup(title_of(probe), parameters(common), [_bar(result, common, reach) for result in results])


def _bar(result: Result, common: Mapping[str, Value], reach: float) -> Bar:
    row = result.summary
    interval = result.efficiency_ci
    lower = " (less is better)" if result.better == "lower" else ""
    crowded = ", oversubscribed" if result.oversubscribed else ""
    return Bar(
        label=label_of(row.params, common),
        words=f"{share(row.efficiency)} of {quantity(row.rated, row.unit)}{lower}{crowded}",
        mood=mood_of(result),
        length=(row.efficiency or 0.0) * 100 / reach,
        interval=(interval[0] * 100 / reach, interval[1] * 100 / reach) if interval else None,
    )
