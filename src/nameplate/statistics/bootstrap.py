"""Compute intervals from bootstrap replicates (Efron and Tibshirani 1993, chapter 13)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np


def percentile_interval(values: Sequence[float], estimate: float) -> tuple[float, float]:
    """Return the lower and upper end of the 95 % percentile interval of bootstrap replicates.

    ``values`` are the replicates; without any, both ends are ``estimate``. ``estimate`` is the estimate from the
    original data: it counts as one more replicate, and the interval is extended to include it.
    """
    low, high = np.percentile([*values, estimate], (2.5, 97.5))
    return float(min(low, estimate)), float(max(high, estimate))


def expanded_interval(values: Sequence[float], estimate: float, independent: int) -> tuple[float, float]:
    """Return the lower and upper end of a 95 % interval from bootstrap replicates of a few independent units.

    ``values`` are the replicates and may be empty. ``estimate`` is the estimate from the original data, which counts as
    one more replicate. ``independent`` is the number n of units that were resampled, such as rounds. Unlike in
    ``percentile_interval``, the interval is not extended to include ``estimate``.

    Percentiles of resampled means or medians are too close together for few units, by the factor √((n − 1) / n) and
    because they correspond to the normal distribution instead of Student's t. The percentiles are moved outwards to
    correct this (Hesterberg 2015, "What teachers should know about the bootstrap", 5.3). With one unit the result is
    the range of the replicates and ``estimate``.
    """
    tail = 0.0
    if independent > 1:
        from scipy.special import stdtrit  # noqa: PLC0415 (a quarter of a second, which few callers take)

        t = float(stdtrit(independent - 1, 0.975))
        tail = NormalDist().cdf(-math.sqrt(independent / (independent - 1)) * t)
    low, high = np.quantile([*values, estimate], (tail, 1 - tail))
    return float(low), float(high)
