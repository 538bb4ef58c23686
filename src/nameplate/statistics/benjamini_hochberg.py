"""Control the false discovery rate of many tests. A pure function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics.constants import FALSE_DISCOVERY_RATE


def benjamini_hochberg(probabilities: NDArray[np.float64], rate: float) -> NDArray[np.bool_]:
    """Return for each p-value whether it is significant at the false discovery rate ``rate`` (0 to 1).

    ``probabilities`` is one-dimensional, in any order; the result has the same length and order. A p-value of nan is
    not counted as a test and is never significant.

    Source: Benjamini and Hochberg, "Controlling the False Discovery Rate", 1995.
    """
    known = np.flatnonzero(~np.isnan(probabilities))
    ordered = np.sort(probabilities[known])
    limits = rate * np.arange(1, len(known) + 1) / max(1, len(known))
    below = np.flatnonzero(ordered <= limits)
    threshold = ordered[below[-1]] if len(below) else -1.0
    with np.errstate(invalid="ignore"):
        return np.asarray(probabilities <= threshold)


def significant_by_family(probabilities: Sequence[float], families: Sequence[str]) -> list[bool]:
    """Return for each p-value whether it is significant within its family, at a false discovery rate of 1 %.

    Both lists have the same length; ``families`` names the family of each test. In a single family, forty latencies
    that did not change would raise the bar for the one disk that did.
    """
    values, names = np.asarray(probabilities, np.float64), np.asarray(families)
    found = np.zeros(len(values), bool)
    for family in set(families):
        own = names == family
        found[own] = benjamini_hochberg(values[own], FALSE_DISCOVERY_RATE)
    return [bool(each) for each in found]
