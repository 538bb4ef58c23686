"""Measure nameplate's own overhead: start-up, an empty sample, the error of the clock, and the whole plan `quick`."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from nameplate.execution.core_process import CoreProcess, make_request
from nameplate.execution.launch import core_path
from nameplate.records.plan_record import Experiment, Limits
from nameplate.records.run_record import Header, Outcome, Sample

RUNS = 9
NAMEPLATE = Path(core_path()).with_name("nameplate")


def wall_s(*command: str | Path) -> float:
    """Run a command once and return its wall time in seconds."""
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def median_wall_s(*command: str | Path) -> float:
    """Run a command several times, after one run to warm the page cache, and return the median wall time in seconds."""
    wall_s(*command)
    return statistics.median(wall_s(*command) for _ in range(RUNS))


def empty_run_s() -> float:
    """Return the median time in seconds of a sample that does nothing."""
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
    """Return the deviation of the core's clock from CLOCK_MONOTONIC_RAW in ppm.

    It is measured over 20 s, so that the 0.2 ms that the pipe takes are only 10 ppm. The core's own test compares the
    clocks within one process, over 2 s.
    """
    records: list[Header | Sample | Outcome] = []
    core = CoreProcess(records.append)
    request = make_request(Experiment("clock", "null", {"duration": 10.0}), Limits(60, 0.01), 0.0)
    start = time.clock_gettime(time.CLOCK_MONOTONIC_RAW)
    core.measure({**request, "repetitions": 1, "warmup_s": 0, "max_samples": 1}, 60, records.append)
    raw_s = time.clock_gettime(time.CLOCK_MONOTONIC_RAW) - start
    core.close()
    outcome = records[-1]
    assert isinstance(outcome, Outcome)
    return (outcome.total_s / raw_s - 1) * 1e6


def main() -> None:
    """Print a line per measurement."""
    print(f"overhead, medians of {RUNS} runs")
    print(f"  nameplate --help: {median_wall_s(NAMEPLATE, '--help') * 1e3:.0f} ms (limit 300)")
    print(f"  nameplate-core --describe: {median_wall_s(core_path(), '--describe') * 1e3:.1f} ms (limit 50)")
    print(f"  an empty sample: {empty_run_s() * 1e9:.0f} ns (limit 200)")
    print(f"  the core's clock against CLOCK_MONOTONIC_RAW over 20 s: {clock_ppm():+.0f} ppm (limit 50)")
    with tempfile.TemporaryDirectory() as directory:
        run_s = wall_s(NAMEPLATE, "run", "quick", "-o", f"{directory}/x.jsonl", "--report", f"{directory}/x.html")
    print(f"  nameplate run quick with its report: {run_s:.1f} s (limit 60)")


if __name__ == "__main__":
    main()
