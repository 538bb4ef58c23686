"""Measure the CPU time that the controller needs for a round, early and late in a long run of the null probe.

It must not grow with the rounds: what a run knows of earlier rounds is kept, not read again. Two kinds of run are
measured, one that rests on the precision, and one that is compared with an earlier run while it is measured.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from nameplate.commands._against import BaselineComparison, until_decided
from nameplate.execution.core_process import describe_core
from nameplate.execution.launch import alone
from nameplate.execution.measuring import RunEnvironment, make_run, measure_to_file, new_run_file
from nameplate.planning.plan_file import make_limits
from nameplate.records.plan_record import Experiment, Plan
from nameplate.records.result import Report
from nameplate.records.run_record import Sample

N_EXPERIMENTS = 10
N_ROUNDS = 200
# A comparison that never ends: the same work with a share that no interval reaches.
NEVER = 1e-6


@dataclass
class CpuTimes:
    """A display that notes the CPU time of this process when a round begins; it shows nothing."""

    at_round: dict[int, float] = field(default_factory=dict)

    def __enter__(self) -> CpuTimes:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """End."""

    def start(self, round_number: int, _: Experiment, __: float, ___: float) -> None:
        """Note the CPU time of the first experiment of a round."""
        self.at_round.setdefault(round_number, time.process_time())

    def sample(self, _: Experiment, __: Sample) -> None:
        """Ignore a sample."""

    def warn(self, message: str) -> None:
        """Print an error, which makes the times worthless."""
        sys.exit(message)

    def of_rounds(self, first: int, last: int) -> float:
        """Return the CPU time in seconds from the beginning of round ``first`` to the beginning of ``last`` + 1."""
        return self.at_round[last + 1] - self.at_round[first]


def measured(folder: Path, name: str, base: Report | None, n_rounds: int) -> tuple[CpuTimes, Report]:
    """Measure the null probe in ``n_rounds`` + 1 rounds, compared with ``base`` if there is one."""
    core = describe_core(alone(), [])
    experiments = [
        Experiment(f"null {number}", "null", {"duration": 1e-4 * (1 + number)}, slice_s=0.02, sample_s=0.002)
        for number in range(N_EXPERIMENTS)
    ]
    limits = make_limits({"rounds": str(n_rounds + 1)} if base is None else {"budget": "10min"})
    times = CpuTimes()

    def decided(report: Report) -> set[str]:
        assert base is not None
        until_decided(base, BaselineComparison(folder / "base.jsonl", NEVER))(report)
        is_long_enough = max(map(len, (result.round_values for result in report.results))) > n_rounds
        return {result.id for result in report.results} if is_long_enough else set()

    environment = RunEnvironment(core.machine, decided=None if base is None else decided)
    with new_run_file(folder / f"{name}.jsonl") as writer:
        run = make_run(Plan(name, experiments, limits), 1, {}, "normal", "")
        return times, measure_to_file(run, writer, None, times, environment)


def main() -> None:
    """Print the CPU time of rounds 1 to 50 and 151 to 200, and their ratio."""
    with TemporaryDirectory() as folder:
        rounds, base = measured(Path(folder), "rounds", None, N_ROUNDS)
        against, _ = measured(Path(folder), "against", base, N_ROUNDS)
        for name, times in {"fixed rounds": rounds, "compared with an earlier run": against}.items():
            early_s, late_s = times.of_rounds(1, 50), times.of_rounds(151, 200)
            print(f"{name}: rounds 1 to 50 {early_s:.3f} s, rounds 151 to 200 {late_s:.3f} s, {late_s / early_s:.3f}")


if __name__ == "__main__":
    main()
