"""How the measuring process is started: nameplate-core by itself, or its MPI build by an MPI launcher."""

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
# Of a job of many nodes, through a batch system.
MPI_START_DEADLINE_S = 300.0
_PREFIX = "nameplate-core-mpi-"
# Of a checkout; an installed wheel has none.
_BOOTSTRAP = Path(__file__).parents[3] / "script" / "bootstrap"
# Words in a launcher's answer to --version, and the MPI that it belongs to.
_FAMILIES = {"open mpi": "openmpi", "openrte": "openmpi", "prte": "openmpi", "hydra": "mpich", "intel(r) mpi": "intel",
             "mvapich": "mvapich"}  # fmt: skip

# The key of the network probes' peer, apart from the environment that every program inherits.
_hidden: dict[str, str] = {}


def hide_key() -> None:
    """Remove the key of the network probes' peer from the environment of this process."""
    if KEY_VARIABLE in os.environ:
        _hidden[KEY_VARIABLE] = os.environ.pop(KEY_VARIABLE)


def core_environment() -> dict[str, str]:
    """Return the environment for nameplate-core, with the key that was hidden from all other programs."""
    return {**os.environ, **_hidden}


@dataclass(frozen=True)
class Launch:
    """A program, and the words of the launcher before it; none: it is started by itself."""

    program: Path
    launcher: tuple[str, ...] = ()

    def command(self, *options: str) -> list[str]:
        """What to start."""
        return [*self.launcher, str(self.program), *options]

    @property
    def start_deadline_s(self) -> float:
        """How long it may take until the first record."""
        return MPI_START_DEADLINE_S if self.launcher else START_DEADLINE_S


def how_to_build(mpi_compiler: str = "") -> str:
    """The command that builds this installation's core anew, with this MPI's compiler too."""
    if _BOOTSTRAP.is_file():
        return f"script/bootstrap --mpi={mpi_compiler}" if mpi_compiler else "script/bootstrap"
    settings = f" --config-settings=cmake.define.NAMEPLATE_MPICXX={mpi_compiler}" if mpi_compiler else ""
    return f"pip install --force-reinstall --no-deps{settings} nameplate-{__version__}.tar.gz"


def core_path() -> Path:
    """nameplate-core beside this installation's scripts, or what NAMEPLATE_CORE names. Raises CoreMissing."""
    named = os.environ.get(CORE_VARIABLE)
    path = Path(named) if named else Path(sysconfig.get_path("scripts")) / "nameplate-core"
    if not path.is_file():
        where = f"{CORE_VARIABLE} names it" if named else "it belongs beside this Python's scripts"
        raise CoreMissing(f"nameplate-core is not at {path}, where {where}: run {how_to_build()}")
    return path


def alone() -> Launch:
    """The core by itself, on this machine. Raises CoreMissing."""
    return Launch(core_path())


def mpi_programs() -> dict[str, Path]:
    """The core's MPI builds by the MPI's name (openmpi, mpich); they lie beside it. Raises CoreMissing."""
    found = sorted(core_path().parent.glob(f"{_PREFIX}*"))
    return {path.name.removeprefix(_PREFIX): path for path in found if os.access(path, os.X_OK)}


def launch_with(text: str) -> Launch:
    """With a launcher as it is written on the command line: ``mpirun -n 4``. Raises UsageError or CoreMissing.

    The MPI build is the one of the launcher's own MPI, with srun the one for its --mpi; a launcher of none takes the
    first by name.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--mpi {text!r} cannot be read: {error}") from None
    if not words or shutil.which(words[0]) is None:
        name = words[0] if words else text
        raise UsageError(f"--mpi '{name}' is no program that can be found: apt install openmpi-bin, or name it in full")
    programs = mpi_programs()
    if not programs:
        raise UsageError(
            "--mpi: this nameplate has no MPI build: apt install libopenmpi-dev openmpi-bin, then "
            + how_to_build("mpicxx")
        )
    if is_srun(words[0]):
        family = family_by_pmi(words, list(programs))
        return Launch(programs[family], complete(words, family))
    family = family_of(words[0])
    if family and family not in programs:
        raise UsageError(
            f"--mpi '{words[0]}' belongs to {family}, and there is a build for {' and '.join(programs)} only: "
            f"{how_to_build('MPICXX')} with that MPI's compiler"
        )
    return Launch(programs[family or next(iter(programs))], words)


def family_of(launcher: str) -> str:
    """Which MPI a launcher says that it belongs to; empty where it says none (a script of yours)."""
    try:
        answer = child_process.run([launcher, "--version"], START_DEADLINE_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = (answer.stdout + answer.stderr).lower()
    return next((family for word, family in _FAMILIES.items() if word in words), "")
