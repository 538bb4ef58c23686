"""Tables and charts of a study's quantities, by the fields along their rows, columns, lines and x axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.records.study_record import StudyAxis, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.results.studies._quantity import Fields, StudyQuantity, names_of_blocks, names_of_threads

Named = Mapping[str, Fields]


def by_threads(counts: Sequence[int], noun: str = "thread") -> dict[str, Fields]:
    """Return the field "threads" for each number of threads, by its name: {"1 thread": {"threads": 1}}.

    The order is that of ``counts``. ``noun`` is the singular of what is counted.
    """
    return {
        name: {"threads": count} for name, count in zip(names_of_threads(counts, noun), counts, strict=True)
    }  # fmt: skip


def by_block(blocks: Sequence[int]) -> dict[str, Fields]:
    """Return the field "block_bytes" for each block size in bytes, by its name: {"8 KiB": {"block_bytes": 8192}}.

    The order is that of ``blocks``.
    """
    return {name: {"block_bytes": block} for name, block in zip(names_of_blocks(blocks), blocks, strict=True)}


def crossed(first: Named, second: Named) -> dict[str, Fields]:
    """Return the fields of every pair of an entry of ``first`` and one of ``second``, named like "read 8 KiB".

    All pairs with the first entry of ``first`` come first. If both have the same field, that of ``second`` counts.
    """
    return {f"{one} {two}": {**first[one], **second[two]} for one in first for two in second}


def each_with(named: Named, fields: Fields) -> dict[str, Fields]:
    """Return the entries of ``named`` with further fields, which replace own fields of the same key."""
    return {name: {**own, **fields} for name, own in named.items()}


def matrix(
    title: str, quantity: StudyQuantity, rows: Named, columns: Named, notes: Sequence[str] = ()
) -> StudyTable:  # fmt: skip
    """Return a table of one quantity, with the run's value and the published one in each cell.

    ``rows`` and ``columns`` have the fields of each row and column by its heading. A cell has the fields of both; if
    both have the same field, that of the column counts. A field that the quantity needs and both lack raises KeyError.
    ``notes`` are sentences for the reader, shown under the table.
    """
    return StudyTable(
        title=title, rows=list(rows), columns=[StudyColumn(name, quantity.unit) for name in columns],
        cells=[[quantity.cell({**row, **column}) for column in columns.values()] for row in rows.values()],
        own=quantity.own_name, notes=list(notes),
    )  # fmt: skip


def along_threads(title: str, quantity: StudyQuantity, lines: Named, counts: Sequence[int]) -> StudyChart:
    """Return a chart of a quantity against the number of threads.

    ``lines`` has the fields of each line by its name; the numbers of threads on the x axis are ``counts``. Each line is
    drawn once from the run and once as published. Points without a number above 0 are left out, and so is a line
    without points. The y axis is logarithmic if the values span more than a power of ten.
    """
    axis = StudyAxis("threads", names=[(float(count), str(count)) for count in counts])
    return _chart(title, quantity, lines, axis, [(float(count), {"threads": count}) for count in counts])


def along_blocks(title: str, quantity: StudyQuantity, lines: Named, blocks: Sequence[int]) -> StudyChart:
    """Return a chart of a quantity against the block size in bytes, on a logarithmic axis.

    ``lines`` has the fields of each line by its name; the block sizes on the x axis are ``blocks``. Each line is drawn
    once from the run and once as published. Points without a number above 0 are left out, and so is a line without
    points. The y axis is logarithmic if the values span more than a power of ten.
    """
    names = zip(map(float, blocks), names_of_blocks(blocks), strict=True)
    axis = StudyAxis("block size", is_logarithmic=True, names=list(names))
    return _chart(title, quantity, lines, axis, [(float(block), {"block_bytes": block}) for block in blocks])


def _chart(
    title: str, quantity: StudyQuantity, lines: Named, x: StudyAxis, places: Sequence[tuple[float, Fields]]
) -> StudyChart:
    """Return, for each of ``lines``, the run's values and the published ones at ``places`` along x.

    The y axis is logarithmic where the values span more than a power of ten.
    """
    drawn = []
    for name, fields in lines.items():
        own = [{**fields, **place} for _, place in places]
        for values, is_published in ((map(quantity.here, own), False), (map(quantity.printed, own), True)):
            found = zip((at for at, _ in places), values, strict=True)
            points = [(at, value) for at, value in found if isinstance(value, float) and value > 0]
            drawn += [StudyLine(name, points, is_published)] if points else []
    heights = [y for line in drawn for _, y in line.points]
    is_long = bool(heights) and max(heights) > 10 * min(heights)
    return StudyChart(title, x, StudyAxis(f"{quantity.name} ({quantity.unit})", is_long), drawn)
