"""Draw all pairs of a job's nodes or ranks as a matrix: a slow node shows as a dark row and column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from nameplate.probes.shared.job import party_names
from nameplate.probes.shared.pair_matrix import message_metric, message_metric_name, pairs_of, parties_of
from nameplate.records.machine_record import Machine
from nameplate.records.result import Result
from nameplate.report.charts.common import Chart, Point, chart_of, definition, rounded
from nameplate.report.charts.heatmap import HEIGHT, LONG_SPAN, SHADES, WIDTH
from nameplate.report.content.format import parameters, quantity
from nameplate.report.content.repeat_commands import repeat_command

# Of more parties, neighbours share a row and a column.
MAX_ROWS = 48
# Up to this many rows, cells have room for a value; cells of larger maps are squares of this many pixels.
MAX_WITH_VALUES = 8
_SQUARE = 14
# The colour scale spans at least this factor, so that noise alone does not look like a slow node.
_MIN_SPAN = 2.0
_LABEL_LIMIT = 110
_MEANING = (
    "Each cell is a pair that exchanged messages. An evenly pale map is healthy. A strong row and column with the "
    "same name is one slow node: its network card, its cable or its processor. A single strong cell is a slow link "
    "between two nodes. Strong squares off the diagonal are groups that communicate across a slower switch."
)


def pair_maps(results: Sequence[Result], machine: Machine | None) -> list[Chart]:
    """Return a map of the message times for each experiment that measured all pairs of a job's nodes or ranks.

    ``results`` are the first results of a probe's experiments; those without ``pairs`` are left out. ``machine`` gives
    the names of the nodes; if it is None or its job has another number of nodes or ranks, the names are indices from 0.
    Of more than ``MAX_ROWS`` nodes or ranks, neighbours share a row, which shows the slowest of their pairs.

    Raises:
        KeyError: a result with pairs lacks the parameter ``between`` ("nodes" or "ranks") or ``size`` (in bytes).
    """
    return [_pair_map(result, machine) for result in results if result.pairs]


def _pair_map(result: Result, machine: Machine | None) -> Chart:
    params = result.summary.params
    parties = parties_of(result.pairs)
    blocks = _blocks(party_names(machine, str(params["between"]), parties))
    each = math.ceil(parties / len(blocks))
    columns = (("row", "one"), ("column", "the other"), ("shown", message_metric_name(params)))
    caption = "A stronger colour means a longer message time."
    if each > 1:
        caption += f" Each row and column stands for up to {each} parties; the slowest of their pairs is shown."
    spec = _spec(_points(result, blocks, each), blocks)
    spec["description"] = f"{message_metric_name(params)} between all pairs"
    title = f"{message_metric_name(params)} {parameters(params)}"
    return Chart(title, _MEANING, caption, spec, columns, (repeat_command(result),))


def _blocks(names: Sequence[str]) -> list[str]:
    """Return the names of the rows; a row of several parties has the name of the first and the number of the others."""
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
        metric_value = message_metric(result.summary.params, time_s)
        text = quantity(metric_value.value, metric_value.unit)
        points.append({"row": blocks[row], "column": blocks[column], "shown": text, "value": rounded(time_s)})
    return points


def _spec(points: list[Point], blocks: Sequence[str]) -> dict[str, Any]:
    times = [float(point["value"]) for point in points]
    span = max(max(times) / min(times), _MIN_SPAN)
    has_values = len(blocks) <= MAX_WITH_VALUES
    x_axis = alt.Axis(orient="top", labelAngle=0 if has_values else -90, labelLimit=WIDTH if has_values else
                      _LABEL_LIMIT, ticks=False, domain=False)  # fmt: skip
    y_axis = alt.Axis(labelLimit=_LABEL_LIMIT, ticks=False, domain=False)
    base = chart_of(points).encode(
        x=alt.X("column:O", title=None, sort=list(blocks), axis=x_axis),
        y=alt.Y("row:O", title=None, sort=list(blocks), axis=y_axis),
        tooltip=[alt.Tooltip("row:N"), alt.Tooltip("column:N"), alt.Tooltip("shown:N", title="value")],
    )
    shade = alt.Scale(type="log" if span > LONG_SPAN else "linear", domain=[min(times), min(times) * span],
                      range=SHADES)  # fmt: skip
    layers = [base.mark_rect(color="var(--series-1)").encode(opacity=alt.Opacity("value:Q", scale=shade, legend=None))]
    if has_values:
        layers.append(base.mark_text(fontSize=10, color="var(--ink)").encode(text=alt.Text("shown:N")))
        return definition(alt.layer(*layers), alt.Step(HEIGHT), alt.Step(WIDTH))
    return definition(alt.layer(*layers), alt.Step(_SQUARE), alt.Step(_SQUARE))
