"""Check that the prose keeps to one vocabulary and that unidiomatic phrases do not come back.

README.md and docs/ are checked as a whole, without code and quoted output. In Python files the docstrings and string
literals are checked; ``SOURCES`` lists the modules that pass so far.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Files and folders below the root whose strings are checked too. Add modules that pass.
SOURCES = [
    "docs/generate", "src/nameplate/__main__.py", "src/nameplate/command_line.py", "src/nameplate/commands",
    "src/nameplate/control_characters.py", "src/nameplate/errors.py", "src/nameplate/execution",
    "src/nameplate/hostlist.py", "src/nameplate/interruption.py", "src/nameplate/records", "src/nameplate/results",
    "src/nameplate/streams.py", "src/nameplate/units.py", "tests/docs",
]  # fmt: skip

# Phrases to avoid, and what to write instead.
PHRASES = {
    r"what (?:a|the|all|it|this|\w+ it) \w*\s?comes? to": "the run's summary",
    r"\b(?:is|are|was|were) told by\b": "is located from, is computed from",
    r"\bso many\b": "the number",
    r"\bthose that are\b": "name the thing",
    r"\bsuch as are\b": "name the thing",
    r"\bst(?:and|ands|anding|ood) beside\b": "is shown next to",
    r"\blies? over (?:its|the) ceiling\b": "above its ceiling",
    r"\bof no account\b": "ignored",
    r"\b(?:for|in|by) want of\b": "out of, without",
    r"\b(?:is|are) turned away\b": "is rejected",
    r"\bby itself\b": "alone",
    r"\bby themselves\b": "alone",
    r"\bfor whomever\b": "for any process",
    r"\bin turns\b": "alternately",
    r"\bduels?\b": "paired comparison",
    r"(?<!published )\bfigures?\b": "metric value, or chart",
    r"\bheadline\b": "main value",
    r"\bFEWEST_\w+|\bMOST_[A-Z]\w+|\bkMost\w+": "MIN_X, MAX_X, kMax",
    r"\bon paper\b": "nominal",
}
# Words with which a docstring must not begin.
FRAGMENTS = re.compile(r"(?:Of|By|What|Whatever|In an order)\s")

_CODE = re.compile(r"^```.*?^```|`[^`]*`|<!--.*?-->|\]\([^)]*\)", re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    """Return the text of a page without code and link targets, with single spaces."""
    return " ".join(_CODE.sub(" ", page.read_text()).split())


def strings(source: Path) -> Iterator[str]:
    """Yield the docstrings and string literals of a Python file; an f-string is yielded in parts."""
    for node in ast.walk(ast.parse(source.read_text())):
        # A single word is an identifier of the program, not prose.
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield " ".join(node.value.split())


def docstrings(source: Path) -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield text


def found(text: str) -> list[str]:
    """Return the phrases found in a text, with what to write instead."""
    hits = ((match, instead) for pattern, instead in PHRASES.items() for match in re.finditer(pattern, text))
    return [f"…{text[max(0, hit.start() - 30) : hit.end() + 30]}…: write {instead}" for hit, instead in hits]


def sources() -> list[Path]:
    return [
        path
        for name in SOURCES
        for path in ([ROOT / name] if name.endswith(".py") else sorted((ROOT / name).rglob("*.py")))
        if path != Path(__file__)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_no_forbidden_phrase(page: Path) -> None:
    assert found(prose(page)) == []


@pytest.mark.parametrize("source", sources(), ids=lambda source: str(source.relative_to(ROOT)))
def test_the_strings_of_a_source_have_no_forbidden_phrase(source: Path) -> None:
    assert [hit for text in strings(source) for hit in found(text)] == []
    assert [text for text in docstrings(source) if FRAGMENTS.match(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "what a run comes to", "its end is told by the best samples", "so many of them", "it stands beside its ceiling",
        "what lies over its ceiling", "a line of no account", "every figure", "MOST_NODES",
    ],
)  # fmt: skip
def test_a_forbidden_phrase_is_found(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize(
    "text", ["the published figures", "the path that it stands for", "Figure 3", "a configuration"]
)
def test_the_right_words_are_accepted(text: str) -> None:
    assert found(text) == []
