"""Choose how to start the core: nameplate-core alone, or its MPI build by an MPI launcher."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from nameplate import __version__
from nameplate.errors import CoreMissing, UsageError
from nameplate.execution import child_process
from nameplate.execution.srun import complete, family_by_pmi, is_srun

CORE_VARIABLE = "NAMEPLATE_CORE"
KEY_VARIABLE = "NAMEPLATE_KEY"
START_DEADLINE_S = 20.0
# A batch system may take this long to start a job of many nodes.
MPI_START_DEADLINE_S = 300.0
_PREFIX = "nameplate-core-mpi-"
# Exists in a checkout, but not in an installed wheel.
_BOOTSTRAP = Path(__file__).parents[3] / "script" / "bootstrap"
# Words in the output of a launcher's --version, and the MPI that it belongs to.
_FAMILIES = {"open mpi": "openmpi", "openrte": "openmpi", "prte": "openmpi", "hydra": "mpich", "intel(r) mpi": "intel",
             "mvapich": "mvapich"}  # fmt: skip

# The key of the network probes' peer, kept out of the environment that every program inherits.
_hidden: dict[str, str] = {}


def hide_key() -> None:
    """Remove the key of the network probes' peer from the environment of this process."""
    if KEY_VARIABLE in os.environ:
        _hidden[KEY_VARIABLE] = os.environ.pop(KEY_VARIABLE)


def core_environment() -> dict[str, str]:
    """Return the environment of nameplate-core, with the key that is hidden from all other programs."""
    return {**os.environ, **_hidden}


@dataclass(frozen=True)
class Launch:
    """A program of the core, and the words of its launcher; without any, it is started directly."""

    program: Path
    launcher: tuple[str, ...] = ()

    def command(self, *options: str) -> list[str]:
        """Return the command that starts the core with ``options``."""
        return [*self.launcher, str(self.program), *options]

    @property
    def start_deadline_s(self) -> float:
        """Return the time in seconds until the first record must arrive."""
        return MPI_START_DEADLINE_S if self.launcher else START_DEADLINE_S


def how_to_build(mpi_compiler: str = "") -> str:
    """Return the command that rebuilds the core of this installation, also with ``mpi_compiler`` if given."""
    if _BOOTSTRAP.is_file():
        return f"script/bootstrap --mpi={mpi_compiler}" if mpi_compiler else "script/bootstrap"
    settings = f" --config-settings=cmake.define.NAMEPLATE_MPICXX={mpi_compiler}" if mpi_compiler else ""
    return f"pip install --force-reinstall --no-deps{settings} nameplate-{__version__}.tar.gz"


def core_path() -> Path:
    """Return the path of nameplate-core: NAMEPLATE_CORE if set, else next to the scripts of this installation.

    Raises CoreMissing if there is no such file.
    """
    named = os.environ.get(CORE_VARIABLE)
    path = Path(named) if named else Path(sysconfig.get_path("scripts")) / "nameplate-core"
    if not path.is_file():
        if named:
            raise CoreMissing(f"{CORE_VARIABLE}={named}: no such file; give the path of nameplate-core, or unset it")
        raise CoreMissing(f"nameplate-core is not installed at {path}: run {how_to_build()}")
    return path


def alone() -> Launch:
    """Return how to start the core without a launcher. Raises CoreMissing if there is none."""
    return Launch(core_path())


def mpi_programs() -> dict[str, Path]:
    """Return the MPI builds next to the core, by the name of the MPI (openmpi, mpich).

    Raises CoreMissing if there is no core.
    """
    found = sorted(core_path().parent.glob(f"{_PREFIX}*"))
    return {path.name.removeprefix(_PREFIX): path for path in found if os.access(path, os.X_OK)}


def launch_with(text: str) -> Launch:
    """Return how to start the core by a launcher as written on the command line, such as ``mpirun -n 4``.

    The MPI build is chosen to match the launcher's MPI, or the --mpi of srun. For a launcher of unknown MPI it is the
    first by name. Raises UsageError if the launcher is not found or has no matching build, CoreMissing if there is no
    core.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--mpi {text!r}: not a shell command ({error}); check its quotes") from None
    if not words or shutil.which(words[0]) is None:
        name = words[0] if words else text
        raise UsageError(f"--mpi '{name}': not found on PATH; give its full path, or apt install openmpi-bin")
    programs = mpi_programs()
    if not programs:
        raise UsageError(
            "--mpi: nameplate was built without MPI: apt install libopenmpi-dev openmpi-bin, then "
            + how_to_build("mpicxx")
        )
    if is_srun(words[0]):
        family = family_by_pmi(words, list(programs))
        return Launch(programs[family], complete(words, family))
    family = family_of(words[0])
    if family and family not in programs:
        raise UsageError(
            f"--mpi '{words[0]}' belongs to {family}, but nameplate was built for {' and '.join(programs)} only: run "
            f"{how_to_build('MPICXX')} with the compiler of {family}"
        )
    return Launch(programs[family or next(iter(programs))], words)


def family_of(launcher: str) -> str:
    """Return the MPI that a launcher's --version names; empty if it names none, as for a script around a launcher."""
    try:
        answer = child_process.run([launcher, "--version"], START_DEADLINE_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = (answer.stdout + answer.stderr).lower()
    return next((family for word, family in _FAMILIES.items() if word in words), "")
