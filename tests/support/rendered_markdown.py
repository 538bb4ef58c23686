"""Render Markdown, and texts that a renderer or GitHub would make something else of."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from markdown_it import MarkdownIt

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Text of a rendered page that GitHub turns into links, notifications, pictures or formulas.
REFERENCES = re.compile(
    r"@\w|#\d|\b\w+-\d+\b|\b[0-9a-fA-F]{7,40}\b|\w://|mailto:\w+@\w|\bwww\.|:[\w+-]+:|\$\w", re.IGNORECASE
)
HOSTILE = [
    "@octocat", "@org/team please", "a@b.example", "mailto:a@b.example", "#1", "owner/repo#1", "GH-1", "KEY-12", "!7",
    "$PATH$", "$x$", "a5c3785ed8d6a35868bc169f07e40e889087fd2e", "aa5c3785ed8d6a35868bc169f07e40e889087fd2e",
    "1234567", "user@a5c3785ed8d6", "https://x.example", "HTTP://x", "ftp://x", "www.x.example", "(www.x",
    "see WWW.x.example", ":tada:", "::1:", "**bold**", "*it*", "_it_", "__init__", "a_b_", "~~no~~", "`code`", "``",
    "```", "~~~", "<b>", "<!--", "&lt;", "&#64;octocat", r"\@octocat", "\\\\", "a\\", "a|b", r"a\|b", "[a](b)",
    "![a](b)", "[^1]", "[a]: b", "# h", "## h", "#", "- a", "+ a", "* a", "-", "---", "- - -", "***", "===", "1. a",
    "12) a", "1.", "> a", "/close", "    indented", "\ta", "a\n\n# b", "a\r\nb", "a\u2028b", "a  b ", " ", "",
    "- [ ] a", ": a", ":---", "--- | ---", "{{ a }}", "a_b-c.d=e+f,g;h",
]  # fmt: skip


class OutputKind(HTMLParser):
    """The text of a rendered page, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.tags = "", list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered_markdown(source: str) -> OutputKind:
    """Return the page of Markdown, which has no references, with single spaces and without spaces of no width."""
    page = OutputKind(RENDERER.render(source))
    assert not REFERENCES.search(page.text), page.text
    page.text = " ".join(page.text.replace("\u200b", "").split())
    return page
