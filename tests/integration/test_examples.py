"""Run every example, and compare what it prints with its docstring, or for a notebook with the saved output."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recorded_runs import GOLDEN, RUNS, recorded_file

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".py", ".ipynb"))
SESSION = re.compile(r"^    \$ (.*)\n((?:    (?!\$ ).*\n|\n)*)", re.MULTILINE)
# Executes the cells of a notebook as a kernel does, which shows the values of expressions.
KERNEL = """
import ast, json, sys
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        exec(compile(ast.Interactive(ast.parse("".join(cell["source"])).body), cell["id"], "single"))
"""
# Numbers and verdicts differ from run to run; an ellipsis stands for any text, also of several lines.
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]\d+)?"
VERDICT = "(?:FASTER|SLOWER|SAME|UNSURE)"
VARIABLE = re.compile(rf"(\.\.\. ?|{NUMBER}|{VERDICT})")


def description(path: Path) -> str:
    """Return the docstring of a script, or the text of a notebook's first cell."""
    if path.suffix == ".py":
        return ast.get_docstring(ast.parse(path.read_text())) or ""
    return "".join(json.loads(path.read_text())["cells"][0]["source"]).removeprefix("# ")


def sessions(path: Path) -> Iterator[tuple[list[str], str]]:
    """Yield each command that an example shows, to be run by a shell or by a notebook's kernel, and its output."""
    if path.suffix == ".py":
        for command, output in SESSION.findall(f"{description(path)}\n"):
            yield ["sh", "-c", command], output
    else:
        outputs = [output for cell in json.loads(path.read_text())["cells"] for output in cell.get("outputs", ())]
        texts = ["".join(output.get("text") or output["data"]["text/plain"]) for output in outputs]
        yield [sys.executable, "-c", KERNEL, f"examples/{path.name}"], "\n".join(texts)


def pattern_of(output: str) -> str:
    """Return a pattern of the text in which numbers, verdicts and white space may differ."""
    parts = VARIABLE.split(" ".join(output.split()))
    for index in range(1, len(parts), 2):
        parts[index] = ".*" if parts[index].startswith("...") else NUMBER if parts[index][-1].isdigit() else VERDICT
    parts[::2] = map(re.escape, parts[::2])
    return "".join(parts)


def provide_recordings(command: str, folder: Path) -> None:
    """Copy the recorded runs, and the recorded outputs of other tools, that a command names into the folder."""
    recorded = {path.stem for path in RUNS}
    for word in shlex.split(command):
        if word in recorded:
            recorded_file(word, folder)
        elif (GOLDEN / "references" / word).is_file():
            shutil.copy(GOLDEN / "references" / word, folder)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_prints_what_it_says(path: Path, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "examples")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    commands = list(sessions(path))
    assert commands
    for command, output in commands:
        provide_recordings(command[-1], tmp_path)
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.fullmatch(pattern_of(output), " ".join(done.stdout.split())), done.stdout


def test_the_index_has_the_first_line_of_each_example() -> None:
    rows = re.findall(r"^\| \[.*", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert rows == [
        f"| [{path.name}]({path.name}) | {description(path).splitlines()[0].removesuffix('.')} |" for path in EXAMPLES
    ]


@pytest.mark.parametrize(
    ("expected", "printed", "matches"),
    [
        ("SAME 1.02", "UNSURE -3", True),
        ("1 row", "1 rows", False),
        ("p50\n...\nmax", "p50 p90 3 max", True),
        ("p50\n...\nmax", "p50 max", True),
        ("p50\n...\nmax", "max", False),
        ("3 GB/s", "fast GB/s", False),
    ],
)
def test_only_numbers_and_verdicts_may_differ(expected: str, printed: str, matches: bool) -> None:
    assert bool(re.fullmatch(pattern_of(expected), printed)) is matches
