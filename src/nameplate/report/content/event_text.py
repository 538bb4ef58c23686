"""Describe the verdict and the events of a long series: what happened, when, and what changed at the same time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from nameplate.records.result import Summary
from nameplate.records.series_events import CorrelatedCondition, Event, OverTime
from nameplate.report.content.format import list_text, quantity
from nameplate.units import duration_text, percent_text

_MAX_EVENTS = 8


def lines(row: Summary, seen: OverTime) -> list[str]:
    """Return the lines that the terminal shows about one experiment that was measured as a series.

    ``row`` is the summary of the experiment's first metric, and ``seen`` the evaluation of the series. The first line
    has the burst, the sustained value and p1 in the unit of ``row``. At most eight lines about events follow; with more
    than eight events, the last of these lines has the number of events that are left out. The last two lines have the
    verdict and the percentage of the time that nameplate itself used.

    Raises:
        KeyError: a shown event has a condition in ``moved`` that this version of nameplate does not know.
    """
    changes_level = any(event.kind == "level" for event in seen.events)
    until = f" (for {duration_text(seen.burst_s)})" if changes_level else ""
    events = seen.events if len(seen.events) <= _MAX_EVENTS else seen.events[: _MAX_EVENTS - 1]
    more = [f"… and {len(seen.events) - len(events)} more"] if len(events) < len(seen.events) else []
    return [
        f"burst {quantity(seen.burst, row.unit)}{until}, sustained {quantity(seen.sustained, row.unit)}, "
        f"p1 {quantity(seen.p1, row.unit)} (99 % of the intervals of {duration_text(seen.interval_s)} reach it)",
        *(sentence(event) for event in events),
        *more,
        verdict(seen),
        f"nameplate itself used {percent_text(seen.overhead_share, 2)} of the time",
    ]


def verdict(seen: OverTime) -> str:
    """Return a clause that says whether the series is steady, and which sizes of events its noise would hide.

    For a steady series, the clause begins with ``steady:`` and has the sizes of the smallest events that would have
    been found. Otherwise it begins with ``too noisy to tell:`` or, if there are events, ``other events:``, and has the
    sizes of events that the noise would hide. Sizes are percentages of the level, rounded up. In a report of an earlier
    version, ``seen.sensitivity`` is None, and the clause only says whether any events were found.
    """
    if seen.sensitivity is None:
        return "no other events were found" if seen.events else "no change of level and no dips were found"
    lasting, dips, single = map(_size, (seen.sensitivity.lasting, seen.sensitivity.dips, seen.sensitivity.single))
    if seen.verdict == "steady":
        return (
            f"steady: a lasting change of {lasting}, dips of {dips} in one interval of ten and a single dip of "
            f"{single} would have been found"
        )
    prefix = "too noisy to tell" if seen.verdict == "too noisy" else "other events"
    hidden = (
        f"a lasting change below {lasting}, dips below {dips} in one interval of ten and a single dip below {single}"
    )
    text = f"{prefix}: intervals differ by ±{_size(seen.sensitivity.spread)}, which hides {hidden}"
    return text.replace("below any", "of any")


def _size(share: float | None) -> str:
    """Return ``1.2 %`` or ``34 %``, rounded up so that the statement holds; None means that no size would be found."""
    if share is None:
        return "any size"
    digits = 1 if share < 0.0995 else 0
    return f"{math.ceil(share * 100 * 10**digits - 1e-9) / 10**digits:g} %"


def sentence(event: Event) -> str:
    """Return a description of an event: the texts of ``happening`` and ``cause``, separated by a comma.

    An example is ``from 20 s to 80 s it falls by 12 %, with a slower clock (-11.8 %)``.

    Raises:
        KeyError: ``event.moved`` has a condition of a name that this version of nameplate does not know.
    """
    return f"{happening(event)}, {cause(event)}"


def happening(event: Event) -> str:
    """Return what happened and when, such as ``from 20 s to 80 s it falls by 12 %``.

    Times count from the first sample of the series. The change is a percentage of the level before, rounded to a whole
    number. The clause says "falls" if ``event.change`` is negative, else "rises"; for a drift, "drifts down" or "drifts
    up". Other examples are ``every 10 s for 1 s it falls by 5 % (6 times from 3 s)`` for dips and ``at 3 s for 1 s it
    falls by 5 %`` for a single run.
    """
    is_drift = event.kind == "drift"
    verb = ("drifts down" if is_drift else "falls") if event.change < 0 else ("drifts up" if is_drift else "rises")
    change = f"{verb} by {percent_text(abs(event.change), 0)}"
    if event.kind == "dips":
        how_often = f"every {duration_text(event.period_s or 0.0)} for {duration_text(event.width_s)}"
        return f"{how_often} it {change} ({len(event.at_s)} times from {duration_text(event.start_s)})"
    if event.kind in ("level", "drift"):
        return f"from {duration_text(event.start_s)} to {duration_text(event.end_s)} it {change}"
    return f"at {duration_text(event.start_s)} for {duration_text(event.width_s)} it {change}"


def cause(event: Event) -> str:
    """Return which conditions changed with the event or, if none is shown to, which recorded conditions were tried.

    Examples are ``with steal (38 % of a CPU; otherwise 0 %)``, where the first number is the mean during the event and
    the second the mean outside it, and ``and no link with steal is shown``. If ``event.moved`` and ``event.still`` are
    empty, the text says that no condition that could explain the event can be read on this machine.

    Raises:
        KeyError: ``event.moved`` has a condition of a name that this version of nameplate does not know.
    """
    if event.moved:
        return "with " + list_text([_TEXTS[moved.name](moved) for moved in event.moved])
    if not event.still:
        return "and no condition that could explain it can be read on this machine"
    return f"and no link with {list_text(event.still)} is shown"


def _share_of_a_cpu(moved: CorrelatedCondition) -> str:
    return f"steal ({percent_text(moved.inside, 0)} of a CPU; otherwise {percent_text(moved.outside, 0)})"


def _cpu_time(moved: CorrelatedCondition) -> str:
    how = "less" if moved.inside < moved.outside else "more"
    return f"{how} CPU time ({percent_text(moved.inside, 0)} of a CPU; otherwise {percent_text(moved.outside, 0)})"


def _per_second(moved: CorrelatedCondition) -> str:
    return f"{moved.name} ({moved.inside:.3g} per second; otherwise {moved.outside:.2g})"


def _clock(moved: CorrelatedCondition) -> str:
    change = moved.inside / moved.outside - 1
    return f"a {'slower' if change < 0 else 'faster'} clock ({change:+.1%})".replace("%", " %")


def _temperature(moved: CorrelatedCondition) -> str:
    return f"temperature ({moved.inside:.0f} °C; otherwise {moved.outside:.0f} °C)"


_TEXTS: Mapping[str, Callable[[CorrelatedCondition], str]] = {
    "steal": _share_of_a_cpu,
    "cgroup throttling": _per_second,
    "thermal throttling": _per_second,
    "clock": _clock,
    "involuntary switches": _per_second,
    "temperature": _temperature,
    "CPU time": _cpu_time,
}
