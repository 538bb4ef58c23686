"""Tables in a narrow terminal show every word and number, and no line is wider than the terminal."""

from __future__ import annotations

import pytest
from rich.text import Text

from nameplate.report.terminal.columns import Line, lay_out

HEADINGS = ["measured", "95 %", "reference"]
LINES = [
    Line("op=read", (Text("1.442 GB/s"), Text("±1.0 %"), Text("3.500 GB/s")), "a note of several words that must wrap"),
    Line("block=1MiB cache=direct library=pread pattern=sequential", (Text("175.3 MB/s"), Text("–"), Text("–"))),
]


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_nothing_is_truncated_and_no_line_is_too_wide(width: int) -> None:
    printed = lay_out(HEADINGS, LINES, width)
    assert max(text.cell_len for text in printed) <= width
    arguments = {word for text in printed for word in text.plain.split()}
    for line in LINES:
        expected = " ".join([line.label, line.note, *(cell.plain for cell in line.cells), *HEADINGS])
        assert set(expected.split()) <= arguments


def test_a_wide_terminal_has_one_line_per_row() -> None:
    assert [text.plain for text in lay_out(HEADINGS, [LINES[1]], 120)] == [
        " " * 60 + "  measured  95 %  reference",
        "  block=1MiB cache=direct library=pread pattern=sequential  175.3 MB/s     –          –",
    ]


def test_a_long_label_is_printed_above_its_values() -> None:
    header, label, values = lay_out(HEADINGS, [LINES[1]], 66)
    assert label.plain.strip() == LINES[1].label
    assert values.plain.split() == ["175.3", "MB/s", "–", "–"]
    assert len(header) == len(values)


def test_columns_that_do_not_fit_follow_below() -> None:
    printed = [text.plain for text in lay_out(HEADINGS, LINES[:1], 34)]
    assert [line.split() for line in printed if "measured" in line or "reference" in line] == [
        ["measured", "95", "%"],
        ["reference"],
    ]
