"""Build the table of the values that reference tools measured before the first round of a run."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.result import Quantity, Table
from nameplate.records.run_record import Reference

# The table belongs to no probe.
_PROBE = ""


def reference_table(measured: Sequence[Reference]) -> Table:
    """Return a table with one row for each value of a reference tool, in the order of ``measured``.

    The columns are the tool with its version and the work, the metric, and the value as a ``Quantity`` in the unit of
    the record. The notes have the commands, and the reason for each tool without a value. ``Table.probe`` is "", since
    the table belongs to no probe. If no tool has a value, the table has no rows.
    """
    names = [f"{row.tool} {row.version}".strip() for row in measured]
    rows: list[list[str | Quantity | None]] = [
        [f"{name}: {row.work}" if row.work else name, row.metric, Quantity(row.value, row.unit)]
        for name, row in zip(names, measured, strict=True)
        if row.value is not None
    ]
    notes = ["Each tool ran once, before the first round. nameplate versus alternates with it and gives intervals."]
    notes += dict.fromkeys(
        row.command if row.value is not None else f"{name}: {row.reason}"
        for name, row in zip(names, measured, strict=True)
        if row.value is None or row.command
    )
    return Table(_PROBE, "Reference tools on this machine", ["", "metric", "value"], rows, notes)
