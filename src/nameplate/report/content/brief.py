"""Format values of the first screen: three significant digits, and short sizes."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.report.content.first_screen import ScreenRow
from nameplate.report.content.format import scale


def cells(row: ScreenRow) -> tuple[str, ...]:
    """Return typical value, half of its interval, capability, reference value and share as text; ``–`` is unknown.

    Several values have no capability: that of a percentile says little, as the fast samples have no slow operations.
    """
    return (
        brief(row.values, row.unit),
        half_width(row.values[0], row.ci),
        brief(row.capabilities if len(row.values) == 1 else [], row.unit),
        brief(row.references, row.unit),
        "–" if row.share is None else f"{row.share * 100:.0f}%",
    )


def brief(values: Sequence[float | None], unit: str) -> str:
    """Return values with three significant digits, such as ``116 GFLOP/s``, or several as ``0.631/2.83 ms``.

    Several sizes in bytes have short units: ``38K/701K/7.6M``. The result is ``–`` if no value is known.
    """
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    if len(values) > 1 and unit == "B":
        return "/".join("–" if value is None else _brief_size(value) for value in values)
    factor, prefixed = scale(max(known), unit)
    return f"{'/'.join('–' if value is None else _brief_digits(value / factor) for value in values)} {prefixed}".strip()


def _brief_digits(value: float) -> str:
    whole = len(str(int(abs(value))))
    return f"{value:.{max(0, 3 - whole)}f}" if value >= 1 else f"{value:.3g}"


def _brief_size(value: float) -> str:
    factor, unit = scale(value, "B")
    number = value / factor
    return f"{number:.0f}{unit[0]}" if number >= 10 or number == round(number) else f"{number:.1f}{unit[0]}"


def half_width(value: float | None, interval: tuple[float, float] | None) -> str:
    """Return half of an interval's width relative to the value, such as ``0.9%`` or ``35%``; ``–`` if it is unknown.

    Above 99 %, it is ``>99%``.
    """
    if interval is None or not value:
        return "–"
    percent = (interval[1] - interval[0]) / 2 / abs(value) * 100
    return f"{percent:.1f}%" if percent < 9.95 else f"{percent:.0f}%" if percent < 99.5 else ">99%"
