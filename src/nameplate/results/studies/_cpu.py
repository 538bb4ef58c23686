"""The CPU parts that several studies have: rates by threads, LINPACK by size, and the ten-minute series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from nameplate.records.result import Result
from nameplate.records.study_record import StudyAxis, StudyCell, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.results.published import published
from nameplate.results.studies._layout import along_threads, by_threads, matrix
from nameplate.results.studies._measured import StudyRun, remarks_of
from nameplate.results.studies._parameters import arithmetic
from nameplate.results.studies._quantity import Fields, StudyQuantity, work_over_time
from nameplate.results.studies._units import in_unit

_RATES = {"GFLOP/s": "cpu_flops", "Gop/s": "cpu_intops"}


def rate(measured: StudyRun, unit: str, table: str = "cpu", *, in_series: bool = False) -> StudyQuantity:
    """Return the arithmetic rate as a quantity: floating-point operations, or integer ones, per second.

    ``unit`` is "GFLOP/s" for ``cpu_flops`` or "Gop/s" for ``cpu_intops``; another one raises KeyError. ``table`` is the
    study's table in its CSV file. With ``in_series`` the run's value is that of a long series, and the published one
    has the metric "rate_mean" instead of "rate". A published value is identified by "op", which is "mixed", and
    "threads".
    """
    metric = "rate_mean" if in_series else "rate"
    return StudyQuantity(
        measured=measured,
        name="rate",
        table=table,
        published_metric=metric,
        unit=unit,
        probe=_RATES[unit],
        metric="rate",
        params=arithmetic,
        value=work_over_time,
        in_series=in_series,
    )


def cpu_table(measured: StudyRun, counts: Sequence[int], notes: Sequence[str]) -> StudyTable:
    """Return the table of the floating-point and the integer rate, one row each, by the number of threads.

    ``counts`` are the numbers of threads, one column each. ``notes`` are sentences for the reader, shown under the
    table.
    """
    parts = [matrix("", rate(measured, unit), {unit: {"op": "mixed"}}, by_threads(counts)) for unit in _RATES]
    return StudyTable(
        title="CPU", rows=[row for part in parts for row in part.rows],
        columns=[StudyColumn(column.name) for column in parts[0].columns],
        cells=[row for part in parts for row in part.cells], notes=list(notes),
    )  # fmt: skip


def cpu_charts(measured: StudyRun, counts: Sequence[int]) -> list[StudyChart]:
    """Return a chart of the floating-point rate and one of the integer rate against the number of threads.

    The numbers of threads on the x axis are ``counts``.
    """
    return [
        along_threads(f"{unit} against threads", rate(measured, unit), {"mixed": {"op": "mixed"}}, counts)
        for unit in _RATES
    ]


def series_table(measured: StudyRun, threads: int, notes: Sequence[str] = ()) -> StudyTable:
    """Return the table of the mean rates of the two long series: the floating-point and the integer one, one row each.

    ``threads`` is the number of threads that the series ran on, which heads the only column. ``notes`` are sentences
    for the reader, shown under the table after the definition of the mean.
    """
    quantities = {unit: rate(measured, unit, "cpu-series", in_series=True) for unit in _RATES}
    cells = [[_with_length(quantity, {"op": "mixed", "threads": threads})] for quantity in quantities.values()]
    return StudyTable(
        title="Ten-minute series, mean", rows=list(quantities), columns=[StudyColumn(f"{threads} threads")],
        cells=cells, notes=["The mean is all work over all time of the series.", *notes],
    )  # fmt: skip


def _with_length(quantity: StudyQuantity, fields: Fields) -> StudyCell:
    cell, found = quantity.cell(fields), quantity.result(fields)
    if found is None or found.summary.value is None:
        return cell
    length = f"a series of {len(found.series.value)} samples, one per second"
    return msgspec.structs.replace(cell, remarks=[*cell.remarks, length])


def series_charts(measured: StudyRun, threads: int) -> list[StudyChart]:
    """Return a chart of the floating-point and one of the integer series: the rate against seconds.

    They are the long series on ``threads`` threads. A chart also has a line at the published mean, if there is one. The
    chart of a series that was not measured has no lines.
    """
    charts = []
    for unit in _RATES:
        quantity = rate(measured, unit, "cpu-series", in_series=True)
        found = quantity.result({"op": "mixed", "threads": threads})
        printed = quantity.printed({"op": "mixed", "threads": threads})
        lines = _series_lines(found, unit, printed if isinstance(printed, float) else None)
        title = f"Series, {unit}, {threads} threads"
        charts.append(StudyChart(title, StudyAxis("seconds"), StudyAxis(f"rate ({unit})"), lines))
    return charts


def _series_lines(found: Result | None, unit: str, mean: float | None) -> list[StudyLine]:
    if found is None or found.summary.value is None:
        return []
    starts, values = found.series.start_s, found.series.value
    points = [(start - starts[0], in_unit(value, unit) or 0.0) for start, value in zip(starts, values, strict=True)]
    ends = [(0.0, mean), (points[-1][0], mean)] if mean else []
    return [StudyLine("rate", points), *([StudyLine("mean", ends, is_published=True)] if ends else [])]


def linpack_table(
    measured: StudyRun, threads: int, sizes: Sequence[int], metrics: Mapping[str, str], notes: Sequence[str] = ()
) -> StudyTable:
    """Return the table of LINPACK's rates in GFLOP/s, with one row for each number of unknowns in ``sizes``.

    ``metrics`` has the published metric of each column by its heading. For "rate" and "rate_mean" the run's value is
    the mean of its trials, for "rate_best" the best trial. ``threads`` is the number of threads of the run's
    trials; the published values are those of the size, whatever their number of threads. Values that the study or the
    run does not have are None. ``notes`` are sentences for the reader, shown under the table before those of every
    study.
    """
    printed = {(p.op, p.metric): p.value for p in published(measured.plan) if p.probe == "linpack"}
    cells = []
    for n in sizes:
        found = measured.find("cpu_linpack", "rate", {"n": n, "threads": threads})
        cells.append([
            StudyCell(in_unit(_take(found, metric), "GFLOP/s"), printed.get((f"n={n}", metric)),
                      remarks=remarks_of(found))
            for metric in metrics.values()
        ])  # fmt: skip
    more = [f"{note}." for note in measured.left_out("cpu_linpack")]
    return StudyTable(
        title=f"LINPACK, {threads} thread{'s' if threads > 1 else ''}", corner="unknowns",
        rows=[f"{n:,}" for n in sizes], columns=[StudyColumn(name, "GFLOP/s") for name in metrics], cells=cells,
        notes=[*notes, _SOLVER, *more],
    )  # fmt: skip


_SOLVER = (
    "Here: by OpenBLAS, or the LAPACK that --blas names; the study ran Intel's binary. A rate is the mean of trials."
)


def _take(found: Result | None, metric: str) -> float | None:
    if found is None or found.summary.value is None:
        return None
    return found.summary.best if metric == "rate_best" else found.summary.mean
