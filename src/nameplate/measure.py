"""The policy of a run: rounds in shuffled order, a fresh core for each, until every experiment is precise enough.

Each round takes every experiment once, in an order shuffled from the recorded seed. After the sixth round an experiment
whose interval is narrower than the asked precision rests; the others go on until the budget is spent.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

import msgspec

from nameplate.errors import CoreDied, CoreError, CoreHung, UsageError
from nameplate.model import Experiment, FileRecord, Header, Outcome, Plan, Sample, Stop
from nameplate.native import Core, OnRecord, make_request
from nameplate.plan import FEWEST_ROUNDS
from nameplate.probes import probe_of
from nameplate.probes._job import nodes_of
from nameplate.stats import relative_half_width
from nameplate.store import Measurement

# Where a curve bends is asked for the first time after so many rounds of its sparse points.
ROUNDS_BEFORE_DENSE = 2

# A slice may take this much longer than asked for set-up, warm-up, calibration and the last sample.
GRACE_S = 30.0

# From the figures so far by experiment: the dense points (Experiment.dense) that are worth measuring.
Refine = Callable[[Mapping[str, Sequence[float]]], set[str]]
StartCore = Callable[[OnRecord], Core]
HeadlineOf = Callable[[Measurement], float | None]
Clock = Callable[[], float]


class Progress(Protocol):
    """What is told about a run while it goes on, as a context around it."""

    def __enter__(self) -> Progress:
        """The run begins."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The run ended, however."""

    def begin(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """An experiment is about to be measured."""

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """A sample came in."""

    def warn(self, words: str) -> None:
        """Something went wrong that the run survives."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of a job that each take a single machine's experiments: all at once, or one after the other."""

    places: Sequence[int]
    at_once: bool

    def fields(self, seed: str) -> dict[str, object]:
        """What a request names them by: in an order of the seed's, so that no node's turn is always the same."""
        order = list(self.places)
        random.Random(seed).shuffle(order)
        return {"nodes": order, "at_once": self.at_once}

    @property
    def turns(self) -> int:
        """How many slices a slice takes."""
        return 1 if self.at_once else len(self.places)


@dataclass
class Control:
    """How the user's Ctrl-C reaches a run: ``request`` is called from a signal handler.

    To leave at once the handler raises; the core is then killed where it was started.
    """

    stopped: bool = False
    core: Core | None = None

    def request(self) -> None:
        """Ends the run after the present sample."""
        if self.core is not None and not self.stopped:
            self.core.interrupt()
        self.stopped = True


@dataclass
class Measured:
    """What is known of one experiment so far."""

    rounds: set[int] = field(default_factory=set)
    headlines: list[float] = field(default_factory=list)
    reason: str = ""  # why it is not measured any longer; empty: it is


@dataclass
class Session:
    """One run of a plan. ``write`` receives every record, ``headline_of`` gives a round's headline value."""

    plan: Plan
    seed: int
    start_core: StartCore
    write: Callable[[FileRecord], None]
    headline_of: HeadlineOf
    progress: Progress
    control: Control
    refine: Refine = lambda _: set()
    nodes: Nodes | None = None
    clock: Clock = time.monotonic
    grace_s: float = GRACE_S
    _measured: dict[str, Measured] = field(default_factory=lambda: defaultdict(Measured))
    _worth_measuring: set[str] = field(default_factory=set)
    _began: float = 0.0
    _job: list[str] | None = None

    def __post_init__(self) -> None:
        """A series is measured in one round."""
        self._series = frozenset(e.id for e in self.plan.experiments if e.interval_s)

    def take_over(self, measurements: Iterable[Measurement]) -> None:
        """Counts what an earlier, interrupted run of the same plan has measured."""
        for measurement in measurements:
            self._note(measurement)

    def run(self) -> Stop:
        """Measures until nothing is left to do. Raises FileError when the records cannot be written."""
        self._began = self.clock()
        with self.progress:
            self._rounds()
        return self._finish()

    def _rounds(self) -> None:
        for number in range(1, self._last_round() + 1):
            if self.control.stopped or self._out_of_time():
                break
            if not any(self._wanted(experiment, number) for experiment in self.plan.experiments):
                if all(
                    self._measured[experiment.id].reason for experiment in self.plan.experiments if self._in(experiment)
                ):
                    break
                continue
            self._round(number)
            if number >= ROUNDS_BEFORE_DENSE:
                self._worth_measuring |= self.refine(
                    {identity: measured.headlines for identity, measured in self._measured.items()}
                )

    def order(self, number: int) -> list[Experiment]:
        """The experiments of a round, shuffled anew by the seed and the round's number."""
        shuffled = list(self.plan.experiments)
        random.Random(f"{self.seed}/{number}").shuffle(shuffled)
        return shuffled

    def _last_round(self) -> int:
        return self.plan.limits.rounds or 1_000_000

    def _out_of_time(self) -> bool:
        return self.plan.limits.rounds is None and self.clock() - self._began >= self.plan.limits.budget_s

    def _wanted(self, experiment: Experiment, number: int) -> bool:
        measured = self._measured[experiment.id]
        return self._in(experiment) and not measured.reason and number not in measured.rounds

    def _in(self, experiment: Experiment) -> bool:
        return not experiment.dense or experiment.id in self._worth_measuring

    def _round(self, number: int) -> None:
        todo = [experiment for experiment in self.order(number) if self._wanted(experiment, number)]
        while todo and not self.control.stopped and not self._out_of_time():
            todo = self._with_one_core(number, todo)

    def _with_one_core(self, number: int, todo: Sequence[Experiment]) -> list[Experiment]:
        """Measures with a fresh core until the list is done or the core is gone; what is left is returned."""

        def keep(record: Header | Sample | Outcome) -> None:
            if isinstance(record, Header):
                self._check_job(record)
            self.write(msgspec.structs.replace(record, round=number))

        core = self.start_core(keep)
        self.control.core = core
        try:
            for index, experiment in enumerate(todo):
                if self.control.stopped or self._out_of_time():
                    return []
                if not self._measure_one(core, number, experiment):
                    return list(todo[index + 1 :])
            core.close()
        finally:
            self.control.core = None
            core.kill()
        return []

    def _check_job(self, header: Header) -> None:
        """A node is told by its place: rounds of two sets of nodes would be one median of different machines."""
        own = nodes_of(header.machine)
        if self._job is None:
            self._job = own
        elif own != self._job:
            changed = next((pair for pair in zip(self._job, own, strict=False) if pair[0] != pair[1]), None)
            words = f"{changed[0]} is {changed[1]} now" if changed else f"{len(self._job)} nodes are {len(own)} now"
            raise UsageError(
                f"each round of this run is given other nodes ({words}): allocate them first (salloc, --slurm)"
            )

    def _measure_one(self, core: Core, number: int, experiment: Experiment) -> bool:
        """False when the core is gone."""
        self.progress.begin(number, experiment, *self._time_left())
        samples: list[Sample] = []

        def keep(record: Header | Sample | Outcome) -> None:
            if isinstance(record, Sample):
                samples.append(record)
                self.progress.sample(experiment, record)
            self.write(msgspec.structs.replace(record, round=number))

        limits = self.plan.limits
        slice_s = self._slice_s(experiment)
        longest_sample_s = max(limits.sample_s or 0.0, limits.interval_s or experiment.interval_s or 0.0)
        setup_s = probe_of(experiment.probe).longest_setup_s(experiment.params)
        deadline_s = slice_s + limits.warmup_s + 3 * longest_sample_s + setup_s + self.grace_s
        request = make_request(experiment, limits, slice_s)
        if self.nodes is not None and not probe_of(experiment.probe).takes_whole_job:
            request |= self.nodes.fields(f"{self.seed}/{number}/{experiment.id}")
        try:
            outcome = core.measure(request, deadline_s, keep)
        except (CoreDied, CoreHung) as error:
            if self.control.stopped:
                return False
            outcome = self._gone(experiment, error)
            self.write(msgspec.structs.replace(outcome, round=number))
            self.progress.warn(f"{experiment.id}: {error}")
            self._note(Measurement(msgspec.structs.replace(outcome, round=number), samples))
            return False
        # A request that the core could not read is answered without its name.
        named = msgspec.structs.replace(outcome, id=experiment.id, round=number)
        self._note(Measurement(named, samples))
        return True

    def _gone(self, experiment: Experiment, error: CoreError) -> Outcome:
        return Outcome(
            id=experiment.id,
            probe=experiment.probe,
            ending="failed",
            params=experiment.params,
            facts={},
            labels={},
            oversubscribed=False,
            interrupted=False,
            samples=0,
            setup_s=0.0,
            total_s=0.0,
            reason=str(error),
            stage="run",
        )

    def _note(self, measurement: Measurement) -> None:
        outcome = measurement.outcome
        measured = self._measured[outcome.id]
        if outcome.interrupted:
            return
        measured.rounds.add(outcome.round)
        if outcome.ending != "ok":
            measured.reason = outcome.ending
            return
        headline = self.headline_of(measurement)
        if headline is not None:
            measured.headlines.append(headline)
        measured.reason = "rounds" if outcome.id in self._series else self._why_rest(measured)

    def _why_rest(self, measured: Measured) -> str:
        limits = self.plan.limits
        if limits.rounds is not None:
            return "rounds" if len(measured.rounds) >= limits.rounds else ""
        if len(measured.rounds) < FEWEST_ROUNDS:
            return ""
        width = relative_half_width(measured.headlines)
        return "precision" if width is not None and width <= limits.precision else ""

    def _slice_s(self, experiment: Experiment) -> float:
        """How long samples are taken in a round; with --samples and --time, long enough for all of them."""
        limits = self.plan.limits
        return limits.series_s or max(experiment.slice_s, (limits.samples or 1) * (limits.sample_s or 0.0))

    def _time_left(self) -> tuple[float, float]:
        """How much of the run is done, and how long the rest may take at most."""
        spent_s = self.clock() - self._began
        limits = self.plan.limits
        if limits.rounds is None:
            return min(1.0, spent_s / limits.budget_s), max(0.0, limits.budget_s - spent_s)
        done = sum(len(self._measured[experiment.id].rounds) for experiment in self.plan.experiments)
        total = limits.rounds * len(self.plan.experiments)
        each_s = self._slice_s(self.plan.experiments[0])
        return done / total, (total - done) * (spent_s / done if done else each_s)

    def _finish(self) -> Stop:
        stop = Stop(reasons=self._reasons(), elapsed_s=self.clock() - self._began, interrupted=self.control.stopped)
        self.write(stop)
        return stop

    def _reasons(self) -> dict[str, str]:
        otherwise = "interrupted" if self.control.stopped else "budget"
        return {
            experiment.id: self._measured[experiment.id].reason or (otherwise if self._in(experiment) else "even")
            for experiment in self.plan.experiments
        }
