"""Compare memory_latency with a pointer chase in plain C over the same permutation, size and pages.

This program compiles the C code. The two programs of a pair run one after the other, in alternating order. Pass the
number of pairs as the first argument (default 7).
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from nameplate.tools.pairing import measure_pairs, middle_pair

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import asked_pairs, measure, ratio_of

SOURCE = Path(__file__).with_suffix(".c")
SIZES = (16 << 10, 256 << 10, 4 << 20, 64 << 20, 256 << 20)
SECONDS = 0.5


def ours(size_bytes: int, pages: str) -> float:
    """Measure with memory_latency and return the seconds per load, as the median of the samples."""
    _, samples, _ = measure("memory_latency", {"size": size_bytes, "pages": pages}, SECONDS)
    return statistics.median(s.elapsed_s / s.work.ops for s in samples)


def plain_c(program: Path, size_bytes: int, pages: str) -> float:
    """Run the C program and return its seconds per load."""
    command = ["taskset", "-c", "0", str(program), str(size_bytes), pages, str(SECONDS)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Print a line per size and kind of pages."""
    pairs = asked_pairs()
    print(f"memory_latency and a plain C chase, {pairs} pairs of {SECONDS:g} s each")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "chase")
        subprocess.run(["gcc", "-O2", "-o", program, SOURCE], check=True)
        for pages in ("huge", "small"):
            for size in SIZES:
                mine, theirs = measure_pairs(pairs, partial(ours, size, pages), partial(plain_c, program, size, pages))
                first, second = middle_pair(mine, theirs)
                print(f"  {size >> 10} KiB pages={pages}: {first * 1e9:.2f} ns, plain C {second * 1e9:.2f}, "
                      f"ratio {ratio_of(mine, theirs)}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
