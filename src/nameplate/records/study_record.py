"""The tables and charts of a published study, with the values of a run next to the published ones."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from nameplate.records.node_record import NodeMetric
from nameplate.records.numbers import Real

StudyValue: TypeAlias = Real | str | None


class StudyColumn(msgspec.Struct, frozen=True):
    """A column of a study's table: its heading, and the unit of its numbers, "" for none."""

    name: str
    unit: str = ""


class StudyCell(msgspec.Struct, frozen=True):
    """One entry of a study's table, in its column's unit; None means that there is no such value.

    - ``here``: the value of this run by the study's definition
    - ``published``: the value in the published document; ``printed``: this number with the digits of the document, ""
      for text and without a number
    - ``alternative``: the value of this run by nameplate's definition if that differs from the study's;
      ``StudyTable.alternative`` names it
    - ``remarks``: conditions that differ, or the reason why ``here`` is missing
    - ``rounds``, ``seconds``: the rounds and the total length of the samples from which ``here`` is computed; both are
      None for a value that no single experiment gives
    """

    here: StudyValue = None
    published: StudyValue = None
    alternative: StudyValue = msgspec.field(default=None, name="own")
    remarks: list[str] = []
    printed: str = ""
    rounds: int | None = None
    seconds: Real | None = None


class StudyTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table as in the document of a study: ``cells[i][j]`` belongs to ``rows[i]`` and ``columns[j]``.

    ``rows`` has the names of the rows, and ``corner`` is the heading above them. ``here`` is the heading of the values
    of this run, and ``alternative`` the heading of the ``alternative`` values, "" if no cell has one. With
    ``has_ratio``, the quotient here ÷ published is shown. ``notes`` are sentences to show below the table.
    """

    title: str
    rows: list[str]
    columns: list[StudyColumn]
    cells: list[list[StudyCell]]
    corner: str = ""
    here: str = "here"
    alternative: str = msgspec.field(default="", name="own")
    has_ratio: bool = True
    notes: list[str] = []


class StudyLine(msgspec.Struct, frozen=True):
    """A line of a study's chart: points (x, y), ascending in x, in the units of the axes.

    ``is_published`` is True for published values, False for values of this run. With ``is_joined`` False the points are
    drawn without a line between them.
    """

    name: str
    points: list[tuple[Real, Real]]
    is_published: bool = False
    is_joined: bool = True


class StudyAxis(msgspec.Struct, frozen=True):
    """An axis of a study's chart.

    ``title`` includes the unit in brackets, as in ``time (µs)``. ``names`` has the labels of ticks as pairs (position,
    label), such as (8192, ``8 KiB``); if it is empty, the numbers are shown. With ``has_zero``, an x axis starts at 0;
    a y axis that is not logarithmic always does.
    """

    title: str
    is_logarithmic: bool = False
    names: list[tuple[Real, str]] = []
    has_zero: bool = False


class StudyChart(msgspec.Struct, frozen=True):
    """A chart as in the document of a study.

    ``marks`` are named positions on the x axis as pairs (position, name), such as a break point.
    """

    title: str
    x: StudyAxis
    y: StudyAxis
    lines: list[StudyLine]
    marks: list[tuple[Real, str]] = []


class Study(msgspec.Struct, frozen=True):
    """The tables and charts of a published study with the values of a run, in the document's order.

    ``maps`` are metrics of the nodes of the job, in the order of its nodes, by the study's definitions. They have no
    judgement of nodes.
    """

    tables: list[StudyTable]
    charts: list[StudyChart]
    maps: list[NodeMetric] = []
