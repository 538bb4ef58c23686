"""The inputs that commands read as runs: run files, reports, and hostile files."""

from __future__ import annotations

import base64
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nameplate.command_line import run


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run.jsonl"
    arguments = ["run", "null", "duration=1ms", "--rounds", "6", "--samples", "3", "--quiet"]
    assert run([*arguments, "-o", str(path), "--report", str(path.with_suffix(".html"))]) == 0
    return path


def test_a_report_is_read_like_its_run(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for path in (measured, measured.with_suffix(".html")):
        assert run(["show", str(path), "--format", "json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert run(["show", str(measured.with_suffix(".html"))]) == 0
    assert "null" in capsys.readouterr().out
    assert run(["compare", str(measured), str(measured.with_suffix(".html"))]) == 0


def test_a_report_of_reports(measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, both = measured.with_suffix(".html"), tmp_path / "both.html"
    assert run(["report", str(page), str(measured), "-o", str(both)]) == 0
    assert run(["show", str(both)]) == 0
    capsys.readouterr()
    assert run(["show", str(both), "--format", "csv"]) == 2
    assert "has 2 runs, but one is needed" in capsys.readouterr().err


def test_charts_are_written_with_or_without_the_page(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["report", str(measured), "--charts", "charts"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["charts"]
    for form in ("paper", "slide"):
        assert {path.suffix for path in (tmp_path / "charts" / form).iterdir()} == {".svg", ".pdf", ".png"}
    assert run(["report", str(measured), "--charts", "charts", "-o", "r.html"]) == 0
    assert (tmp_path / "r.html").is_file()
    assert "wrote r.html" in capsys.readouterr().out


def test_the_default_name_of_a_report_replaces_nothing(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.html").write_text("precious")
    for name in ("run-2.html", "run-3.html"):
        assert run(["report", str(measured)]) == 0
        assert capsys.readouterr().out == f"wrote {name}\n"
    assert run(["report", str(measured), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"report": "run-4.html", "charts": None, "n_charts": 0}
    assert (tmp_path / "run.html").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["report", "RUN"], "report"),
        (["run", "null", "--report", "x.html"], "--report"),
        (["show", "RUN", "--format", "gnuplot"], "--format gnuplot"),
        (["nodes", "RUN", "-o", "x.svg"], "-o"),
        (["history", ".", "rate", "-o", "x.svg"], "-o"),
    ],
)
def test_a_command_that_draws_names_the_missing_packages(
    measured: Path, tmp_path: Path, arguments: list[str], named: str
) -> None:
    """A process without these packages: a module that is None in sys.modules cannot be imported."""
    parts = [str(measured) if word == "RUN" else word for word in arguments]
    hidden = "import sys; sys.modules.update(dict.fromkeys(('altair', 'jinja2', 'vl_convert')));"
    command = f"{hidden} from nameplate.command_line import run; sys.exit(run({parts!r}))"
    ended = subprocess.run([sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    expected = f"nameplate: {named} needs packages that are not installed: pip install 'nameplate[report]'\n"
    assert (ended.returncode, ended.stderr) == (2, expected)
    assert not list(tmp_path.iterdir())


def test_a_report_is_read_without_the_packages_that_draw_it(measured: Path) -> None:
    arguments = ["show", str(measured.with_suffix(".html")), "--json"]
    hidden = "import sys; sys.modules.update(dict.fromkeys(('altair', 'jinja2', 'vl_convert')));"
    command = f"{hidden} from nameplate.command_line import run; sys.exit(run({arguments!r}))"
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["rows"]


def test_a_directory_stands_for_its_newest_run(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, at in (("new.jsonl", 2e9), ("old.jsonl", 1e9)):
        (tmp_path / name).write_bytes(measured.read_bytes())
        os.utime(tmp_path / name, (at, at))
    with (tmp_path / "old.jsonl").open("a") as old:
        old.write("not a record\n")
    os.utime(tmp_path / "old.jsonl", (1e9, 1e9))
    printed = []
    for arguments in (["show", str(tmp_path), "--json"], ["show", str(measured), "--format", "json"]):
        assert run(arguments) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert run(["show", str(measured), "--json", "--format", "csv"]) == 2
    assert "--json and --format csv: use one of them" in capsys.readouterr().err


def refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["show", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_a_line_without_an_end_is_rejected(measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = tmp_path / "long.jsonl"
    hostile.write_bytes(measured.read_bytes() + b"[" * (65 << 20))
    assert "is longer than any record: more than 64 MiB" in refused(hostile, capsys)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "[" * 5000, '{"a":' * 5000, "null", "true"])
def test_invalid_numbers_are_rejected(
    measured: Path, tmp_path: Path, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = measured.read_text().splitlines()
    index = next(number for number, line in enumerate(lines) if '"type":"sample"' in line)
    record = json.loads(lines[index])
    lines[index] = json.dumps({**record, "elapsed_s": "HERE"}).replace('"HERE"', value)
    hostile = tmp_path / "hostile.jsonl"
    hostile.write_text("\n".join(lines) + "\n")
    assert f"line {index + 1} is not a nameplate record" in refused(hostile, capsys)


def test_a_report_that_unpacks_to_too_much_is_rejected(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bomb = base64.b64encode(gzip.compress(b" " * (300 << 20)))
    page = tmp_path / "bomb.html"
    page.write_bytes(b'<script type="text/plain" id="nameplate-data">' + bomb + b"</script>")
    assert "larger than 16 MiB" in refused(page, capsys)


def test_openmetrics_is_written_by_rename(measured: Path, tmp_path: Path) -> None:
    target = tmp_path / "nameplate.prom"
    target.write_text("# TYPE nameplate_old_seconds gauge\n")
    with target.open() as reader:
        assert run(["show", str(measured), "--format", "openmetrics", "--force", "-o", str(target)]) == 0
        assert reader.read() == "# TYPE nameplate_old_seconds gauge\n"
    assert target.read_text().endswith("# EOF\n")
    assert [path.name for path in tmp_path.iterdir()] == ["nameplate.prom"]
