"""Measure a plan in rounds, with a fresh core for each, until every experiment is precise enough.

Each round takes every experiment once, in an order shuffled by the recorded seed. From the sixth round on, an
experiment whose interval is narrower than the requested precision, or whose verdict in a comparison is final, is no
longer measured. The others continue until the budget is spent.

If fixed rounds must end within a budget, the slices are shortened to fit into the rest of the budget (``pace.py``). An
experiment that would end after the budget is left out. Since the order is shuffled, the measured experiments of the
last round are a random part of the plan.

The budget covers the whole command. Measuring ends before the budget by the estimated time of the summary, which is
longer if other programs slow this one down. A margin is kept for experiments that take longer than estimated: in the
middle of the margin the core is told to end after the current sample, and at the end of the margin it is killed.
"""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from types import TracebackType
from typing import Protocol

import msgspec

from nameplate.errors import CoreDied, CoreError, CoreHung, UsageError
from nameplate.execution.core_process import CLOSE_DEADLINE_S, Core, OnRecord, make_request
from nameplate.execution.memory_keeper import MemoryKeeper
from nameplate.execution.pace import Pace
from nameplate.planning.budget import MIN_ROUNDS, closing_s, full_slice_s, margin_s, min_slice_s
from nameplate.probes import Probe, probe_of
from nameplate.probes.shared.job import nodes_of
from nameplate.records.plan_record import Experiment, Plan
from nameplate.records.run_record import FileRecord, Header, Outcome, Sample, Stop
from nameplate.results.duplicates import DUPLICATE, ResolvedKey, resolved_key
from nameplate.results.measurements import Measurement
from nameplate.results.metric_rounds import main_values
from nameplate.statistics.stats import relative_half_width

# The slowdown that counts is the mean of this number of rounds.
ROUNDS_OF_SLOWDOWN = 3
# The number of rounds of a curve's sparse points before dense points are chosen for the first time.
ROUNDS_BEFORE_DENSE = 2

# If time is short, a tenth of the experiments may have fewer rounds than the others.
COSTLY_SHARE = 0.1
# A guest may get its memory from the host in the first round, so the times of this round are not those of later ones.
ROUNDS_BEFORE_COSTLY = 2
# A round takes longer than the sum of the shortest times of its experiments, by this factor.
ROUND_PER_SHORTEST = 1.2

# An experiment is no longer measured after this number of failed rounds, or after the first if it has no good round.
MAX_FAILURES = 3

# After n rounds, verdicts are judged again when n / ROUNDS_PER_DECISION further rounds, at least one, have ended. Each
# judgement reads all rounds so far: judging after every round would take more and more time.
ROUNDS_PER_DECISION = 10

# A core hangs if it has not answered for this time, and for this multiple of the shortest time of an earlier answer.
MIN_HANG_S = 2.0
HANG_FACTOR = 10.0

# The time for set-up, warm-up, calibration and the last sample, in addition to a slice.
GRACE_S = 30.0

# Returns the dense points (Experiment.dense) worth measuring, from the round values so far by experiment.
Refine = Callable[[Mapping[str, Sequence[float]]], set[str]]
# Returns the factor, at least 1, by which other programs slow this one down.
Slowdown = Callable[[], float]
# Returns the ids of the experiments whose verdict is final, from the first header and all measurements so far.
Decided = Callable[[Header, Sequence[Measurement]], set[str]]
StartCore = Callable[[OnRecord, float], Core]
ValuesOf = Callable[[Measurement], Sequence[float | None]]
Clock = Callable[[], float]


