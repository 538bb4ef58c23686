"""Compute bars that show the values of a run as shares of their reference values, all on one scale."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.report.charts.curves import curve_lines
from nameplate.report.content.experiments import common_params, headlines, is_derived, label_of, mood_of, title_of
from nameplate.report.content.format import parameters, quantity, share
from nameplate.report.content.machine_verdict import judged_by
from nameplate.results.cpu_time import why_slowed


@dataclass(frozen=True)
class Bar:
    """A value as a bar whose length is the value's share of its reference value.

    - ``label``: the experiment's parameters that differ from ``BarGroup.common``, as ``label_of`` returns them
    - ``text``: the share and the reference value as text
    - ``mood``: "good", "poor" or "plain", as ``mood_of`` returns it
    - ``length``: the length of the bar in percent of the chart's width, which is the same for all bars of a run
    - ``interval``: the lower and the upper end of the share's 95 % interval as positions in percent of the width, or
      None if the interval is not known
    """

    label: str
    text: str
    mood: str
    length: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class BarGroup:
    """The bars of one probe.

    - ``title``: the title of the probe
    - ``common``: the parameters that all bars share, as on the command line (``isa=avx512 threads=2``), or ""
    - ``bars``: one bar per experiment, in the order of the run
    - ``left_out``: the number of experiments without a bar, because a curve shows them
    """

    title: str
    common: str
    bars: list[Bar]
    left_out: int


@dataclass(frozen=True)
class Bars:
    """The bars of a run: ``groups`` has one group per probe, in the order of the run.

    ``full`` is the position of a share of 1 (100 %), in percent of the chart's width.
    """

    full: float
    groups: list[BarGroup]


def efficiencies(report: Report) -> Bars:
    """Return a bar for the first metric of each experiment that has a reference value, grouped by probe.

    If experiments form a curve over sizes, only the experiments that ``judged_by`` returns have a bar. Derived results
    have no bar. ``groups`` of the result is empty if no value has a reference value.
    """
    groups: dict[str, list[Result]] = {}
    for result in headlines(report.results):
        if result.summary.efficiency is not None and not is_derived(result):
            groups.setdefault(result.summary.probe, []).append(result)
    judged, is_judged = {result.id for result in judged_by(report)}, not why_slowed(report)
    drawn = {probe: _without_curves(results, judged) for probe, results in groups.items()}
    reach = max([1.0, *(end for results in drawn.values() for result in results for end in _ends(result))]) * 1.04
    return Bars(
        100 / reach,
        [_bar_group(results, len(groups[probe]) - len(results), reach, is_judged) for probe, results in drawn.items()],
    )


def _without_curves(results: Sequence[Result], judged: Container[str]) -> list[Result]:
    in_curves = {result.id for line in curve_lines(results) for result in line}
    return [result for result in results if result.id in judged or result.id not in in_curves]


def _ends(result: Result) -> tuple[float, ...]:
    return (result.summary.efficiency or 0.0, *(result.efficiency_ci or ()))


def _bar_group(results: Sequence[Result], left_out: int, reach: float, is_judged: bool) -> BarGroup:
    common = common_params(results)
    bars = [_bar(result, common, reach, is_judged) for result in results]
    return BarGroup(title_of(results[0].summary.probe), parameters(common), bars, left_out)


def _bar(result: Result, common: Mapping[str, Value], reach: float, is_judged: bool) -> Bar:
    row = result.summary
    interval = result.efficiency_ci
    lower = " (lower is better)" if result.better == "lower" else ""
    crowded = ", oversubscribed" if result.oversubscribed else ""
    return Bar(
        label=label_of(row.params, common),
        text=f"{share(row.efficiency)} of {quantity(row.rated, row.unit)}{lower}{crowded}",
        mood=mood_of(result, is_judged),
        length=(row.efficiency or 0.0) * 100 / reach,
        interval=(interval[0] * 100 / reach, interval[1] * 100 / reach) if interval else None,
    )
