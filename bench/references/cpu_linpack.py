"""Compare cpu_linpack with the HPL of hpcc: same BLAS, same number of unknowns, one process with the same threads.

The two programs of a pair run one after the other, in alternating order. Pass the number of pairs as the first argument
(default 7); each pair takes some minutes. HPL solves each system as often as nameplate does, and the better of two
block sizes counts.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from nameplate.tools.pairing import measure_pairs, middle_pair

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import asked_pairs, measure, ratio_of

# The number of unknowns, and how often a system of that size is solved in each run.
TRIALS = {2000: 5, 5000: 3, 10000: 1}
THREADS = (1, 2)
BLOCKS = (192, 256)
EXAMPLE = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
_RESULT = re.compile(r"^WR\S+ +(\d+) +(\d+) +\d+ +\d+ +\S+ +(\S+)$", re.MULTILINE)


def input_file() -> str:
    """Return hpcc's example input, changed to one process and the sizes of this comparison."""
    sizes = [n for n, trials in TRIALS.items() for _ in range(trials)]
    lines = {
        "# of problems sizes": str(len(sizes)), "Ns": " ".join(map(str, sizes)), "# of NBs": str(len(BLOCKS)),
        "NBs": " ".join(map(str, BLOCKS)), "Ps": "1", "Qs": "1",
    }  # fmt: skip
    text = EXAMPLE.read_text(encoding="latin-1")
    for label, value in lines.items():
        text = re.sub(rf"^\d+( +{label})", rf"{value}\1", text, flags=re.MULTILINE)
    return text


def hpl(threads: int) -> dict[int, float]:
    """Run HPL and return the FLOP/s by number of unknowns: the median solution with the better block size."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hpccinf.txt").write_text(input_file(), encoding="latin-1")
        # Open MPI would bind the process, and with it all threads of the BLAS, to one core.
        subprocess.run(
            ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", "1", "hpcc"], cwd=folder, check=True,
            capture_output=True, env={**os.environ, "OPENBLAS_NUM_THREADS": str(threads)},
        )  # fmt: skip
        output = Path(folder, "hpccoutf.txt").read_text(encoding="latin-1")
    rates: dict[tuple[int, int], list[float]] = {}
    for n, block, gflops in _RESULT.findall(output):
        rates.setdefault((int(n), int(block)), []).append(float(gflops) * 1e9)
    return {n: max(statistics.median(rates[n, block]) for block in BLOCKS) for n in TRIALS}


def ours(threads: int) -> dict[int, float]:
    """Run cpu_linpack and return the FLOP/s by number of unknowns: the median solution."""
    rates = {}
    for n, trials in TRIALS.items():
        _, samples, _ = measure("cpu_linpack", {"n": n, "threads": threads, "trials": trials}, 0.0)
        rates[n] = statistics.median(sample.work.flops / sample.elapsed_s for sample in samples)
    return rates


def line(n: int, threads: int, mine: Sequence[Mapping[int, float]], theirs: Sequence[Mapping[int, float]]) -> str:
    """Return a line with the middle pair and the ratio of nameplate to HPL."""
    first, second = ([rates[n] for rates in side] for side in (mine, theirs))
    rate, hpl = (value / 1e9 for value in middle_pair(first, second))
    return f"  n={n} threads={threads}: {rate:.2f} GFLOP/s, HPL {hpl:.2f}, ratio {ratio_of(first, second)}"


def main() -> None:
    """Print a line per number of unknowns and threads."""
    number = asked_pairs()
    print(f"cpu_linpack and hpcc's HPL, {number} pairs")
    for threads in THREADS:
        both = measure_pairs(number, partial(ours, threads), partial(hpl, threads))
        for n in TRIALS:
            print(line(n, threads, *both), flush=True)


if __name__ == "__main__":
    main()
