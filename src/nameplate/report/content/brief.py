"""Format values of the first screen: three significant digits, and short sizes."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.report.content.format import scale
from nameplate.report.content.screen_row import ScreenRow


def cells(row: ScreenRow) -> tuple[str, ...]:
    """Return five texts: typical value, half width of its interval, capability, reference value and share of a row.

    An unknown value is ``–``. The half width, relative to the typical value, and the share (``row.share``) are in
    percent. The letter ``row.reference_kind`` follows the reference value. If the row has several values, such as
    percentiles, the capability is ``–``: the capability of a percentile says little, since the fastest samples have no
    slow operations.
    """
    return (
        brief(row.values, row.unit),
        half_width(row.values[0], row.ci),
        brief(row.capabilities if len(row.values) == 1 else [], row.unit),
        f"{brief(row.references, row.unit)} {row.reference_kind}".rstrip(),
        "–" if row.share is None else f"{row.share * 100:.0f}%",
    )


def brief(values: Sequence[float | None], unit: str) -> str:
    """Return one or several values with three significant digits and one unit: ``116 GFLOP/s``, ``0.631/2.83 ms``.

    ``values`` are in ``unit``, to which a prefix is added; None is an unknown value, shown as ``–``. Several sizes in
    bytes ("B") each have a short unit: ``38K/701K/7.6M``. The result is ``–`` if no value is known.
    """
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    if len(values) > 1 and unit == "B":
        return "/".join("–" if value is None else _brief_size(value) for value in values)
    factor, prefixed = scale(max(known), unit)
    return f"{'/'.join('–' if value is None else _brief_digits(value / factor) for value in values)} {prefixed}".strip()


def _brief_digits(value: float) -> str:
    integer_digits = len(str(int(abs(value))))
    return f"{value:.{max(0, 3 - integer_digits)}f}" if value >= 1 else f"{value:.3g}"


def _brief_size(value: float) -> str:
    factor, unit = scale(value, "B")
    number = value / factor
    return f"{number:.0f}{unit[0]}" if number >= 10 or number == round(number) else f"{number:.1f}{unit[0]}"


def half_width(value: float | None, interval: tuple[float, float] | None) -> str:
    """Return half of an interval's width relative to the value in percent, such as ``0.9%``, ``35%`` or ``>99%``.

    ``interval`` is (lower bound, upper bound) in the unit of ``value``. The result is ``–`` if ``interval`` is None, or
    if ``value`` is None or 0.
    """
    if interval is None or not value:
        return "–"
    percent = (interval[1] - interval[0]) / 2 / abs(value) * 100
    return f"{percent:.1f}%" if percent < 9.95 else f"{percent:.0f}%" if percent < 99.5 else ">99%"
