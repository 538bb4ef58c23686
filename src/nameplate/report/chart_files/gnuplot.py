"""Write charts for gnuplot: a data file and a script for each chart.

Strings are quoted so that gnuplot takes them literally: gnuplot executes text between backquotes in a double-quoted
string, and interprets markup in a single-quoted string without ``noenhanced``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nameplate.records.replaceable import marked
from nameplate.report.chart_files.named import NamedChart
from nameplate.report.charts.common import Chart
from nameplate.report.charts.plot import Axis, Kind, Marks, Plot, Rows

# The columns and the style for each kind of marks; {0}, {1}, {2} are the columns of ``Marks.fields``.
_PLOTTED: Mapping[Kind, str] = {
    "line": "{0}:{1} with lines {colour} linewidth 1.6",
    "dashed line": "{0}:{1} with lines {colour} linewidth 1.6 dashtype 2",
    "steps": "{0}:{1} with steps {colour} linewidth 1.6",
    "points": "{0}:{1} with points {colour} pointtype {shape} pointsize 0.8",
    "rings": "{0}:{1} with points {colour} pointtype 6 pointsize 1.6",
    "dots": "{0}:{1} with points linecolor rgb 'white' pointtype {shape} pointsize 0.4",
    "intervals": "{0}:{1}:(0):(${2}-${1}) with vectors nohead {colour}",
    "stretches": "{0}:{1}:(${2}-${0}):(0) with vectors nohead {colour}",
    "band": "{0}:{1}:{2} with filledcurves {colour} fillstyle transparent solid 0.16 noborder",
    "cells": "{0}:{1}:(0.48):(0.48):{2} with boxxyerror fillcolor palette fillstyle solid noborder",
    "frames": "{0}:{1}:(0.48):(0.48) with boxxyerror fillstyle empty {colour}",
    "text": "{0}:{1}:{2} with labels center noenhanced",
    "text above": "{0}:{1}:{2} with labels center offset 0,0.6 noenhanced",
    "text below": "{0}:{1}:{2} with labels center offset 0,-0.6 noenhanced",
    "text on the left": "{0}:{1}:{2} with labels right noenhanced",
    "text on the right": "{0}:{1}:{2} with labels left noenhanced",
}
# The command for one row of each other kind; {0}, {1} are the values of ``Marks.fields``, with text quoted.
_PLACED: Mapping[Kind, str] = {
    "rules": "set arrow from first {0}, graph 0 to first {0}, graph 1 nohead dashtype 2",
    "dotted rules": "set arrow from first {0}, graph 0 to first {0}, graph 1 nohead dashtype 3",
    "level": "set arrow from graph 0, first {0} to graph 1, first {0} nohead dashtype 2",
    "headings": "set label {1} at first {0}, graph 1 offset 0,{lift:.1f} center noenhanced",
    "spans": "set object rectangle from first {0}, graph 0 to first {1}, graph 1"
    " fillcolor 'gray60' fillstyle transparent solid 0.2 noborder behind",
}
_KINDS_IN_KEY = ("points", "rings", "line", "dashed line", "steps")  # the first of these kinds that a line has
_COLOURS = {"ink": "linecolor rgb 'black'", "series-3": "linetype 3"}
_PALETTE = "set palette defined (0 '#ffffff', 1 '#6ea8fe')"
_MISSING = "NaN"
_SHAPES = (7, 5, 9, 13, 11, 15, 4, 8)  # filled shapes first
_LINE_OF_TEXT = 13  # pixels
_MAX_LEVEL_LABEL = 9  # longer ones would overlap


def charts_as_files(charts: Sequence[NamedChart]) -> dict[str, str]:
    """Return the content of all files by file name: NAME.dat and NAME.gp for each chart, and all.gp.

    NAME is the chart's ``name``; of charts with the same name, only the last one is kept. The script all.gp loads the
    scripts of all charts. Run gnuplot in the directory of the files. Each file ends with a comment that has its
    checksum (``marked``).
    """
    files: dict[str, str] = {}
    for named in charts:
        files[f"{named.name}.dat"], files[f"{named.name}.gp"] = data_and_script(named.name, named.title, named.chart)
    files["all.gp"] = "".join(f"load {quoted(name)}\n" for name in files if name.endswith(".gp"))
    return {name: marked(text.encode(), b"# ").decode() for name, text in files.items()}


def data_and_script(name: str, title: str, chart: Chart) -> tuple[str, str]:
    """Return the contents of the data file ``name``.dat and of the script ``name``.gp of a chart.

    The script draws ``name``.svg in the current directory. ``name`` is a file name without suffix. ``title`` is drawn
    in place of ``chart.title``. To draw another format, set gnuplot's terminal and the script's variable ``ending``,
    the suffix of the picture without the dot, before you load the script.
    """
    plot = chart.plot
    data: list[str] = []
    plotted = [argument for marks in plot.marks for argument in _plotted(plot, marks, quoted(f"{name}.dat"), data)]
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
        "set key outside top center horizontal" if _has_key(plot) else "unset key",
        *_axis("x", plot.x),
        *_axis("y", plot.y),
        *_shade(plot.shade),
        *(command for marks in plot.marks if marks.kind in _PLACED for command in _placed(marks)),
        "plot " + ", \\\n     ".join(plotted),
        "unset output",
    ]
    return "\n\n".join(data), "\n".join(script) + "\n"


def quoted(text: str) -> str:
    """Return text as a gnuplot string in single quotes, which gnuplot takes literally.

    Quotes within it are doubled. Line breaks and other unprintable characters become spaces, and successive spaces
    become one.
    """
    return "'" + _one_line(text).replace("'", "''") + "'"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _plain(text: str) -> str:
    """Return text for a comment line. A backslash at its end is removed, because it would continue the comment."""
    return _one_line(text).replace("`", "'").rstrip("\\")


def _plotted(plot: Plot, marks: Marks, file: str, data: list[str]) -> Iterator[str]:
    """Yield the arguments of gnuplot's ``plot`` for marks, one per line of the chart.

    The data blocks that the arguments refer to are appended to ``data`` if they are missing.
    """
    for index, line in enumerate(plot.lines if marks.by else [""]):
        rows = [row for row in marks.rows_with_marks if not marks.by or row[marks.by] == line]
        if not rows:
            continue
        block, columns = _block(plot, marks, line or "all", rows)
        if block not in data:
            data.append(block)
        if marks.kind in _PLOTTED:
            colour = _COLOURS.get(marks.colour, f"linetype {index + 1}")
            shape = _SHAPES[index % len(_SHAPES)]
            style = _PLOTTED[marks.kind].format(*columns, colour=colour, shape=shape)
            has_title = _has_key(plot) and marks is _in_key(plot, line, marks.suffix)
            title = f"title {quoted(line + marks.suffix)}" if has_title else "notitle"
            yield f"{file} index {data.index(block)} using {style} {title}"


def _has_key(plot: Plot) -> bool:
    return len(plot.lines) > 1 or len({marks.suffix for marks in plot.marks if marks.by}) > 1


def _in_key(plot: Plot, line: str, suffix: str) -> Marks | None:
    """Return the marks that represent a line in the legend, or None if the line has no suitable marks."""
    marks_of_line = {marks.kind: marks for marks in plot.marks
                     if marks.by and marks.suffix == suffix
                     and any(row[marks.by] == line for row in marks.rows_with_marks)}  # fmt: skip
    return next((marks_of_line[kind] for kind in _KINDS_IN_KEY if kind in marks_of_line), None)


def _block(plot: Plot, marks: Marks, heading: str, rows: Rows) -> tuple[str, list[int]]:
    """Return a block of the data file, which gnuplot addresses by its index, and the columns (from 1) of the fields.

    A field along an axis of categories has an additional column with the index of the category.
    """
    orders = {
        name: list(axis.categories) for name, axis in zip(marks.fields, (plot.x, plot.y), strict=False)
        if axis.categories
    }  # fmt: skip
    fields = list(dict.fromkeys(name for row in rows for name in row))
    # Rows start with a number: a word could start with gnuplot's comment character.
    fields.sort(key=lambda name: any(isinstance(row.get(name), str) for row in rows))
    headings = [*(f"index of {name}" for name in orders), *fields]
    lines = [f"# {_plain(heading)}", "# " + "\t".join(headings)]
    for previous, row in zip([None, *rows], rows, strict=False):
        # gnuplot does not join points across an empty line.
        lines += [""] if previous is not None and previous.get("segment") != row.get("segment") else []
        indices = [str(order.index(row[name])) for name, order in orders.items()]
        lines.append("\t".join([*indices, *(_cell(row.get(name)) for name in fields)]))
    columns = [headings.index(f"index of {name}" if name in orders else name) + 1 for name in marks.fields]
    return "\n".join(lines) + "\n", columns


def _cell(value: str | float | None) -> str:
    if isinstance(value, str):
        return '"' + _one_line(value).replace('"', "'") + '"'
    return _MISSING if value is None else f"{value:.15g}"


def _placed(marks: Marks) -> Iterator[str]:
    for row in marks.rows_with_marks:
        values = [quoted(cell) if isinstance(cell := row[name], str) else f"{cell:.15g}" for name in marks.fields]
        yield _PLACED[marks.kind].format(*values, lift=0.5 + float(row.get("lift", 0)) / _LINE_OF_TEXT)


def _axis(name: str, axis: Axis) -> Iterator[str]:
    """Yield the commands that set the title, scale, range and ticks of the axis ``name``, "x" or "y"."""
    if axis.title:
        yield f"set {name}label {quoted(axis.title)}"
    if axis.categories:
        ends = (-0.5, len(axis.categories) - 0.5)
        yield "set {}range [{}:{}]".format(name, *(ends if name == "x" else reversed(ends)))
        is_turned = name == "x" and any(len(str(category)) > _MAX_LEVEL_LABEL for category in axis.categories)
        turned = " rotate by -60" if is_turned else ""
        ticks = ", ".join(f"{quoted(str(category))} {index}" for index, category in enumerate(axis.categories))
        yield f"set {name}tics{turned} ({ticks})" if axis.has_labels else f"unset {name}tics"
        return
    if axis.base:
        yield f"set logscale {name} {axis.base}"
    if axis.ends:
        yield "set {}range [{:.15g}:{:.15g}]".format(name, *axis.ends)
    elif axis.has_zero:
        yield f"set {name}range [0:*]"
    if names := axis.names or {number: f"{number:g}" for number in axis.numbers}:
        yield f"set {name}tics (" + ", ".join(f"{quoted(text)} {number:.15g}" for number, text in names.items()) + ")"
    yield f"set grid {name}tics"


def _shade(shade: Axis) -> Iterator[str]:
    if shade.ends:
        low, high = shade.ends
        yield _PALETTE
        yield f"set cbrange [{low:.15g}:{high if high != low else low + abs(low) * 1e-3 + 1e-300:.15g}]"
        if shade.base:
            yield "set logscale cb"
