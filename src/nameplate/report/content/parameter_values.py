"""Describe the values that a parameter of a probe may have."""

from __future__ import annotations

from nameplate.planning.sweep import Parameter
from nameplate.report.content.format import quantity

_UNITS = {"size": "B", "bit_rate": "bit/s", "duration": "s"}


def possible_values(parameter: Parameter) -> str:
    """Return the values that ``parameter`` may have: its choices separated by commas, ``text``, or its range.

    ``text`` stands for any text. A range has units, such as ``64 B to 1.000 TiB``, and includes both bounds. If a
    percentage may follow one of the choices (``Parameter.percent_of``), the text does not mention the percentage.
    """
    if parameter.choices:
        return ", ".join(parameter.choices)
    if parameter.type == "text":
        return "text"
    return f"{_bound(parameter, parameter.minimum)} to {_bound(parameter, parameter.maximum)}"


def _bound(parameter: Parameter, value: float) -> str:
    unit = _UNITS.get(parameter.type, "")
    if unit in ("B", "bit/s") and value >= 1024:
        return quantity(value, unit)
    number = f"{value:,.0f}" if value == int(value) else f"{value:g}"
    return f"{number} {unit}".strip()
