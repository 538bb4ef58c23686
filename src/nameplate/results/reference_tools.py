"""Build the table of the values that reference tools measured before the first round of a run."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.model import Quantity, Reference, Table

# The table belongs to no probe.
_PROBE = ""


def reference_table(measured: Sequence[Reference]) -> Table:
    """Return one row for each value of a reference tool, or for the reason why there is none."""
    rows: list[list[str | Quantity | None]] = [
        [
            f"{each.tool} {each.version}".strip(), each.work, each.metric,
            Quantity(each.value, each.unit) if each.value is not None else each.reason, each.command,
        ]
        for each in measured
    ]  # fmt: skip
    notes = ["Each tool ran once, before the first round. nameplate versus alternates with it and gives intervals."]
    return Table(_PROBE, "Reference tools on this machine", ["tool", "work", "metric", "value", "command"], rows, notes)
