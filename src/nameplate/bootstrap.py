"""Intervals from values that were computed again from resampled rounds (Efron, Tibshirani 1993, chapter 13)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def percentile_interval(values: Sequence[float], found: float) -> tuple[float, float]:
    """The 95 % interval of what was found, from the same computed again; it holds what was found."""
    low, high = np.percentile([*values, found], (2.5, 97.5))
    return float(min(low, found)), float(max(high, found))
