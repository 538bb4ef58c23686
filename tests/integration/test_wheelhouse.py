"""``script/wheelhouse``: a folder whose ``install`` works without a network, for the right Python only."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def executable(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def wheel_without_content(folder: Path) -> Path:
    """Write a wheel named nameplate that needs nothing, in place of the one with its 200 MB of dependencies."""
    path = folder / "nameplate-0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        info = "nameplate-0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: nameplate\nVersion: 0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def make_wheelhouse(tmp_path: Path, *versions: str) -> Path:
    """Make a wheelhouse of that wheel; pip, which would download, is replaced by a copy."""
    wheel = wheel_without_content(tmp_path)
    folder = tmp_path / "wheelhouse"
    executable(tmp_path / "bin" / "python3", f'mkdir -p "{folder}" && cp "{wheel}" "{folder}"')
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run([ROOT / "script" / "wheelhouse", folder, wheel, *versions], env=environment, check=True)
    return folder


def install(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([folder / "install", *arguments], check=False, capture_output=True, text=True, timeout=120)


def test_the_right_python_installs_offline(tmp_path: Path) -> None:
    folder = make_wheelhouse(tmp_path, "3.9", VERSION)
    done = install(folder, tmp_path / "v", sys.executable)
    assert (done.returncode, done.stderr) == (0, "")
    assert [*(tmp_path / "v").glob("lib/python*/site-packages/nameplate-0.dist-info")]


@pytest.mark.parametrize(
    ("versions", "message"), [(["3.12"], "3.12"), (["3.11", "3.13"], "3.11 or 3.13")], ids=["one", "several"]
)
def test_another_python_is_refused_in_one_line(versions: Sequence[str], message: str, tmp_path: Path) -> None:
    folder = make_wheelhouse(tmp_path, *versions)
    old = executable(tmp_path / "bin" / "python3.9", 'echo "3.9 s390x"')
    done = install(folder, "v", old)
    assert done.returncode == 2
    assert done.stderr == (
        f"{folder}/install: these wheels are for Python {message} on {platform.machine()}, but {old} is Python 3.9 "
        f"s390x; name another: {folder}/install v python{versions[0]}\n"
    )
    assert not Path("v").exists()


def test_a_missing_wheel_is_reported_in_one_line(tmp_path: Path) -> None:
    command: list[str | Path] = [ROOT / "script" / "wheelhouse", tmp_path / "w", "none.whl"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "script/wheelhouse: no wheel none.whl; make one as in docs/install.md\n"


def test_a_changed_wheel_is_not_installed(tmp_path: Path) -> None:
    folder = make_wheelhouse(tmp_path, VERSION)
    wheel = folder / "nameplate-0-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes() + b"x")
    done = install(folder, tmp_path / "v", sys.executable)
    assert done.returncode == 2
    assert done.stderr == f"{folder}/install: not the files that script/wheelhouse wrote: {wheel.name}: FAILED\n"
    assert not (tmp_path / "v").exists()


def test_an_extra_that_is_not_locked_is_refused_in_one_line(tmp_path: Path) -> None:
    wheel = wheel_without_content(tmp_path)
    command: list[str | Path] = [ROOT / "script" / "wheelhouse", tmp_path / "w", f"{wheel}[report,catalogue]", VERSION]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == (
        "script/wheelhouse: the packages of [catalogue] are not in packaging/locked; use [report], [fleet], "
        "[parquet] or [dataframe]\n"
    )
    assert not (tmp_path / "w").exists()


def test_each_python_gets_the_versions_locked_for_it(tmp_path: Path) -> None:
    """The stand-in for pip keeps the requirements that it is given instead of downloading them."""
    wheel = wheel_without_content(tmp_path)
    executable(
        tmp_path / "bin" / "python3", f'if [ "$1" = - ]; then exec {sys.executable} "$@"; fi',
        "version=$(echo \"$*\" | sed 's/.*--python-version \\([0-9.]*\\).*/\\1/')",
        f'for last; do :; done; cat "$last" > "{tmp_path}/$version"',
    )  # fmt: skip
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command: list[str | Path] = [ROOT / "script" / "wheelhouse", tmp_path / "w", f"{wheel}[report]", "3.10", "3.13"]
    subprocess.run(command, env=environment, check=True, timeout=60)
    for version, has_tomli in (("3.10", True), ("3.13", False)):
        requirements = (tmp_path / version).read_text()
        assert ("tomli==" in requirements) == has_tomli
        names = [line.partition("==")[0] for line in requirements.splitlines() if line[0] != " "]
        assert {"numpy", "scipy", "rich", "altair"} <= set(names)
        assert len(names) == len(set(names))
        assert requirements.count("==") < requirements.count("--hash=sha256:")
