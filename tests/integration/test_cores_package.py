"""The package nameplate-cores, whose portable cores a fleet sends to hosts of both architectures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nameplate import __version__
from nameplate.execution.launch import core_path

ROOT = Path(__file__).parents[2]
READ = "from nameplate.fleet.cores import read_cores; print({name: len(core) for name, core in read_cores([]).items()})"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package from this core, and from a copy that claims to be for Arm."""
    folder = tmp_path_factory.mktemp("cores")
    arm = bytearray(core_path().read_bytes())
    arm[18:20] = (183).to_bytes(2, "little")
    (folder / "arm").write_bytes(arm)
    built = []
    for name in ("first", "second"):
        command: list[str | Path] = [ROOT / "script/build-cores", "-o", folder / name, core_path(), folder / "arm"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        built += [*(folder / name).iterdir()]
    first, second = built
    assert first.name == f"nameplate_cores-{__version__}-py3-none-any.whl"
    assert first.read_bytes() == second.read_bytes()
    return first


def read_cores(wheel: Path, folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Read the cores of a fleet where the package is installed; ``changes`` replace texts in its module."""
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, folder], check=True)
    module = folder / "nameplate_cores/__init__.py"
    for old, new in changes.items():
        module.write_text(module.read_text().replace(old, new))
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=False, env=environment)


def test_the_cores_of_both_architectures_are_sent(wheel: Path, tmp_path: Path) -> None:
    size = core_path().stat().st_size
    assert read_cores(wheel, tmp_path).stdout == f"{ {'aarch64': size, 'x86_64': size} }\n"


def test_cores_of_another_version_are_rejected(wheel: Path, tmp_path: Path) -> None:
    done = read_cores(wheel, tmp_path, **{__version__: "0.0.9"})
    assert done.returncode != 0
    assert f"nameplate-cores 0.0.9 is installed, but nameplate is {__version__}: pip install" in done.stderr


def test_a_file_that_is_no_core_is_not_packed(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("plain text")
    done = subprocess.run([ROOT / "script/build-cores", "-o", tmp_path / "dist", tmp_path / "text"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert (done.returncode, (tmp_path / "dist").exists()) == (2, False)
    assert done.stderr == f"script/build-cores: {tmp_path}/text: not a program for x86_64 or aarch64\n"
