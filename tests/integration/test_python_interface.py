"""The Python interface, as docs/python.md shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import nameplate
from nameplate.results.run_file import read_run

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
CODE = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_works_as_it_is_written(tmp_path: Path) -> None:
    program = subprocess.run([sys.executable, "-W", "error", "-c", "\n".join(CODE)], cwd=tmp_path,
                             capture_output=True, text=True, check=False)  # fmt: skip
    assert program.returncode == 0, program.stderr
    assert program.stderr == ""
    lines = program.stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["1 threads", "2 threads"]
    assert "threads" in lines[-1]
    assert [path.name for path in tmp_path.iterdir()] == ["base.jsonl"]
    assert read_run(tmp_path / "base.jsonl").stop is not None


def test_the_documented_names_are_those_of_the_module() -> None:
    documented = set(re.findall(r"^\| `(\w+)(?:\(.*?\))?` \|", PAGE, re.MULTILINE))
    classes = {"Report", "Run", "RunComparison"}
    assert documented | classes == set(nameplate.__all__)
    assert all(f"`{name}" in PAGE for name in classes)
    assert all(getattr(nameplate, name) for name in nameplate.__all__)
    with pytest.raises(AttributeError, match="no attribute 'measured'"):
        nameplate.measured  # noqa: B018 (the access is the test)


def test_the_import_loads_nothing() -> None:
    code = "import sys; before = set(sys.modules); import nameplate; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"numpy", "scipy", "msgspec", "rich", "typing"}.isdisjoint(loaded)
    assert [name for name in loaded if name.startswith("nameplate")] == ["nameplate"]


def test_a_table_has_a_column_for_each_parameter(tmp_path: Path) -> None:
    run = nameplate.measure("null", duration=["10us", "20us"], rounds=1, samples=2, output=tmp_path / "run.jsonl")
    report = nameplate.summarise(run)
    rows = report.to_dicts()
    assert [row["duration"] for row in rows] == [1e-5, 2e-5]
    table = report.to_arrow()
    assert table.column_names == list(rows[0])
    assert table.to_pylist() == rows


def test_what_cannot_be_measured_is_an_error(tmp_path: Path) -> None:
    wrong = {
        "unknown plan 'quik'": {"what": "quik"},
        "'quick' is not a probe": {"what": "quick", "threads": 2},
        "needs an MPI launcher": {"what": "mpi_pingpong"},
        "threads": {"what": "null", "threads": 0},
    }
    for words, options in wrong.items():
        with pytest.raises(nameplate.NameplateError, match=words):
            nameplate.measure(**options)  # type: ignore[arg-type]
    (tmp_path / "run.jsonl").write_text("x")
    with pytest.raises(nameplate.NameplateError, match=r"run\.jsonl"):
        nameplate.measure("null", output=tmp_path / "run.jsonl")
