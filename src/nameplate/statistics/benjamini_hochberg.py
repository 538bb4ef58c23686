"""Many judgements at once, and how many of those against somebody are wrong. A pure function."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def benjamini_hochberg(probabilities: NDArray[np.float64], rate: float) -> NDArray[np.bool_]:
    """Which of them are improbable enough that of all found at most ``rate`` are found wrongly, on average.

    Benjamini, Hochberg, Controlling the False Discovery Rate, 1995. What is nan was not judged and is not found.
    """
    known = np.flatnonzero(~np.isnan(probabilities))
    ordered = np.sort(probabilities[known])
    limits = rate * np.arange(1, len(known) + 1) / max(1, len(known))
    below = np.flatnonzero(ordered <= limits)
    threshold = ordered[below[-1]] if len(below) else -1.0
    with np.errstate(invalid="ignore"):
        return np.asarray(probabilities <= threshold)