class Progress(Protocol):
    """The display of a running session. The session enters it as a context and reports to it."""

    def __enter__(self) -> Progress:
        """Start the display."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display."""

    def start(self, round_number: int, experiment: Experiment, share_done: float, left_s: float) -> None:
        """Show that the measurement of ``experiment`` begins.

        ``round_number`` counts from 1. ``share_done`` is the completed share of the run, from 0 to 1, and ``left_s``
        the estimated remaining time in seconds.
        """

    def sample(self, experiment: Experiment, sample: Sample) -> None:
        """Show that ``sample`` of ``experiment`` has been taken."""

    def warn(self, message: str) -> None:
        """Show an error that does not end the run. ``message`` is one line that begins with the experiment's id."""


@dataclass(frozen=True)
class NodeTurns:
    """The nodes of a job, each of which measures single-machine experiments.

    ``places`` are the nodes' indices in the job's list of nodes. If ``at_once``, all nodes measure at the same time,
    otherwise one after another.
    """

    places: Sequence[int]
    at_once: bool

    def fields(self, seed: str) -> dict[str, object]:
        """Return the fields to add to a request: ``nodes``, a list of indices, and ``at_once``, True or False.

        The list has all ``places`` in an order shuffled by ``seed``; the same seed gives the same order. Add the fields
        only to requests of single-machine probes.
        """
        order = list(self.places)
        random.Random(seed).shuffle(order)
        return {"nodes": order, "at_once": self.at_once}

    @property
    def turns(self) -> int:
        """Return the number of slices that are measured one after another.

        It is 1 if all nodes measure at once, else the number of nodes.
        """
        return 1 if self.at_once else len(self.places)


@dataclass
class Control:
    """Passes Ctrl-C to a run: a signal handler calls ``request``.

    ``stopped`` is True from the first request on. ``core`` is the core that is measuring, or None; the session sets it.
    To stop at once, the signal handler raises an exception, and the session then kills its core.
    """

    stopped: bool = False
    core: Core | None = None

    def request(self) -> None:
        """End the run after the current sample. The method does not wait. A second call has no effect."""
        if self.core is not None and not self.stopped:
            self.core.interrupt()
        self.stopped = True


@dataclass
class ExperimentProgress:
    """The progress of one experiment.

    ``rounds`` has the numbers (from 1) of the rounds in which the experiment was measured completely, and ``failures``
    is the number of rounds that failed. ``values`` has the value of each metric in each round that ended with "ok"
    (``Session.values_of``), in the order of measurement. ``reason`` says why the experiment is no longer measured:
    ``rounds``, ``precision``, ``decided``, ``duplicate``, ``skipped``, ``failed`` or ``invalid``. It is "" while the
    experiment is measured.
    """

    rounds: set[int] = field(default_factory=set)
    failures: int = 0
    values: list[Sequence[float | None]] = field(default_factory=list)
    reason: str = ""


