"""Draw the shares of the reference values of a run as bars on one scale."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.report.charts.curves import curve_lines
from nameplate.report.content.experiments import common_params, headlines, is_derived, label_of, mood_of, title_of
from nameplate.report.content.format import parameters, quantity, share
from nameplate.report.content.verdict import judged_by


@dataclass(frozen=True)
class Bar:
    """A share of a reference value as a bar; lengths are in percent of the width that all bars of a run have in common.

    ``label`` are the experiment's own parameters as from ``label_of``. ``words`` are the share and the reference value
    as text. ``mood``, as from ``mood_of``, is "good", "poor" or "plain". ``interval`` has the lower and the upper end
    of the share's 95 % interval as positions on the same scale, and is None if the interval is not known.
    """

    label: str
    words: str
    mood: str
    length: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class BarGroup:
    """The bars of one probe, under the probe's title.

    ``common`` are the parameters common to all bars, as on the command line (``isa=avx512 threads=2``), or "".
    ``left_out`` is the number of experiments without a bar because a curve shows them.
    """

    title: str
    common: str
    bars: list[Bar]
    left_out: int


@dataclass(frozen=True)
class Bars:
    """The bars of a run, with one group for each probe in the order of the run.

    ``full`` is the position of a share of 1, in percent of the width.
    """

    full: float
    groups: list[BarGroup]


def efficiencies(report: Report) -> Bars:
    """Return a bar for the first metric of each experiment that has a reference value, grouped by probe.

    Of the experiments in a curve over sizes, only the one by which the machine is judged has a bar. Derived results
    have none. There are no groups if no value has a reference value.
    """
    groups: dict[str, list[Result]] = {}
    for result in headlines(report.results):
        if result.summary.efficiency is not None and not is_derived(result):
            groups.setdefault(result.summary.probe, []).append(result)
    judged = {result.id for result in judged_by(report)}
    shown = {probe: _without_curves(results, judged) for probe, results in groups.items()}
    reach = max([1.0, *(end for results in shown.values() for result in results for end in _ends(result))]) * 1.04
    return Bars(
        100 / reach,
        [_bar_group(results, len(groups[probe]) - len(results), reach) for probe, results in shown.items()],
    )


def _without_curves(results: Sequence[Result], judged: Container[str]) -> list[Result]:
    in_curves = {result.id for line in curve_lines(results) for result in line}
    return [result for result in results if result.id in judged or result.id not in in_curves]


def _ends(result: Result) -> tuple[float, ...]:
    return (result.summary.efficiency or 0.0, *(result.efficiency_ci or ()))


def _bar_group(results: Sequence[Result], left_out: int, reach: float) -> BarGroup:
    common = common_params(results)
    bars = [_bar(result, common, reach) for result in results]
    return BarGroup(title_of(results[0].summary.probe), parameters(common), bars, left_out)


def _bar(result: Result, common: Mapping[str, Value], reach: float) -> Bar:
    row = result.summary
    interval = result.efficiency_ci
    lower = " (lower is better)" if result.better == "lower" else ""
    crowded = ", oversubscribed" if result.oversubscribed else ""
    return Bar(
        label=label_of(row.params, common),
        words=f"{share(row.efficiency)} of {quantity(row.rated, row.unit)}{lower}{crowded}",
        mood=mood_of(result),
        length=(row.efficiency or 0.0) * 100 / reach,
        interval=(interval[0] * 100 / reach, interval[1] * 100 / reach) if interval else None,
    )
