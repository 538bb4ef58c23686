"""Test for a change after every round, with an error rate that holds however often one looks. Pure functions.

The evidence for a change is a likelihood ratio: that of "the logarithms differ by an amount drawn from a normal
distribution with the standard deviation ``SCALE``", to that of "they do not differ" (the mixture sequential probability
ratio test: Robbins, "Statistical methods related to the law of the iterated logarithm", 1970; Johari and others,
"Always valid inference", 2022). Without a change, the probability that it ever exceeds 1 / α is at most α, whenever one
looks and stops. 1 / evidence is therefore a p-value at any time, and the differences that it does not reject are an
interval that holds the true difference at all times with its confidence.

The standard error is estimated, so that the quotient of a difference and its error has Student's t distribution. It is
converted to the normal deviate with the same tail probability.
"""

from __future__ import annotations

import math
from statistics import NormalDist

# The size of changes that are looked for, as a logarithm. Changes of other sizes are found later, never wrongly.
SCALE = 0.05

_NORMAL = NormalDist()
# Beyond this deviate, the normal distribution underflows.
_MAX_DEVIATE = 37.0


def p_value(difference: float, error: float, freedom: float) -> float:
    """Return the p-value of no change, from 0 to 1, which is valid after any number of looks.

    ``difference`` is that of two logarithms, ``error`` its standard error, above 0, and ``freedom`` the degrees of
    freedom of the error, above 0. If a part of the error is common to all looks, such as that of the base run, it must
    be in ``error``.
    """
    from scipy.special import stdtr  # noqa: PLC0415 (a quarter of a second, and most commands need none of it)

    tail = float(stdtr(freedom, -abs(difference) / error))
    deviate = -_NORMAL.inv_cdf(tail) if tail > _NORMAL.cdf(-_MAX_DEVIATE) else _MAX_DEVIATE
    variance, expected = error**2, SCALE**2
    evidence = (math.log(variance / (variance + expected)) + deviate**2 * expected / (variance + expected)) / 2
    return math.exp(-max(0.0, evidence))


def half_width(error: float, freedom: float, confidence: float) -> float:
    """Return half the width of the interval of a difference of logarithms, which is valid after any number of looks.

    ``error`` and ``freedom`` are as for ``p_value``, and ``confidence`` is a probability (0 to 1). A difference within
    the interval around the estimate has a p-value above 1 - ``confidence``.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 (a quarter of a second, and most commands need none of it)

    total = error**2 + SCALE**2
    needed = math.log(1 / (1 - confidence)) + math.log(total / error**2) / 2
    deviate = min(_MAX_DEVIATE, math.sqrt(2 * needed * total) / SCALE)
    return -float(stdtrit(freedom, _NORMAL.cdf(-deviate))) * error
