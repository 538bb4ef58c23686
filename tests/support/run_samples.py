"""Build records and run files from made-up values, for tests of the code that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from machines import MACHINE
from nameplate.errors import CoreError
from nameplate.execution.core_process import OnRecord
from nameplate.execution.session import Control, Session
from nameplate.records.plan_record import Experiment, Limits, Plan
from nameplate.records.run_record import SCHEMA, Clock, Ending, FileRecord, Header, Outcome, Run, Sample, Stop, Work
from nameplate.results.measurements import Measurement, RunFile

FACTS = {
    "chains": 12.0, "lanes": 8.0, "burst_cycles": 30000.0, "operations_per_instruction": 16.0,
    "port_block_instructions": 1e6, "port_block_s": 1e6 / 3e9, "port_burst_s": 1e-5,
}  # fmt: skip


def header() -> Header:
    return Header(
        schema=SCHEMA, version="0", build="test", features=[], machine=MACHINE, clock=Clock("tsc", 2e9, 1e-8, 2e-8)
    )


def sample(
    identity: str,
    index: int = 0,
    flops: int = 480_000_000,
    round_number: int = 0,
    disturbed: Mapping[str, float] | None = None,
) -> Sample:
    """Return a sample of 10 ms on a core at 3 GHz with one port of 16 operations, so the ceiling is 48 GFLOP/s."""
    return Sample(
        round=round_number, id=identity, index=index, start_s=0.01 * index, elapsed_s=0.01, repetitions=1,
        work=Work(0, flops, 0), counters={"cpu_user_s": 0.01, "cpu_system_s": 0.0, "burst_s": 1e-5},
        disturbed={"involuntary_switches": 0, "steal_s": 0.0, "burst_s": 1e-5, **(disturbed or {})},
    )  # fmt: skip


def outcome(identity: str, ending: Ending = "ok", round_number: int = 0, interrupted: bool = False) -> Outcome:
    """Return the outcome of an experiment whose parameters differ from those of every other identity."""
    return Outcome(
        round=round_number, id=identity, probe="cpu_flops", ending=ending,
        params={"isa": "avx512", "threads": 1, "mix": identity},
        facts=FACTS, labels={}, oversubscribed=False, interrupted=interrupted, samples=1, setup_s=0.01, total_s=0.1,
        reason="" if ending == "ok" else "because", stage="" if ending == "ok" else "setup",
    )  # fmt: skip


def plan(*identities: str, **limits: Any) -> Plan:
    experiments = [Experiment(id=i, probe="cpu_flops", params={}, slice_s=1.0) for i in identities]
    return Plan("test", experiments, Limits(**{"budget_s": 60.0, "precision": 0.02, **limits}))


def run(which: Plan) -> Run:
    return Run(schema=SCHEMA, version="0", started="2026-01-01T00:00:00+00:00", plan=which, seed=1, rated={})


class SilentProgress:
    """Progress that shows nothing and keeps the warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def __enter__(self) -> SilentProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def start(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        assert 0 <= share_done <= 1
        assert left_s >= 0

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        pass

    def warn(self, message: str) -> None:
        self.warnings.append(message)


Answer = Callable[[str, int], Iterable[Sample | Outcome]]


@dataclass
class FakeCores:
    """Replaces nameplate-core, on a simulated clock: an experiment takes its slice plus ``overhead_s`` seconds.

    Those in ``longer_s`` take these seconds more. ``answer(id, n_earlier_requests)`` returns the records of an
    experiment, or raises the error that the core would.
    """

    answer: Answer
    overhead_s: float = 0.0
    longer_s: Mapping[str, float] = field(default_factory=dict)
    now: float = 0.0
    started: int = 0
    asked: list[tuple[int, str]] = field(default_factory=list)
    # The time of each request or end, and how long it may take.
    deadlines: list[tuple[float, float]] = field(default_factory=list)
    slices: list[float] = field(default_factory=list)
    # The time of each start, and how long it may take; and the errors of starts by their number from 1.
    starts: list[tuple[float, float]] = field(default_factory=list)
    start_errors: Mapping[int, CoreError] = field(default_factory=dict)
    written: list[FileRecord] = field(default_factory=list)
    control: Control = field(default_factory=Control)
    progress: SilentProgress = field(default_factory=SilentProgress)

    def start(self, on_record: OnRecord, within_s: float) -> FakeCores:
        self.started += 1
        self.starts.append((self.now, within_s))
        if self.started in self.start_errors:
            self.now += min(within_s, 20.0)
            raise self.start_errors[self.started]
        on_record(header())
        return self

    def measure(self, request: Mapping[str, Any], deadline_s: float, on_record: OnRecord) -> Outcome:
        identity = request["id"]
        before = sum(identity == asked for _, asked in self.asked)
        self.asked.append((self.started, identity))
        self.slices.append(request["slice_s"])
        self.deadlines.append((self.now, deadline_s))
        self.now += request["slice_s"] + self.overhead_s + self.longer_s.get(identity, 0.0)
        for record in self.answer(identity, before):
            on_record(record)
            if isinstance(record, Outcome):
                return record
        raise AssertionError("no outcome")

    def close(self, within_s: float) -> None:
        self.deadlines.append((self.now, within_s))

    def interrupt(self) -> None:
        pass

    def kill(self) -> None:
        pass

    def session(self, which: Plan, main_value: Callable[[Sequence[Sample]], float | None], seed: int = 1) -> Session:
        return Session(
            plan=which, seed=seed, start_core=self.start, write=self.written.append,
            values_of=lambda measurement: [main_value(measurement.samples)], progress=self.progress,
            control=self.control, clock=lambda: self.now,
        )  # fmt: skip

    def stop(self) -> Stop:
        last = self.written[-1]
        assert isinstance(last, Stop)
        return last


def run_of_one(probe: str, params: Mapping[str, Any], facts: Mapping[str, float], samples: Sequence[Sample]) -> RunFile:
    """Return a run of one experiment with one round, which has these samples."""
    experiment = Experiment(id="x", probe=probe, params=dict(params), slice_s=1.0)
    which = Plan("test", [experiment], Limits(budget_s=60.0, precision=0.02))
    end = Outcome(
        round=1, id="x", probe=probe, ending="ok", params=dict(params), facts=dict(facts), labels={},
        oversubscribed=False, interrupted=False, samples=len(samples), setup_s=0.01, total_s=0.1,
    )  # fmt: skip
    stop = Stop(reasons={"x": "rounds"}, elapsed_s=1.0, interrupted=False)
    return RunFile("x.jsonl", run(which), [header()], [Measurement(end, list(samples))], stop, 0, 0)
