"""CPU tables and charts that several studies have: rates by threads, LINPACK by size, and ten-minute series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from nameplate.records.result import Result
from nameplate.records.study_record import StudyAxis, StudyCell, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.studies._cells import study_cell
from nameplate.studies._layout import along_threads, by_threads, matrix
from nameplate.studies._measured import StudyRun
from nameplate.studies._parameters import arithmetic
from nameplate.studies._quantity import Fields, StudyQuantity, work_over_time
from nameplate.studies._units import in_unit
from nameplate.studies.published import Printed, published

_RATES = {"GFLOP/s": "cpu_flops", "Gop/s": "cpu_intops"}


def rate(measured: StudyRun, unit: str, table: str = "cpu", *, in_series: bool = False) -> StudyQuantity:
    """Return the arithmetic rate, floating-point or integer operations per second, as a quantity of a study.

    - ``measured``: the run that is compared with the study
    - ``unit``: "GFLOP/s" for ``cpu_flops`` or "Gop/s" for ``cpu_intops``; any other unit raises KeyError
    - ``table``: the name of the table in the CSV file of published values
    - ``in_series``: take the run's value from a long series, and the published metric "rate_mean" instead of "rate"

    If the run measured loops without optimisation, the value is theirs, and a cell also has that of the optimised loop.
    The fields of the quantity are "op", which is "mixed", and "threads".
    """
    metric = "rate_mean" if in_series else "rate"
    has_both = measured.find(_RATES[unit], "rate", {"build": "O0"}, in_series=in_series) is not None
    return StudyQuantity(
        measured=measured,
        name="rate",
        table=table,
        published_metric=metric,
        unit=unit,
        probe=_RATES[unit],
        metric="rate",
        params=(lambda fields: {**arithmetic(fields), "build": "O0"}) if has_both else arithmetic,
        value=work_over_time,
        alternative_name="optimised" if has_both else "",
        alternative_params=(lambda fields: {**arithmetic(fields), "build": "optimised"}) if has_both else None,
        in_series=in_series,
    )


def cpu_table(measured: StudyRun, counts: Sequence[int], notes: Sequence[str]) -> StudyTable:
    """Return a table of the floating-point rate (GFLOP/s) and the integer rate (Gop/s) by the number of threads.

    There is one column for each number of threads in ``counts``. ``notes`` are sentences that are shown under the
    table.
    """
    parts = [matrix("", rate(measured, unit), {unit: {"op": "mixed"}}, by_threads(counts)) for unit in _RATES]
    return StudyTable(
        title="CPU", rows=[row for part in parts for row in part.rows],
        columns=[StudyColumn(column.name) for column in parts[0].columns],
        cells=[row for part in parts for row in part.cells], alternative=parts[0].alternative, notes=list(notes),
    )  # fmt: skip


def cpu_charts(measured: StudyRun, counts: Sequence[int], figure: int | None = None) -> list[StudyChart]:
    """Return a chart of the floating-point rate and a chart of the integer rate against the number of threads.

    ``counts`` are the numbers of threads on the x axis. ``figure`` is the number of the first published figure,
    None if the published figures have no numbers.
    """
    return [
        along_threads(f"{_figure(figure, index)}{unit} against threads", rate(measured, unit),
                      {"mixed": {"op": "mixed"}}, counts)
        for index, unit in enumerate(_RATES)
    ]  # fmt: skip


def _figure(first: int | None, index: int) -> str:
    """Return the start of a title, "Figure 9: "; "" if the published figures have no numbers."""
    return "" if first is None else f"Figure {first + index}: "


def series_table(measured: StudyRun, threads: int, notes: Sequence[str] = ()) -> StudyTable:
    """Return a table of the mean floating-point rate (GFLOP/s) and the mean integer rate (Gop/s) of the long series.

    ``threads`` is the number of threads of the series, which heads the only column. ``notes`` are sentences that are
    shown under the table, after the definition of the mean.
    """
    quantities = {unit: rate(measured, unit, "cpu-series", in_series=True) for unit in _RATES}
    cells = [[_with_length(quantity, {"op": "mixed", "threads": threads})] for quantity in quantities.values()]
    return StudyTable(
        title="Ten-minute series, mean", rows=list(quantities), columns=[StudyColumn(f"{threads} threads")],
        cells=cells, notes=["The mean is all work over all time of the series.", *notes],
    )  # fmt: skip


def _with_length(quantity: StudyQuantity, fields: Fields) -> StudyCell:
    cell, result = quantity.cell(fields), quantity.result(fields)
    if result is None or result.summary.value is None:
        return cell
    length = f"a series of {len(result.series.value)} samples, one per second"
    return msgspec.structs.replace(cell, remarks=[*cell.remarks, length])


def series_charts(measured: StudyRun, threads: int, figure: int | None = None) -> list[StudyChart]:
    """Return a chart of the floating-point rate and a chart of the integer rate of the long series against seconds.

    ``threads`` is the number of threads of the series. ``figure`` is as for ``cpu_charts``. If the study has a mean,
    the chart also has a horizontal line at the published mean. The chart of a series that was not measured has no
    lines.
    """
    charts = []
    for index, unit in enumerate(_RATES):
        quantity = rate(measured, unit, "cpu-series", in_series=True)
        result = quantity.result({"op": "mixed", "threads": threads})
        printed = quantity.printed({"op": "mixed", "threads": threads})
        lines = _series_lines(result, unit, printed.value if isinstance(printed, Printed) else None)
        title = f"{_figure(figure, index)}{'series' if figure else 'Series'}, {unit}, {threads} threads"
        charts.append(StudyChart(title, StudyAxis("seconds"), StudyAxis(f"rate ({unit})"), lines))
    return charts


def _series_lines(result: Result | None, unit: str, mean: float | None) -> list[StudyLine]:
    if result is None or result.summary.value is None:
        return []
    starts, values = result.series.start_s, result.series.value
    points = [(start - starts[0], in_unit(value, unit) or 0.0) for start, value in zip(starts, values, strict=True)]
    ends = [(0.0, mean), (points[-1][0], mean)] if mean else []
    return [StudyLine("rate", points), *([StudyLine("mean", ends, is_published=True)] if ends else [])]


def linpack_table(
    measured: StudyRun, threads: int, sizes: Sequence[int], metrics: Mapping[str, str], notes: Sequence[str] = ()
) -> StudyTable:
    """Return a table of LINPACK's rates in GFLOP/s, with one row for each number of unknowns in ``sizes``.

    ``threads`` is the number of threads of the run's experiments; a published value applies to its number of unknowns,
    for any number of threads. ``metrics`` maps the heading of each column to the published metric. For "rate_best" the
    run's value is the best trial, for "rate" and "rate_mean" the mean of the trials. A value that the study or the run
    lacks is None. ``notes`` are sentences that are shown under the table, before a note on the solver.
    """
    printed = {(p.op, p.metric): p.printed for p in published(measured.plan) if p.probe == "linpack"}
    cells = []
    for n in sizes:
        result = measured.find("cpu_linpack", "rate", {"n": n, "threads": threads})
        cells.append([
            study_cell(in_unit(_take(result, metric), "GFLOP/s"), printed.get((f"n={n}", metric)), result)
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


def _take(result: Result | None, metric: str) -> float | None:
    if result is None or result.summary.value is None:
        return None
    return result.summary.best if metric == "rate_best" else result.summary.mean
