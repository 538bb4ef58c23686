"""Launch the MPI programs in tests: Debian's launchers, with more ranks than cores if necessary."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nameplate.execution.launch import is_false_alarm, mpi_programs

# There may be fewer cores than ranks, so a waiting rank yields its core.
OPEN_MPI = "mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1"
MPICH = "mpirun.mpich"
LAUNCHERS = {"openmpi": OPEN_MPI, "mpich": MPICH}
_FAULTS = Path(__file__).parent.parent / "faults" / "mpi_faults.c"


def command(family: str, ranks: int, program: str = "") -> list[str]:
    """Return the command that launches a program on ``ranks`` ranks with a family's launcher.

    The program is that of the launcher's family, or of the family ``program``.
    """
    return [*LAUNCHERS[family].split(), "-n", str(ranks), str(mpi_programs()[program or family])]


def faulty_mpi(family: str, folder: Path) -> Path:
    """Return a library for LD_PRELOAD that flips a byte of each message on the link FAULTY_LINK, such as "2-1"."""
    library = folder / "mpi_faults.so"
    subprocess.run([f"mpicc.{family}", "-shared", "-fPIC", "-o", library, _FAULTS], check=True)
    return library


def ask(arguments: list[str], *requests: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run a command, send it these requests and return its records; the command must end properly."""
    text = "".join(json.dumps({"id": str(i), "warmup_s": 0.0, **r}) + "\n" for i, r in enumerate(requests))
    answer = subprocess.run(arguments, input=text, capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 0 or is_false_alarm(answer.stderr), answer.stderr
    records = [json.loads(line) for line in answer.stdout.splitlines()]
    assert records[-1]["type"] == "end"
    return records


def nameplate(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run nameplate with these arguments and return the completed process."""
    return subprocess.run(
        [sys.executable, "-m", "nameplate", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def stream(**params: Any) -> dict[str, Any]:
    """Return a request for one sample of mpi_stream on small arrays."""
    return {"probe": "mpi_stream", "params": {"size": 1 << 20, "threads": 1, **params}, "slice_s": 20, "max_samples": 1}


def ranks_of(program: Path, launcher: int) -> list[int]:
    """Return the processes of a program that descend from a launcher."""
    ranks = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "exe").readlink() == program.resolve():
                ranks.append(int(entry.name))
        except OSError:
            continue
    return sorted(pid for pid in ranks if descends(pid, launcher))


def ranks_left(ranks: list[int]) -> list[int]:
    """Return the ranks that still run; a zombie does not count, because it has no executable."""
    return [rank for rank in ranks if Path(f"/proc/{rank}/exe").exists()]


def descends(pid: int, ancestor: int) -> bool:
    """Return whether a process descends from another one.

    Follow the parents, because launchers put their processes into sessions of their own.
    """
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False
