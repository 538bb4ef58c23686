"""Several runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nameplate.model import Report, Summary
from nameplate.report.cells import headlines
from nameplate.report.format import parameters, quantity


@dataclass(frozen=True)
class Beside:
    """One cell in every run: the table of several runs side by side."""

    label: str
    values: list[str]


def side_by_side(reports: Sequence[Report]) -> list[Beside]:
    """The cells that were measured in more than one of the runs."""
    by_run = [
        {(r.summary.probe, parameters(r.summary.params)): r.summary for r in headlines(report.results)}
        for report in reports
    ]
    cells = dict.fromkeys(key for rows in by_run for key in rows)
    return [
        Beside(" ".join(key), [_value_in(rows.get(key)) for rows in by_run])
        for key in cells
        if sum(key in rows for rows in by_run) > 1
    ]


def _value_in(row: Summary | None) -> str:
    if row is None:
        return "not measured"
    return quantity(row.value, row.unit) if row.value is not None else row.outcome
