"""Refuse names that do not say what a thing is: `banned_names.py [cpp] [python]`, both by default.

Print each name in the repository's C, C++ and Python files that has a banned word, with its location and a remedy, and
exit 1 if there are any. The name of a test is a sentence and may have every word.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Words that no name has, alone or as a part of it (snake_case or camelCase), with the names to use.
BANNED_PARTS = {
    "again": "name the second one: reopened, retry, repetition",
    "begin": "use first or offset of a range, start or start_s of a time",
    "beginning": "use head, header or prefix",
    "each": "use the singular of the thing: sample, metric, node",
    "found": "use match, matches or the noun of the thing: outliers, entry",
    "kept": "use retained, cached or held",
    "look": "use the noun of the thing: snapshot, lookup",
    "others": "use the noun of the things: peers, other_threads, rest",
    "own": "say what it is the own of: local_peer, process_io, resolved",
    "place": "use index, offset, column, path, position or location",
    "shown": "use the noun of the thing: candidate, text, visible_lines",
    "such": "use the noun of the thing",
    "these": "use the noun of the things",
    "those": "use the noun of the things",
    "told": "use reported, known or notified",
    "usual": "use default, typical or median",
    "wanted": "use requested or required",
    "what": "use name, quantity, action or the noun of the thing",
    "whole": "use total, entire or full",
    "words": "use text, message, argv, arguments or fields",
}
# Names that no class has.
CLASSES = {
    "Against": "use BaselineComparison",
    "Cannot": "use NotMeasurable",
    "Cutter": "use the noun of the thing",
    "Patience": "use Timeouts",
    "Several": "use the noun of the thing",
    "Trouble": "use the noun of the error",
}
# Names that another interface demands.
EXEMPT = {
    "FMT_BEGIN_NAMESPACE",  # a macro of {fmt}
    "io_uring_for_each_cqe",  # a macro of liburing
}

# The parts of a C or C++ file that are not names: literals, comments, headers, the names of tests, and names of the
# standard library, which also demands them of other classes' members.
_SKIPPED = r"""
    R"(?P<delimiter>\w*)\(.*?\)(?P=delimiter)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+' | \d[\w.']*
    | //[^\n]* | /\*.*?\*/ | \#\s*include\b[^\n]*
    | \bTEST(?:_F|_P)?\(\s*\w+,\s*\w+
    | (?:\.|->)\s*(?:c?begin|what)(?=\(\)) | \b(?:std|ranges)::(?:c?begin|for_each)\b
"""
_CPP_TOKEN = re.compile(rf"{_SKIPPED} | (?P<name>[A-Za-z_]\w*)", re.VERBOSE | re.DOTALL)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

Name = tuple[int, str]  # with its line


def remedy(name: str) -> str | None:
    """Return what to write instead of a name; None if it has no banned word."""
    if name in EXEMPT:
        return None
    parts = (part.lower() for part in _PART.findall(name))
    return CLASSES.get(name.lstrip("_")) or next((BANNED_PARTS[part] for part in parts if part in BANNED_PARTS), None)


def cpp_names(source: str) -> Iterator[Name]:
    """Yield the names in C or C++, where they are defined and where they are used."""
    for token in _CPP_TOKEN.finditer(source):
        if name := token["name"]:
            yield source.count("\n", 0, token.start()) + 1, name


def python_names(source: str, *, is_test: bool) -> Iterator[Name]:
    """Yield the names that Python code defines; in a test without those of its test functions."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not (is_test and name.startswith("test_")):
                    yield node.lineno, name
            case (
                ast.ClassDef(name=name)
                | ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.alias(asname=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                yield node.lineno, name


def violations(path: Path, source: str) -> Iterator[str]:
    """Yield a line for each banned name in a file's source, and one for the file's own name."""
    if text := remedy(path.stem):
        yield f"{path}: {text}"
    is_test = path.parts[0] == "tests"
    names = python_names(source, is_test=is_test) if path.suffix == ".py" else cpp_names(source)
    for line, name in sorted(names):
        if text := remedy(name):
            yield f"{path}:{line}: {name}: {text}"


def main(languages: list[str]) -> int:
    """Print the violations of the repository's files in these languages, and return the exit status."""
    endings = {"cpp": ["*.c", "*.cpp", "*.h"], "python": ["*.py"]}
    patterns = [pattern for language in languages or endings for pattern in endings[language]]
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    paths = map(Path, subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines())
    lines = [line for path in sorted(paths) if (ROOT / path).exists()
             for line in violations(path, (ROOT / path).read_text())]  # fmt: skip
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
