"""Control the false discovery rate of many tests. A pure function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nameplate.statistics.constants import FALSE_DISCOVERY_RATE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def benjamini_hochberg(probabilities: NDArray[np.float64], rate: float) -> NDArray[np.bool_]:
    """Return for each p-value whether it is significant at a false discovery rate of ``rate`` (0.01 is 1 %).

    ``probabilities`` has the p-values, one-dimensional and in any order; the result has the same length and order. A
    p-value of nan is not counted as a test and is never significant.

    Source: Benjamini and Hochberg, "Controlling the False Discovery Rate", 1995.
    """
    import numpy as np  # noqa: PLC0415 (takes a tenth of a second to import)

    known = np.flatnonzero(~np.isnan(probabilities))
    ordered = np.sort(probabilities[known])
    limits = rate * np.arange(1, len(known) + 1) / max(1, len(known))
    below = np.flatnonzero(ordered <= limits)
    threshold = ordered[below[-1]] if len(below) else -1.0
    with np.errstate(invalid="ignore"):
        return np.asarray(probabilities <= threshold)


def significant_by_family(probabilities: Sequence[float], families: Sequence[str]) -> list[bool]:
    """Return for each p-value whether it is significant within its family, at a false discovery rate of 1 %.

    ``probabilities`` has the p-values and ``families`` the name of each test's family; both have the same length. With
    a single family, forty latencies that did not change would make it harder to detect the one disk that did.
    """
    import numpy as np  # noqa: PLC0415 (takes a tenth of a second to import)

    values, names = np.asarray(probabilities, np.float64), np.asarray(families)
    significant = np.zeros(len(values), bool)
    for family in set(families):
        members = names == family
        significant[members] = benjamini_hochberg(values[members], FALSE_DISCOVERY_RATE)
    return [bool(flag) for flag in significant]
