"""Several runs side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from nameplate.model import Report, Result, Summary, Value
from nameplate.report.cells import headlines, is_derived
from nameplate.report.format import parameters, quantity
from nameplate.report.text import MOST_CELLS

_Key: TypeAlias = tuple[str, str, tuple[tuple[str, Value], ...]]


@dataclass(frozen=True)
class Beside:
    """One cell in every run: the table of several runs side by side.

    ``is_folded``: it is one of a large sweep, of which the figures made of all cells are enough at first.
    """

    label: str
    values: list[str]
    is_folded: bool


def side_by_side(reports: Sequence[Report]) -> list[Beside]:
    """The cells that were measured in more than one of the runs."""
    by_run = [{_key(result): result for result in headlines(report.results)} for report in reports]
    shared = [
        key for key in dict.fromkeys(key for run in by_run for key in run) if sum(key in run for run in by_run) > 1
    ]
    derived = {key for run in by_run for key, result in run.items() if is_derived(result)}
    cells = Counter(key[0] for key in shared if key not in derived)
    return [
        Beside(
            label=_label(next(run[key] for run in by_run if key in run)),
            values=[_value_in(run[key].summary if key in run else None) for run in by_run],
            is_folded=key not in derived and cells[key[0]] > MOST_CELLS,
        )
        for key in shared
    ]


def _label(result: Result) -> str:
    row = result.summary
    words = parameters(row.params)
    return " ".join([row.probe, *([row.metric] if is_derived(result) else []), *([words] if words else [])])


def _key(result: Result) -> _Key:
    """The metric and the part of a curve tell derived figures apart; a cell that failed in a run has its own."""
    row = result.summary
    return row.probe, row.metric, tuple(sorted(row.params.items()))


def _value_in(row: Summary | None) -> str:
    if row is None:
        return "not measured"
    return quantity(row.value, row.unit) if row.value is not None else row.outcome
