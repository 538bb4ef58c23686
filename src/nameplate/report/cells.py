"""What tells a run's cells apart: titles, labels and moods, the same wherever a cell is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nameplate.probes import load_probes
from nameplate.records.model import Result, Table, Value
from nameplate.report.format import parameters

# A share of its nameplate value from which a figure is good, and below which it is poor.
GOOD, POOR = 0.95, 0.75

# The label of a cell that differs in nothing.
ALL_COMMON = "all as above"


def is_derived(result: Result) -> bool:
    """Whether it was made of other cells' figures: it has no samples of its own."""
    return result.kind == "derived"


def headlines(results: Iterable[Result]) -> list[Result]:
    """The first metric of every cell."""
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.id, result)
    return list(first.values())


def title_of(probe: str) -> str:
    """A probe's title; its name, when this nameplate does not know it."""
    known = load_probes().get(probe)
    return known.title if known else probe


def title_of_table(table: Table) -> str:
    """With its probe's before it, where it is of one."""
    return f"{title_of(table.probe)}: {table.title}" if table.probe else table.title


def common_params(results: Sequence[Result]) -> dict[str, Value]:
    """The parameters that are the same in all cells; what could not be measured often has not all of them."""
    own = [result for result in results if not is_derived(result)] or results
    measured = [result for result in own if result.summary.value is not None] or own
    first, *others = [result.summary.params for result in measured]
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def label_of(params: Mapping[str, Value], common: Mapping[str, Value]) -> str:
    """The parameters in which a cell differs from those in ``common``."""
    return own_params(params, common) or ALL_COMMON


def own_params(params: Mapping[str, Value], common: Mapping[str, Value]) -> str:
    """As ``label_of``, but empty where a cell differs in none."""
    return parameters({name: value for name, value in params.items() if common.get(name) != value})


def mood_of(result: Result) -> str:
    """How a figure is coloured: good, poor or plain."""
    row = result.summary
    if row.outcome in ("invalid", "failed"):
        return "poor"
    if row.efficiency is None or result.better == "lower":
        return "plain"
    return "good" if row.efficiency >= GOOD else "poor" if row.efficiency < POOR else "plain"
