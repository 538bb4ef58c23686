"""Translate a chart's Vega-Lite definition to gnuplot: a data file and a script.

The module knows only the parts of Vega-Lite that the report's charts use; anything else raises ValueError.

Strings are quoted so that gnuplot takes them literally: it executes text between backquotes in a double-quoted string,
and interprets markup in a single-quoted one unless told ``noenhanced``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nameplate.records.replaceable import marked
from nameplate.report.chart_files.named import NamedChart
from nameplate.report.charts.common import DOTS, Chart
from nameplate.statistics.stats import median

Spec = Mapping[str, Any]
Points = Sequence[Mapping[str, Any]]

# The page's colours by name; gnuplot chooses the colours of the lines by number.
_COLOURS = {"ink": "black", "faint": "gray60", "card": "white"}
_PALETTE = "set palette defined (0 '#ffffff', 1 '#6ea8fe')"
_FILTER = re.compile(r"datum\.(\w+) (==|!=) (?:'([^']*)'|([\d.]+))")
_VALID = re.compile(r"(!?)isValid\(datum\.(\w+)\)")
_MISSING = "NaN"
_SHAPES = (7, 5, 9, 13, 11, 15, 4, 8)  # filled shapes first, as far as gnuplot has them
_LONGEST_LEVEL_WORD = 9  # longer words would overlap
_WORDS = ("nominal", "ordinal")


def charts_as_files(charts: Sequence[NamedChart]) -> dict[str, str]:
    """Return the texts of all files by file name: NAME.dat and NAME.gp for each chart, and all.gp.

    The script all.gp loads those of all charts. NAME is the chart's ``name``; of charts with the same name, only the
    last one is kept. The scripts must run in the directory of the files. Without charts, all.gp
    loads none. Each file ends with the comment of ``marked``.

    Raises:
        ValueError: a chart uses a part of Vega-Lite that this module does not know.
    """
    files: dict[str, str] = {}
    for each in charts:
        files[f"{each.name}.dat"], files[f"{each.name}.gp"] = data_and_script(each.name, each.title, each.chart)
    files["all.gp"] = "".join(f"load {quoted(name)}\n" for name in files if name.endswith(".gp"))
    return {name: marked(text.encode(), b"# ").decode() for name, text in files.items()}


def data_and_script(name: str, title: str, chart: Chart) -> tuple[str, str]:
    """Return the text of ``name.dat``, and that of ``name.gp``, which draws ``name.svg`` in the current directory.

    ``name`` is a file name without a suffix; ``title`` is shown in the picture in place of the chart's own. To draw
    another format, set gnuplot's terminal and the variable ``ending``, the suffix of the picture, before the script is
    loaded.

    Raises:
        ValueError: the chart uses a part of Vega-Lite that this module does not know.
    """
    drawing = _Drawing(chart.spec, f"{name}.dat")
    plots = [plot for layer in drawing.layers for plot in drawing.plots(layer)]
    script = [
        f"# {_plain(title)}. {_plain(chart.caption)}",
        *(f"# To repeat the measurement: {_plain(command)}" for command in chart.commands),
        "reset",
        "if (!exists('ending')) { set terminal svg size 900,560 dynamic background 'white'; ending = 'svg' }",
        "set termoption noenhanced",
        f"set output {quoted(name + '.')}.ending",
        r'set datafile separator "\t"',
        f"set datafile missing {quoted(_MISSING)}",
        f"set title {quoted(title)}",
        "set offsets 0, 0, graph 0.05, graph 0.05",
        "set key outside top center horizontal" if any(" title " in plot for plot in plots) else "unset key",
        *drawing.settings(),
        *drawing.placed,
        "plot " + ", \\\n     ".join(plots),
        "unset output",
    ]
    return drawing.data(), "\n".join(script) + "\n"


def quoted(text: str) -> str:
    """Return text as a gnuplot string in single quotes, which gnuplot takes literally.

    Quotes are doubled. Line breaks and other characters that cannot be printed become spaces, and several spaces become
    one.
    """
    return "'" + _one_line(text).replace("'", "''") + "'"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _plain(text: str) -> str:
    """Return text for a comment, which a backslash at the end of the line would continue."""
    return _one_line(text).replace("`", "'").rstrip("\\")


@dataclass
class _Block:
    """A part of the data file; gnuplot addresses it as ``index K``."""

    words: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class _Layer:
    """A layer with the points that it draws, and their groups if it draws several."""

    mark: Spec
    encoding: Spec
    points: Points
    words: str


@dataclass
class _Drawing:
    """The axes, plots and marks of one chart.

    ``spec`` is its Vega-Lite definition and ``file`` the name of the data file. ``placed`` are the commands for marks
    that are not plots: full-height lines, bands and labels.
    """

    spec: Spec
    file: str
    placed: list[str] = field(default_factory=list)
    _blocks: dict[str, _Block] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.layers = [_layer(self.spec, layer) for layer in self.spec.get("layer", [self.spec])]
        self._axes = {name: _Axis(name, self.layers) for name in ("x", "y")}
        self._has_shades = any("opacity" in layer.encoding for layer in self.layers)
        self._named = _groups_are_named_by(self.layers)

    def settings(self) -> list[str]:
        """Return the commands for titles, scales, ranges and ticks of both axes, and for the palette."""
        shades = [_shade_settings(layer) for layer in self.layers if "opacity" in layer.encoding]
        return [line for axis in self._axes.values() for line in axis.settings()] + (shades[0] if shades else [])

    def data(self) -> str:
        """Return the text of the data file with the points of all plots made so far.

        Call ``plots`` for every layer first. Gnuplot's ``index`` counts its blocks from 0; two empty lines separate
        them.
        """
        texts = []
        for block in self._blocks.values():
            lines = [f"# {_plain(block.words)}", "# " + "\t".join(block.columns), *("\t".join(r) for r in block.rows)]
            texts.append("\n".join(lines) + "\n")
        return "\n\n".join(texts)

    def plots(self, layer: _Layer) -> Iterator[str]:
        """Yield the arguments of gnuplot's ``plot`` for a layer.

        The commands for marks that need no plot are added to ``placed`` instead.

        Raises:
            ValueError: the layer has a mark that this module does not know.
        """
        kind = layer.mark["type"]
        draw = getattr(self, f"_draw_{kind}", None)
        if draw is None:
            raise ValueError(f"mark {kind} is unknown")
        yield from draw(layer)

    def _draw_line(self, layer: _Layer) -> Iterator[str]:
        dashes = " dashtype 2" if layer.mark.get("strokeDash") else ""
        style = "steps" if layer.mark.get("interpolate") == "step-after" else "lines"
        for place, name, points in _groups(layer):
            yield self._plot(layer, name, points, ("x", "y"), f"{style} {_colour(layer, place)} linewidth 1.6{dashes}")

    def _draw_point(self, layer: _Layer) -> Iterator[str]:
        for place, name, points in _groups(layer):
            is_hollow = layer.mark.get("filled") is False
            shape = 6 if is_hollow else _SHAPES[place % len(_SHAPES)]
            size = "1.6" if is_hollow else "0.4" if layer.mark.get("color") == "var(--card)" else "0.8"
            style = f"points {_colour(layer, place)} pointtype {shape} pointsize {size}"
            yield self._plot(layer, name, points, ("x", "y"), style)

    def _draw_rule(self, layer: _Layer) -> Iterator[str]:
        encoding = layer.encoding
        if encoding.get("y", {}).get("aggregate") == "median":
            at = f"{median([point[encoding['y']['field']] for point in layer.points]):.15g}"
            self.placed.append(f"set arrow from graph 0, first {at} to graph 1, first {at} nohead dashtype 2")
        elif "y" not in encoding:
            dash = 3 if layer.mark.get("strokeDash") == DOTS else 2
            for point in layer.points:
                at = f"{float(point[encoding['x']['field']]):.15g}"
                self.placed.append(f"set arrow from first {at}, graph 0 to first {at}, graph 1 nohead dashtype {dash}")
            self._block(layer, "", layer.points)
        else:
            ends = ("x", "y", "x2", "y2")
            for place, name, points in _groups(layer):
                yield self._plot(layer, name, points, ends, f"vectors nohead {_colour(layer, place)}")

    def _draw_rect(self, layer: _Layer) -> Iterator[str]:
        if "x2" in layer.encoding:
            for point in layer.points:
                low, high = (float(point[layer.encoding[end]["field"]]) for end in ("x", "x2"))
                self.placed.append(
                    f"set object rectangle from first {low:.15g}, graph 0 to first {high:.15g}, graph 1"
                    " fillcolor 'gray60' fillstyle transparent solid 0.2 noborder behind"
                )
        elif "opacity" in layer.encoding:
            style = "boxxyerror fillcolor palette fillstyle solid noborder"
            yield self._plot(layer, "", layer.points, ("x", "y", "half", "half", "opacity"), style)
        elif layer.points:
            style = f"boxxyerror fillstyle empty {_colour(layer, 0)}"
            yield self._plot(layer, "", layer.points, ("x", "y", "half", "half"), style)

    def _draw_area(self, layer: _Layer) -> Iterator[str]:
        for place, name, points in _groups(layer):
            index, columns = self._block(layer, name, points)
            low, high = (columns.index(layer.encoding[end]["field"]) + 1 for end in ("y", "y2"))
            style = f"filledcurves {_colour(layer, place)} fillstyle transparent solid 0.16 noborder"
            yield (f"{quoted(self.file)} index {index} using {self._using(layer, columns, 'x')}:{low}:{high} "
                   f"with {style} notitle")  # fmt: skip

    def _draw_text(self, layer: _Layer) -> Iterator[str]:
        name = layer.encoding["text"]["field"]
        if "value" in layer.encoding["y"]:
            for point in layer.points:
                above = 0.3 + abs(float(layer.encoding["y"]["value"])) / 13
                at = f"{float(point[layer.encoding['x']['field']]):.15g}"
                text = quoted(str(point[name]))
                self.placed.append(f"set label {text} at first {at}, graph 1 offset 0,{above:.1f} center noenhanced")
        else:
            side = layer.mark.get("align", "center")
            yield self._plot(layer, "", layer.points, ("x", "y", "text"), f"labels {side} noenhanced")

    def _plot(self, layer: _Layer, name: str, points: Points, wanted: Sequence[str], style: str) -> str:
        place, columns = self._block(layer, name, points)
        using = ":".join(self._using(layer, columns, channel) for channel in wanted)
        title = f"title {quoted(name)}" if self._named == layer.mark["type"] and name else "notitle"
        return f"{quoted(self.file)} index {place} using {using} with {style} {title}"

    def _using(self, layer: _Layer, columns: Sequence[str], channel: str) -> str:
        if channel == "half":
            return "(0.48)"
        axis = self._axes.get(channel[0])
        if axis and channel in ("x2", "y2"):
            if channel not in layer.encoding:
                return "(0)"
            end, begin = (columns.index(layer.encoding[c]["field"]) + 1 for c in (channel, channel[0]))
            return f"(${end}-${begin})"
        heading = layer.encoding[channel]["field"]
        is_words = channel in self._axes and self._axes[channel].domain is not None
        return str(columns.index(_place_of(heading) if is_words else heading) + 1)

    def _block(self, layer: _Layer, name: str, points: Points) -> tuple[int, list[str]]:
        """Return the index of a block with these points. Each set of points is written once, even if drawn
        repeatedly.
        """
        rows_of = [axis for axis in self._axes.values() if axis.domain is not None and axis.field_in(layer)]
        fields = list(dict.fromkeys(key for point in layer.points for key in point))
        # Rows start with a number: a word could start with gnuplot's comment character.
        fields.sort(key=lambda key: any(isinstance(point.get(key), str) for point in layer.points))
        columns = [*(_place_of(axis.field_in(layer)) for axis in rows_of), *fields]
        rows = [
            [str(axis.place(point[axis.field_in(layer)])) for axis in rows_of]
            + [_cell(point.get(key)) for key in fields]
            for point in points
        ]
        words = " ".join(part for part in (layer.words, name) if part) or "all"
        block = _Block(words, columns, rows)
        key = repr((columns, rows))
        self._blocks.setdefault(key, block)
        return list(self._blocks).index(key), columns


class _Axis:
    """One axis. ``domain`` are its categories in order; None for a numeric axis."""

    def __init__(self, name: str, layers: Sequence[_Layer]) -> None:
        self.name = name
        own = [layer.encoding[name] for layer in layers if "field" in layer.encoding.get(name, {})]
        self._encoding: Spec = max(own, key=len)
        self.domain: list[Any] | None = None
        if self._encoding["type"] in _WORDS:
            present = dict.fromkeys(p[e["field"]] for layer in layers for p in layer.points
                                    if "field" in (e := layer.encoding.get(name, {})) and e["field"] in p)  # fmt: skip
            order = self._encoding.get("sort", "ascending")
            self.domain = order or list(present) if order != "ascending" else sorted(present)

    def field_in(self, layer: _Layer) -> str:
        """Return the name of the field of a layer's points that this axis shows, or "" if the layer has none."""
        return str(layer.encoding.get(self.name, {}).get("field", ""))

    def place(self, word: object) -> int:
        """Return the index of a category, from 0; raises ValueError if the axis is numeric or lacks the category."""
        return (self.domain or []).index(word)

    def settings(self) -> list[str]:
        """Return the commands for title, scale, range and ticks."""
        axis, scale = self._encoding.get("axis") or {}, self._encoding.get("scale") or {}
        title = self._encoding.get("title")
        lines = [f"set {self.name}label {quoted(str(title))}"] if title else []
        if self.domain is not None:
            return [*lines, *self._words(has_labels=self._encoding.get("axis", {}) is not None)]
        if scale.get("type") == "log":
            lines.append(f"set logscale {self.name} {scale.get('base', 10)}")
        if "domain" in scale:
            lines.append("set {}range [{:.15g}:{:.15g}]".format(self.name, *scale["domain"]))
        elif scale.get("zero"):
            lines.append(f"set {self.name}range [0:*]")
        if "values" in axis:
            names = _tick_names(axis)
            ticks = ", ".join(f"{quoted(names.get(f'{v:.15g}', f'{v:g}'))} {v:.15g}" for v in axis["values"])
            lines.append(f"set {self.name}tics ({ticks})")
        return [*lines, f"set grid {self.name}tics"]

    def _words(self, has_labels: bool) -> list[str]:
        domain = self.domain or []
        ends = (len(domain) - 0.5, -0.5) if self.name == "y" else (-0.5, len(domain) - 0.5)
        is_turned = self.name == "x" and any(len(str(word)) > _LONGEST_LEVEL_WORD for word in domain)
        turned = " rotate by -60" if is_turned else ""
        ticks = ", ".join(f"{quoted(str(word))} {place}" for place, word in enumerate(domain))
        shown = f"set {self.name}tics{turned} ({ticks})" if has_labels else f"unset {self.name}tics"
        return [f"set {self.name}range [{ends[0]}:{ends[1]}]", shown]


