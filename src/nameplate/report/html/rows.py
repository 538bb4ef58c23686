"""Build the rows of a probe's table in the HTML report: one for each metric of each experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nameplate.records.plan_record import Value
from nameplate.records.result import Result, Summary
from nameplate.report.content.experiments import differing_params, is_derived, label_of, mood_of
from nameplate.report.content.format import count, interval_text, quantity, share
from nameplate.report.content.repeat_commands import repeat_command

HEADINGS = ("typical", "capability", "reference", "share", "p95", "p99", "sustained", "samples")
# The columns of a derived value, which has no samples of its own.
DERIVED_COLUMNS = tuple(map(HEADINGS.index, ("typical", "reference", "share")))


@dataclass(frozen=True)
class ReportCell:
    """A cell of a row: ``text`` is the value with its unit, and ``below`` the line under it, or "".

    The line is the 95 % interval of the value, or says how the samples were taken.
    """

    text: str
    below: str = ""


@dataclass(frozen=True)
class ReportRow:
    """One row of a probe's table, as text: one metric of one experiment.

    - ``label``: the parameters in which the experiment differs from the others
    - ``metric``: the name of the metric
    - ``cells``: one cell for each of ``HEADINGS``; empty for an experiment without a value
    - ``missing``: why there is no value, or ""
    - ``mood``: "good", "poor" or "plain", as ``mood_of`` returns it
    - ``remarks``: short remarks on the experiment, for example "oversubscribed"
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

    - ``label``: the label of the experiment's ``ReportRow``
    - ``metrics``: the names of the metrics that share the source, separated by ", "
    - ``text``: the source, or the reason why there is no reference value
    - ``command``: a shell command
    """

    label: str
    metrics: str
    text: str
    command: str


def make_row(result: Result, common: Mapping[str, Value], is_judged: bool) -> ReportRow:
    """Return the row of one metric of one experiment, without a colour unless the run ``is_judged``.

    ``common`` has the parameters that are shown above the table (from ``common_params``); the label of the row has the
    remaining parameters. Without any, the label is "as above", or "all experiments" for a derived value.
    """
    row = result.summary
    return ReportRow(
        label=_label(result, common),
        metric=row.metric,
        cells=_cells(row) if row.value is not None else (),
        missing=row.why_no_value if row.value is None else "",
        mood=mood_of(result, is_judged),
        remarks=[*["oversubscribed"] * result.oversubscribed, *result.remarks],
    )


def sources(results: Sequence[Result], common: Mapping[str, Value]) -> list[Source]:
    """Return the sources of all reference values, in the order of ``results``; empty without results.

    Metrics of one experiment with the same source share one entry. For a metric without a reference value, the entry
    has the reason. ``common`` has the parameters that the labels leave out, as in ``make_row``.
    """
    grouped: dict[tuple[str, str], list[Result]] = {}
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.id, result)
        grouped.setdefault((result.id, result.rated.source), []).append(result)
    return [
        Source(
            label=_label(rows_of_source[0], common),
            metrics=", ".join(result.summary.metric for result in rows_of_source),
            text=source,
            command=repeat_command(first[rows_of_source[0].id]),
        )
        for (_, source), rows_of_source in grouped.items()
    ]


def _label(result: Result, common: Mapping[str, Value]) -> str:
    """Return the label of a row.

    The parameters of a derived result, if any, name the part of a curve that the result describes.
    """
    if is_derived(result):
        return differing_params(result.summary.params, common) or "all experiments"
    return label_of(result.summary.params, common)


def _cells(row: Summary) -> tuple[ReportCell, ...]:
    def cell(value: float | None, interval: tuple[float, float] | None = None) -> ReportCell:
        return ReportCell(quantity(value, row.unit), interval_text(value, interval, row.unit) if interval else "")

    return (
        cell(row.value, row.ci), cell(row.capability, row.capability_ci), cell(row.rated),
        ReportCell(share(row.efficiency)), cell(row.p95), cell(row.p99), cell(row.sustained), _samples(row),
    )  # fmt: skip


def _samples(row: Summary) -> ReportCell:
    """Return the number of samples, with a line about the rounds, disturbed samples and the end of the measurement."""
    below = [count(row.rounds, "round"), *([f"{row.disturbed * 100:.0f} % disturbed"] if row.disturbed else [])]
    end = "stopped by failures" if row.stop == "failed" else f"stopped by {row.stop}" if row.stop else ""
    return ReportCell(str(row.samples), ", ".join(filter(None, [*below, end])))
