"""Choose how to start the core: nameplate-core alone, or its MPI build by an MPI launcher."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from nameplate import __version__
from nameplate.errors import CoreMissing, FileError, UsageError
from nameplate.execution import child_process
from nameplate.execution.srun import complete, family_by_pmi, is_srun
from nameplate.records.trusted_files import check_trusted

CORE_VARIABLE = "NAMEPLATE_CORE"
START_DEADLINE_S = 20.0
# A batch system may take this long to start a job of many nodes.
MPI_START_DEADLINE_S = 300.0
_PREFIX = "nameplate-core-mpi-"
# Exists in a checkout, but not in an installed wheel.
_BOOTSTRAP = Path(__file__).parents[3] / "script" / "bootstrap"
# Words in the output of a launcher's --version, and the MPI that it belongs to.
_FAMILIES = {"open mpi": "openmpi", "openrte": "openmpi", "prte": "openmpi", "hydra": "mpich", "intel(r) mpi": "intel",
             "mvapich": "mvapich"}  # fmt: skip
# Open MPI's message about a rank of which it no longer knows the number.
_UNKNOWN_RANK = re.compile(r"has exited due to process rank \d+ with PID 0 on\s+node \S+ exiting improperly")


@dataclass(frozen=True)
class Launch:
    """How to start the core.

    ``program`` is the path of nameplate-core or of one of its MPI builds. ``launcher`` has the launcher and its
    arguments, such as ``("mpirun", "-n", "4")``, which precede the program on the command line. If it is empty, the
    program is started directly.
    """

    program: Path
    launcher: tuple[str, ...] = ()

    def command(self, *options: str) -> list[str]:
        """Return the command that starts the core with ``options``: launcher, program, options."""
        return [*self.launcher, str(self.program), *options]

    @property
    def start_deadline_s(self) -> float:
        """Return the time in seconds within which the first record must arrive: 20, or 300 with a launcher."""
        return MPI_START_DEADLINE_S if self.launcher else START_DEADLINE_S


def how_to_build(mpi_compiler: str = "") -> str:
    """Return the shell command that rebuilds the core of this installation.

    ``mpi_compiler`` is the name or path of an MPI C++ compiler, such as ``mpicxx``, for which an MPI build is added; ""
    builds without MPI. The command is ``script/bootstrap`` in a checkout, else ``pip install``.
    """
    if _BOOTSTRAP.is_file():
        return f"script/bootstrap --mpi={mpi_compiler}" if mpi_compiler else "script/bootstrap"
    settings = f" --config-settings=cmake.define.NAMEPLATE_MPICXX={mpi_compiler}" if mpi_compiler else ""
    return f"pip install --force-reinstall --no-deps{settings} nameplate-{__version__}.tar.gz"


def core_path() -> Path:
    """Return the path of nameplate-core: ``NAMEPLATE_CORE`` if set and not empty, else the core of this installation.

    The core of this installation is the file ``nameplate-core`` in the directory of the installed scripts. Raises
    CoreMissing if the file does not exist, or if other users can write to the file in ``NAMEPLATE_CORE``
    (``check_trusted``). Whether it is executable is not checked.
    """
    if named := os.environ.get(CORE_VARIABLE):
        return _named_core(Path(named))
    path = Path(sysconfig.get_path("scripts")) / "nameplate-core"
    if not path.is_file():
        raise CoreMissing(f"nameplate-core is not installed at {path}: run {how_to_build()}")
    return path


def _named_core(path: Path) -> Path:
    if not path.is_file():
        raise CoreMissing(f"{CORE_VARIABLE}={path}: no such file; give the path of nameplate-core, or unset it")
    try:
        check_trusted(path)
    except FileError as error:
        raise CoreMissing(f"{CORE_VARIABLE}: {error}") from None
    return path


def alone() -> Launch:
    """Return the launch that starts nameplate-core directly. Raises CoreMissing if there is no nameplate-core."""
    return Launch(core_path())


def mpi_programs() -> dict[str, Path]:
    """Return the paths of the core's MPI builds, by the name of their MPI in alphabetical order.

    The builds are the executable files ``nameplate-core-mpi-NAME`` in the directory of nameplate-core, where NAME is
    ``openmpi``, ``mpich``, ``intel``, ``mvapich``, or ``mpi`` for any other MPI. If ``NAMEPLATE_CORE`` is set, builds
    that other users can write to are left out. The result is empty if there are none. Raises CoreMissing if there is no
    nameplate-core.
    """
    programs = sorted(core_path().parent.glob(f"{_PREFIX}*"))
    return {
        path.name.removeprefix(_PREFIX): path for path in programs if os.access(path, os.X_OK) and _is_trusted(path)
    }


def _is_trusted(path: Path) -> bool:
    if not os.environ.get(CORE_VARIABLE):
        return True  # it was installed with this code
    try:
        check_trusted(path)
    except FileError:
        return False
    return True


def launch_with(text: str) -> Launch:
    """Return the launch of an MPI build by a launcher as written on the command line, such as ``mpirun -n 4``.

    The MPI build is chosen to match the launcher's MPI, for which the launcher is run with --version. For srun, the
    build is chosen by the PMI (``srun.family_by_pmi``), and the arguments are completed (``srun.complete``). For a
    launcher of unknown MPI, it is the first build by name. The launcher does not start the core yet.

    Raises UsageError if ``text`` is empty or not a shell command, the launcher is not found, nameplate has no MPI
    build, or none for the launcher's MPI, and CoreMissing if there is no nameplate-core.
    """
    try:
        argv = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--mpi {text!r}: not a shell command ({error}); check its quotes") from None
    if not argv or shutil.which(argv[0]) is None:
        name = argv[0] if argv else text
        raise UsageError(f"--mpi '{name}': not found on PATH; give its full path, or apt install openmpi-bin")
    programs = mpi_programs()
    if not programs:
        raise UsageError(
            "--mpi: nameplate was built without MPI: apt install libopenmpi-dev openmpi-bin, then "
            + how_to_build("mpicxx")
        )
    if is_srun(argv[0]):
        family = family_by_pmi(argv, list(programs))
        return Launch(programs[family], complete(argv, family))
    family = family_of(argv[0])
    if family and family not in programs:
        raise UsageError(
            f"--mpi '{argv[0]}' belongs to {family}, but nameplate was built for {' and '.join(programs)} only: run "
            f"{how_to_build('MPICXX')} with the compiler of {family}"
        )
    return Launch(programs[family or next(iter(programs))], argv)


def is_false_alarm(messages: str) -> bool:
    """Return whether a launcher's messages report the failure of a rank that may have ended properly.

    If a rank ends while mpirun of Open MPI 4 is busy, mpirun may find the end before the rank's last message, and ends
    with exit code 1 and a message that names a process with PID 0, about once in thousands of launches (open-mpi/ompi
    issues 7833 and 9389). In this case, only the output of the ranks shows whether they ended properly.
    """
    return _UNKNOWN_RANK.search(messages) is not None


def family_of(launcher: str) -> str:
    """Return the MPI that a launcher's --version names: ``openmpi``, ``mpich``, ``intel`` or ``mvapich``.

    ``launcher`` is a program's name or path. The result is empty if the output names none of these, as for a script
    around a launcher, or if the launcher cannot be run or does not end within 20 s.
    """
    try:
        answer = child_process.run([launcher, "--version"], START_DEADLINE_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = (answer.stdout + answer.stderr).lower()
    return next((family for word, family in _FAMILIES.items() if word in text), "")
