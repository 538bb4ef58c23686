"""The list of the measurements of nameplate itself."""

from __future__ import annotations

import ast
import re
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench"


def test_each_script_has_the_first_line_of_its_docstring() -> None:
    listed = re.findall(r"^\| `(\w+/?)` \| ?(.*?) ?\|$", (BENCH / "README.md").read_text(), re.M)
    folder, lines = "", {}
    for name, text in listed:
        if name.endswith("/"):
            folder = name
        else:
            lines[f"{folder}{name}"] = text
    scripts = {path for path in BENCH.glob("*/[a-z]*.py") if path.parent.name != "support"}
    documented = {path: ast.get_docstring(ast.parse(path.read_text())) or "" for path in scripts}
    assert lines == {
        str(path.relative_to(BENCH).with_suffix("")): text.splitlines()[0] for path, text in documented.items()
    }
