"""Results that are kept in the user's cache."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nameplate.errors import FileError, ReadError
from nameplate.report.exports.json import export
from nameplate.results import cached_report
from nameplate.results.cached_report import keep_report, report_of
from nameplate.results.code_fingerprint import code_fingerprint
from nameplate.results.measurements import RunFile
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.studies import with_study
from recorded_runs import RUNS, recorded_file

KINDS = [path.name.removesuffix(".jsonl.xz") for path in RUNS]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty cache, and return the folder of the results in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "nameplate" / "results"


@pytest.fixture
def summarised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files that were summarised since."""
    files: list[str] = []

    def summarise_noted(file: RunFile) -> object:
        files.append(file.path)
        return summarise(file)

    monkeypatch.setattr("nameplate.results.summarise.summarise", summarise_noted)
    return files


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return recorded_file("quick.jsonl", tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("cache")
def test_kept_results_equal_those_of_the_run_file(kind: str, tmp_path: Path, summarised: list[str]) -> None:
    path = recorded_file(f"{kind}.jsonl", tmp_path)
    first, second = report_of(path), report_of(path)
    assert len(summarised) == (2 if first.truncated else 1)
    assert second == first == summarise(read_run(path))
    assert export(second) == export(first)


@pytest.mark.usefixtures("cache")
def test_kept_results_have_no_study_but_give_the_same_one(tmp_path: Path) -> None:
    path = recorded_file("t2micro-posix.jsonl", tmp_path)
    made = with_study(report_of(path)).study
    retained = report_of(path)
    assert retained.study is None
    assert made is not None
    assert with_study(retained).study == made == with_study(summarise(read_run(path))).study


@pytest.mark.usefixtures("cache")
def test_a_file_with_another_content_has_other_results(run: Path, summarised: list[str]) -> None:
    before = report_of(run)
    run.write_bytes(run.read_bytes().replace(b'"hostname":"', b'"hostname":"another-'))
    after = report_of(run)
    assert before.machine
    assert after.machine
    assert after.machine.hostname == f"another-{before.machine.hostname}"
    assert len(summarised) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("cache")
def test_the_same_content_has_the_same_results_under_another_name(kind: str, tmp_path: Path) -> None:
    path = recorded_file(f"{kind}.jsonl", tmp_path)
    first = report_of(path)
    path = path.rename(tmp_path / "another.jsonl")
    assert report_of(path) == first == summarise(read_run(path))


@pytest.mark.usefixtures("cache")
def test_other_code_computes_its_own(run: Path, summarised: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    report_of(run)
    monkeypatch.setattr(cached_report, "_code", lambda: "other code")
    report_of(run)
    assert len(summarised) == 2


@pytest.mark.parametrize("suffix", [".py", ".toml", ".csv"])
def test_a_changed_table_is_other_code(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package" / "results").mkdir(parents=True)
    table = tmp_path / "package" / f"table{suffix}"
    table.write_text("1")
    monkeypatch.setattr("nameplate.results.code_fingerprint.__file__", str(tmp_path / "package" / "results" / "x.py"))
    before = code_fingerprint.__wrapped__()
    table.write_text("2")
    assert code_fingerprint.__wrapped__() != before


@pytest.mark.parametrize(
    "damaged",
    [
        lambda _: b"",
        lambda complete: complete[: len(complete) // 2],
        lambda complete: complete[:-9] + bytes(9),
        lambda _: b"a" * 99,
    ],
)
def test_a_damaged_one_is_computed_again(
    run: Path, cache: Path, summarised: list[str], damaged: Callable[[bytes], bytes]
) -> None:
    complete = report_of(run)
    (file,) = cache.iterdir()
    file.write_bytes(damaged(file.read_bytes()))
    assert report_of(run) == complete
    assert len(summarised) == 2
    assert report_of(run) == complete
    assert len(summarised) == 2


def test_an_incomplete_run_is_not_kept(run: Path, cache: Path) -> None:
    lines = run.read_bytes().splitlines(keepends=True)
    run.write_bytes(b"".join(line for line in lines if not line.startswith((b'{"type":"stop"', b'{"type":"figures"'))))
    assert report_of(run).truncated
    assert not cache.exists()


@pytest.mark.parametrize("library", ["numpy", "scipy"])
def test_another_version_of_a_library_is_other_code(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cached_report._code.__wrapped__()
    (tmp_path / library).mkdir()
    (tmp_path / library / "__init__.py").touch()
    (tmp_path / library / "version.py").write_text('version = "99"\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, library, raising=False)
    assert cached_report._code.__wrapped__() != before


def test_a_file_that_is_written_meanwhile_is_not_kept(run: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_while_written(path: Path) -> RunFile:
        file = read_run(path)
        run.write_bytes(run.read_bytes() + b'{"type":"figures"}\n')
        return file

    monkeypatch.setattr("nameplate.results.run_file.read_run", read_while_written)
    report_of(run)
    assert not cache.exists()


@pytest.mark.usefixtures("cache")
def test_results_of_a_run_that_just_ended_are_found(run: Path, summarised: list[str]) -> None:
    report = summarise(read_run(run))
    keep_report(run, report)
    assert report_of(run) == report
    assert not summarised


def test_without_a_cache_results_are_computed_each_time(
    run: Path, cache: Path, summarised: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(run))
    assert report_of(run) == report_of(run)
    assert len(summarised) == 2
    assert not cache.exists()


def test_those_that_were_looked_at_last_are_kept(run: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(run)
    (first,) = cache.iterdir()
    monkeypatch.setattr(cached_report, "_MAX_TOTAL_BYTES", 2 * first.stat().st_size)
    first.unlink()
    content = run.read_bytes()
    (cache.parent / "results" / "folder").mkdir(parents=True)
    (cache / "notes.txt").write_text("not of nameplate")
    for name in ("folder", "notes.txt"):
        os.utime(cache / name, ns=(0, 0))
    known: list[Path] = []
    for number in range(3):
        run.write_bytes(content + b" " * number)
        keep_report(run, report)
        (new,) = {path for path in cache.iterdir() if path.is_file()} - {cache / "notes.txt", *known}
        os.utime(new, ns=(number, number))
        known.append(new)
        run.write_bytes(content)
        assert report_of(run) == report  # the first one is looked at again and again
    assert known[0].exists()
    assert [path.exists() for path in known[1:]] == [False, True]
    assert (cache / "notes.txt").exists()


def test_a_link_in_place_of_results_is_not_followed(run: Path, cache: Path, tmp_path: Path) -> None:
    report = report_of(run)
    (retained,) = cache.iterdir()
    target = retained.rename(tmp_path / "target")
    retained.symlink_to(target)
    before = target.read_bytes()
    assert report_of(run) == report
    assert retained.is_symlink()
    assert target.read_bytes() == before


@pytest.mark.usefixtures("cache")
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"cannot read .*/missing.jsonl: No such file or directory"):
        report_of(tmp_path / "missing.jsonl")
    (tmp_path / "log.jsonl").write_text('{"some": "log"}\n')
    with pytest.raises(FileError, match="line 1 is not a nameplate record"):
        report_of(tmp_path / "log.jsonl")
