"""Markdown: a table for an issue or a pull request."""

from __future__ import annotations

from nameplate.model import Report
from nameplate.report.text import HEADINGS, sections


def export(report: Report) -> str:
    """The table of ``nameplate show``, its notes as a list below it."""
    lines = [HEADINGS, ("---",) * len(HEADINGS)]
    for section in sections(report):
        lines.append((f"**{section.heading}**", *("",) * (len(HEADINGS) - 1)))
        lines += [row.cells for row in section.rows]
    table = "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)
    cut_off = ["the run was cut off before its end"] if report.truncated else []
    notes = "".join(f"\n- {note}" for note in [*cut_off, *report.notes])
    return f"{table}\n{notes}\n" if notes else f"{table}\n"
