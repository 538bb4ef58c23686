"""Record slow-downs made on purpose, each next to an unchanged run, for bench/statistics/slowdowns.py.

python bench/statistics/_record_slowdowns.py [BLOCKS [CONDITION ...]]     default: 20 blocks of all conditions

It appends to bench/statistics/slowdowns/recorded.jsonl. A block has a run of each condition, in random order
(``_slowdowns.py``); a CONDITION is the beginning of its name, such as "cpu: 10", and is recorded next to the unchanged
run. A block of all takes four to five minutes, and needs root, control groups of version 1 and an idle machine with two
CPUs."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from _slowdowns import BUILD, CONDITIONS, FOLDER, RECORDED, SLOWER_CORE, UNCHANGED, Condition, Line, Rates

from nameplate.commands._reading import read_report
from nameplate.comparison.doubts import share_for
from nameplate.records.result import Report, Result
from nameplate.results.cpu_time import share_of_cpu_time

ROUNDS = 6
# How many unchanged runs the limits of disk and network are set from.
RUNS_FOR_RATES = 3


def record(condition: Condition, rates: Rates) -> Report:
    """Return a run under a condition."""
    with TemporaryDirectory(dir=Path.cwd()) as name, condition.start(rates) as launch:
        run = Path(name, "run.jsonl")
        command = [sys.executable, "-m", "nameplate", "run", str(FOLDER / f"{condition.plan}.toml"), "--rounds",
                   str(ROUNDS), "--quiet", "-o", str(run)]  # fmt: skip
        launch.run(command, Path(name))
        return read_report(run)


def lines(report: Report, condition: Condition, recording: str, block: int) -> Iterator[Line]:
    """Yield the metrics of a run that have a value and a better direction."""
    of_run = share_of_cpu_time(report)
    for result in report.results:
        summary = result.summary
        if summary.value and result.better and result.kind == "measured":
            yield Line(
                recording=recording, block=block, condition=condition.name, plan=condition.plan,
                experiment=f"{summary.probe} {result.id} {summary.metric}",
                capability=_capability(result), rounds=[_as_time(value, result) for value in result.round_values],
                cpu_share=share_for(result, report.machine, of_run),
            )  # fmt: skip


def _as_time(value: float, result: Result) -> float:
    return value if result.better == "lower" else 1 / value


def _capability(result: Result) -> tuple[float, float, float, int] | None:
    row = result.summary
    if row.capability is None or row.capability_ci is None:
        return None
    low, high = sorted(_as_time(bound, result) for bound in row.capability_ci)
    return _as_time(row.capability, result), low, high, row.rounds


def measured_rates(plan_run: Condition) -> Rates:
    """Return the median rates of disk and network in several unchanged runs."""
    reports = [record(plan_run, Rates(0, 0)) for _ in range(RUNS_FOR_RATES)]

    def middle(probe: str) -> float:
        values = [row.summary.value for report in reports for row in report.results
                  if row.summary.probe == probe and row.summary.metric == "bandwidth"]  # fmt: skip
        return sorted(value for value in values if value)[len(values) // 2]

    return Rates(middle("disk_block"), middle("net_stream"))


def conditions(beginnings: list[str]) -> list[Condition]:
    """Return the conditions whose names begin with one of these words, and what they are compared with; [] means all.

    The program ends if none begins so.
    """
    named = [condition for condition in CONDITIONS if condition.name.startswith(tuple(beginnings) or "")]
    if not named:
        sys.exit(
            f"no condition begins with {beginnings}; there are: {', '.join(condition.name for condition in CONDITIONS)}"
        )
    plans = {condition.plan for condition in named}
    return [
        condition
        for condition in CONDITIONS
        if condition in named or (condition.name == UNCHANGED and condition.plan in plans)
    ]


def main() -> None:
    """Record blocks, the conditions in random order, and append each run as soon as it is complete."""
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    chosen = conditions(sys.argv[2:])
    targets = [SLOWER_CORE.format(percent=percent) for percent in (5, 10, 20)]
    subprocess.run(["cmake", "--build", str(BUILD), "--target", *targets], check=True, stdout=subprocess.DEVNULL)
    rates = measured_rates(
        next(candidate for candidate in CONDITIONS if candidate.name == UNCHANGED and candidate.plan == "whole_periods")
    )
    print(f"unchanged: disk {rates.disk / 1e6:.0f} MB/s, network {rates.network / 1e6:.0f} MB/s", flush=True)
    recording = time.strftime("%Y-%m-%d %H:%M")
    encode = msgspec.json.Encoder(decimal_format="number").encode
    for block in range(blocks):
        for condition in random.sample(chosen, len(chosen)):
            report = record(condition, rates)
            with RECORDED.open("ab") as file:
                file.writelines(encode(line) + b"\n" for line in lines(report, condition, recording, block))
        print(f"block {block + 1} of {blocks}", flush=True)


if __name__ == "__main__":
    main()
