"""Compare the values of check with those of the programs that the catalogue's machines were measured with.

The catalogue has the bandwidths of lmbench's bw_mem (rd and rdwr, 512 MB for each CPU, on all CPUs) and the latency of
a pointer chase over nodes of 16 bytes on huge pages, which this program compiles. The two programs of a pair run one
after the other, in alternating order. Pass the number of pairs as the first argument (default 7).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from nameplate.execution.core_process import describe_core
from nameplate.execution.launch import alone
from nameplate.planning.stand_ins import stand_ins_of
from nameplate.records.plan_record import Value

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import asked_pairs, comparison, measure

SOURCE = Path(__file__).with_suffix(".c")
BW_MEM = "/usr/lib/lmbench/bin/x86_64-linux-gnu/bw_mem"
# bw_mem repeats its timing and prints the median.
REPEATS = "3"
SECONDS = 0.5
# Half a second for each timing, and no search for the overhead of the clock and of a loop, which takes a minute.
QUICKLY = {"ENOUGH": "500000", "TIMING_O": "0", "LOOP_O": "0"}


def bandwidth(op: str, threads: int) -> float:
    """Return the bytes per second of memory_stream, as the median of the samples."""
    params: Mapping[str, Value] = {"op": op, "threads": threads, "stores": "plain", "unit": "step"}
    _, samples, _ = measure("memory_stream", params, SECONDS, 0.001)
    return statistics.median(sample.work.bytes / sample.elapsed_s for sample in samples)


def of_lmbench(op: str, processes: int) -> float:
    """Return the bytes per second of bw_mem on as many processes; its MB are 10⁶ bytes."""
    command = [BW_MEM, "-P", str(processes), "-N", REPEATS, "512M", op]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **QUICKLY})
    return float(done.stderr.split()[-1]) * 1e6


def latency(size_bytes: int) -> float:
    """Return the seconds per load of memory_latency, as the median of the samples."""
    _, samples, _ = measure("memory_latency", {"size": size_bytes}, SECONDS)
    return statistics.median(sample.elapsed_s / sample.work.ops for sample in samples)


def of_chase(program: Path, size_bytes: int) -> float:
    """Return the seconds per load of the chase."""
    command = ["taskset", "-c", "0", str(program), str(size_bytes), str(SECONDS)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Print a line for each value of check."""
    pairs = asked_pairs()
    machine = describe_core(alone(), []).machine
    cpus = len(machine.topology.allowed_cpus)
    print(f"check and the programs of the catalogue, {pairs} pairs", flush=True)
    for ours, theirs in (("read", "rd"), ("update", "rdwr")):
        line = comparison(
            f"memory_stream op={ours} threads={cpus} and bw_mem {theirs}", partial(bandwidth, ours, cpus),
            partial(of_lmbench, theirs, cpus), pairs, "B/s",
        )  # fmt: skip
        print(line, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "chase")
        subprocess.run(["gcc", "-O2", "-o", program, SOURCE], check=True)
        beyond_bytes = int(stand_ins_of(machine)["beyond_one"])
        for times in (1, 4):
            line = comparison(
                f"memory_latency size={beyond_bytes} and the chase over {times} x as much",
                partial(latency, beyond_bytes), partial(of_chase, program, times * beyond_bytes), pairs, "s",
            )  # fmt: skip
            print(line, flush=True)


if __name__ == "__main__":
    main()
