"""Complete the options of srun, so that the ranks find each other and requests reach the first rank."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from nameplate.errors import UsageError
from nameplate.execution import child_process

# Standard input goes to the first rank only, and the death of a rank ends the others, which would wait for it forever.
# They precede the user's options, so that those override them.
_ALWAYS = ("--input=0", "--kill-on-bad-exit=1")
# The PMI by which the ranks find each other, in Debian's builds of each MPI.
PMI_OF = {"openmpi": "pmix", "mpich": "pmi2"}
_DEADLINE_S = 20.0
_PAGES = {
    "not built with SLURM's PMI support": (
        "Open MPI did not get its ranks from srun: use srun --mpi=pmix, if srun --mpi=list has it"
    ),
    "--allow-run-as-root": (
        "Open MPI refuses to run as root: use another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and "
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    ),
    # A job that ends removes the folder in which another job of the same user creates its folder.
    "orte_session_dir failed": (
        "Open MPI could not make its folder for temporary files: another job of yours ended at that moment, or the "
        "disk is full; start it again, or give it a separate folder: --mca orte_tmpdir_base FOLDER"
    ),
}


class OptionExtractor(argparse.ArgumentParser):
    """Extracts known options from the arguments of a command, and leaves all other arguments unchanged.

    Declare the options with ``add_argument``, as for argparse. There is no --help, and options cannot be abbreviated.
    """

    def __init__(self) -> None:
        super().__init__(add_help=False, allow_abbrev=False)

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raise UsageError with argparse's ``message``; the base class would end the program."""
        raise UsageError(message)

    def pick(self, argv: Sequence[str]) -> tuple[dict[str, str | None], list[str]]:
        """Return the values of the known options by ``dest``, and the other arguments in their order.

        ``argv`` may begin with the program's name, which is then the first of the other arguments. The value of an
        option that is not in ``argv`` is None; if an option occurs several times, the last value is returned. Raises
        UsageError for an option without its value.
        """
        options, rest = self.parse_known_args(argv)
        return vars(options), rest


def is_srun(launcher: str) -> bool:
    """Return whether a launcher, given by name or path, is srun."""
    return Path(launcher).name == "srun"


def family_by_pmi(argv: Sequence[str], families: Sequence[str]) -> str:
    """Return the element of ``families`` whose MPI uses the PMI that srun will use.

    ``argv`` has the srun command with ``srun`` first. ``families`` are the names of the MPI builds, at least one, such
    as ``openmpi`` (PMIx) and ``mpich`` (PMI-2). The PMI is the value of --mpi, else of SLURM_MPI_TYPE, else the
    cluster's default, for which ``scontrol`` is run. If no PMI is known or no family matches, the result is the first
    family. Raises UsageError if --mpi lacks its value.
    """
    pmi = _asked_pmi(argv) or _default_pmi()
    return next((family for family in families if pmi.startswith(PMI_OF.get(family, "?"))), families[0])


def complete(argv: Sequence[str], family: str) -> tuple[str, ...]:
    """Return the arguments of an srun command, completed by the options that nameplate needs.

    ``argv`` begins with ``srun``. ``--input=0`` and ``--kill-on-bad-exit=1`` are inserted after it, so that the user's
    options, which follow, override them. ``family`` is a name as in ``launch.mpi_programs``: ``openmpi`` adds
    ``--mpi=pmix``, ``mpich`` adds ``--mpi=pmi2``, and others add nothing. ``--mpi`` is not added if ``argv``,
    SLURM_MPI_TYPE or the cluster's default (from ``scontrol``) names a PMI. Raises UsageError if --mpi lacks its value.
    """
    pmi = [] if _asked_pmi(argv) or _default_pmi() or family not in PMI_OF else [f"--mpi={PMI_OF[family]}"]
    always = [word for word in _ALWAYS if word not in argv]
    return (argv[0], *always, *pmi, *argv[1:])


def explain(stderr: str) -> str:
    """Return a line that explains a known error of Open MPI in a launcher's standard error; "" if it has none."""
    return next((line for part, line in _PAGES.items() if part in stderr), "")


def _asked_pmi(argv: Sequence[str]) -> str:
    parser = OptionExtractor()
    parser.add_argument("--mpi")
    return parser.pick(argv[1:])[0]["mpi"] or os.environ.get("SLURM_MPI_TYPE", "")


def _default_pmi() -> str:
    """Return the default PMI of the cluster; "" if there is none, or Slurm does not answer."""
    try:
        answer = child_process.run(["scontrol", "show", "config"], _DEADLINE_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"^MpiDefault\s*=\s*(\S+)", answer.stdout, re.MULTILINE)
    return match[1] if match and match[1] not in ("none", "(null)") else ""
