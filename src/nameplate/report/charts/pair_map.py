"""All pairs of a job's nodes or ranks as a matrix: a slow node is a dark row and a dark column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from nameplate.probes.shared.job import party_names
from nameplate.probes.shared.pair_matrix import figure_name, message_figure, pairs_of, parties_of
from nameplate.records.model import Result
from nameplate.report.charts.common import Chart, Point, definition, rounded
from nameplate.report.charts.heatmap import HEIGHT, LONG_SPAN, SHADES, WIDTH
from nameplate.report.format import parameters, quantity
from nameplate.report.repeat_commands import repeat_command

# Of more parties those next to each other share a row and a column.
MAX_ROWS = 48
# So many rows leave room for a figure in each cell; of more, a cell is a square of so many pixels.
MAX_WITH_FIGURES = 8
_SQUARE = 14
# Noise alone must not look like a slow node: the strongest colour is at least this many times the fastest pair's time.
_LEAST_SPAN = 2.0
_LABEL_LIMIT = 110
_MEANING = (
    "Each cell is a pair that exchanged messages. Evenly pale is healthy. A strong row and column at the same name is "
    "one slow node: its network card, its cable or its processor. A single strong cell is a slow link between two; "
    "strong squares along the edge are groups that talk across a slower switch."
)


def pair_maps(results: Sequence[Result], machine: Mapping[str, Any]) -> list[Chart]:
    """One for each cell whose messages went between all pairs; names are those of the machine's job."""
    return [_pair_map(result, machine) for result in results if result.pairs]


def _pair_map(result: Result, machine: Mapping[str, Any]) -> Chart:
    params = result.summary.params
    parties = parties_of(result.pairs)
    blocks = _blocks(party_names(machine, str(params["between"]), parties))
    each = math.ceil(parties / len(blocks))
    columns = (("row", "one"), ("column", "the other"), ("figure", figure_name(params)))
    caption = "The stronger the colour, the longer a message takes."
    if each > 1:
        caption += f" Each row and column stands for up to {each}, the slowest of whose pairs is shown."
    spec = _spec(_points(result, blocks, each), blocks)
    spec["description"] = f"{figure_name(params)} between all pairs"
    title = f"{figure_name(params)} {parameters(params)}"
    return Chart(title, _MEANING, caption, spec, columns, (repeat_command(result),))


def _blocks(names: Sequence[str]) -> list[str]:
    """The rows' names: of several parties that of the first one, and how many follow it."""
    each = math.ceil(len(names) / MAX_ROWS)
    shared = [names[i : i + each] for i in range(0, len(names), each)]
    return [own[0] if len(own) == 1 else f"{own[0]} +{len(own) - 1}" for own in shared]


def _points(result: Result, blocks: Sequence[str], each: int) -> list[Point]:
    slowest: dict[tuple[int, int], float] = {}
    for (one, other), time_s in zip(pairs_of(parties_of(result.pairs)), result.pairs, strict=True):
        place = one // each, other // each
        slowest[place] = max(slowest.get(place, 0.0), time_s)
    slowest |= {(column, row): time_s for (row, column), time_s in slowest.items()}
    points: list[Point] = []
    for (row, column), time_s in sorted(slowest.items()):
        figure = message_figure(result.summary.params, time_s)
        text = quantity(figure.value, figure.unit)
        points.append({"row": blocks[row], "column": blocks[column], "figure": text, "value": rounded(time_s)})
    return points


def _spec(points: list[Point], blocks: Sequence[str]) -> dict[str, Any]:
    times = [float(point["value"]) for point in points]
    span = max(max(times) / min(times), _LEAST_SPAN)
    has_figures = len(blocks) <= MAX_WITH_FIGURES
    x_axis = alt.Axis(orient="top", labelAngle=0 if has_figures else -90, labelLimit=WIDTH if has_figures else
                      _LABEL_LIMIT, ticks=False, domain=False)  # fmt: skip
    y_axis = alt.Axis(labelLimit=_LABEL_LIMIT, ticks=False, domain=False)
    base = alt.Chart(alt.InlineData(values=points)).encode(
        x=alt.X("column:O", title=None, sort=list(blocks), axis=x_axis),
        y=alt.Y("row:O", title=None, sort=list(blocks), axis=y_axis),
        tooltip=["row:N", "column:N", "figure:N"],
    )
    shade = alt.Scale(type="log" if span > LONG_SPAN else "linear", domain=[min(times), min(times) * span],
                      range=SHADES)  # fmt: skip
    layers = [base.mark_rect(color="var(--series-1)").encode(opacity=alt.Opacity("value:Q", scale=shade, legend=None))]
    if has_figures:
        layers.append(base.mark_text(fontSize=10, color="var(--ink)").encode(text="figure:N"))
        return definition(alt.layer(*layers), alt.Step(HEIGHT), alt.Step(WIDTH))
    return definition(alt.layer(*layers), alt.Step(_SQUARE), alt.Step(_SQUARE))
