"""Files that others can write are not trusted: caches are computed anew, and files that the user named are rejected."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from nameplate.command_line import run
from nameplate.errors import CoreMissing, FileError
from nameplate.execution.launch import core_path, mpi_programs
from nameplate.expectations.site_file import make_site, read_site, site_text
from nameplate.history.index import index_file, load_index
from nameplate.history.update import run_files, updated
from nameplate.probes.shared.ceilings import read_rated_lines
from nameplate.records.trusted_files import check_trusted, is_private
from nameplate.records.user_cache import read_cached, write_cached
from nameplate.report.html import scripts
from nameplate.results import cached_report, digest
from nameplate.results.cached_report import report_of
from nameplate.results.run_file import append_digest, read_digest, read_run
from recorded_runs import recorded_file

OTHER = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="giving a file to another user needs root")


def give_away(path: Path) -> None:
    os.lchown(path, OTHER, OTHER)


def open_to_all(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o022)


def open_to_a_group(path: Path) -> None:
    os.chown(path, -1, OTHER)
    path.chmod(path.stat().st_mode | 0o020)


def open_folder(path: Path) -> None:
    path.parent.chmod(0o777)


def open_folder_above(path: Path) -> None:
    path.parent.parent.chmod(0o777)


def give_folder_away(path: Path) -> None:
    give_away(path.parent)


def link_by_another(path: Path) -> None:
    """Replace the folder by a link that another user made in a directory with the sticky bit."""
    folder = path.parent
    folder.rename(folder.with_name("target"))
    folder.symlink_to("target")
    folder.parent.chmod(0o1777)
    give_away(folder)


HARMS = [
    open_to_all,
    open_folder,
    open_folder_above,
    *(pytest.param(harm, marks=as_root) for harm in (give_away, open_to_a_group, give_folder_away, link_by_another)),
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file in the cache directory, which is two folders below a shared one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "nameplate" / "part" / "file"
    assert write_cached(b"mine", path)
    return path


def test_a_cache_is_for_this_user_alone(file: Path) -> None:
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent, file.parent.parent)] == [0o600, 0o700, 0o700]
    assert read_cached(file, 9, "file") == b"mine"
    file.chmod(0o644)
    assert write_cached(b"new", file)
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("harm", HARMS)
def test_a_cache_that_others_can_write_is_not_read(file: Path, harm: Callable[[Path], None]) -> None:
    harm(file)
    assert read_cached(file, 9, "file") is None
    with pytest.raises(FileError, match="is not used, because others can change it"):
        check_trusted(file)


@pytest.mark.parametrize(
    "harm",
    [
        open_folder,
        open_folder_above,
        *(pytest.param(item, marks=as_root) for item in (give_folder_away, link_by_another)),
    ],
)
def test_nothing_is_written_to_a_folder_of_others(file: Path, harm: Callable[[Path], None]) -> None:
    harm(file)
    assert not write_cached(b"new", file)
    assert file.read_bytes() == b"mine"
    assert not write_cached(b"new", file.with_name("another"))


def test_a_folder_with_the_sticky_bit_may_be_open(file: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert read_cached(file, 9, "file") == b"mine"
    (tmp_path / "link").symlink_to(file)
    check_trusted(tmp_path / "link")
    check_trusted(tmp_path / "nameplate" / ".." / "link")


def test_a_loop_of_links_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert not is_private(tmp_path / "loop")
    with pytest.raises(FileError, match="Too many levels of symbolic links"):
        check_trusted(tmp_path / "loop")


@pytest.mark.parametrize("harm", HARMS)
def test_forged_results_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = recorded_file("per_node.jsonl", tmp_path)
    report = report_of(path)
    cached_report.keep_report(path, replace(report, notes=["forged"]))
    assert report_of(path).notes == ["forged"]
    (retained,) = (tmp_path / "cache" / "nameplate" / "results").iterdir()
    harm(retained)
    assert report_of(path) == report


@pytest.mark.parametrize("harm", HARMS)
def test_a_forged_index_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], harm: Callable[[Path], None]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    runs = tmp_path / "runs"
    runs.mkdir()
    recorded_file("quick.jsonl", runs)
    assert run(["history", str(runs), "--json"]) == 0
    expected = capsys.readouterr().out
    assert load_index(runs).entries
    harm(index_file(runs))
    assert not load_index(runs).entries
    assert run(["history", str(runs), "--json"]) == 0
    assert capsys.readouterr() == (expected, "")


@pytest.mark.parametrize("harm", HARMS)
def test_a_forged_script_does_not_reach_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(scripts, "packed", lambda content: "")
    monkeypatch.setattr("nameplate.report.html.scripts.vl_convert.javascript_bundle", lambda _: "")
    scripts._made_bundle()
    cached = scripts._cache_file()
    assert read_cached(cached, 1 << 20, "bundle") is not None
    harm(cached)
    assert scripts._cached_bundle() is None


@pytest.mark.parametrize("harm", [open_to_all, pytest.param(give_away, marks=as_root)])
def test_the_digest_of_a_file_of_others_is_not_taken_for_its_records(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    path = recorded_file("series.jsonl", runs)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if not line.startswith(b'{"type":"figures"')))
    file = read_run(path)
    true = digest.digest_of(file)
    append_digest(file, replace(true, machine="forged"))
    assert read_digest(path, digest.values_version()) is not None
    harm(path)
    assert read_digest(path, digest.values_version()) is None
    index = updated(load_index(runs), runs, run_files(runs))
    assert [entry.machine for entry in index.entries] == [true.machine]


@pytest.mark.parametrize("harm", HARMS)
def test_a_named_file_that_others_can_write_is_rejected(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    folder = tmp_path / "shared" / "folder"
    folder.mkdir(parents=True)
    site, rated = folder / "site.toml", folder / "rated"
    site.write_text(site_text(make_site([], date(2026, 11, 26))))
    rated.write_text("memory=59.7GB/s\n")
    assert read_site(site).classes == []
    assert read_rated_lines(rated)
    harm(site)
    if harm in (open_to_all, give_away, open_to_a_group):
        harm(rated)
    for read, path in ((read_site, site), (read_rated_lines, rated)):
        with pytest.raises(FileError, match=r"is not used, because others can change it: .*; use a copy") as caught:
            read(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("harm", HARMS)
def test_another_core_is_started_only_if_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    folder = tmp_path / "shared" / "folder"
    folder.mkdir(parents=True)
    core = folder / "nameplate-core"
    core.touch(0o755)
    monkeypatch.setenv("NAMEPLATE_CORE", str(core))
    assert core_path() == core
    harm(core)
    with pytest.raises(CoreMissing, match=r"NAMEPLATE_CORE: .*others can change it"):
        core_path()


def test_a_build_for_mpi_that_others_put_next_to_a_core_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("nameplate-core", "nameplate-core-mpi-openmpi", "nameplate-core-mpi-mpich"):
        (tmp_path / name).touch(0o755)
    (tmp_path / "nameplate-core-mpi-mpich").chmod(0o777)
    monkeypatch.setenv("NAMEPLATE_CORE", str(tmp_path / "nameplate-core"))
    assert list(mpi_programs()) == ["openmpi"]


@as_root
def test_the_caller_of_sudo_may_name_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "site.toml"
    path.touch()
    give_away(path)
    monkeypatch.setenv("SUDO_UID", str(OTHER))
    check_trusted(path)
    assert not is_private(path)
