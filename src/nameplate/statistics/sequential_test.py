"""Test for a change after every round, with an error rate that holds for any number of tests. Pure functions.

The evidence for a change is the likelihood ratio of "the logarithms differ by an amount drawn from a normal
distribution" to "they do not differ" (the mixture sequential probability ratio test: Robbins, "Statistical methods
related to the law of the iterated logarithm", 1970; Johari and others, "Always valid inference", 2022). The ratio is
averaged over several standard deviations of that distribution, so that small and large changes are found. Without a
change, the probability that the evidence ever exceeds 1 / α is at most α, whenever one tests and stops. 1 / evidence is
therefore a p-value at any time, and the differences that it does not reject are an interval that holds the true
difference at all times with its confidence.

The standard error is estimated, so that the quotient of a difference and its error has Student's t distribution. The
quotient is converted to the normal deviate with the same tail probability.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from nameplate.statistics.verdict import MAX_HALF

# The sizes of changes to detect, as logarithms. Changes of other sizes are detected later, never wrongly.
SCALES = (0.03, 0.1, 0.3, 1.0)

_NORMAL = NormalDist()
# The quantiles of Student's t are not known (scipy 1.15) far beyond this deviate.
_MAX_DEVIATE = 28.0
_STEPS = 60


def p_value(difference: float, error: float, freedom: float) -> float:
    """Return the p-value of the hypothesis that nothing changed, from 0 to 1, which is valid after any number of tests.

    ``difference`` is the difference of two natural logarithms, ``error`` its standard error, above 0, and ``freedom``
    the degrees of freedom of ``error``, above 0. ``error`` must also include a part that is common to all tests, such
    as the error of the base run.
    """
    from scipy.special import stdtr  # noqa: PLC0415 (a quarter of a second, and most commands need none of it)

    tail = float(stdtr(freedom, -abs(difference) / error))
    deviate = -_NORMAL.inv_cdf(tail) if tail > _NORMAL.cdf(-_MAX_DEVIATE) else _MAX_DEVIATE
    return min(1.0, math.exp(-_log_evidence(deviate, error)))


def half_width(error: float, freedom: float, confidence: float) -> float:
    """Return half the width of the interval of a difference of logarithms, valid after any number of tests.

    ``error`` and ``freedom`` are as for ``p_value``, and ``confidence`` is a probability (0 to 1). A difference within
    the interval around the estimate has a p-value above 1 - ``confidence``. The result is infinite if ``error`` is so
    large that no factor below e^20 would be detected.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 (a quarter of a second, and most commands need none of it)

    needed = -math.log(1 - confidence)
    if _log_evidence(_MAX_DEVIATE, error) < needed:
        return math.inf
    low, high = 0.0, _MAX_DEVIATE
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _log_evidence(middle, error) >= needed else (middle, high)
    half = -float(stdtrit(freedom, _NORMAL.cdf(-high))) * error
    return half if 0 < half <= MAX_HALF else math.inf


def _log_evidence(deviate: float, error: float) -> float:
    """Return the logarithm of the mean evidence of all scales, for a difference of ``deviate`` standard errors."""
    logarithms = []
    for scale in SCALES:
        remaining = error**2 / (error**2 + scale**2)
        logarithms.append((math.log(remaining) + deviate**2 * (1 - remaining)) / 2)
    largest = max(logarithms)
    return largest + math.log(math.fsum(math.exp(logarithm - largest) for logarithm in logarithms) / len(logarithms))
