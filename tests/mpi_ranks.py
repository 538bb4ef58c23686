"""How the tests launch the MPI programs: with Debian's launchers, real ranks on few cores."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from nameplate.launch import mpi_programs

# Their ranks take turns on few cores.
OPEN_MPI = "mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1"
MPICH = "mpirun.mpich"
LAUNCHERS = {"openmpi": OPEN_MPI, "mpich": MPICH}


def command(family: str, ranks: int, program: str = "") -> list[str]:
    """What launches a family's program, or another one's, on so many ranks."""
    return [*LAUNCHERS[family].split(), "-n", str(ranks), str(mpi_programs()[program or family])]


def ask(words: list[str], *requests: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The records that answer these requests; the job must end in order."""
    text = "".join(json.dumps({"id": str(i), "warmup_s": 0.0, **r}) + "\n" for i, r in enumerate(requests))
    answer = subprocess.run(words, input=text, capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


def nameplate(*words: str) -> subprocess.CompletedProcess[str]:
    """The command line tool, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "nameplate", *words], capture_output=True, text=True, timeout=120, check=False
    )
