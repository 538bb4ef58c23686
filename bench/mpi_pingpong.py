"""mpi_pingpong beside a plain loop of MPI_Send and MPI_Recv: the same launcher, size and batches.

Pass the number of pairs as the first argument (default 15).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from _pairs import beside, measure
from nameplate.launch import launch_with
from nameplate.native import CoreProcess, OnRecord

LAUNCHER = "mpirun.openmpi --bind-to core -n 2"
SOURCE = Path(__file__).with_name("plain_pingpong.c")
BATCHES = 40
# Some 10 ms each.
REPETITIONS = {8: 20_000, 1_000: 10_000, 100_000: 500}
PAIRS = 15


def start(on_record: OnRecord) -> CoreProcess:
    """The core on two ranks."""
    return CoreProcess(on_record, launch=launch_with(LAUNCHER))


def mine(size: int) -> float:
    """The median batch's time of one way in seconds."""
    _, samples, _ = measure("mpi_pingpong", {"size": size}, 0.01 * BATCHES, 0.01, start=start)
    workers = [sample.workers[0] for sample in samples if sample.workers]
    return median(worker.elapsed_s / worker.work.ops for worker in workers)


def plain(program: Path, size: int) -> float:
    """The same of the plain loop; its first tenth warms up."""
    command = [*LAUNCHER.split(), str(program), str(size), str(REPETITIONS[size]), str(BATCHES)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    times = [float(line) for line in answer.stdout.split()]
    return median(times[len(times) // 10 :])


def main() -> None:
    """Prints a line per size."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "plain"
        subprocess.run(["mpicc.openmpi", "-O2", "-o", str(program), str(SOURCE)], check=True)
        print("mpi_pingpong beside a plain loop, Open MPI, two ranks of one node; below 1 is faster")
        for size in REPETITIONS:
            print(beside(f"{size} B", partial(mine, size), partial(plain, program, size), pairs, "s"), flush=True)


if __name__ == "__main__":
    main()
