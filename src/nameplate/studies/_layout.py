"""Build tables and charts of a study's quantities from the fields of rows, columns, lines and points.

Fields identify a published value (``StudyQuantity``). A ``Named`` maps headings, or names of lines, to fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from nameplate.records.study_record import StudyAxis, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.studies._measured import is_over_loopback
from nameplate.studies._quantity import Fields, StudyQuantity, names_of_blocks, names_of_threads
from nameplate.studies.published import Printed

Named = Mapping[str, Fields]


def by_threads(counts: Sequence[int], noun: str = "thread") -> dict[str, Fields]:
    """Return headings and fields for some numbers of threads, in their order: {"1 thread": {"threads": 1}}.

    ``noun`` replaces "thread" in the headings; it is a singular.
    """
    return {
        name: {"threads": count} for name, count in zip(names_of_threads(counts, noun), counts, strict=True)
    }  # fmt: skip


def by_block(blocks: Sequence[int]) -> dict[str, Fields]:
    """Return headings and fields for some block sizes in bytes, in their order: {"8 KiB": {"block_bytes": 8192}}."""
    return {name: {"block_bytes": block} for name, block in zip(names_of_blocks(blocks), blocks, strict=True)}


def crossed(first: Named, second: Named) -> dict[str, Fields]:
    """Return headings and fields for all pairs of an entry of ``first`` and an entry of ``second``.

    A heading is, for example, "read 8 KiB". The pairs are ordered by ``first``, then by ``second``. If both entries
    have the same field, the value of ``second`` is used.
    """
    return {f"{one} {two}": {**first[one], **second[two]} for one in first for two in second}


def with_fields(named: Named, fields: Fields) -> dict[str, Fields]:
    """Return the entries of ``named``, each with the additional ``fields``, which replace fields of the same name."""
    return {name: {**fields_of_name, **fields} for name, fields_of_name in named.items()}


def matrix(
    title: str, quantity: StudyQuantity, rows: Named, columns: Named, notes: Sequence[str] = ()
) -> StudyTable:  # fmt: skip
    """Return a table of one quantity, with the run's value and the published value in each cell.

    ``rows`` and ``columns`` map the heading of each row and column to its fields. A cell has the fields of its row and
    its column; if both have the same field, the value of the column is used. A field that the quantity needs and both
    lack raises KeyError. ``notes`` are sentences that are shown under the table.
    """
    return StudyTable(
        title=title, rows=list(rows), columns=[StudyColumn(name, quantity.unit) for name in columns],
        cells=[[quantity.cell({**row, **column}) for column in columns.values()] for row in rows.values()],
        alternative=quantity.alternative_name, notes=list(notes),
    )  # fmt: skip


def along_threads(title: str, quantity: StudyQuantity, lines: Named, counts: Sequence[int]) -> StudyChart:
    """Return a chart of a quantity against the number of threads.

    ``counts`` are the numbers of threads on the x axis. ``lines`` maps the name of each line to its other fields. Each
    line is drawn twice: from the run, and from the published values. A value that is missing, is not a number or is not
    above 0 gives no point, so that its line has a gap, and a line without points is left out. The y axis is logarithmic
    if the values span more than a factor of 10.
    """
    axis = StudyAxis("threads", names=[(float(count), str(count)) for count in counts])
    return _chart(title, quantity, lines, axis, [(float(count), {"threads": count}) for count in counts])


def along_blocks(title: str, quantity: StudyQuantity, lines: Named, blocks: Sequence[int]) -> StudyChart:
    """Return a chart of a quantity against the block size in bytes, on a logarithmic axis.

    ``blocks`` are the block sizes on the x axis. ``lines`` maps the name of each line to its other fields. Each line is
    drawn twice: from the run, and from the published values. A value that is missing, is not a number or is not above 0
    gives no point, so that its line has a gap, and a line without points is left out. The y axis is logarithmic if the
    values span more than a factor of 10.
    """
    names = zip(map(float, blocks), names_of_blocks(blocks), strict=True)
    axis = StudyAxis("block size", is_logarithmic=True, names=list(names))
    return _chart(title, quantity, lines, axis, [(float(block), {"block_bytes": block}) for block in blocks])


def _chart(
    title: str, quantity: StudyQuantity, lines: Named, x: StudyAxis, places: Sequence[tuple[float, Fields]]
) -> StudyChart:
    """Return a chart with the run's and the published values of each line, one line for each part without a gap.

    ``places`` has each position along x with its fields. The y axis is logarithmic if the values span more than a
    factor of 10.
    """
    drawn = []
    for name, fields in lines.items():
        params_of_points = [{**fields, **position} for _, position in places]
        printed = [p.value if isinstance(p, Printed) else None for p in map(quantity.printed, params_of_points)]
        for values, is_published in ((map(quantity.here, params_of_points), False), (printed, True)):
            points = zip((at for at, _ in places), values, strict=True)
            for is_known, segment in groupby(points, key=lambda point: point[1] is not None and point[1] > 0):
                drawn += [StudyLine(name, [(at, value or 0.0) for at, value in segment], is_published)] * is_known
    is_local = any(is_over_loopback(quantity.result({**fields, **position})) for fields in lines.values()
                   for _, position in places)  # fmt: skip
    heights = [y for line in drawn for _, y in line.points]
    is_long = bool(heights) and max(heights) > 10 * min(heights)
    title = f"{title}, here over loopback" if is_local else title
    return StudyChart(title, x, StudyAxis(f"{quantity.name} ({quantity.unit})", is_long), drawn)
