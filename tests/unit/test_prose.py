"""What people read follows the project's rules of style: docstrings, comments and messages."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "nameplate"

# The packages whose prose has been rewritten by these rules; the others follow.
PACKAGES = ("statistics", "probes", "planning", "comparison", "tools", "history", "report")

# Phrases that a native speaker stumbles over.
PHRASES = re.compile(
    r"\bcomes to\b|\b(?:is|are) told by\b|\bso many\b|\bsuch as are\b|\bstands? beside\b|\bput(?:s)? beside\b"
    r"|\blies? over\b|\bof no account\b|\bwant of (?:memory|something)\b|\bturned away\b|\bwhat it was with\b"
    r"|\bis no program\b|\bIn an order in which\b|\bname(?:s)? it in full\b",
    re.IGNORECASE,
)
# Starts of fragments without a subject.
FRAGMENT = re.compile(r"(?:Of|By|What|Whether|Whom|Those|As) ")
# Names of limits are MIN and MAX.
NAMES = re.compile(r"\b_?(?:FEWEST|LEAST|MOST)_\w+|\bk(?:Most|Fewest|Least)[A-Z]\w*|\b(?:fewest|most)_(?!common\b)\w+")
# Words of another vocabulary, in texts that are shown: "published figure" is the only figure, a cell is one of a table.
WORDS = re.compile(
    r"(?<!published )(?<!-)\bfigures?\b|\bdelivers?\b|\brated value|\bnameplate value|\bduel\b", re.IGNORECASE
)

# The imperative verbs with which a function's docstring starts.
VERB = re.compile(
    r"(?:Add|Adjust|Append|Bind|Build|Check|Choose|Combine|Compare|Count|Create|Draw|End|Estimate|Export|Find|Fit|Group"
    r"|Ignore|Judge|Keep|Leave|List|Measure|Multiply|Parse|Print|Read|Reduce|Remove|Render|Replace|Return|Run|Shorten"
    r"|Show|Split|Start|Take|Update|Write|Yield) "
)

FILES = [path for package in PACKAGES for path in sorted((PACKAGE / package).rglob("*.py"))]
CORE_FILES = [path for ending in ("*.cpp", "*.h") for path in sorted((ROOT / "core").rglob(ending))
              if "tests" not in path.parts]  # fmt: skip


def documented(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every module, class and function that has a docstring, with the docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield node, text


def comments(source: str) -> Iterator[str]:
    """Yield blocks of comment lines as one text each, so that a phrase may go over a line's end."""
    block: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            block.append(token.string.lstrip("# "))
        elif token.type not in (tokenize.NL, tokenize.NEWLINE) and block:
            yield " ".join(block)
            block = []


def literals(tree: ast.Module) -> Iterator[str]:
    """Yield the text of every string literal; of an f-string the parts between its values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def core_texts(source: str) -> Iterator[str]:
    """Yield the comments and the string literals of a C++ file."""
    yield " ".join(re.findall(r"//+ ?(.*)", source))
    yield from re.findall(r'"((?:[^"\\\n]|\\.)*)"', source)


def complaints(texts: Iterator[str]) -> list[str]:
    """Return the parts of texts that have one of the phrases."""
    joined = (re.sub(r"\s+", " ", text) for text in texts)
    return [text[max(found.start() - 30, 0) : found.end() + 30] for text in joined for found in PHRASES.finditer(text)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_package_has_no_forbidden_phrase(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert not complaints(iter([*literals(tree), *comments(source)]))
    assert not NAMES.findall(source)


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_has_no_forbidden_phrase(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not complaints(core_texts(source))
    assert not NAMES.findall(source)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstrings_are_sentences(path: Path) -> None:
    for node, text in documented(ast.parse(path.read_text(encoding="utf-8"))):
        assert not FRAGMENT.match(text), text
        if isinstance(node, ast.FunctionDef):
            assert VERB.match(text), text


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_messages_use_the_vocabulary(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {text for _, text in documented(tree)}
    shown = [text for text in literals(tree) if " " in text.strip() and cleaned(text) not in docstrings]
    assert not [text for text in shown if WORDS.search(text)]


def cleaned(text: str) -> str:
    """Return a literal as ``ast.get_docstring`` would."""
    return inspect.cleandoc(text)


@pytest.mark.parametrize(
    "text", ["what a run comes to", "Levels are told by the best samples.", "It is for\n want of memory.", "so many"]
)
def test_forbidden_phrases_are_found(text: str) -> None:
    assert complaints(iter([text]))


def test_forbidden_names_and_words_are_found() -> None:
    assert NAMES.findall("FEWEST_ROUNDS = most_open(kMostRows)") == ["FEWEST_ROUNDS", "most_open", "kMostRows"]
    assert not NAMES.findall("Counter(x).most_common()")
    assert WORDS.search("every figure of the run")
    assert not WORDS.search("the published figure")
