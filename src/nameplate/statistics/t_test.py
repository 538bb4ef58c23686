"""Test a difference that has a standard error, once. Pure functions.

``sequential_test.py`` has the same functions for any number of tests. Source: Student, "The probable error of a mean",
1908.
"""

from __future__ import annotations


def p_value(difference: float, error: float, freedom: float) -> float:
    """Return the two-sided p-value of the hypothesis that the true difference is 0, from 0 to 1.

    ``error`` is the standard error of ``difference``, above 0, with ``freedom`` degrees of freedom, above 0.
    """
    from scipy.special import stdtr  # noqa: PLC0415 (a quarter of a second, and most commands need none of it)

    return 2 * float(stdtr(freedom, -abs(difference) / error))


def half_width(error: float, freedom: float, confidence: float) -> float:
    """Return half the width of the confidence interval of a difference, in the unit of ``error``.

    ``error`` and ``freedom`` are as for ``p_value``, and ``confidence`` is a probability (0 to 1).
    """
    from scipy.special import stdtrit  # noqa: PLC0415 (a quarter of a second, and most commands need none of it)

    return float(stdtrit(freedom, (1 + confidence) / 2)) * error
