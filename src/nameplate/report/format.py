"""Format values for people: SI prefixes, four significant digits."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.records.model import Quantity, Value
from nameplate.units import size_text

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
    """Return a factor and the prefixed unit in which ``value`` has one to three digits before the point."""
    if unit in _WITHOUT_PREFIX or value == 0:
        return 1.0, unit
    if unit == "B":
        return next(((factor, name) for factor, name in _SIZES if abs(value) >= factor), (1.0, "B"))
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor:
            return factor, prefix + unit
    return _PREFIXES[-1][0], _PREFIXES[-1][1] + unit


def digits(value: float) -> str:
    """Return a value with four significant digits and without an exponent."""
    if value == 0:
        return "0"
    whole = len(str(int(abs(value))))
    return f"{value:.{max(0, 4 - whole)}f}"


def quantity(value: float | None, unit: str) -> str:
    """Return a value with its unit, such as ``57.26 GFLOP/s``; None becomes a dash."""
    if value is None:
        return "–"
    if unit == "share":
        return f"{value * 100:.2f} %"
    factor, prefixed = scale(value, unit)
    return f"{digits(value / factor)} {prefixed}".strip()


def interval_text(value: float | None, interval: tuple[float, float] | None, unit: str) -> str:
    """Return an interval such as ``1.129 to 1.221 ns``; None becomes a dash.

    The unit is the one of the value, or of the upper bound where the value is 0.
    """
    if value is None or interval is None:
        return "–"
    factor, prefixed = scale(value or interval[1], unit)
    return f"{digits(interval[0] / factor)} to {digits(interval[1] / factor)} {prefixed}".strip()


def cell_text(cell: str | Quantity | None) -> str:
    """Return the text of a cell of a probe's table.

    A value of 0 is shown with its interval, which is all that tells its size.
    """
    if not isinstance(cell, Quantity):
        return "–" if cell is None else cell
    text = quantity(cell.value, cell.unit)
    return f"{text} ({interval_text(cell.value, cell.ci, cell.unit)})" if cell.value == 0 and cell.ci else text


def share(value: float | None) -> str:
    """Return a share such as ``94 %``, with one decimal near 100 %; None becomes a dash."""
    return "–" if value is None else f"{value * 100:.1f} %"


def spread(value: float | None, interval: tuple[float, float] | None, unit: str) -> str:
    """Return half of the interval relative to the value, such as ``±0.8 %``, or the interval itself if the value is
    0.
    """
    if value is None or interval is None:
        return "–"
    if value == 0:
        return interval_text(value, interval, unit) if interval[1] > 0 else "–"
    return f"±{(interval[1] - interval[0]) / 2 / abs(value) * 100:.1f} %"


def parameters(params: Mapping[str, Value]) -> str:
    """Return parameters as on the command line: ``isa=avx512 threads=2 size=4KiB``."""
    return " ".join(f"{name}={_parameter(name, value)}" for name, value in params.items())


def _parameter(name: str, value: Value) -> str:
    if isinstance(value, int) and name in _SIZE_PARAMETERS:
        return size_text(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``3 runs``, ``1 run``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
