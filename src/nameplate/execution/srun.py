"""Slurm's launcher: what srun has to be told, so that the ranks find each other and requests reach the first one."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from nameplate.errors import UsageError
from nameplate.execution import child_process

# Requests are the first rank's only; the death of a rank ends the others, which would wait for it for ever. In front of
# the user's own words, so that those overrule them.
_ALWAYS = ("--input=0", "--kill-on-bad-exit=1")
# The interface through which Debian's builds of each MPI find their other ranks.
PMI_OF = {"openmpi": "pmix", "mpich": "pmi2"}
_DEADLINE_S = 20.0
_PAGES = {
    "not built with SLURM's PMI support": (
        "srun did not tell Open MPI of its ranks: srun --mpi=pmix, if srun --mpi=list names it"
    ),
    "--allow-run-as-root": (
        "Open MPI does not run as root: be another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and "
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    ),
}


class OptionExtractor(argparse.ArgumentParser):
    """Picks some options out of a command's words and leaves the others alone."""

    def __init__(self) -> None:
        super().__init__(add_help=False, allow_abbrev=False)

    def error(self, message: str) -> None:  # type: ignore[override]
        """Raises UsageError, where the base would end the program."""
        raise UsageError(message)

    def pick(self, words: Sequence[str]) -> tuple[dict[str, str | None], list[str]]:
        """The values of its options, None for one that is not there, and the words that are left. Raises UsageError."""
        found, rest = self.parse_known_args(words)
        return vars(found), rest


def is_srun(launcher: str) -> bool:
    """Whether a launcher is Slurm's."""
    return Path(launcher).name == "srun"


def family_by_pmi(words: Sequence[str], families: Sequence[str]) -> str:
    """Which of the MPIs that there are builds for srun's ranks can be of: srun itself belongs to none."""
    pmi = _asked_pmi(words) or _default_pmi()
    return next((family for family in families if pmi.startswith(PMI_OF.get(family, "?"))), families[0])


def complete(words: Sequence[str], family: str) -> tuple[str, ...]:
    """srun's words with those that nameplate needs."""
    pmi = [] if _asked_pmi(words) or _default_pmi() or family not in PMI_OF else [f"--mpi={PMI_OF[family]}"]
    always = [word for word in _ALWAYS if word not in words]
    return (words[0], *always, *pmi, *words[1:])


def explain(launchers_words: str) -> str:
    """What Open MPI takes a page to say, in a line; empty where it does not say it."""
    return next((line for part, line in _PAGES.items() if part in launchers_words), "")


def _asked_pmi(words: Sequence[str]) -> str:
    parser = OptionExtractor()
    parser.add_argument("--mpi")
    return parser.pick(words[1:])[0]["mpi"] or os.environ.get("SLURM_MPI_TYPE", "")


def _default_pmi() -> str:
    """The cluster's; empty where it is none, or nobody answers."""
    try:
        answer = child_process.run(["scontrol", "show", "config"], _DEADLINE_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"^MpiDefault\s*=\s*(\S+)", answer.stdout, re.MULTILINE)
    return match[1] if match and match[1] not in ("none", "(null)") else ""
