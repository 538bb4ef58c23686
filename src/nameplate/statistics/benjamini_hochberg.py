"""Control the false discovery rate of many tests. A pure function."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
