"""Compute how much the rounding of printed numbers hides. Pure functions.

A rounding is a share of a number: half a step of its last printed digit. The rounding of 0.14 is 0.005 / 0.14. It is at
most 0.5, since a printed number above 0 is at least one step.
"""

from __future__ import annotations

import math

# A number with more than two digits has a smaller rounding: half a step of 100.
COARSE = 0.005
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def rounding_margin(*roundings: float) -> float:
    """Return the largest error that rounding can cause in a quotient of printed numbers, as a natural logarithm.

    ``roundings`` has the rounding of each number as a share (see the module's docstring). The result is the sum of the
    errors of all numbers, and 0 for exact numbers.
    """
    return -sum(math.log1p(-rounding) for rounding in roundings)


def printed_digits(rounding: float) -> str:
    """Return the number of digits of a printed number as text, such as "two digits", from its rounding above 0."""
    # The rounding is inexact in its last binary digits.
    digits = len(str(math.ceil(0.5 / rounding - 1e-6)))
    number = _NUMBERS[digits] if digits < len(_NUMBERS) else str(digits)
    return f"{number} digit{'s' if digits > 1 else ''}"


def rounding_text(rounding: float) -> str:
    """Return a description of how coarsely a number was printed, such as "printed with two digits: ±3.6 %" for 0.036.

    ``rounding`` is the largest error of the printed number as a share of its value, above 0.
    """
    return f"printed with {printed_digits(rounding)}: ±{rounding * 100:.1f} %"
