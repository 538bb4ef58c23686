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
    ("versions", "words"), [(["3.12"], "3.12"), (["3.11", "3.13"], "3.11 or 3.13")], ids=["one", "several"]
)
def test_another_python_is_refused_in_one_line(versions: Sequence[str], words: str, tmp_path: Path) -> None:
    folder = make_wheelhouse(tmp_path, *versions)
    old = executable(tmp_path / "bin" / "python3.9", 'echo "3.9 s390x"')
    done = install(folder, "v", old)
    assert done.returncode == 2
    assert done.stderr == (
        f"{folder}/install: these wheels are for Python {words} on {platform.machine()}, but {old} is Python 3.9 "
        f"s390x; name another: {folder}/install v python{versions[0]}\n"
    )
    assert not Path("v").exists()


def test_a_missing_wheel_is_reported_in_one_line(tmp_path: Path) -> None:
    command: list[str | Path] = [ROOT / "script" / "wheelhouse", tmp_path / "w", "none.whl"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "script/wheelhouse: no wheel none.whl; make one as in docs/install.md\n"
