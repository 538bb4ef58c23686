"""The rows of a probe's table in the HTML report: every metric of every cell, with what stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.records.model import Result, Summary, Value
from nameplate.report.cells import is_derived, label_of, mood_of, own_params
from nameplate.report.format import interval_text, quantity, share
from nameplate.report.repeat_commands import repeat_command

HEADINGS = (
    "measured", "95 % interval", "rated", "delivers", "best", "p95", "p99", "sustained", "rounds",
    "samples", "disturbed", "outcome", "stopped by",
)  # fmt: skip
HEADINGS_IN_WORDS = ("outcome", "stopped by")


@dataclass(frozen=True)
class ReportRow:
    """One line of a probe's table.

    There are either ``figures``, in the order of ``HEADINGS``, or words why they are ``missing``. ``remarks`` are what
    a reader must know of the cell.
    """

    label: str
    metric: str
    figures: tuple[str, ...]
    missing: str
    mood: str
    remarks: list[str]


@dataclass(frozen=True)
class Source:
    """Where the rated value of a cell's metrics comes from, and how to measure the cell again."""

    label: str
    metrics: str
    words: str
    command: str


def make_row(result: Result, common: Mapping[str, Value]) -> ReportRow:
    """One metric of one cell; ``common`` are the parameters that stand above the table."""
    row = result.summary
    return ReportRow(
        label=_label(result, common),
        metric=row.metric,
        figures=_figures(row) if row.value is not None else (),
        missing=f"{row.outcome}: {row.reason or 'no reason is known'}" if row.value is None else "",
        mood=mood_of(result),
        remarks=[*["oversubscribed"] * result.oversubscribed, *result.remarks],
    )


def sources(results: Sequence[Result], common: Mapping[str, Value]) -> list[Source]:
    """Of every cell; the metrics whose rated value has the same source share a line."""
    grouped: dict[tuple[str, str], list[Result]] = {}
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.id, result)
        grouped.setdefault((result.id, result.rated.source), []).append(result)
    return [
        Source(
            label=_label(own[0], common),
            metrics=", ".join(result.summary.metric for result in own),
            words=source,
            command=repeat_command(first[own[0].id]),
        )
        for (_, source), own in grouped.items()
    ]


def _label(result: Result, common: Mapping[str, Value]) -> str:
    """A derived figure's own parameters are the part of the curve that it holds for, if there are any."""
    if is_derived(result):
        return own_params(result.summary.params, common) or "all cells together"
    return label_of(result.summary.params, common)


def _figures(row: Summary) -> tuple[str, ...]:
    def shown(value: float | None) -> str:
        return quantity(value, row.unit)

    return (
        shown(row.value), interval_text(row.value, row.ci, row.unit), shown(row.rated), share(row.efficiency),
        shown(row.best), shown(row.p95), shown(row.p99), shown(row.sustained), str(row.rounds), str(row.samples),
        f"{row.disturbed * 100:.0f} %", row.outcome, row.stop or "–",
    )  # fmt: skip
