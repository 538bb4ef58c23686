"""Measure how often a host that is throttled by a fifth is named among eight hosts, and how often another one is.

python bench/statistics/slow_nodes.py [RUNS]     default: 20 runs; needs root and the cgroup v1 CPU controller

The hosts are measured one at a time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from fake_hosts import make_launcher
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

HOSTS = [f"host{number}" for number in range(1, 9)]
THROTTLED = "host5"
# The quota of one CPU. The period is short compared with a sample, so that every sample is throttled alike.
QUOTA_US, PERIOD_US = 4000, 5000
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@contextmanager
def quota() -> Iterator[Path]:
    """Create a control group that is limited to four fifths of a CPU and remove it afterwards."""
    group = CPU_GROUPS / f"nameplate-bench-{os.getpid()}"
    group.mkdir()
    try:
        (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
        yield group
    finally:
        group.rmdir()


def named(folder: Path, launcher: str, number: int) -> list[str]:
    """Run once, print how much slower each host is and return the hosts that are named as slow."""
    path = folder / f"{number}.jsonl"
    arguments = ["run", "cpu_flops", "isa=avx2", "threads=1", "--rounds", "6", "--per-node", "in-turn", "-q",
             "-o", str(path), "--mpi", f"{launcher} -n {len(HOSTS)}"]  # fmt: skip
    subprocess.run([sys.executable, "-m", "nameplate", *arguments], env={**os.environ, **AS_ROOT}, check=True)
    nodes = summarise(read_run(path)).nodes
    assert nodes is not None
    rate = nodes.metrics[0]
    behind = " ".join(f"{100 * (gap or 0):5.1f}" for gap in rate.gap)
    slow = [nodes.names[index] for index in rate.slow]
    print(f"  slower by {behind} %  named: {', '.join(slow) or 'none'}", flush=True)
    return slow


def main() -> None:
    """Run with and without the throttled host in alternation, and print how often a host was named."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder, quota() as group:
        folder_path = Path(folder)
        for directory in ("throttled", "healthy"):
            (folder_path / directory).mkdir()
        before = {THROTTLED: f"echo $$ > {group}/cgroup.procs"}
        throttled = make_launcher(folder_path / "throttled", HOSTS, before)
        healthy = make_launcher(folder_path / "healthy", HOSTS)
        detected = wrongly_named = wrong = 0
        for number in range(runs):
            print(f"run {number + 1} of {runs}: first with {THROTTLED} throttled, then with no host throttled")
            slow = named(folder_path, throttled, 2 * number)
            detected += THROTTLED in slow
            wrongly_named += slow not in ([], [THROTTLED])
            wrong += bool(named(folder_path, healthy, 2 * number + 1))
        print(
            f"throttled: {THROTTLED} named in {detected} of {runs} runs, other hosts in {wrongly_named}; "
            f"not throttled: any host named in {wrong} of {runs} runs"
        )


if __name__ == "__main__":
    main()
