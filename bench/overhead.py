"""What nameplate itself costs: starting, an empty run, the clock's error, the plan `quick` as a whole."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from nameplate.execution.core_process import CoreProcess, make_request
from nameplate.execution.launch import core_path
from nameplate.records.model import Experiment, Header, Limits, Outcome, Sample

RUNS = 9
NAMEPLATE = Path(core_path()).with_name("nameplate")


def wall_s(*command: str | Path) -> float:
    """Wall-clock time of one run of a command."""
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


def median_wall_s(*command: str | Path) -> float:
    """The median of several, after one that warms the page cache."""
    wall_s(*command)
    return statistics.median(wall_s(*command) for _ in range(RUNS))


def empty_run_s() -> float:
    """The median time of a sample that does nothing."""
    samples: list[Sample] = []

    def keep(record: Header | Sample | Outcome) -> None:
        if isinstance(record, Sample):
            samples.append(record)

    core = CoreProcess(keep)
    request = make_request(Experiment("empty", "null", {"duration": 0.0}), Limits(60, 0.01), 1.0)
    core.measure({**request, "repetitions": 1}, 60, keep)
    core.close()
    return statistics.median(sample.elapsed_s for sample in samples)


def clock_ppm() -> float:
    """How far the core's clock is from CLOCK_MONOTONIC_RAW over 20 s, so long that the pipe's 0.2 ms are 10 ppm.

    The core's own test compares them within one process, over 2 s.
    """
    records: list[Header | Sample | Outcome] = []
    core = CoreProcess(records.append)
    request = make_request(Experiment("clock", "null", {"duration": 10.0}), Limits(60, 0.01), 0.0)
    begin = time.clock_gettime(time.CLOCK_MONOTONIC_RAW)
    core.measure({**request, "repetitions": 1, "warmup_s": 0, "max_samples": 1}, 60, records.append)
    raw_s = time.clock_gettime(time.CLOCK_MONOTONIC_RAW) - begin
    core.close()
    outcome = records[-1]
    assert isinstance(outcome, Outcome)
    return (outcome.total_s / raw_s - 1) * 1e6


def main() -> None:
    """Print a line per value."""
    print(f"overhead, medians of {RUNS} runs")
    print(f"  nameplate --help: {median_wall_s(NAMEPLATE, '--help') * 1e3:.0f} ms (limit 300)")
    print(f"  nameplate-core --describe: {median_wall_s(core_path(), '--describe') * 1e3:.1f} ms (limit 50)")
    print(f"  an empty run: {empty_run_s() * 1e9:.0f} ns (limit 200)")
    print(f"  the core's clock against CLOCK_MONOTONIC_RAW over 20 s: {clock_ppm():+.0f} ppm (limit 50)")
    with tempfile.TemporaryDirectory() as directory:
        run_s = wall_s(NAMEPLATE, "run", "quick", "-o", f"{directory}/x.jsonl", "--report", f"{directory}/x.html")
    print(f"  nameplate run quick with its report: {run_s:.1f} s (limit 60)")


if __name__ == "__main__":
    main()
