"""Export Markdown: a table for an issue or a pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nameplate.records.result import Report, Table
from nameplate.report.experiments import title_of_table
from nameplate.report.format import cell_text
from nameplate.report.study_tables import all_tables
from nameplate.report.terminal.run import HEADINGS, sections

# Characters that start HTML, an entity, a link, code or a table cell. Underscores within words are safe.
_SPECIAL = re.compile(r"[&<>|`\[\]]")


def export(report: Report) -> str:
    """Return Markdown with the results, then the tables of probes, study and reference tools, then the notes.

    The values are formatted as in the terminal. As there, the rows of a large sweep whose probe has tables are left
    out. Text from the run is escaped, so that it cannot contain markup.
    """
    lines = [HEADINGS, ("---",) * len(HEADINGS)]
    for section in sections(report):
        lines.append((f"**{_plain(section.heading)}**", *("",) * (len(HEADINGS) - 1)))
        lines += [tuple(map(_plain, row.cells)) for row in section.rows]
    tables = "\n".join([_rows(lines), *(_probe_table(table) for table in all_tables(report))])
    cut_off = ["the run file ends before the run did"] if report.truncated else []
    notes = "".join(f"\n- {_plain(note)}" for note in [*cut_off, *report.notes])
    return f"{tables}{notes}\n" if notes else tables


def _rows(lines: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _plain(text: str) -> str:
    """Return text that Markdown shows literally, on one line. Names come from files, and some viewers run HTML."""
    return " ".join(_SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text).split("\n"))


def _probe_table(table: Table) -> str:
    ruler = ["---", *["---:"] * (len(table.headings) - 1)]
    cells = [[_plain(cell_text(cell)) for cell in row] for row in table.rows]
    rows = _rows([[_plain(heading) for heading in table.headings], ruler, *cells])
    notes = "".join(f"\n{_plain(note)}\n" for note in table.notes)
    return f"**{_plain(title_of_table(table))}**\n\n{rows}{notes}"
