"""Declare the lines that a probe has on the first screen of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from nameplate.records.plan_record import Value
from nameplate.records.result import Result


def is_any(_: Result) -> bool:
    """Return True: the condition of a line that shows any result of its metric."""
    return True


@dataclass(frozen=True)
class DisplayUnit:
    """The unit in which people know a metric: ``name``, and how many of it make one SI base unit of the metric."""

    name: str
    per_base_unit: float = 1.0


@dataclass(frozen=True)
class CoreLine:
    """A line of the screen of ``nameplate-core quick``: a measured metric of one of its experiments.

    ``metric`` is the name of the metric. ``params`` are those of the experiment, as the probe's ``quick`` has them.
    """

    metric: str
    params: Mapping[str, str]


@dataclass(frozen=True)
class ScreenLine:
    """A line of the first screen: metrics of one experiment, and what they are called there.

    - ``label``: a few words, at most 24 characters with typical values; ``{name}`` is replaced by the experiment's
      parameter of that name, with its unit: "triad, {threads}" becomes "triad, 2 threads". Of several lines with the
      same label, the first one that fits is shown
    - ``metrics``: names of measured or derived metrics with the same unit, which are shown as "a/b/c"
    - ``params``: values that the experiment has; ``when`` returns whether its result of the first metric is meant. Of
      several, the line shows that with the most threads that have a CPU each, and among those the best value
    - ``unit``: the unit of the first screen, if it is not the SI base unit of the metrics
    - ``below``: further lines on the same experiment, by their labels, each with its metrics
    - ``in_core``: how nameplate-core finds the value, which derives nothing and knows no conditions; None if the line
      shows a measured metric and has no condition, or if the core does not show it
    """

    label: str
    metrics: tuple[str, ...]
    params: Mapping[str, Value] = field(default_factory=dict)
    when: Callable[[Result], bool] = is_any
    unit: DisplayUnit | None = None
    below: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    in_core: CoreLine | None = None

    def fits(self, result: Result) -> bool:
        """Return whether a result is of the first metric of an experiment that the line may show."""
        row = result.summary
        return (
            row.metric == self.metrics[0]
            and row.value is not None
            and all(row.params.get(name) == value for name, value in self.params.items())
            and self.when(result)
        )

    def best_of(self, results: Iterable[Result]) -> Result | None:
        """Return the result that the line shows, or None if no result fits.

        Results with a CPU for each thread come first, then those with the most threads, then the best value.
        """
        return max((result for result in results if self.fits(result)), key=_preference, default=None)


def is_in_catalogue(result: Result) -> bool:
    """Return whether others measured the same on such a machine, so that its line has a reference value."""
    return result.rated.kind == "catalogue"


def _preference(result: Result) -> tuple[bool, int, float]:
    row = result.summary
    value = row.value or math.nan
    return not result.oversubscribed, int(row.params.get("threads", 1)), value if result.better == "higher" else -value
