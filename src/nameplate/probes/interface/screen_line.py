"""Declare the lines that a probe has on the first screen of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from nameplate.records.plan_record import Value
from nameplate.records.result import Result


def is_any(_: Result) -> bool:
    """Return True. This is the default condition of a line, which then shows any result of its metric."""
    return True


@dataclass(frozen=True)
class DisplayUnit:
    """The unit in which people usually state a metric: its ``name``, and the number of these units in one SI base unit.

    For a metric in B/s that is shown in bit/s, ``per_base_unit`` is 8.
    """

    name: str
    per_base_unit: float = 1.0


@dataclass(frozen=True)
class CoreLine:
    """A line on the screen of ``nameplate-core quick``: a measured metric of one experiment of the plan ``quick``.

    ``metric`` is the name of the metric. ``params`` are the parameters of the experiment, with the same values as in
    the probe's ``quick``.
    """

    metric: str
    params: Mapping[str, str]


@dataclass(frozen=True)
class ScreenLine:
    """A line of the first screen: one or more metrics of one experiment, and their label.

    - ``label``: at most 24 characters with typical values. ``{name}`` is replaced by the experiment's parameter of that
      name, with its unit: "triad, {threads}" becomes "triad, 2 threads". If several lines have the same label, the
      first one that fits is shown
    - ``metrics``: the names of measured or derived metrics with the same unit, which are shown as "a/b/c"
    - ``params``: the values of parameters that the experiment must have; ``when``: returns whether the line may show
      the experiment, given its result of the first metric. If several experiments fit, ``best_of`` chooses
    - ``unit``: the unit on the first screen; None for the SI base unit of the metrics
    - ``below``: further lines on the same experiment: the names of the metrics of each line, by label
    - ``in_core``: how nameplate-core finds the value, since it derives no metrics and knows no conditions. None if the
      line has a measured metric and no condition, or if the core does not show the line
    """

    label: str
    metrics: tuple[str, ...]
    params: Mapping[str, Value] = field(default_factory=dict)
    when: Callable[[Result], bool] = is_any
    unit: DisplayUnit | None = None
    below: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    in_core: CoreLine | None = None

    def fits(self, result: Result) -> bool:
        """Return whether the line may show a result: it has the first metric and a value, and meets all conditions."""
        row = result.summary
        return (
            row.metric == self.metrics[0]
            and row.value is not None
            and all(row.params.get(name) == value for name, value in self.params.items())
            and self.when(result)
        )

    def best_of(self, results: Iterable[Result]) -> Result | None:
        """Return the result that the line shows, or None if no result fits.

        Of several results, the one with the largest ``preference`` is shown.
        """
        return max((result for result in results if self.fits(result)), key=preference, default=None)


def is_in_catalogue(result: Result) -> bool:
    """Return whether the reference value is from the catalogue: other people measured the same on such a machine."""
    return result.rated.kind == "catalogue"


def preference(result: Result) -> tuple[bool, int, float]:
    """Return a sort key for results that fit a line: the result with the largest key is shown.

    Results with a CPU for each thread are preferred, then those with the most threads, then the best value.
    """
    row = result.summary
    value = row.value or math.nan
    return not result.oversubscribed, int(row.params.get("threads", 1)), value if result.better == "higher" else -value