def _layer(spec: Spec, layer: Spec) -> _Layer:
    data = layer.get("data", spec.get("data", {}))
    points: Points = data["values"] if "values" in data else spec["datasets"][data["name"]]
    words = []
    for transform in layer.get("transform", []):
        points = [point for point in points if _passes(transform["filter"], point)]
        words.append(transform["filter"].replace("datum.", ""))
    return _Layer(layer["mark"], layer["encoding"], points, " ".join(words))


def _passes(condition: str, point: Mapping[str, Any]) -> bool:
    if match := _VALID.fullmatch(condition):
        return (point.get(match[2]) is not None) != bool(match[1])
    match = _FILTER.fullmatch(condition)
    if match is None:
        raise ValueError(f"filter {condition} is unknown")
    wanted = match[3] if match[3] is not None else float(match[4])
    return (point.get(match[1]) == wanted) == (match[2] == "==")


def _groups(layer: _Layer) -> list[tuple[int, str, Points]]:
    """Return the points of a layer by group, with the group's position on its scale; empty groups are left out."""
    name, words = _grouping(layer)
    groups = [
        (place, word, [p for p in layer.points if not name or p[name] == word]) for place, word in enumerate(words)
    ]
    return [group for group in groups if group[2]]


def _grouping(layer: _Layer) -> tuple[str, Sequence[str]]:
    """Return the field that colour or shape encodes and its values; both are empty if all points look the same."""
    encodings = [layer.encoding[c] for c in ("color", "shape") if "field" in layer.encoding.get(c, {})]
    return (encodings[0]["field"], encodings[0]["scale"]["domain"]) if encodings else ("", [""])


