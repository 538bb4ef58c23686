"""Eight hosts measured one at a time, one of them throttled by a fifth: how often it is named, and how often another.

python bench/slow_nodes.py [RUNS]: as root, where the control group's CPU controller is version 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from fake_hosts import make_launcher
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

HOSTS = [f"host{number}" for number in range(1, 9)]
THROTTLED = "host5"
# Of one CPU; the period is short beside a sample, so that every sample has its share.
QUOTA_US, PERIOD_US = 4000, 5000
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@contextmanager
def quota() -> Iterator[Path]:
    """A control group with four fifths of a CPU."""
    group = CPU_GROUPS / f"nameplate-bench-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
        yield group
    finally:
        group.rmdir()


def named(folder: Path, launcher: str, number: int) -> list[str]:
    """The hosts that one run names, and on standard output how far each is behind."""
    path = folder / f"{number}.jsonl"
    words = ["run", "cpu_flops", "isa=avx2", "threads=1", "--rounds", "6", "--per-node", "in-turn", "-q",
             "-o", str(path), "--mpi", f"{launcher} -n {len(HOSTS)}"]  # fmt: skip
    subprocess.run([sys.executable, "-m", "nameplate", *words], env={**os.environ, **AS_ROOT}, check=True)
    nodes = summarise(read_run(path)).nodes
    assert nodes is not None
    rate = nodes.metrics[0]
    behind = " ".join(f"{100 * (gap or 0):5.1f}" for gap in rate.gap)
    slow = [nodes.names[place] for place in rate.slow]
    print(f"  behind by {behind} %  named: {', '.join(slow) or 'none'}", flush=True)
    return slow


def main() -> None:
    """Throttled and healthy runs in turn."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder, quota() as group:
        place = Path(folder)
        for directory in ("throttled", "healthy"):
            (place / directory).mkdir()
        before = {THROTTLED: f"echo $$ > {group}/cgroup.procs"}
        throttled = make_launcher(place / "throttled", HOSTS, before)
        healthy = make_launcher(place / "healthy", HOSTS)
        found = others = wrong = 0
        for number in range(runs):
            print(f"run {number + 1} of {runs}, {THROTTLED} throttled, then none")
            slow = named(place, throttled, 2 * number)
            found += THROTTLED in slow
            others += slow not in ([], [THROTTLED])
            wrong += bool(named(place, healthy, 2 * number + 1))
        print(
            f"named in {found} of {runs} runs, others with or without it in {others}; healthy: any in {wrong} of {runs}"
        )


if __name__ == "__main__":
    main()
