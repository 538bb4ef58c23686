"""The content of a file is shown as text; it never becomes a command, an option, a path to use, markup or a formula."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from nameplate.command_line import run
from nameplate.errors import UsageError
from nameplate.execution.core_process import describe
from nameplate.planning.places import check_places
from nameplate.records.node_record import Nodes
from nameplate.records.plan_record import Experiment, Plan, Value
from nameplate.records.run_record import Stop
from nameplate.records.run_writer import RunWriter
from nameplate.report.content.slow_nodes import drain_commands, slow_nodes
from nameplate.report.formats.csv_cells import plain
from nameplate.results.run_file import read_run
from recorded_runs import GOLDEN, recorded_file
from report_kinds import cluster

STOP = Stop(reasons={"a": "rounds"}, elapsed_s=1.0, interrupted=False)
HOSTILE_NAMES = ["$(reboot)", "a;reboot", "a\nreboot", '"; reboot; "', "`reboot`", "-x", "a b"]


def slow_node_named(name: str) -> Nodes:
    nodes = cluster().nodes
    assert nodes is not None
    slow = next(position for metric in nodes.metrics for position in metric.slow)
    return msgspec.structs.replace(nodes, names=[*nodes.names[:slow], name, *nodes.names[slow + 1 :]])


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_nodes_name_never_becomes_a_command(name: str) -> None:
    nodes = slow_node_named(name)
    (command,) = drain_commands(nodes, slow_nodes(nodes), is_fleet=True)
    assert "scontrol" not in command
    assert "is not a valid node name" in command


def test_a_command_to_paste_is_one_command_of_quoted_words() -> None:
    nodes = slow_node_named("rack1-node7.site")
    (command,) = drain_commands(nodes, slow_nodes(nodes))
    arguments = shlex.split(command)
    assert arguments[:2] == ["scontrol", "update"]
    assert arguments[3] == "State=DRAIN"
    assert arguments[4].startswith("Reason=nameplate: ")
    printed = subprocess.run(["sh", "-c", f"printf '%s\\n' {command}"], capture_output=True, text=True, check=True)
    assert printed.stdout.splitlines() == arguments


def test_a_batch_script_starts_the_installed_program_and_not_a_file_in_the_folder(tmp_path: Path) -> None:
    evil = tmp_path / "nameplate"
    evil.mkdir()
    (evil / "__init__.py").write_text("print('evil')")
    (evil / "__main__.py").write_text("print('evil')")
    script = (
        "import subprocess, sys, sysconfig; sys.path.pop(0)\n"
        "from nameplate.execution.slurm import _this_program\n"
        "commands = [_this_program()]; sysconfig.get_path = lambda name: '/nowhere'; commands += [_this_program()]\n"
        "for each in commands: print(subprocess.run([*each, '--version'], capture_output=True, text=True).stdout)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "evil" not in answer.stdout
    assert len(answer.stdout.split()) == 2


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_of_a_csv_file_starts_a_formula(text: str) -> None:
    assert plain(text) == f"'{text}"


def test_numbers_and_ordinary_words_of_a_csv_file_are_unchanged(tmp_path: Path) -> None:
    assert [plain(value) for value in (-1.5, 3, None, "fma", "a=b")] == [-1.5, 3, None, "fma", "a=b"]


def changed(path: Path, old: bytes, new: bytes) -> Path:
    path.write_bytes(path.read_bytes().replace(old, new))
    return path


def test_a_formula_in_a_run_file_reaches_no_spreadsheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changed(recorded_file("quick.jsonl", tmp_path), b'"avx512"', b'"=HYPERLINK(1)"')
    assert run(["show", str(path), "--format", "csv"]) == 0
    cells = [cell for row in csv.reader(io.StringIO(capsys.readouterr().out)) for cell in row]
    assert "'=HYPERLINK(1)" in cells
    assert "=HYPERLINK(1)" not in cells


def test_markup_in_names_is_shown_literally(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = changed(recorded_file("quick.jsonl", tmp_path), b'"avx512"', b'"[/x][red]"')
    other = changed(recorded_file("series.jsonl", tmp_path), b'"avx512"', b'"[/x]"')
    for arguments in (["show", "--all", path], ["compare", "--all", path, path], ["history", tmp_path],
                      ["compare", path, other]):  # fmt: skip
        assert run([*map(str, arguments)]) in (0, 4, 5), arguments
        assert "[/x]" in capsys.readouterr().out or arguments[0] == "history"


def test_a_name_with_markup_does_not_end_the_live_display(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        'name = "[/x]"\nbudget = "2s"\nrounds = 1\n[[experiment]]\nprobe = "null"\nlabel = "[/x]"\n'
    )
    message = f"{sys.executable} -m nameplate run disk_block file={tmp_path}/[/x] --rounds 1 --samples 1 -o x.jsonl"
    answer = subprocess.run(
        ["script", "-qec", message, "/dev/null"], capture_output=True, text=True, cwd=tmp_path, check=False,
        stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    assert "MarkupError" not in answer.stdout
    assert "internal error" not in answer.stdout


def cut_off(path: Path, **params: Value) -> Path:
    """Write a run of disk_block with these parameters that stopped before its first measurement."""
    first = read_run(recorded_file("quick.jsonl", path.parent)).run
    experiment = next(item for item in first.plan.experiments if item.probe == "disk_block")
    placed = msgspec.structs.replace(experiment, params={**experiment.params, **params})
    plan = Plan("places", [placed], msgspec.structs.replace(first.plan.limits, rounds=1, samples=1))
    with RunWriter.create(path) as writer:
        writer.write(msgspec.structs.replace(first, plan=plan))
    return path


def test_a_path_in_a_run_file_is_used_only_if_the_user_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "place"
    directory.mkdir()
    path = cut_off(tmp_path / "x.jsonl", file=str(directory), size=1 << 20)
    before = path.read_bytes()
    assert run(["run", "--resume", str(path)]) == 2
    assert f"a run file cannot choose a path or an address, so add file={directory}" in capsys.readouterr().err
    assert run(["run", "--resume", str(path), f"file={tmp_path}"]) == 2
    assert f"was measured with file={directory}" in capsys.readouterr().err
    assert run(["run", "--resume", str(path), f"file={directory}", "threads=3"]) == 2
    assert "has its own parameters; leave this one out" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert run(["run", "--resume", str(path), f"file={directory}", "--quiet"]) == 0
    assert read_run(path).stop is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serve", "--port", "99999"], "--port 99999: not a port; use 0 to 65535"),
        (["run", "null", "--rated", "nosuch=3GB/s"], "--rated nosuch: no probe or area has this name"),
        (["run", "null", "--rated", "memory=3GHz"], "--rated memory: not measured in Hz"),
        (["run", "null", "--precision", "200"], "'200' is not a share: use more than 0 and at most 100%"),
        (["run", "null", "--precision", "0%"], "'0%' is not a share"),
    ],
)
def test_impossible_options_are_reported_in_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert message in lines[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_everything_is_printed_with_an_invalid_width(tmp_path: Path) -> None:
    path = recorded_file("series.jsonl", tmp_path)
    for columns in ("0", "-1", "1", "x"):
        for arguments in (["list"], ["show", str(path)]):
            answer = subprocess.run(
                [sys.executable, "-m", "nameplate", *arguments], capture_output=True, text=True, check=True,
                env={**os.environ, "COLUMNS": columns},
            )  # fmt: skip
            assert answer.stdout.strip()


def test_a_recheck_uses_no_path_of_the_run_unless_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiments = [Experiment("x", "disk_block", {"file": "/some/where"})]
    described = describe()
    with pytest.raises(UsageError, match="a run file cannot choose a path or an address, so add file=/some/where"):
        check_places(experiments, described, {}, "the run")
    check_places(experiments, described, {"file": "/some/where"}, "the run")
    path = recorded_file("per_node.jsonl", tmp_path)
    assert run(["nodes", str(path), "file=/some/where"]) == 2
    assert "only --recheck takes paths" in capsys.readouterr().err


ESCAPE = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m"
# The sequence in JSON, with the C1 control both raw and escaped.
ESCAPED = [json.dumps(ESCAPE, ensure_ascii=is_ascii)[1:-1].encode() for is_ascii in (False, True)]
TEXTS = ('"avx512', '"far1', '"Debian', '"EPYC', '"hostname":"', '"reason":"', '"AMD', '"virtio')
READING = [
    ["show", "quick.jsonl"], ["show", "per_node.jsonl"], ["show", "series.jsonl"],
    *(["show", "quick.jsonl", "--format", name] for name in ("json", "csv", "markdown", "openmetrics")),
    ["nodes", "per_node.jsonl"], ["nodes", "per_node.jsonl", "--json"], ["history", "."], ["history", ".", "--json"],
]  # fmt: skip
NOT_READING = [
    ["show", f"broken{ESCAPE}.jsonl"], ["compare", "quick.jsonl", "series.jsonl"],
    ["compare", "quick.jsonl", "--by", "threads"], ["report", "quick.jsonl", "-o", "page.html"],
    [f"sh{ESCAPE}ow"], ["run", f"nu{ESCAPE}ll"], ["run", "null", f"thr{ESCAPE}eads=1"], ["plan", ESCAPE],
    ["list", ESCAPE], ["machine", "--root", ESCAPE],
]  # fmt: skip


def hostile(folder: Path, escaped: bytes) -> Path:
    """Create a folder with files of every kind whose names, parameters, notes and reasons contain escape sequences."""
    folder.mkdir()
    for name in ("quick.jsonl", "per_node.jsonl", "series.jsonl"):
        path = recorded_file(name, folder)
        content = path.read_bytes()
        for word in map(str.encode, TEXTS):
            content = content.replace(word, word + escaped)
        assert escaped in content
        path.write_bytes(content)
    (folder / f"broken{ESCAPE}.jsonl").write_text(f"not a run {ESCAPE}")
    return folder


def assert_shows_nothing_to_obey(*arguments: str, folder: Path) -> None:
    """Run a command in a terminal and check that its output has no control sequence except colours."""
    answer = subprocess.run(
        ["script", "-qec", shlex.join([sys.executable, "-m", "nameplate", *arguments]), "/dev/null"],
        capture_output=True, check=False, cwd=folder, stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    text = re.sub(r"\x1b\[[0-9;]*m", "", answer.stdout.decode(errors="replace")).replace("\r\n", "\n")
    text = text.replace("\rreading runs", "reading runs")
    assert text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text), (arguments, text)


@pytest.mark.parametrize(
    ("arguments", "escaped"),
    [
        *((message, ESCAPED[0]) for message in READING + NOT_READING),
        *(pytest.param(message, ESCAPED[1], marks=pytest.mark.slow) for message in READING),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_no_escape_sequence_of_a_file_reaches_the_terminal(
    tmp_path: Path, arguments: list[str], escaped: bytes
) -> None:
    assert_shows_nothing_to_obey(*arguments, folder=hostile(tmp_path / "files", escaped))


def test_escapes_in_reports_and_outputs_of_other_tools_are_removed(tmp_path: Path) -> None:
    folder = hostile(tmp_path / "files", ESCAPED[0])
    assert run(["report", str(folder / "quick.jsonl"), "-o", str(folder / "page.html")]) == 0
    page = (folder / "page.html").read_text()
    assert "\x1b" not in page
    assert "\x9b" not in page
    assert_shows_nothing_to_obey("show", "page.html", folder=folder)
    fio = (GOLDEN / "references" / "fio-3.33.json").read_text()
    assert '"jobname" : "' in fio
    (folder / "fio.json").write_text(fio.replace('"jobname" : "', f'"jobname" : "{ESCAPED[0].decode()}'))
    assert_shows_nothing_to_obey("show", "fio.json", folder=folder)


@pytest.mark.parametrize("name", ["--blas", "-o", "--mpi", "peer x", "Op"])
def test_a_parameter_name_never_becomes_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = changed(recorded_file("quick.jsonl", tmp_path), b'"isa":', json.dumps(name).encode() + b":")
    for arguments in (["show", path], ["report", path, "-o", tmp_path / "page.html"], ["run", "--resume", path]):
        assert run([*map(str, arguments)]) == 2
        assert "is not a parameter name" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()
