"""Text in Markdown: a renderer shows each character, and nothing becomes markup or a reference."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nameplate.records.result import Quantity, Table
from nameplate.report.exports import markdown
from nameplate.report.formats.markdown_text import bold, plain, table_rows
from rendered_markdown import HOSTILE, rendered_markdown
from report_samples import report, scaling_results


def is_literal(text: str) -> None:
    literal = " ".join(text.split())
    tags = {"p"} if literal else set[str]()
    for source, tags_of_source in (
        (plain(text), tags),
        (bold(text), tags and {"p", "strong"}),
        (f"- {plain(text)}", {"li"}),
    ):
        page = rendered_markdown(source)
        assert page.text == literal
        assert set(page.tags) - {"ul"} == tags_of_source
    table = rendered_markdown(table_rows([("h", "i"), ("---", "---"), (plain(text), bold(text))]))
    assert table.text == " ".join(f"h i {literal} {literal}".split())
    assert table.tags.count("td") == 2


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_shown_literally(text: str) -> None:
    is_literal(text)


@given(st.text("@#ab1G_*`<>&|\\[]()!~$:/.-+=w; \n", max_size=24))
@example("www:www.a")
def test_any_text_is_shown_literally(text: str) -> None:
    is_literal(text)


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
def test_nothing_in_an_export_becomes_markup(text: str) -> None:
    table = Table(text, text, [text, text], [[text, Quantity(5e9, text)], [None, text]], [text])
    results = [
        msgspec.structs.replace(result, summary=msgspec.structs.replace(result.summary, probe=text, reason=text))
        for result in scaling_results()
    ]
    page = rendered_markdown(
        markdown.export(msgspec.structs.replace(report(results), tables=[table], notes=[text, text]))
    )
    assert set(page.tags) <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert page.tags.count("table") == 2
    assert page.tags.count("li") == 2
