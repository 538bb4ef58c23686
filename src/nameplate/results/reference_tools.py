"""Build the table of the values that reference tools measured before the first round of a run."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.result import Quantity, Table
from nameplate.records.run_record import Reference

# The table belongs to no probe.
_PROBE = ""


def reference_table(measured: Sequence[Reference]) -> Table:
    """Return a table with one row for each record of a reference tool, in the given order.

    The columns are the tool with its version, the work, the metric, the value, and the command. The value is a
    ``Quantity`` in the unit of the record, or the reason as text if the tool gave no value. The table belongs to no
    probe, so its ``probe`` is "". Without records it has no rows.
    """
    rows: list[list[str | Quantity | None]] = [
        [
            f"{each.tool} {each.version}".strip(), each.work, each.metric,
            Quantity(each.value, each.unit) if each.value is not None else each.reason, each.command,
        ]
        for each in measured
    ]  # fmt: skip
    notes = ["Each tool ran once, before the first round. nameplate versus alternates with it and gives intervals."]
    return Table(_PROBE, "Reference tools on this machine", ["tool", "work", "metric", "value", "command"], rows, notes)