def _groups_are_named_by(layers: Sequence[_Layer]) -> str:
    """Return the mark that the key shows for a group, preferably points; empty for a single group."""
    marks = [layer.mark["type"] for layer in layers if len(_grouping(layer)[1]) > 1]
    return next((mark for mark in ("point", "line") if mark in marks), "")


def _shade_settings(layer: _Layer) -> list[str]:
    scale = layer.encoding["opacity"].get("scale") or {}
    low, high = scale["domain"]
    shades = [_PALETTE, f"set cbrange [{low:.15g}:{high if high > low else low + abs(low) * 1e-3 + 1e-300:.15g}]"]
    if scale.get("type") == "log":
        shades.append("set logscale cb")
    return shades


def _colour(layer: _Layer, place: int) -> str:
    colour = str(layer.mark.get("color", ""))
    match = re.fullmatch(r"var\(--(?:series-(\d)|(\w+))\)", colour)
    if match and match[2]:
        return f"linecolor rgb '{_COLOURS[match[2]]}'"
    return f"linetype {match[1] if match else place + 1}"


def _tick_names(axis: Spec) -> dict[str, str]:
    """Return the names that ``charts.tick_labels`` wrote."""
    if "labelExpr" not in axis:
        return {}
    names: dict[str, str] = json.loads(axis["labelExpr"].removesuffix("[datum.value]"))
    return names


def _place_of(name: str) -> str:
    return f"place of {name}"


def _cell(value: object) -> str:
    if isinstance(value, str):
        return '"' + _one_line(value).replace('"', "'") + '"'
    return _MISSING if value is None else f"{value:.10g}"
