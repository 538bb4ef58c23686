"""How the tests launch the MPI programs: with Debian's launchers, real ranks on few cores."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nameplate.execution.launch import mpi_programs

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


def stream(**params: Any) -> dict[str, Any]:
    """A request of one sample of mpi_stream on small arrays."""
    return {"probe": "mpi_stream", "params": {"size": 1 << 20, "threads": 1, **params}, "slice_s": 20, "max_samples": 1}


def ranks_of(program: Path, launcher: int) -> list[int]:
    """The processes of a launched program."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "exe").readlink() == program.resolve():
                found.append(int(entry.name))
        except OSError:
            continue
    return sorted(pid for pid in found if descends(pid, launcher))


def ranks_left(ranks: list[int]) -> list[int]:
    """Those that are still there; what nobody has waited for yet has no program any more."""
    return [rank for rank in ranks if Path(f"/proc/{rank}/exe").exists()]


def descends(pid: int, ancestor: int) -> bool:
    """Launchers put their processes in sessions of their own, so the parents are followed."""
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False
