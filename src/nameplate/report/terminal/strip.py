"""Show a running series on one line: a chart of its latest values, and its median and dips so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from nameplate.records.run_record import Sample
from nameplate.report.content.format import quantity
from nameplate.report.terminal.position import work_of
from nameplate.statistics.stats import median
from nameplate.units import duration_text

_BARS = "▁▂▃▄▅▆▇█"
_MAX_VALUES = 40
_REMEMBERED = 600
_MIN_VALUES = 10
# A dip is below the median by this number of median absolute deviations and by this share of the median.
_FAR, _DEEP = 8.0, 0.02


class Strip:
    """A running series in one line: the work done per second in each of the latest samples.

    The work is floating-point operations (FLOP/s) if a sample has any, otherwise bytes (B/s) if it has any, otherwise
    other operations (op/s), since the metric and its unit are not known while the series runs.
    """

    def __init__(self) -> None:
        self._values: deque[float] = deque(maxlen=_REMEMBERED)
        self._unit = ""
        self._at_s = 0.0
        self._dips = 0
        self._is_in_a_dip = False
        self._dip_limit = 0.0

    def add(self, sample: Sample) -> None:
        """Add a sample.

        Samples must be added in the order in which they were taken, and each must have taken longer than 0 s.
        """
        work, self._unit = work_of(sample)
        value = work / sample.elapsed_s
        is_dip = value < self._dip_limit
        self._dips += is_dip and not self._is_in_a_dip
        self._is_in_a_dip = is_dip
        self._values.append(value)
        self._at_s += sample.elapsed_s

    def text(self) -> str:
        """Return the line: bars of the latest 40 samples, the latest value, the dips so far, the median and the time.

        The median is of the latest 600 samples, and the time is the sum of all samples' times. A dip is one or more
        samples in succession that are below the median by 8 median absolute deviations and by 2 %; dips are counted
        from the tenth sample on. The line is "" before the first sample. Call it at each refresh of the display, since
        it also updates the limit below which ``add`` counts a dip.
        """
        if not self._values:
            return ""
        middle = median(list(self._values))
        typical = median([abs(value - middle) for value in self._values])
        if len(self._values) >= _MIN_VALUES:
            self._dip_limit = min(middle - _FAR * typical, middle * (1 - _DEEP))
        dips = f", {self._dips} dip{'s' * (self._dips != 1)}" if self._dips else ""
        now = quantity(self._values[-1], self._unit)
        chart = bars(list(self._values)[-_MAX_VALUES:]).rjust(_MAX_VALUES)
        return f"{chart} {now}{dips}, median {quantity(middle, self._unit)}, at {duration_text(self._at_s)}"


def bars(values: Sequence[float]) -> str:
    """Return one bar character per value, from ``▁`` to ``█``; ``█`` stands for the highest value.

    ``values`` must not be empty or have negative entries. The scale starts at the lowest value or at 80 % of the
    highest value, whichever is lower, so that small variation looks level. If all values are 0, all bars are ``▁``.
    """
    low, high = min(values), max(values)
    # The bars of a steady series should look level, so noise is not scaled to the full height.
    low = min(low, high * 0.8)
    steps = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * steps)] for value in values)
