"""Export Markdown: a table for an issue or a pull request."""

from __future__ import annotations

from nameplate.records.result import Report, Table
from nameplate.report.content.experiments import title_of_table
from nameplate.report.content.format import cell_text
from nameplate.report.content.result_rows import HEADINGS, sections
from nameplate.report.content.study_tables import all_tables
from nameplate.report.formats.markdown_text import bold, plain, table_rows


def export(report: Report) -> str:
    """Return Markdown: a table of the results, then the tables of probes, study and reference tools, then the notes.

    Values have four significant digits and a unit prefix. If a sweep has more than 24 experiments and its probe has
    tables, the experiments have no rows in the table of results. If the run was cut off, the first note says so. Text
    from the run is escaped, so that it cannot contain markup.
    """
    lines = [HEADINGS, ("---",) * len(HEADINGS)]
    for section in sections(report):
        lines.append((bold(section.heading), *("",) * (len(HEADINGS) - 1)))
        lines += [tuple(map(plain, row.cells)) for row in section.rows]
    tables = "\n".join([table_rows(lines), *(_probe_table(table) for table in all_tables(report))])
    cut_off = ["the run file is incomplete"] if report.truncated else []
    notes = "".join(f"\n- {plain(note)}" for note in [*cut_off, *report.notes])
    return f"{tables}{notes}\n" if notes else tables


def _probe_table(table: Table) -> str:
    ruler = ["---", *["---:"] * (len(table.headings) - 1)]
    cells = [[plain(cell_text(cell)) for cell in row] for row in table.rows]
    rows = table_rows([[plain(heading) for heading in table.headings], ruler, *cells])
    notes = "".join(f"\n{plain(note)}\n" for note in table.notes)
    return f"{bold(title_of_table(table))}\n\n{rows}{notes}"
