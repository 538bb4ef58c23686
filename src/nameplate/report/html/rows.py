"""Build the rows of a probe's table in the HTML report: every metric of every experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.records.plan_record import Value
from nameplate.records.result import Result, Summary
from nameplate.report.content.experiments import is_derived, label_of, mood_of, own_params
from nameplate.report.content.format import count, interval_text, quantity, share
from nameplate.report.content.repeat_commands import repeat_command

HEADINGS = ("typical", "capability", "reference", "share", "p95", "p99", "sustained", "samples")
# Of a derived value, which has no samples of its own.
DERIVED_COLUMNS = tuple(map(HEADINGS.index, ("typical", "reference", "share")))


@dataclass(frozen=True)
class ReportCell:
    """A value as text, and the line below it: its 95 % interval, or how its samples were taken; "" if there is none."""

    text: str
    below: str = ""


@dataclass(frozen=True)
class ReportRow:
    """One row of a probe's table: one metric of one experiment, as text.

    ``label`` has the parameters in which the experiment differs from the others. A row has either ``cells``, one for
    each of ``HEADINGS``, and "" as ``missing``; or no ``cells``, and ``missing`` is the reason. ``mood`` is "good",
    "poor" or "plain": by the share of the reference value, or "poor" for an invalid or failed experiment. ``remarks``
    are words on the experiment, such as "oversubscribed".
    """

    label: str
    metric: str
    cells: tuple[ReportCell, ...]
    missing: str
    mood: str
    remarks: list[str]


@dataclass(frozen=True)
class Source:
    """The source of the reference value of an experiment's metrics, and the command that repeats the experiment.

    ``label`` is that of the experiment's ``ReportRow``, ``metrics`` are names separated by ", ", and ``words`` are the
    source, or the reason why there is no reference value.
    """

    label: str
    metrics: str
    words: str
    command: str


def make_row(result: Result, common: Mapping[str, Value]) -> ReportRow:
    """Return the row of one metric of one experiment.

    ``common`` are the parameters shown above the table (see ``common_params``); the label has the experiment's other
    parameters. If there are none, it is "as above", or "all experiments" for a derived value.
    """
    row = result.summary
    return ReportRow(
        label=_label(result, common),
        metric=row.metric,
        cells=_cells(row) if row.value is not None else (),
        missing=row.why_no_value if row.value is None else "",
        mood=mood_of(result),
        remarks=[*["oversubscribed"] * result.oversubscribed, *result.remarks],
    )


def sources(results: Sequence[Result], common: Mapping[str, Value]) -> list[Source]:
    """Return the sources of all reference values in the order of ``results``; none for empty ``results``.

    Metrics of one experiment with the same source share one entry, and a metric without a reference value has an entry
    with the reason. ``common`` are the parameters that the labels leave out, as in ``make_row``.
    """
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
    """Return the row's label. The parameters of a derived result, if any, name the part of the curve that it
    describes.
    """
    if is_derived(result):
        return own_params(result.summary.params, common) or "all experiments"
    return label_of(result.summary.params, common)


def _cells(row: Summary) -> tuple[ReportCell, ...]:
    def shown(value: float | None) -> ReportCell:
        return ReportCell(quantity(value, row.unit))

    def with_interval(value: float | None, interval: tuple[float, float] | None) -> ReportCell:
        return ReportCell(quantity(value, row.unit), interval_text(value, interval, row.unit) if interval else "")

    return (
        with_interval(row.value, row.ci), with_interval(row.capability, row.capability_ci), shown(row.rated),
        ReportCell(share(row.efficiency)), shown(row.p95), shown(row.p99), shown(row.sustained), _samples(row),
    )  # fmt: skip


def _samples(row: Summary) -> ReportCell:
    """Return the number of samples, and below it the rounds, the disturbed samples and what ended the measurement."""
    below = [count(row.rounds, "round"), *([f"{row.disturbed * 100:.0f} % disturbed"] if row.disturbed else [])]
    end = "stopped by failures" if row.stop == "failed" else f"stopped by {row.stop}" if row.stop else ""
    return ReportCell(str(row.samples), ", ".join(filter(None, [*below, end])))
