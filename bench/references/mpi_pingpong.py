"""Compare mpi_pingpong with a plain loop of MPI_Send and MPI_Recv, in one launch and in separate launches.

One launch runs both loops in the same processes, so that only the loops can differ. Separate launches differ mostly by
where the system places the processes and pages of each job, which changes the time by a factor from launch to launch
even for the same program. Pass the number of pairs as the first argument (default 15). The plain loop that sends
unchanged data does what osu_latency and IMB's PingPong do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median

from nameplate.execution.core_process import CoreProcess, OnRecord
from nameplate.execution.launch import launch_with

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import comparison, measure, summary

LAUNCHER = "mpirun.openmpi --bind-to core -n 2"
BENCH = Path(__file__).parent
CORE = BENCH.parent / "core"
BATCHES = 40
# A batch takes about 10 ms. In one launch, batches are five times shorter and five times as many, so that a disturbance
# affects both loops alike.
REPETITIONS = {8: 20_000, 1 << 10: 10_000, 1 << 16: 500, 1 << 20: 50}
DATA = ("unchanged", "echo", "fresh")
FINER = 5
PAIRS = 15


def start(on_record: OnRecord) -> CoreProcess:
    """Start the core on two ranks."""
    return CoreProcess(on_record, launch=launch_with(LAUNCHER))


def mine(size: int, data: str) -> float:
    """Measure with mpi_pingpong and return the median one-way time of the batches in seconds."""
    _, samples, _ = measure("mpi_pingpong", {"size": size, "data": data}, 0.01 * BATCHES, 0.01, start=start)
    workers = [sample.workers[0] for sample in samples if sample.workers]
    return median(worker.elapsed_s / worker.work.ops for worker in workers)


def launched(program: Path, size: int, data: str, finer: int = 1) -> list[list[float]]:
    """Launch a program and return the numbers that it prints per batch, without the first tenth (warm-up)."""
    numbers = size, REPETITIONS[size] // finer, BATCHES * finer
    command = [*LAUNCHER.split(), str(program), *map(str, numbers), data]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [[float(word) for word in line.split()] for line in answer.stdout.splitlines()]
    return lines[len(lines) // 10 :]


def plain(program: Path, size: int, data: str) -> float:
    """Launch the plain loop alone and return its median one-way time in seconds."""
    return median(time for (time,) in launched(program, size, data))


def in_one_launch(program: Path, size: int, data: str) -> float:
    """Run both loops in one launch and return the ratio of nameplate's median to that of the plain loop."""
    ours, theirs = zip(*launched(program, size, data, FINER), strict=True)
    return float(median(ours) / median(theirs))


def build(directory: Path) -> tuple[Path, Path]:
    """Compile the plain loop and the program with both loops, and return their paths."""
    alone, both = directory / "plain", directory / "both"
    subprocess.run(["mpicc.openmpi", "-O2", "-o", alone, BENCH / "plain_pingpong.c"], check=True)
    machine = [CORE / "machine" / f"{name}.cpp" for name in ("buffer", "page_size", "root")]
    sources = [BENCH / "mpi_pingpong_beside_plain.cpp", CORE / "mpi" / "message.cpp", *machine]
    subprocess.run(
        ["mpicxx.openmpi", "-std=c++20", "-O2", "-DFMT_HEADER_ONLY", "-I", CORE, "-o", both, *sources], check=True
    )
    return alone, both


def main() -> None:
    """Print two lines for each message size and kind of data."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory() as directory:
        alone, both = build(Path(directory))
        print("mpi_pingpong and a plain loop, Open MPI, two ranks on one node; below 1, mpi_pingpong is faster")
        for size, data in product(REPETITIONS, DATA):
            ratios = [in_one_launch(both, size, data) for _ in range(pairs)]
            print(f"  {size} B, {data}, in one launch: ratio {summary(ratios)}", flush=True)
            name = f"{size} B, {data}, in separate launches"
            work = partial(mine, size, data), partial(plain, alone, size, data)
            print(comparison(name, *work, pairs, "s"), flush=True)


if __name__ == "__main__":
    main()
