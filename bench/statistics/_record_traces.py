"""Record a trace of this machine under a condition, for the study of estimators (bench/statistics/capability.py).

python bench/statistics/_record_traces.py CONDITION [BUDGET [NAME]]     default: 30min, and the condition as the name

It writes bench/statistics/traces/NAME.npz.xz.

- idle: nothing else runs
- neighbour: another thread computes without a pause
- quota: a CPU quota of 0.8 CPUs, in a control group of its own; a sample lasts two and a half of its periods, as in
  the presets on a machine with a quota
- memory: another thread copies memory without a pause
- transfers: a thread reads from disk, and another one sends over the loopback
- noisy: two copies of the project's tests run at the same time, again and again
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from _traces import PLAN, pack

PROJECT = Path(__file__).parents[2]


def series(probe: str, *params: str) -> list[str]:
    """Return the command of one long series of a probe."""
    return [sys.executable, "-m", "nameplate", "run", probe, *params, "--series", "7200s/10s", "--quiet",
            "-o", f"{probe}.jsonl"]  # fmt: skip


def tests() -> list[str]:
    """Return a command that runs the project's unit tests until it is ended."""
    pytest = shlex.join([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/unit"])
    return ["bash", "-c", f"cd {shlex.quote(str(PROJECT))}; while true; do {pytest} > /dev/null 2>&1; done"]


# The commands that run during the recording.
BESIDE: dict[str, list[list[str]]] = {
    "idle": [],
    "quota": [],
    "neighbour": [series("cpu_intops", "threads=1")],
    "memory": [series("memory_stream", "op=copy", "threads=1", "size=256MiB")],
    "transfers": [series("disk_block", "op=read", "block=1MiB", "cache=direct"), series("net_stream", "protocol=tcp")],
    "noisy": [tests(), tests()],
}
QUOTA_CPUS = 0.8
PERIOD_US = 100_000
SETTLE_S = 5.0


@contextmanager
def beside(command: list[str], folder: Path) -> Iterator[None]:
    """Run a load in ``folder`` as long as the context lasts, as a group of processes that is ended together."""
    with subprocess.Popen(command, cwd=folder, start_new_session=True) as process:
        try:
            time.sleep(SETTLE_S)
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)


@contextmanager
def quota(cpus: float) -> Iterator[Path]:
    """Make a control group whose processes get the time of ``cpus`` CPUs, and return the file that takes their ids."""
    limit_us = int(cpus * PERIOD_US)
    one = Path("/sys/fs/cgroup/cpu")
    group = (one if one.is_dir() else Path("/sys/fs/cgroup")) / f"nameplate-trace-{os.getpid()}"
    group.mkdir()
    try:
        if one.is_dir():
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(limit_us))
        else:
            (group / "cpu.max").write_text(f"{limit_us} {PERIOD_US}")
        yield group / "cgroup.procs"
    finally:
        time.sleep(1)  # the last process of the group may still be ending
        group.rmdir()


def plan_of(condition: str, folder: Path) -> Path:
    """Return the plan of a condition: ``trace.toml``, or a copy in ``folder`` with samples of whole quota periods.

    Raises:
        ValueError: an experiment of the plan has no slice of 100 ms with samples of 1 ms.
    """
    if condition != "quota":
        return PLAN
    short, text = 'slice = "100ms"\nsample = "1ms"', PLAN.read_text()
    if text.count(short) != text.count("[[experiment]]"):
        raise ValueError(f"{PLAN}: an experiment has no slice of 100 ms with samples of 1 ms")
    path = folder / PLAN.name
    path.write_text(text.replace(short, 'slice = "250ms"\nsample = "250ms"'))
    return path


def main() -> None:
    """Record one condition."""
    condition = sys.argv[1]
    budget = sys.argv[2] if len(sys.argv) > 2 else "30min"
    name = sys.argv[3] if len(sys.argv) > 3 else condition
    with TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        for load in BESIDE[condition]:
            stack.enter_context(beside(load, folder))
        ids = stack.enter_context(quota(QUOTA_CPUS)) if condition == "quota" else None
        run = folder / "trace.jsonl"
        command = [sys.executable, "-m", "nameplate", "run", str(plan_of(condition, folder)), "--budget", budget,
                   "--quiet", "-o", str(run)]  # fmt: skip
        join = (lambda: ids.write_text(str(os.getpid()))) if ids else None
        subprocess.run(command, cwd=folder, check=False, preexec_fn=join)
        print(pack(run, name))


if __name__ == "__main__":
    main()
