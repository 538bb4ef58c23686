"""Compare the times of two commands by ab with those of hyperfine: same programs, without a shell.

python bench/references/user_commands.py [PAIRS]     default: 7 pairs of runs; needs hyperfine

A pair has one call of hyperfine and one timer of nameplate, each with 20 runs of the program after a warm-up; its ratio
is that of the medians of the elapsed time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from nameplate.execution.command_timer import CommandTimer
from nameplate.tools.pairing import measure_pairs, middle_pair, paired_ratio

RUNS = 20
COMMANDS = (
    ["true"],
    ["sleep", "0.05"],
    [sys.executable, "-c", "pass"],
    ["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=4"],
)


def by_hyperfine(argv: list[str]) -> float:
    """Return the median time of a program in seconds by hyperfine."""
    with TemporaryDirectory() as folder:
        exported = Path(folder) / "h.json"
        command = ["hyperfine", "--shell=none", "--warmup=1", f"--runs={RUNS}", f"--export-json={exported}"]
        subprocess.run([*command, " ".join(argv)], check=True, capture_output=True)
        return float(json.loads(exported.read_text())["results"][0]["median"])


def by_nameplate(argv: list[str]) -> float:
    """Return the median time of a program in seconds by nameplate."""
    with CommandTimer() as timer:
        timer.run(argv)
        return median(timer.run(argv).elapsed_s for _ in range(RUNS))


def main() -> None:
    """Print a row for each program."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"{'':34}{'nameplate':>12}{'hyperfine':>12}  ratio (95 %)")
    for argv in COMMANDS:
        ours, theirs = measure_pairs(pairs, partial(by_nameplate, argv), partial(by_hyperfine, argv))
        ratio = paired_ratio([a / b for a, b in zip(ours, theirs, strict=True)])
        middle = middle_pair(ours, theirs)
        interval = f" ({ratio.ci[0]:.3f} to {ratio.ci[1]:.3f})" if ratio.ci else ""
        name = " ".join([Path(argv[0]).name, *argv[1:]])
        print(f"{name:34}{middle[0] * 1e3:9.3f} ms{middle[1] * 1e3:9.3f} ms  {ratio.median:.3f}{interval}", flush=True)


if __name__ == "__main__":
    main()
