"""No command overwrites an input or somebody else's file, and an impossible output is rejected before the work."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from nameplate.command_line import run
from nameplate.commands._reading import read_report
from nameplate.errors import FileError
from nameplate.expectations.site_file import make_site, read_site, site_text
from nameplate.records import atomic_write, replaceable
from nameplate.records.atomic_write import write_atomically
from nameplate.records.replaceable import mark_work_folder, why_not_replaceable
from nameplate.report.chart_files.pictures import write_picture
from nameplate.report.exports import export_names, find_export
from nameplate.tools.paired import scratch
from recorded_runs import quiet_file, recorded_file


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return quiet_file("quick.jsonl", tmp_path)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Run a command that must be rejected, and return its single line of error message."""
    assert run([*map(str, arguments)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


def test_a_command_does_not_overwrite_the_run_that_it_reads(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = recorded.read_bytes()
    link, other = tmp_path / "link.html", tmp_path / "hard.csv"
    link.symlink_to(recorded)
    os.link(recorded, other)
    for target in (recorded, link, other):
        assert "would overwrite" in refused(capsys, "report", recorded, "-o", target)
        assert "would overwrite" in refused(capsys, "show", recorded, "--format", "csv", "-o", target)
        assert "would overwrite" in refused(capsys, "nodes", recorded, "-o", target)
    assert recorded.read_bytes() == before


def test_no_other_run_file_is_overwritten(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = recorded_file("series.jsonl", tmp_path)
    before = other.read_bytes()
    message = "is a run file, or contains one, and is not overwritten"
    assert message in refused(capsys, "report", recorded, "-o", other)
    assert message in refused(capsys, "show", recorded, "--format", "markdown", "-o", other)
    assert message in refused(capsys, "run", "null", "--report", other)
    assert message in refused(capsys, "versus", "null", "-o", other)
    assert other.read_bytes() == before


def test_the_outputs_of_a_run_must_be_different_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "would overwrite" in refused(capsys, "run", "null", "-o", "x", "--report", "x")
    assert "would overwrite" in refused(capsys, "run", "null", "-o", "x", "--report", "./x")
    assert "is a directory" in refused(capsys, "run", "null", "-o", "x", "--report", ".")
    assert list(tmp_path.iterdir()) == []


def test_a_report_may_be_overwritten(recorded: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(["report", str(recorded), "-o", str(page)]) == 0
    assert run(["report", str(recorded), "-o", str(page)]) == 0


def every_output(recorded: Path, folder: Path) -> list[list[Any]]:
    """Return commands that write each kind of file, and that may be repeated."""
    nodes = recorded_file("per_node.jsonl", folder)
    study = recorded_file("t2micro-posix.jsonl", folder)
    return [
        ["report", recorded, "-o", folder / "page.html"],
        ["report", recorded, "--charts", folder / "charts"],
        *[["nodes", nodes, "-o", folder / f"map.{suffix}"] for suffix in ("svg", "pdf", "png")],
        *[
            ["show", recorded, "-f", name, "-o", folder / name]
            for name in export_names()
            if name not in ("study", "xml")
        ],
        ["show", study, "-f", "study", "-o", folder / "study"],
    ]


@pytest.mark.slow
def test_what_nameplate_wrote_is_written_again(recorded: Path, tmp_path: Path) -> None:
    commands = every_output(recorded, tmp_path)
    for command in commands * 2:
        assert run([*map(str, command)]) in (0, 1)
    assert all(path.is_dir() or path.stat().st_nlink == 1 for path in tmp_path.rglob("*"))


def exported(recorded: Path) -> dict[str, bytes]:
    """Return the content of each export that has no checksum, by the name of its format and file."""
    report = read_report(recorded)
    files = {}
    for name in {*export_names()} - {"gnuplot", "study", "xml"}:
        made = find_export(name)(report)
        for file, content in (made if isinstance(made, dict) else {"": made}).items():
            files[f"{name}{file}"] = content if isinstance(content, bytes) else content.encode()
    return files


def test_an_export_is_replaced_only_by_the_same_content(recorded: Path, tmp_path: Path) -> None:
    for name, content in exported(recorded).items():
        path = tmp_path / name
        path.write_bytes(content)
        assert why_not_replaceable(path, force=False, content=content) == ""
        assert why_not_replaceable(path, force=True) == ""
        assert "no checksum in it shows" in why_not_replaceable(path, force=False)
        path.write_bytes(content + b"# My notes of three weeks\n")
        assert "no checksum in it shows" in why_not_replaceable(path, force=False, content=content)


def test_an_edited_export_is_kept(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in exported(recorded).keys() & {*export_names()}:  # not those of several files
        path = tmp_path / name
        command = ["show", str(recorded), "-f", name, "-o", str(path)]
        assert [run(command), run(command)] == [0, 0]
        edited = path.read_bytes().replace(b"1", b"2")
        path.write_bytes(edited)
        capsys.readouterr()
        assert "no checksum in it shows" in refused(capsys, *command)
        assert path.read_bytes() == edited


def test_an_edited_file_of_a_folder_is_kept(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "parquet"
    command = ["show", str(recorded), "-f", "parquet", "-o", str(folder)]
    assert [run(command), run(command)] == [0, 0]
    table = parquet.read_table(folder / "results.parquet")
    parquet.write_table(table.slice(1), folder / "results.parquet")
    capsys.readouterr()
    assert "no checksum in it shows" in refused(capsys, *command)


@pytest.mark.parametrize(
    "edit",
    [
        lambda page: page + b"<p>My notes</p>\n",
        lambda page: page.replace(b"<body>", b"<body><h1>My notes: replaced DIMM 3</h1>"),
        lambda page: page.rstrip(b"\n") + b" <p>My notes behind the checksum</p>\n",
        lambda page: page.replace(b"<!-- written by nameplate", b"<p>My notes</p> <!-- written by nameplate"),
        lambda page: page.replace(b"\n", b"\r\n"),
        lambda page: page[: page.rindex(b"<!-- written by")],
    ],
)
def test_an_edited_report_is_kept(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], edit: Callable[[bytes], bytes]
) -> None:
    page = tmp_path / "page.html"
    assert run(["report", str(recorded), "-o", str(page)]) == 0
    edited = edit(page.read_bytes())
    page.write_bytes(edited)
    capsys.readouterr()
    assert "no checksum in it shows" in refused(capsys, "report", recorded, "-o", page)
    assert "no checksum in it shows" in refused(capsys, "run", "null", "--report", page)
    assert page.read_bytes() == edited
    assert run(["report", str(recorded), "-o", str(page), "--force"]) == 0


def test_a_run_file_in_or_behind_another_file_is_never_replaced(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaceable, "_MAX_BYTES", 9_999)
    page = tmp_path / "page.html"
    assert run(["report", str(recorded), "-o", str(page)]) == 0
    content = recorded.read_bytes()
    escaped = content.replace(b'"type":"', b'"\\u0074ype":"').replace(b'"sample"', b'"\\u0073ample"')
    encodings = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
    for before in (b"", page.read_bytes(), *exported(recorded).values(), b"notes\n"):
        for behind in (content, escaped, *(content.decode().encode(encoding) for encoding in encodings)):
            other = tmp_path / "other"
            other.write_bytes(before + behind)
            for force in ([], ["--force"]):
                assert "is a run file, or contains one" in refused(capsys, "report", recorded, "-o", other, *force)


@pytest.mark.parametrize("suffix", [".svg", ".pdf", ".png"])
def test_pictures_are_known_by_their_mark(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"picture{suffix}"
    write_picture({"data": {"values": []}, "mark": "point", "width": 10}, path)
    write_picture({"data": {"values": []}, "mark": "point", "width": 20}, path)
    written = path.read_bytes()
    for edited in (written.replace(b"nameplate", b"somebody_"), written[:99] + b"!" + written[100:], written + b"\n"):
        path.write_bytes(edited)
        with pytest.raises(FileError, match="no checksum in it shows"):
            write_picture({"data": {"values": []}, "mark": "point", "width": 10}, path)
        assert path.read_bytes() == edited


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "thesis.html",
            b'<!DOCTYPE html>\n<html lang="en">\n<head>\n<title>nameplate</title>\n</head>My thesis</html>\n',
        ),
        ("thesis.html", b'<p>As in id="nameplate-data": <meta name="generator" content="nameplate 1"></p>\n'),
        ("data.csv", b"probe,value,unit\nnull,1,s\n"),
        ("data.json", b'{"schema": 1, "machine": {}, "plan": "mine", "headline": 1}\n'),
        ("versus.json", b'{\n  "schema": 1,\n  "machine": {\n  },\n  "rows": []\n}\n'),
        ("notes.md", b"mine\n# written by nameplate, checksum 00000000\n"),
        ("notes.txt", b"\n"),
        ("run.jsonl.gz", gzip.compress(b'{"type":"run"}\n', mtime=0)),
        ("picture.png", b"\x89PNG\r\n\x1a\nmine"),
        ("table.parquet", b"PAR1minePAR1"),
    ],
)
def test_other_files_are_replaced_only_with_force(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    message = (
        f"-o {path} exists, and no checksum in it shows that nameplate wrote all of it (an edited file, an export, or "
        "a report of an earlier version): name another file, or use --force to overwrite it"
    )
    for command in (["report", recorded], ["show", recorded, "-f", "csv"], ["nodes", recorded], ["versus", "null"],
                    ["history", tmp_path, "bandwidth"], ["check", "--learn", recorded]):  # fmt: skip
        assert message in refused(capsys, *command, "-o", path)
    assert f"--report {path} exists" in refused(capsys, "run", "null", "--report", path)
    with pytest.raises(FileError, match="no checksum in it shows"):
        write_atomically(b"new", path)
    assert path.read_bytes() == content
    assert run(["show", str(recorded), "-f", "csv", "-o", str(path), "--force"]) == 0
    assert path.read_bytes().startswith(b"probe,")


def test_no_file_of_a_folder_is_written_if_one_may_not_be_replaced(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = {"--charts": tmp_path / "charts" / "slide", "gnuplot": tmp_path / "gnuplot", "study": tmp_path / "study"}
    study = recorded_file("t2micro-posix.jsonl", tmp_path)
    for folder in target.values():
        folder.mkdir(parents=True)
    theirs = [target["--charts"] / "cpu-flops-thread-scaling.svg", target["gnuplot"] / "all.gp",
              target["study"] / "tables.csv"]  # fmt: skip
    for path in theirs:
        path.write_text("mine")
    assert "no checksum in it shows" in refused(capsys, "report", recorded, "--charts", target["--charts"].parent)
    assert "no checksum in it shows" in refused(capsys, "show", recorded, "-f", "gnuplot", "-o", target["gnuplot"])
    assert "no checksum in it shows" in refused(capsys, "show", study, "-f", "study", "-o", target["study"])
    assert "no checksum in it shows" in refused(capsys, "run", "t2micro-posix", "--study", target["study"])
    assert [path for folder in target.values() for path in folder.iterdir()] == theirs
    assert all(path.read_text() == "mine" for path in theirs)


def test_an_edited_gnuplot_script_is_kept(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(recorded), "-f", "gnuplot", "-o", str(tmp_path / "plots")]) == 0
    capsys.readouterr()
    script = next((tmp_path / "plots").glob("*latency*.gp"))
    edited = script.read_text().replace("set output", "set logscale y\nset output")
    script.write_text(edited)
    assert "no checksum in it shows" in refused(capsys, "show", recorded, "-f", "gnuplot", "-o", tmp_path / "plots")
    assert script.read_text() == edited


def test_a_site_file_is_kept(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site = tmp_path / "site.toml"
    site.write_text(site_text(make_site([], date(2026, 11, 26))))
    for output in (["-o", "site.toml"], []):
        assert "site.toml exists" in refused(capsys, "check", "--learn", recorded, *output)
    assert "would overwrite" in refused(capsys, "check", "--learn", recorded, "-o", recorded, "--force")
    assert "add --learn" in refused(capsys, "check", recorded, "--force")
    assert "would overwrite" in refused(capsys, "run", "null", "--expect", site, "--report", site, "--force")
    assert read_site(site).classes == []


def formatted(content: bytes, **options: object) -> bytes:
    """Return a run file whose records were written again by another program."""
    return b"".join(json.dumps(json.loads(line), **options).encode() + b"\n" for line in content.splitlines())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "rewritten",
    [
        lambda content: content,
        formatted,
        partial(formatted, indent=2),
        partial(formatted, sort_keys=True, separators=(",", ":")),
        lambda content: b"\xef\xbb\xbf" + content,
        lambda content: b"\n \n" + content,
        lambda content: b" " * (2 << 20) + content,
        lambda content: content.replace(b'"type"', b'"\\u0074ype"'),
        lambda content: b"\0" * 4096 + content[4096:],
        lambda content: content.partition(b"\n")[2],
        lambda content: content[: content.index(b"\n") + 9],
        lambda content: content.replace(b"\n", b"\r\n"),
    ],
)
def test_a_run_file_that_other_programs_changed_is_never_replaced(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], rewritten: Callable[[bytes], bytes]
) -> None:
    other = tmp_path / "other"
    content = rewritten(recorded.read_bytes())
    other.write_bytes(content)
    commands: list[list[str | Path]] = [
        ["report", recorded, "-o"], ["show", recorded, "-f", "csv", "-o"], ["check", "--learn", recorded, "-o"],
        ["run", "null", "--report"],
    ]  # fmt: skip
    for command in commands:
        assert "is a run file, or contains one, and is not overwritten" in refused(capsys, *command, other)
        assert "is a run file, or contains one, and is not overwritten" in refused(capsys, *command, other, "--force")
    with pytest.raises(FileError, match="is a run file"):
        write_atomically(b"new", other, force=True)
    assert other.read_bytes() == content


def test_a_file_that_appears_while_another_is_written_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"

    def appear(descriptor: int) -> None:
        path.write_text("mine")

    monkeypatch.setattr(os, "fsync", appear)
    with pytest.raises(FileError, match="no checksum in it shows"):
        write_atomically(b"new", path)
    assert [item.read_text() for item in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("before", ["", None])
def test_a_file_that_appears_after_the_check_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    path = tmp_path / "page.html"
    if before is not None:
        path.write_text(before)
    check = atomic_write._checked
    times = iter((1, 2))

    def checked(*arguments: Any) -> os.stat_result | None:
        result = check(*arguments)
        if next(times) == 1:
            path.write_text("mine")
        return result

    monkeypatch.setattr(atomic_write, "_checked", checked)
    with pytest.raises(FileError, match="no checksum in it shows"):
        write_atomically(b"new", path)
    assert [item.read_text() for item in tmp_path.iterdir()] == ["mine"]


def test_files_are_written_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    write_atomically(b"", tmp_path / "page.html")
    write_atomically(b"new", tmp_path / "page.html")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"new"]


def test_the_other_name_of_a_replaced_file_keeps_its_content(recorded: Path, tmp_path: Path) -> None:
    page, retained, link = tmp_path / "page.html", tmp_path / "kept.html", tmp_path / "link.html"
    assert run(["report", str(recorded), "-o", str(page)]) == 0
    retained.hardlink_to(page)
    link.symlink_to(page)
    before = retained.read_bytes()
    assert run(["report", str(recorded), "--identify", "-o", str(link)]) == 0
    assert retained.read_bytes() == before != page.read_bytes()
    assert link.is_symlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_cannot_be_read_is_kept(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    path.write_text("mine")
    path.chmod(0)
    assert "exists and cannot be read" in refused(capsys, "report", recorded, "-o", path)


def test_versus_removes_only_folders_that_it_made(tmp_path: Path) -> None:
    theirs = tmp_path / ".nameplate-versus-results"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("mine")
    with scratch(tmp_path) as folder:
        left = tmp_path / ".nameplate-versus-left"
        shutil.copytree(folder, tmp_path / ".nameplate-versus-copied")
        left.mkdir()
        mark_work_folder(left)
        (tmp_path / ".nameplate-versus-link").symlink_to(left)
    with scratch(tmp_path) as folder:
        names = {path.name for path in tmp_path.iterdir()} - {folder.name}
        assert names == {f".nameplate-versus-{name}" for name in ("results", "copied", "link")}
    assert (theirs / "thesis.txt").read_text() == "mine"


def test_a_work_folder_that_cannot_be_marked_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(FileError, match="No space left on device"), scratch(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
