"""Format values for people: SI prefixes, four significant digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity
from nameplate.units import percent_text, size_text

_PREFIXES = (
    (1e15, "P"),
    (1e12, "T"),
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
    (1e-9, "n"),
)
# Capacities have binary prefixes, rates decimal ones.
_SIZES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))
_SIZE_PARAMETERS = ("size", "block", "stride", "load", "payload", "window")
_WITHOUT_PREFIX = ("FLOP/cycle", "op/cycle", "share", "")


def scale(value: float, unit: str) -> tuple[float, str]:
    """Return a factor and the prefixed unit: ``value / factor`` is the number to show in that unit.

    ``value`` is in the SI base unit ``unit``; its sign does not matter. The prefixes from n to P are chosen so that one
    to three digits come before the point: ``scale(3.2e9, "Hz")`` is ``(1e9, "GHz")``. A value outside these prefixes
    gets n or P. Bytes (``B``) have the binary prefixes KiB to TiB. A value of 0 and the units ``FLOP/cycle``,
    ``op/cycle``, ``share`` and "" have no prefix and a factor of 1.
    """
    if unit in _WITHOUT_PREFIX or value == 0:
        return 1.0, unit
    if unit == "B":
        return next(((factor, name) for factor, name in _SIZES if abs(value) >= factor), (1.0, "B"))
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor:
            return factor, prefix + unit
    return _PREFIXES[-1][0], _PREFIXES[-1][1] + unit


def digits(value: float) -> str:
    """Return a finite number without an exponent, rounded to four significant digits if it is between 1 and 10000.

    A number of five or more digits is rounded to a whole number, and one below 1 to three decimals, so that 0.0001
    becomes ``0.000``. A value of 0 becomes ``0``. The sign of ``value`` does not count for the limits.
    """
    if value == 0:
        return "0"
    integer_digits = len(str(int(abs(value))))
    return f"{value:.{max(0, 4 - integer_digits)}f}"


def quantity(value: float | None, unit: str) -> str:
    """Return a value with its prefixed unit, such as ``57.26 GFLOP/s``, or ``–`` for None.

    ``value`` is in the SI base unit ``unit``. A value with the unit ``share`` is shown in percent with two decimals,
    and one with the unit "" as a bare number.
    """
    if value is None:
        return "–"
    if unit == "share":
        return percent_text(value, 2)
    factor, prefixed = scale(value, unit)
    return f"{digits(value / factor)} {prefixed}".strip()


def interval_text(value: float | None, interval: tuple[float, float] | None, unit: str) -> str:
    """Return an interval with one unit, such as ``1.129 to 1.221 ns``, or ``–`` if ``value`` or ``interval`` is None.

    ``interval`` is (lower bound, upper bound) in the SI base unit ``unit``. ``value``, which is not shown, chooses the
    prefix of the unit, and the upper bound does so if the value is 0. A ``share`` is shown in percent.
    """
    if value is None or interval is None:
        return "–"
    if unit == "share":
        return f"{interval[0] * 100:.2f} to {interval[1] * 100:.2f} %"
    factor, prefixed = scale(value or interval[1], unit)
    return f"{digits(interval[0] / factor)} to {digits(interval[1] / factor)} {prefixed}".strip()


def cell_text(cell: str | Quantity | None) -> str:
    """Return the text of a cell of a table: a quantity with its unit, text unchanged, and ``–`` for None.

    The interval of a quantity follows in parentheses only if the value is 0, because nothing else shows its magnitude.
    """
    if not isinstance(cell, Quantity):
        return "–" if cell is None else cell
    text = quantity(cell.value, cell.unit)
    return f"{text} ({interval_text(cell.value, cell.ci, cell.unit)})" if cell.value == 0 and cell.ci else text


def share(value: float | None) -> str:
    """Return a share in percent with one decimal, such as ``94.3 %`` for 0.943, or ``–`` for None."""
    return "–" if value is None else percent_text(value)


def spread(value: float | None, interval: tuple[float, float] | None, unit: str) -> str:
    """Return half of the interval's width relative to the value, such as ``±0.8 %``.

    ``interval`` is (lower bound, upper bound) in the unit of ``value``. If the value is 0, the text is the interval in
    the SI base unit ``unit``, as from ``interval_text``; ``unit`` is used only in this case. The result is ``–`` if
    ``value`` or ``interval`` is None, or if the value is 0 and the upper bound is not above 0.
    """
    if value is None or interval is None:
        return "–"
    if value == 0:
        return interval_text(value, interval, unit) if interval[1] > 0 else "–"
    return f"±{(interval[1] - interval[0]) / 2 / abs(value) * 100:.1f} %"


def parameters(params: Mapping[str, Value]) -> str:
    """Return parameters in the form of the command line, in the order of ``params``: ``threads=2 size=4KiB``.

    Whole numbers named ``size``, ``block``, ``stride``, ``load``, ``payload`` or ``window`` are bytes and are shown by
    ``size_text``, which may round them. Floats have six significant digits. The text is "" if there are no parameters.
    """
    return " ".join(f"{name}={_parameter(name, value)}" for name, value in params.items())


def _parameter(name: str, value: Value) -> str:
    if isinstance(value, int) and name in _SIZE_PARAMETERS:
        return size_text(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def list_text(parts: Sequence[str]) -> str:
    """Return ``parts`` as a list in a sentence, such as ``a``, ``a and b`` or ``a, b and c``; "" without parts."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def first_few(texts: Sequence[str], limit: int, separator: str = ", ") -> str:
    """Return up to ``limit`` texts, joined by ``separator``, and the number of further ones: ``a, b and 3 more``."""
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return separator.join(texts[:limit]) + more


def count(number: int, noun: str) -> str:
    """Return a number and a noun, such as ``1 run`` or ``3 runs``; ``noun`` is a singular whose plural adds "s"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