@dataclass
class Session:
    """One run of a plan.

    - ``plan``: the experiments and limits; ``seed``: the seed of their order in each round
    - ``start_core``: starts a core for one round. Its arguments are a function, which receives the header of the core,
      and the time in seconds within which the core must start
    - ``write``: receives every record, with the number of its round from 1; the last one, ``Stop``, has round 0
    - ``values_of``: returns the value of each metric of the probe in a round, None for a metric without a value; the
      precision is that of the first metric with values (``metric_rounds.main_values``)
    - ``progress``: the display; ``control``: stops the run on request
    - ``refine``: returns the ids of the dense experiments to measure, given the round values so far by experiment id;
      by default, it returns none
    - ``decided``: returns the ids of the experiments whose verdict is final, from the first header and all measurements
      so far; these experiments are no longer measured, and the precision does not end any. It is called after the sixth
      round, and then whenever the number of rounds has grown by a tenth, so that the cost does not grow with the length
      of the run. None for a run that is not compared while it is measured
    - ``nodes``: the nodes that each measure the single-machine experiments; None measures them once
    - ``sync``: called between experiments, so that writing records to disk does not disturb a measurement
    - ``memory``: holds memory between experiments; by default none is held
    - ``clock``: returns the current time in seconds; ``began``: the start of the budget by this clock, or None if it
      starts with ``run``
    - ``slowdown``: called before each round, returns the factor (at least 1) by which other programs slow this one
      down, with which the time for the summary is multiplied; by default 1
    - ``closing_s``: the time in seconds that the command needs after the summary, such as for a report
    - ``grace_s``: the time in seconds that an experiment has in addition to its slice, warm-up, samples and declared
      set-up, before its core is killed
    """

    plan: Plan
    seed: int
    start_core: StartCore
    write: Callable[[FileRecord], None]
    values_of: ValuesOf
    progress: Progress
    control: Control
    refine: Refine = lambda _: set()
    decided: Decided | None = None
    nodes: NodeTurns | None = None
    # Called between experiments, so that writing records to disk does not disturb a measurement.
    sync: Callable[[], None] = lambda: None
    memory: MemoryKeeper | None = None
    clock: Clock = time.monotonic
    slowdown: Slowdown = lambda: 1.0
    closing_s: float = 0.0
    grace_s: float = GRACE_S
    # The start of the budget by ``clock``; None for the start of the run.
    began: float | None = None
    _measured: dict[str, ExperimentProgress] = field(default_factory=lambda: defaultdict(ExperimentProgress))
    _worth_measuring: set[str] = field(default_factory=set)
    # The experiment that has these resolved parameters.
    _resolved: dict[ResolvedKey, str] = field(default_factory=dict)
    _began: float = 0.0
    _start_core_s: float = 0.0
    # The experiments and the number of samples to summarise at the end.
    _summarised: set[str] = field(default_factory=set)
    _samples: int = 0
    _slowdowns: deque[float] = field(default_factory=lambda: deque(maxlen=ROUNDS_OF_SLOWDOWN))
    # The shortest time that each experiment took.
    _took_s: dict[str, float] = field(default_factory=dict)
    _job: list[str] | None = None
    # For ``decided``: the first header, all measurements, and the round after which it is called again.
    _header: Header | None = None
    _measurements: list[Measurement] = field(default_factory=list)
    _decides_in: int = MIN_ROUNDS

    def __post_init__(self) -> None:
        """Find the series of the plan, which are measured in one round only."""
        self._series = frozenset(e.id for e in self.plan.experiments if e.interval_s)
        self._indices = {experiment.id: index for index, experiment in enumerate(self.plan.experiments)}
        self._pace = Pace(self.plan.limits, self.nodes.turns if self.nodes else 1)

    def take_over(self, measurements: Iterable[Measurement]) -> None:
        """Count the measurements of an earlier, interrupted run of the same plan; call it before ``run``.

        An experiment is not measured again in the rounds of ``measurements``, unless it was interrupted or failed in
        them. An experiment that was skipped as impossible on this machine, or was invalid, is not measured again at
        all. Measurements of experiments that are not in the plan have no effect. Nothing is written: the run file has
        the records already. The budget is not reduced. Dense points are chosen anew from these measurements, and
        measured ones stay chosen.
        """
        for measurement in measurements:
            self._summarised.add(measurement.outcome.id)
            self._samples += len(measurement.samples)
            if not measurement.outcome.is_transient:
                self._note(measurement)
        self._worth_measuring |= {e.id for e in self.plan.experiments if e.dense and self._measured[e.id].rounds}
        if any(len(measured.rounds) >= ROUNDS_BEFORE_DENSE for measured in self._measured.values()):
            self._choose_dense()

    def run(self) -> Stop:
        """Measure until no experiment is left, the budget is spent or a stop is requested, and return the last record.

        The record, which is also written, maps the id of each experiment to the reason why it was no longer measured:
        ``rounds`` (fixed rounds are complete), ``precision``, ``decided``, ``budget``, ``interrupted``, ``even`` (a
        dense point that was not chosen), ``duplicate`` (its parameters resolve to those of another experiment), or an
        outcome other than ok, such as ``failed``. The reason is ``failed`` also for an experiment with fewer than the
        fixed number of rounds because some failed.

        Raises CoreError if a core cannot be started, UsageError if the nodes of the job change between rounds, and the
        errors of ``write``, such as FileError. A core that dies or hangs fails only the current round of its current
        experiment. Call it once.
        """
        self._began = self.clock() if self.began is None else self.began
        self._expect_all()
        with self.progress:
            self._rounds()
        otherwise = "interrupted" if self.control.stopped else "budget"
        reasons = {
            experiment.id: self._measured[experiment.id].reason or (otherwise if self._in(experiment) else "even")
            for experiment in self.plan.experiments
        }
        stop = Stop(reasons=reasons, elapsed_s=self.clock() - self._began, interrupted=self.control.stopped)
        self.write(stop)
        return stop

    def _rounds(self) -> None:
        for number in range(1, (self.plan.limits.rounds or 1_000_000) + 1):
            if self.control.stopped or self._out_of_time():
                break
            if not any(self._is_due(experiment, number) for experiment in self.plan.experiments):
                if all(
                    self._measured[experiment.id].reason for experiment in self.plan.experiments if self._in(experiment)
                ):
                    break
                continue
            if not self._round(number):
                break
            self._end_decided(number)
            if number >= ROUNDS_BEFORE_DENSE:
                self._choose_dense()
                self._expect_all()

    def _choose_dense(self) -> None:
        values = {e.id: main_values(probe_of(e.probe), self._measured[e.id].values) for e in self.plan.experiments}
        self._worth_measuring |= self.refine(values)

    def _end_decided(self, number: int) -> None:
        """End the experiments with a verdict, and resume the ones whose verdict was withdrawn.

        The verdicts of all metrics are corrected together, so that one may be withdrawn when others change.
        """
        if self.decided is None or number < self._decides_in or self._header is None or self.control.stopped:
            return
        self._decides_in = number + max(1, number // ROUNDS_PER_DECISION)
        decided = self.decided(self._header, self._measurements)
        for identity, measured in self._measured.items():
            if measured.reason in ("", "decided"):
                measured.reason = "decided" if identity in decided else ""
        self._expect_all()

    def end_slice(self) -> None:
        """End the current slice after its sample, because the time for measuring is over. Another thread may call it.

        It does nothing if no core is running. Call it at most once for each slice: a second call ends the core at once.
        """
        if (core := self.control.core) is not None:
            core.interrupt()

    def time_to_end_s(self) -> float:
        """Return the time in seconds until ``end_slice`` must be called; infinity if no budget limits the run."""
        return self._measuring_s() - self._margin_s() / 2 if self._is_limited() else math.inf

    def order(self, number: int) -> list[Experiment]:
        """Return all experiments of the plan in the order of a round, shuffled by the seed and the round's number.

        ``number`` is the round's number from 1; the same seed and number give the same order.
        """
        shuffled = list(self.plan.experiments)
        random.Random(f"{self.seed}/{number}").shuffle(shuffled)
        return shuffled

    def _out_of_time(self) -> bool:
        return self._is_limited() and self._left_s() <= 0

    def _is_limited(self) -> bool:
        return self.plan.limits.rounds is None or self.plan.limits.budget_binds

    def _left_s(self) -> float:
        """Return the time in seconds in which experiments may be planned: that to measure, less the margin."""
        return self._measuring_s() - self._margin_s()

    def _measuring_s(self) -> float:
        """Return the rest of the budget in seconds, less the time to summarise the run; negative after its end."""
        summary_s = closing_s(self.plan.limits, len(self._summarised), self._samples) + self.closing_s
        began = self._began if self.began is None else self.began
        return began + self.plan.limits.budget_s - fmean(self._slowdowns or [1.0]) * summary_s - self.clock()

    def _margin_s(self) -> float:
        return margin_s(self.plan.limits)

    def _has_time(self, experiment: Experiment, start_s: float = 0.0) -> bool:
        """Return whether an experiment that begins ``start_s`` seconds from now is expected to end within the budget.

        Without fixed rounds the first experiment of a probe is always started, since it shows how long they take.
        """
        limits = self.plan.limits
        if not self._is_limited() or (not limits.budget_binds and not self._pace.has_seen(experiment.probe)):
            return True
        slice_s = min_slice_s(experiment, limits) if limits.budget_binds else full_slice_s(experiment, limits)
        return start_s + self._pace.takes_s(experiment, slice_s) <= self._left_s() + self._margin_s() / 2

    def _expect_all(self) -> None:
        for experiment in self.plan.experiments:
            self._expect(experiment)

    def _expect(self, experiment: Experiment) -> None:
        """Set the number of further rounds of an experiment in the pace."""
        measured = self._measured[experiment.id]
        rounds = 1 if experiment.id in self._series else self.plan.limits.rounds or MIN_ROUNDS
        is_over = bool(measured.reason) or not self._in(experiment)
        tried = len(measured.rounds) + measured.failures
        self._pace.expect(experiment, 0 if is_over else max(0, rounds - tried))

    def _is_due(self, experiment: Experiment, number: int) -> bool:
        measured = self._measured[experiment.id]
        return self._in(experiment) and not measured.reason and number not in measured.rounds

    def _in(self, experiment: Experiment) -> bool:
        return not experiment.dense or experiment.id in self._worth_measuring

    def _round(self, number: int) -> bool:
        """Measure one round; return False if the rest of the budget is too short for all of its experiments."""
        self._slowdowns.append(self.slowdown())
        todo = self._affordable(
            number, [candidate for candidate in self.order(number) if self._is_due(candidate, number)]
        )
        has_begun = False
        while not self.control.stopped and not self._out_of_time():
            todo = [experiment for experiment in todo if self._has_time(experiment, self._start_core_s)]
            if not todo:
                break
            has_begun = True
            todo = self._with_one_core(number, todo)
        return has_begun

    def _affordable(self, number: int, todo: list[Experiment]) -> list[Experiment]:
        """Leave out the tenth that takes longest, if only without it the others get the rounds that an interval needs.

        It is left out as late as possible, so that it has as many rounds as there is time for.
        """
        later = MIN_ROUNDS - number
        is_known = number > ROUNDS_BEFORE_COSTLY and all(experiment.id in self._took_s for experiment in todo)
        if self.plan.limits.rounds is not None or later < 0 or not is_known:
            return todo
        by_time = sorted(todo, key=lambda experiment: self._took_s[experiment.id], reverse=True)
        costly = {experiment.id for experiment in by_time[: int(COSTLY_SHARE * len(todo))]}
        rest = [experiment for experiment in todo if experiment.id not in costly]
        costly_s = sum(self._took_s[identity] for identity in costly)
        rest_s = self._start_core_s + ROUND_PER_SHORTEST * sum(self._took_s[experiment.id] for experiment in rest)
        needed_s = (1 + later) * rest_s
        return rest if needed_s <= self._left_s() < needed_s + costly_s else todo

    def _with_one_core(self, number: int, todo: Sequence[Experiment]) -> list[Experiment]:
        """Measure with a fresh core until the list is done or the core has ended; return the remaining experiments."""
        core = self._started(number, todo)
        if core is None:
            return []
        self.control.core = core
        try:
            for index, experiment in enumerate(todo):
                if self.control.stopped or self._out_of_time():
                    return []
                if not self._has_time(experiment):
                    continue
                if not self._measure_one(core, number, experiment):
                    return list(todo[index + 1 :])
                self.sync()
            core.close(min(CLOSE_DEADLINE_S, self._max_s()))
        finally:
            self.control.core = None
            core.kill()
        return []

    def _started(self, number: int, todo: Sequence[Experiment]) -> Core | None:
        """Return a core for experiments of a round, or None if it does not start, which costs them the round.

        The first core of a run must start: if nothing was measured, the next one would fail, too.
        """

        def keep(record: Header | Sample | Outcome) -> None:
            if isinstance(record, Header):
                self._check_job(record)
                self._header = self._header or record
            self.write(msgspec.structs.replace(record, round=number))

        began = self.clock()
        try:
            core = self.start_core(keep, self._max_s())
        except (CoreDied, CoreHung) as error:
            if self._header is None:
                raise
            if self._has_failed(error, self.clock() - began, self._start_core_s):
                self.progress.warn(f"round {number}: {error}")
                for experiment in todo:
                    self._record_failure(number, experiment, error, [])
            return None
        self._start_core_s = max(self._start_core_s, self.clock() - began)
        return core

    def _max_s(self) -> float:
        """Return the longest time in seconds that anything may take now: the rest of the budget, infinity without."""
        return max(0.0, self._measuring_s()) if self._is_limited() else math.inf

    def _has_failed(self, error: CoreDied | CoreHung, waited_s: float, shortest_s: float | None) -> bool:
        """Return whether a core failed, rather than was cut off by the end of the budget or by Ctrl-C.

        ``shortest_s`` is the shortest time that an answer like this one took; None if there was none. A core that is
        still silent after many times as long hangs, although its deadline was only the end of the budget.
        """
        if self.control.stopped:
            return False
        if isinstance(error, CoreDied) or not self._out_of_time():
            return True
        return shortest_s is not None and waited_s > max(MIN_HANG_S, HANG_FACTOR * shortest_s)

    def _record_failure(self, number: int, experiment: Experiment, error: CoreError, samples: Sequence[Sample]) -> None:
        outcome = msgspec.structs.replace(self._gone(experiment, error), round=number)
        self.write(outcome)
        self._note(Measurement(outcome, list(samples)))
        self._expect(experiment)

    def _check_job(self, header: Header) -> None:
        """Raise UsageError if the nodes are not those of earlier rounds: their medians would mix different machines."""
        nodes = nodes_of(header.machine)
        if self._job is None:
            self._job = nodes
        elif nodes != self._job:
            changed = next((pair for pair in zip(self._job, nodes, strict=False) if pair[0] != pair[1]), None)
            message = (
                f"{changed[1]} replaced {changed[0]}" if changed else f"{len(nodes)} nodes instead of {len(self._job)}"
            )
            raise UsageError(
                f"the nodes of the job changed between rounds ({message}): allocate them first (salloc, --slurm)"
            )

    def _measure_one(self, core: Core, number: int, experiment: Experiment) -> bool:
        """Measure one experiment and return whether the core is still running."""
        self.progress.start(number, experiment, *self._time_left())
        samples: list[Sample] = []

        def keep(record: Header | Sample | Outcome) -> None:
            if isinstance(record, Sample):
                samples.append(record)
                self._samples += 1
                self.progress.sample(experiment, record)
            self.write(msgspec.structs.replace(record, round=number))

        limits = self.plan.limits
        slice_s = self._slice_s(experiment, number)
        longest_sample_s = max(limits.sample_s or 0.0, limits.interval_s or experiment.interval_s or 0.0)
        setup_s = probe_of(experiment.probe).longest_setup_s(experiment.params)
        deadline_s = slice_s + limits.warmup_s + 3 * longest_sample_s + setup_s + self.grace_s
        deadline_s = min(deadline_s, self._max_s())
        request = make_request(experiment, limits, slice_s)
        if self.nodes is not None and not probe_of(experiment.probe).takes_all_ranks:
            request |= self.nodes.fields(f"{self.seed}/{number}/{experiment.id}")
        self._summarised.add(experiment.id)
        began = self.clock()
        try:
            outcome = self._outcome(core, experiment, request, deadline_s, keep)
        except (CoreDied, CoreHung) as error:
            if self._has_failed(error, self.clock() - began, self._took_s.get(experiment.id)):
                self.progress.warn(f"{experiment.id}: {error}")
                self._record_failure(number, experiment, error, samples)
            return False
        took_s = self.clock() - began
        self._took_s[experiment.id] = min(took_s, self._took_s.get(experiment.id, took_s))
        self._note(Measurement(msgspec.structs.replace(outcome, round=number), samples))
        if outcome.ending == "ok" and not outcome.interrupted:
            self._pace.note(experiment, slice_s, took_s)
        self._expect(experiment)
        return True

    def _outcome(
        self, core: Core, experiment: Experiment, request: Mapping[str, object], deadline_s: float, keep: OnRecord
    ) -> Outcome:
        """Measure with the memory that is held for the experiment, and hold it again."""
        if self.memory:
            self.memory.release_for(experiment)
        outcome = core.measure(request, deadline_s, keep)
        # If the core cannot read a request, its outcome has no id.
        outcome = msgspec.structs.replace(outcome, id=experiment.id)
        if self.memory:
            self.memory.hold_after(outcome)
        return outcome

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
        if self.decided is not None:
            self._measurements.append(measurement)
        if outcome.interrupted:
            return
        if outcome.is_transient:
            measured.failures += 1
            is_given_up = not measured.rounds or measured.failures >= MAX_FAILURES
            measured.reason = outcome.ending if is_given_up else self._why_rest(probe_of(outcome.probe), measured)
            return
        measured.rounds.add(outcome.round)
        if outcome.ending != "ok":
            measured.reason = outcome.ending
            return
        measured.values.append(self.values_of(measurement))
        measured.reason = "rounds" if outcome.id in self._series else self._why_rest(probe_of(outcome.probe), measured)
        self._drop_duplicate(outcome)

    def _drop_duplicate(self, outcome: Outcome) -> None:
        """End the later one of two experiments of the plan whose parameters resolve to the same values."""
        if outcome.id not in self._indices:
            return
        planned = self.plan.experiments[self._indices[outcome.id]]
        key = resolved_key(planned, outcome)
        other = self._resolved.setdefault(key, planned.id)
        if other != planned.id:
            first, later = sorted((planned.id, other), key=self._indices.__getitem__)
            self._resolved[key] = first
            self._measured[later].reason = DUPLICATE
            self._pace.expect(self.plan.experiments[self._indices[later]], 0)

    def _why_rest(self, probe: Probe, measured: ExperimentProgress) -> str:
        limits = self.plan.limits
        if limits.rounds is not None:
            if len(measured.rounds) + measured.failures < limits.rounds:
                return ""
            return "failed" if measured.failures else "rounds"
        if len(measured.rounds) < MIN_ROUNDS or self.decided is not None:
            return ""
        width = relative_half_width(main_values(probe, measured.values))
        return "precision" if width is not None and width <= limits.precision else ""

    def _slice_s(self, experiment: Experiment, number: int) -> float:
        """Return the slice of an experiment in this round, in seconds, shortened if the budget requires it."""
        limits = self.plan.limits
        if not limits.budget_binds:
            return full_slice_s(experiment, limits)
        further_rounds = max(0, (limits.rounds or MIN_ROUNDS) - number)
        return self._pace.slice_s(experiment, self._left_s() - further_rounds * self._start_core_s)

    def _time_left(self) -> tuple[float, float]:
        """Return the share of the run that is done, and the maximum time of the rest in seconds."""
        spent_s, left_s = self.clock() - self._began, max(0.0, self._left_s())
        if self.plan.limits.rounds is None:
            return min(1.0, spent_s / self.plan.limits.budget_s), left_s
        rest_s = min(left_s, self._pace.rest_s()) if self.plan.limits.budget_binds else self._pace.rest_s()
        return spent_s / (spent_s + rest_s) if spent_s + rest_s > 0 else 0.0, rest_s
