"""The levels of a long series, and the events between them."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from nameplate.records.numbers import Real


class CorrelatedCondition(msgspec.Struct, frozen=True):
    """A condition whose mean within an event differs from its mean elsewhere in the series.

    ``inside`` and ``outside`` are the means within the event and elsewhere. ``name`` is one of "steal" and "CPU time"
    (in CPUs), "cgroup throttling", "thermal throttling" and "involuntary switches" (events per second), "clock" (bursts
    per second, useful only as a ratio) and "temperature" (degrees Celsius).
    """

    name: str
    inside: Real
    outside: Real


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event in a long series.

    ``kind`` is a lasting change of level ("level"), a slow drift ("drift"), recurring dips ("dips"), and a single dip
    or burst ("run"). Seconds count from the first sample. ``change`` is the change as a share (0.05 is 5 %) of the
    level before the event, positive if values rise, whether that is better or worse. A level or a drift lasts from
    ``start_s`` to ``end_s``. Each dip or single run lasts ``width_s``; ``at_s`` has the start of each, ``start_s`` is
    the first start, and ``end_s`` is the end of the last one. ``period_s`` is the time from one dip to the next, None
    for other kinds. ``moved`` has the conditions, such as the temperature, that changed with the event and may explain
    it; ``still`` has the names of the conditions that did not change. A condition that was not recorded, or changed in
    a direction that does not explain the event, is in neither list.
    """

    kind: Literal["level", "drift", "dips", "run"]
    start_s: Real = msgspec.field(name="begin_s")
    end_s: Real
    change: Real
    period_s: Real | None
    width_s: Real
    at_s: list[Real]
    moved: list[CorrelatedCondition]
    still: list[str]


class LevelOverTime(msgspec.Struct, frozen=True):
    """A level of a series: from ``start_s`` to ``end_s`` the values vary around ``value``, their median.

    Seconds count from the first sample; ``value`` is in the unit of the metric.
    """

    start_s: Real = msgspec.field(name="begin_s")
    end_s: Real
    value: Real


class Sensitivity(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest events that the noise of a series does not hide, as shares (0.05 is 5 %) of its level.

    ``spread`` is the noise: nine of ten intervals lie within this share of the trend, up or down. ``lasting`` is a
    change of level, ``dips`` are periodic dips of one interval in ten (or in fewer, in a short series), and ``single``
    is a dip of one whole interval. None means that an event of any size would be hidden.
    """

    spread: Real
    lasting: Real | None
    dips: Real | None
    single: Real | None


Verdict: TypeAlias = Literal["steady", "events", "too noisy"]


class OverTime(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment that was measured as a series, with one sample per ``interval_s`` seconds.

    Values are in the metric's unit. ``burst`` is the best level before the first lasting change for the worse, and
    ``burst_s`` the time of that change in seconds from the first sample, or the end of the series if there is none.
    ``sustained`` is the value of all samples together: for a rate, the total work divided by the total time. ``p1`` is
    the value that 99 % of the intervals reach or surpass: a lower bound of a rate, an upper bound of a time.
    ``overhead_share`` is the share (0 to 1) of the time in which nameplate itself ran instead of the probe. ``levels``
    has at least one entry, and ``events`` may be empty. ``verdict`` is "events" if there is an event, "steady" if there
    is no event and ``sensitivity`` shows that an event of relevant size would have been found, otherwise "too noisy".
    ``verdict`` and ``sensitivity`` are None in reports of earlier versions.
    """

    interval_s: Real
    burst: Real
    burst_s: Real
    sustained: Real
    p1: Real
    overhead_share: Real = msgspec.field(name="own_share")
    levels: list[LevelOverTime]
    events: list[Event]
    verdict: Verdict | None = None
    sensitivity: Sensitivity | None = None
