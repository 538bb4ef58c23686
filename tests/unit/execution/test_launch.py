"""The advice that is shown if the core lacks something, and what launchers say wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from nameplate import __version__
from nameplate.errors import CoreDied, ToolFailed
from nameplate.execution import launch
from nameplate.execution.core_process import describe_core
from nameplate.tools.tool_process import run_tool

# The message of Open MPI 4.1.4's mpirun about a job whose ranks had all ended properly.
ALARM = """\
mpirun.openmpi has exited due to process rank 1 with PID {number} on
node vm exiting improperly. There are three reasons this could occur:
"""


def test_a_checkout_advises_its_bootstrap_script() -> None:
    assert launch.how_to_build() == "script/bootstrap"
    assert launch.how_to_build("mpicxx") == "script/bootstrap --mpi=mpicxx"


def test_a_wheel_advises_a_build_from_the_sdist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_BOOTSTRAP", tmp_path / "script" / "bootstrap")
    archive = f"nameplate-{__version__}.tar.gz"
    assert launch.how_to_build() == f"pip install --force-reinstall --no-deps {archive}"
    assert f"--config-settings=cmake.define.NAMEPLATE_MPICXX=mpicxx {archive}" in launch.how_to_build("mpicxx")


def launcher_that_alarms(folder: Path, number: int) -> str:
    """Write a launcher that runs a command, and then names a process that it says exited improperly."""
    path = folder / "launcher"
    path.write_text(f"#!/bin/sh\n\"$@\"\ncat >&2 <<'END'\n{ALARM.format(number=number)}END\nexit 1\n")
    path.chmod(0o755)
    return str(path)


def test_a_false_alarm_of_open_mpi_is_ignored(core_path: Path, tmp_path: Path) -> None:
    actual = describe_core(launch.Launch(core_path, (launcher_that_alarms(tmp_path, 0),)))
    assert actual.machine.topology.cores > 0
    assert run_tool([launcher_that_alarms(tmp_path, 0), "echo", "1.5"], tmp_path, 60) == "1.5\n"


def test_a_rank_that_exited_improperly_is_reported(core_path: Path, tmp_path: Path) -> None:
    launcher = launcher_that_alarms(tmp_path, 1234)
    with pytest.raises(CoreDied, match="rank 1 with PID 1234"):
        describe_core(launch.Launch(core_path, (launcher,)))
    with pytest.raises(ToolFailed, match="PID 1234"):
        run_tool([launcher, "echo", "1.5"], tmp_path, 60)


def test_a_false_alarm_without_a_record_is_an_error(tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\n")
    silent.chmod(0o755)
    with pytest.raises(CoreDied, match="wrote nothing"):
        describe_core(launch.Launch(silent, (launcher_that_alarms(tmp_path, 0),)))
