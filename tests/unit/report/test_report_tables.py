"""The tables of a probe in exports."""

from __future__ import annotations

import msgspec

from nameplate.records.result import Quantity, Table
from nameplate.report.exports import markdown
from nameplate.report.html.tables import TableEntry, html_table
from report_samples import report, scaling_results

TABLE = Table(
    "memory_stream", "By block", ["block | size", "bandwidth", "function"],
    [["4KiB", Quantity(5e9, "B/s", (4.9e9, 5.2e9)), "Copy:"], ["8KiB", Quantity(6e9, "B/s"), None]],
    ["the first sample is left out"],
)  # fmt: skip


def test_cells_have_the_text_of_the_terminal_and_their_intervals() -> None:
    assert html_table(TABLE).rows == [
        [TableEntry("4KiB", ""), TableEntry("5.000 GB/s", "4.900 to 5.200 GB/s"), TableEntry("Copy:", "")],
        [TableEntry("8KiB", ""), TableEntry("6.000 GB/s", ""), TableEntry("–", "")],
    ]


def test_markdown_has_the_tables_between_the_values_and_the_notes() -> None:
    text = markdown.export(msgspec.structs.replace(report(scaling_results(), notes=["a note"]), tables=[TABLE]))
    tables = (
        "\n**Memory bandwidth: By block**\n"
        "\n| block &#124; size | bandwidth | function |\n| --- | ---: | ---: |\n"
        "| 4KiB | 5.000 GB/s | Copy: |\n| 8KiB | 6.000 GB/s | – |\n"
        "\nthe first sample is left out\n"
        "\n- a note\n"
    )
    assert text.endswith(tables)
    assert text.startswith("|  | typical |")


def test_markdown_without_tables_has_the_values_only() -> None:
    text = markdown.export(report(scaling_results()))
    assert all(line.startswith("| ") for line in text.splitlines())
