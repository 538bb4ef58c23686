"""Draw the values of all pairs of parties, such as cores or nodes, as a matrix.

A party that is slow with all others shows as a dark row and column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from nameplate.probes.interface.pair_matrix import PairValues
from nameplate.probes.shared.median_pair import measured_pairs
from nameplate.records.machine_record import Machine
from nameplate.records.result import Result
from nameplate.report.charts.common import Chart, Point, chart_of, definition, rounded
from nameplate.report.charts.heatmap import HEIGHT, LONG_SPAN, SHADES, WIDTH
from nameplate.report.charts.plot import Axis, Marks, Plot
from nameplate.report.content.format import parameters, quantity
from nameplate.report.content.repeat_commands import repeat_command

# With more parties, neighbours share a row and a column.
MAX_ROWS = 48
# With more rows, cells have no space for a value and are squares of _SQUARE pixels.
MAX_WITH_VALUES = 8
_SQUARE = 14
# The colour scale spans at least this factor, so that noise alone does not look like a slow party.
_MIN_SPAN = 2.0
_LABEL_LIMIT = 110


def pair_maps(results: Sequence[Result], machine: Machine | None) -> list[Chart]:
    """Return one map for each experiment that measured all pairs of parties, such as cores or nodes.

    - ``results``: the results that ``headlines`` returns for one probe. A result without a value for any pair is left
      out. The list is empty if the probe declares no ``PairMatrix``.
    - ``machine``: the machine of the run, from which some probes take the names of the parties; a party whose name is
      not known is shown as an index from 0

    With more than 48 parties (``MAX_ROWS``), neighbouring parties share a row and a column, which show the slowest
    pair.

    Raises:
        KeyError: a result lacks a parameter that the ``PairMatrix`` of its probe needs.
    """
    return [_pair_map(result, pairs) for result, pairs in measured_pairs(results, machine)]


def _pair_map(result: Result, pairs: PairValues) -> Chart:
    matrix, kind = pairs.matrix, pairs.kind
    per_row = math.ceil(len(pairs.parties) / MAX_ROWS)
    points = _points(pairs, per_row)
    name = pairs.displayed(next(value for value in pairs.values if value is not None))[0]
    meaning = (
        f"Each cell is a pair of {kind.plural}. An evenly pale map is healthy. A strong row and column with the same "
        f"name is one slow {kind.singular}: {kind.slow_party}. A single strong cell is {kind.slow_pair}. Strong "
        f"squares off the diagonal are {kind.slow_squares}."
    )
    caption = f"A stronger colour means a {'longer' if matrix.better == 'lower' else 'lower'} {matrix.name}."
    if matrix.layout != "triangle":
        caption += f" Rows: {matrix.roles[0]}; columns: {matrix.roles[1]}."
    if per_row > 1:
        caption += (
            f" Each row and column stands for up to {per_row} {kind.plural}; the slowest of their pairs is shown."
        )
    columns = (("row", matrix.roles[0]), ("column", matrix.roles[1]), ("shown", name))
    spec, plot = _drawing(points, pairs)
    spec["description"] = f"{name} between all pairs"
    return Chart(f"{name} {parameters(pairs.params)}", meaning, caption, spec, plot, columns, (repeat_command(result),))


def _points(pairs: PairValues, per_row: int) -> list[Point]:
    """Return one point per cell.

    A row of several parties has the name of the first one, followed by the number of others: "cpu0 +3".
    """
    names = [party.name for party in pairs.parties]
    shared = [names[i : i + per_row] for i in range(0, len(names), per_row)]
    rows = [members[0] if len(members) == 1 else f"{members[0]} +{len(members) - 1}" for members in shared]
    slower = max if pairs.matrix.better == "lower" else min
    slowest: dict[tuple[int, int], float | None] = {}
    for (row, column), value in pairs.indexed():
        cell = row // per_row, column // per_row
        known = slowest.get(cell)
        slowest[cell] = value if known is None else known if value is None else slower(known, value)
    if pairs.matrix.layout == "triangle":
        slowest |= {(column, row): value for (row, column), value in slowest.items()}
    points: list[Point] = []
    for (row, column), value in sorted(slowest.items(), key=lambda item: item[0]):
        point: Point = {"row": rows[row], "column": rows[column], "shown": "–"}
        if value is not None:
            metric_value = pairs.displayed(value)[1]
            point |= {"shown": quantity(metric_value.value, metric_value.unit), "value": rounded(value)}
        points.append(point)
    return points


def _drawing(points: list[Point], pairs: PairValues) -> tuple[dict[str, Any], Plot]:
    values = [float(point["value"]) for point in points if "value" in point]
    span = max(max(values) / min(values), _MIN_SPAN)
    ends = (min(values), min(values) * span) if pairs.matrix.better == "lower" else (max(values), max(values) / span)
    rows = list(dict.fromkeys(str(point["row"]) for point in points))
    has_values = len(rows) <= MAX_WITH_VALUES
    row_title, column_title = (None, None) if pairs.matrix.layout == "triangle" else pairs.matrix.roles
    x_axis = alt.Axis(orient="top", labelAngle=0 if has_values else -90, labelLimit=WIDTH if has_values else
                      _LABEL_LIMIT, ticks=False, domain=False)  # fmt: skip
    y_axis = alt.Axis(labelLimit=_LABEL_LIMIT, ticks=False, domain=False)
    base = chart_of(points).encode(
        x=alt.X("column:O", title=column_title, sort=rows, axis=x_axis),
        y=alt.Y("row:O", title=row_title, sort=rows, axis=y_axis),
        tooltip=[alt.Tooltip("row:N"), alt.Tooltip("column:N"), alt.Tooltip("shown:N", title="value")],
    )
    shade = alt.Scale(type="log" if span > LONG_SPAN else "linear", domain=list(ends), range=SHADES)
    cells = base.mark_rect(color="var(--series-1)")
    if len(values) < len(points):
        cells = cells.transform_filter("isValid(datum.value)")
    layers = [cells.encode(opacity=alt.Opacity("value:Q", scale=shade, legend=None))]
    marks = [Marks("cells", points, ("column", "row", "value"))]
    if has_values:
        layers.append(base.mark_text(fontSize=10, color="var(--ink)").encode(text=alt.Text("shown:N")))
        marks.append(Marks("text", points, ("column", "row", "shown")))
    plot = Plot(
        Axis(column_title, categories=rows), Axis(row_title, categories=rows), marks,
        shade=Axis(base=10 if span > LONG_SPAN else 0, ends=ends),
    )  # fmt: skip
    height, width = (HEIGHT, WIDTH) if has_values else (_SQUARE, _SQUARE)
    return definition(alt.layer(*layers), alt.Step(height), alt.Step(width)), plot
