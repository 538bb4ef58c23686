"""The Python interface, as docs/python.md shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

import nameplate
from nameplate.results.run_file import read_run
from recorded_runs import OUTPUTS, recorded_file
from report_samples import report

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
    assert {"numpy", "scipy", "msgspec", "pandas", "pyarrow", "rich", "typing"}.isdisjoint(loaded)
    assert [name for name in loaded if name.startswith("nameplate")] == ["nameplate"]


def test_a_table_has_a_column_for_each_parameter(tmp_path: Path) -> None:
    run = nameplate.measure("null", duration=["10us", "20us"], rounds=1, samples=2, output=tmp_path / "run.jsonl")
    report = nameplate.summarise(run)
    rows = report.to_dicts()
    assert [row["duration"] for row in rows] == [1e-5, 2e-5]
    table = report.to_arrow()
    assert table.column_names == list(rows[0])
    assert table.to_pylist() == rows
    frame = report.to_pandas()
    assert list(frame.columns) == list(rows[0])
    assert list(frame["value"]) == [row["value"] for row in rows]
    assert (frame["ci_low"] * 1e9).isna().all()  # one round has no interval


@pytest.mark.parametrize(
    ("method", "missing", "extra"),
    [("to_arrow", "pyarrow", "parquet"), ("to_pandas", "pyarrow", "dataframe"), ("to_pandas", "pandas", "dataframe")],
)
def test_without_its_packages_a_table_is_an_error_that_names_the_extra(
    method: str, missing: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = util.find_spec
    monkeypatch.setattr("nameplate.extras.find_spec", lambda name: None if name == missing else find(name))
    with pytest.raises(nameplate.NameplateError, match=rf"^{method}\(\) needs .*: pip install 'nameplate\[{extra}\]'$"):
        getattr(report([]), method)()


def test_a_plan_file_is_measured_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text('rounds = 1\nsamples = 2\n[[experiment]]\nprobe = "null"\n')
    run = nameplate.measure(tmp_path / "short.toml")
    assert [result.id for result in nameplate.summarise(run).results] == ["null"]


def test_outputs_of_other_tools_are_read_and_exported(tmp_path: Path) -> None:
    output = nameplate.read_output(OUTPUTS[0])
    assert [row["metric"] for row in output.to_dicts()] == ["bandwidth", "iops", "latency"]
    (text,) = nameplate.export(output, "openmetrics").values()
    assert text.endswith(b"# EOF\n")
    job = nameplate.summarise(nameplate.read(recorded_file("per_node.jsonl", tmp_path)))
    assert nameplate.export(job, "parquet").keys() == {"results.parquet", "samples.parquet"}
    assert b"node2" not in nameplate.export(job, "json")["run.json"]
    assert b"node2" in nameplate.export(job, "json", identify=True)["run.json"]
    with pytest.raises(nameplate.NameplateError, match="unknown format 'table'; available: "):
        nameplate.export(job, "table")


def test_what_cannot_be_measured_is_an_error(tmp_path: Path) -> None:
    wrong = {
        "unknown plan or probe 'quik'": ("quik", {}),
        "'quick' is a plan, whose only parameter is dir=DIRECTORY: leave out 'threads=2'": ("quick", {"threads": 2}),
        "needs an MPI launcher": ("mpi_pingpong", {}),
        "threads=0": ("null", {"threads": 0}),
        "threads: no values": ("null", {"threads": []}),
    }
    for message, (plan_or_probe, options) in wrong.items():
        with pytest.raises(nameplate.NameplateError, match=message):
            nameplate.measure(plan_or_probe, **options)  # type: ignore[arg-type]
    (tmp_path / "run.jsonl").write_text("x")
    with pytest.raises(nameplate.NameplateError, match=r"run\.jsonl"):
        nameplate.measure("null", output=tmp_path / "run.jsonl")


def test_a_report_on_a_studys_plan_has_the_study(tmp_path: Path) -> None:
    report = nameplate.summarise(nameplate.read(recorded_file("mpi_stream.jsonl", tmp_path)))
    assert report.study is not None
    assert b"published" in nameplate.export(report, "study")["tables.csv"]
