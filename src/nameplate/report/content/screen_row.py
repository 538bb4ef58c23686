"""Define a line of the first screen of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from nameplate.probes import probe_of
from nameplate.probes.interface.screen_line import DisplayUnit
from nameplate.probes.shared.areas import label_of_area
from nameplate.records.plan_record import Value
from nameplate.report.content.format import count
from nameplate.units import size_text

_SIZES = ("size", "block", "payload")
OVERSUBSCRIBED = "oversubscribed"
# The kinds of reference values, by the letter that is shown next to the value.
REFERENCE_KINDS = {
    "p": "peak computed here", "l": "listed by the system", "o": "other machines' value", "g": "given",
}  # fmt: skip


class ScreenRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the first screen: one value with its interval and reference value, or several values with one unit.

    - ``area``: the area of the probe, such as "memory"; ``label``: the name of the line, such as "triad, 2 threads"
    - ``probe``, ``params``: the probe and the parameters of the experiment
    - ``metrics``, ``values``, ``capabilities``, ``references``: the name, the typical value, the capability and the
      reference value of each metric in the line. Values are in ``unit``, which is an SI base unit, "bit/s" or "IOPS";
      None is unknown. A metric that the report has no result of is "".
    - ``ci``: the 95 % interval (lower, upper) of the value; ``share``: value ÷ reference value, or capability ÷
      reference value if the reference is a capability. Both are None if they are unknown or the line has several
      values. ``share_of`` says which of the two ``share`` is computed from.
    - ``better``: "higher" or "lower"
    - ``reference_kind``: the letter of the reference's kind, a key of ``REFERENCE_KINDS``, or "" without a reference;
      ``peers``: for "o", a phrase for the value of other machines (``Rated.peers``), otherwise ""
    - ``mood``: the class by which the share is coloured, "good", "poor" or "plain" (``experiments.mood_of``)
    - ``remark``: a restriction that the reader must know, such as "loopback only" or "oversubscribed"; "" for none
    """

    area: str
    label: str
    probe: str
    params: dict[str, Value]
    metrics: list[str]
    unit: str
    values: list[float | None]
    ci: tuple[float, float] | None
    capabilities: list[float | None]
    references: list[float | None]
    share: float | None
    share_of: Literal["typical", "capability"]
    mood: str
    remark: str
    better: Literal["higher", "lower"]
    reference_kind: str
    peers: str


def filled_label(label: str, params: Mapping[str, Value]) -> str:
    """Return the label of a line (``ScreenLine.label``) with the parameters of an experiment in place of ``{name}``."""
    return re.sub(r"\{(\w+)\}", lambda match: _parameter_text(match[1], params.get(match[1], "")), label)


def label_and_unit(probe: str, metric: str, params: Mapping[str, Value]) -> tuple[str, DisplayUnit | None]:
    """Return the area and the label of a metric on the first screen, such as "CPU fp64, 2 threads", and its unit there.

    The label is "" if the metric has no line; the unit is None for the SI base unit. The conditions of a line that
    depend on the result are not checked.
    """
    known = probe_of(probe)
    for line in known.screen:
        if line.metrics[0] == metric and all(params.get(name) == value for name, value in line.params.items()):
            return f"{label_of_area(known.area)} {filled_label(line.label, params)}", line.unit
    return "", None


def _parameter_text(name: str, value: Value) -> str:
    if name == "threads":
        return count(int(value), "thread")
    if name in _SIZES and isinstance(value, int):
        return size_text(value)
    return value.upper() if name == "protocol" and isinstance(value, str) else str(value)
