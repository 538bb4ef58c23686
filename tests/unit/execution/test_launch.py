"""The advice that is shown if the core lacks something."""

from __future__ import annotations

from pathlib import Path

import pytest

from nameplate import __version__
from nameplate.execution import launch


def test_a_checkout_advises_its_bootstrap_script() -> None:
    assert launch.how_to_build() == "script/bootstrap"
    assert launch.how_to_build("mpicxx") == "script/bootstrap --mpi=mpicxx"


def test_a_wheel_advises_a_build_from_the_sdist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_BOOTSTRAP", tmp_path / "script" / "bootstrap")
    archive = f"nameplate-{__version__}.tar.gz"
    assert launch.how_to_build() == f"pip install --force-reinstall --no-deps {archive}"
    assert f"--config-settings=cmake.define.NAMEPLATE_MPICXX=mpicxx {archive}" in launch.how_to_build("mpicxx")
