"""Compute the results of a run from its records: every metric of every experiment."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import msgspec

from nameplate.probes import Probe, ResolvedExperiment, load_probes, pooled_operations
from nameplate.probes.shared.ceilings import overriding
from nameplate.probes.shared.job import nodes_of
from nameplate.probes.shared.median_pair import measured_pairs
from nameplate.probes.shared.node_times import times_of_nodes
from nameplate.probes.shared.pair_tables import pair_matrix_tables
from nameplate.records.machine_record import Machine
from nameplate.records.node_record import Nodes
from nameplate.records.plan_record import Experiment
from nameplate.records.result import CEILING_TOLERANCE, Rated, Report, Result, Series, Summary, Table
from nameplate.records.run_record import NOT_MEASURED, MetricKey, Outcome, Run, Sample
from nameplate.records.series_events import OverTime
from nameplate.results.capable_values import CapableValues, Round, capable_values
from nameplate.results.cpu_time import busy_cores
from nameplate.results.duplicates import duplicates
from nameplate.results.line_round_trips import line_evidence, round_trip_s
from nameplate.results.measurements import Measurement, RunFile
from nameplate.results.metric_rounds import MetricRounds, metric_rounds, resolved_experiment
from nameplate.results.reference_tools import reference_table
from nameplate.results.rounds import good_rounds, has_failed_node, missing_rounds, rounds_by_experiment, worst_outcome
from nameplate.statistics.capability import Capability, capability
from nameplate.statistics.stats import histogram_percentile_s, median, median_interval, reached_by
from nameplate.units import percent_text

# A sample is disturbed if its clock is slower than the typical one by more than this share, or if it has more
# involuntary context switches per second than this.
CLOCK_DROP = 0.03
SWITCHES_PER_S = 50.0

# The points of a distribution. They are denser at its slow end, which users of a service notice.
_SHARES = (0.01, *(percent / 100 for percent in range(5, 100, 5)), 0.98, 0.99, 0.995, 0.999)
_NOT_REACHED = {
    "budget": f"{NOT_MEASURED}, because the budget was spent: raise --budget, or measure fewer experiments",
    "interrupted": f"{NOT_MEASURED}, because the run was stopped",
    "truncated": f"{NOT_MEASURED}, because the run was cut off",
}
# Probes of the resources for which providers grant burst credits.
_WITH_CREDITS = ("disk_", "net_")
_LIMIT_MESSAGES = {
    "heat": "in half of the rounds or more, the processor was too hot, first in round {}",
    "burst": "from round {} on a steady limit held, as if burst credits had been spent",
}


def summarise(file: RunFile) -> Report:
    """Return the results of a run, with its tables, notes, nodes and the values of reference tools.

    Results are grouped by probe, in the order in which the probes appear in the plan. The measured results of a probe
    are in the order of the plan, followed by the results derived from them.

    - An experiment has a single result without a value, with the reason, if no round ended with "ok", if any round had
      a wrong result, or if this version does not know its probe.
    - Rounds that failed are left out; a remark and a note say how many and why. An interrupted measurement counts only
      if its experiment has no complete one.
    - A ``dense`` experiment that was not measured has no result. Neither has any experiment whose samples give no
      metric a value.
    - If the parameters of several experiments resolve to the same values, only the first has results; a note names the
      others.
    - If the file has no header, no result has a value, and there are no derived results, nodes or tables of probes.
    - On an emulated processor, no result has a reference value.

    The report has no study (``with_study`` adds one).
    """
    machine = file.machine
    by_id = rounds_by_experiment(file)
    same = duplicates(file.run.plan.experiments, by_id)
    results = [
        result
        for experiment in file.run.plan.experiments
        if experiment.id not in same and (by_id[experiment.id] or not experiment.dense)
        for result in _results(file, experiment, by_id[experiment.id], machine)
    ]
    by_probe: dict[str, list[Result]] = {}
    for result in results:
        by_probe.setdefault(result.summary.probe, []).append(result)
    derived, tables = _of_probes(by_probe, machine) if machine else ({}, [])
    results = [result for name, of_probe in by_probe.items() for result in [*of_probe, *derived.get(name, [])]]
    if machine and machine.emulator:
        results = [_unrated(result, machine.emulator) for result in results]
    if file.references:
        tables.append(reference_table(file.references))
    # The last record of a resumed run has the time of the last command alone.
    of_experiments_s = sum(measurement.outcome.total_s for measurement in file.measurements)
    return Report(
        run=file.run,
        machine=machine,
        clock=file.headers[0].clock if file.headers else None,
        results=results,
        tables=tables,
        truncated=file.stop is None,
        interrupted=file.stop is not None and file.stop.interrupted,
        notes=_notes(file, results, same, by_id),
        nodes=_nodes(file, by_id),
        references=file.references,
        measured_s=max(of_experiments_s, file.stop.elapsed_s if file.stop else 0.0),
    )


def _unrated(result: Result, emulator: str) -> Result:
    """Return a result without a reference value, since the value of an emulator says nothing about a processor."""
    why = Rated(None, f"the processor is emulated by {emulator}", can_be_given=False)
    summary = result.summary
    if summary.value is not None:
        summary = msgspec.structs.replace(summary, rated=None, efficiency=None, reason=f"rated: {why.source}")
    return msgspec.structs.replace(result, summary=summary, rated=why, efficiency_ci=None)


def _of_probes(
    by_probe: Mapping[str, Sequence[Result]], machine: Machine
) -> tuple[dict[str, list[Result]], list[Table]]:
    """Return the derived results of each probe by its name, and the tables of all probes, computed from all results."""
    present = [probe for name, probe in load_probes().items() if name in by_probe]
    derived = {probe.name: probe.derive(by_probe, machine) for probe in present}
    tables = []
    for probe in present:
        tables += probe.tables(by_probe, machine) if probe.tables else []
        for _, pairs in measured_pairs(by_probe[probe.name], machine):
            tables += pair_matrix_tables(pairs)
    return derived, tables


class MeasuredValue(NamedTuple):
    """A metric of an experiment with its typical value (``Metric.typical_value``), in the metric's SI base unit.

    ``ci`` is the 95 % interval (low, high) of the value, None if it is unknown. ``rounds`` has the value of each round.
    """

    experiment: str
    key: MetricKey
    value: float
    ci: tuple[float, float] | None
    rounds: Sequence[float]


def measured_values(file: RunFile) -> Iterator[MeasuredValue]:
    """Yield each metric with a value, in the order of the plan.

    ``summarise`` returns the same values and intervals, but takes more time. Nothing is yielded for an experiment to
    which ``summarise`` gives no value, and nothing at all for a file without a header.
    """
    machine = file.machine
    by_id = rounds_by_experiment(file)
    same = duplicates(file.run.plan.experiments, by_id)
    for experiment in file.run.plan.experiments:
        probe = load_probes().get(experiment.probe)
        with_samples = good_rounds(by_id[experiment.id])
        if probe is None or machine is None or not with_samples or experiment.id in same:
            continue
        for rounds in metric_rounds(probe, with_samples, machine):
            metric, params = rounds.metric, rounds.measurements[-1].outcome.params
            key = MetricKey(probe.name, params, metric.name, metric.unit, metric.better)
            yield MeasuredValue(experiment.id, key, *rounds.typical, rounds.values)


def nodes_in(file: RunFile) -> Nodes | None:
    """Return the nodes of a run's MPI job with the values of each metric, and judge which nodes are slow.

    The result is None if the file has no header, if the machine has no job or fewer than two nodes, or if no metric has
    values by node. ``judged_nodes`` says which metrics are left out.
    """
    return _nodes(file, rounds_by_experiment(file)) if len(nodes_of(file.machine)) > 1 else None


def _nodes(file: RunFile, by_id: dict[str, list[Measurement]]) -> Nodes | None:
    if len(nodes_of(file.machine)) < 2:
        return None
    from nameplate.results.node_values import judged_nodes  # noqa: PLC0415 (scipy takes a tenth of a second to import)

    return judged_nodes(file, {identity: good_rounds(rounds, of_nodes=True) for identity, rounds in by_id.items()})


def _results(
    file: RunFile, experiment: Experiment, measurements: list[Measurement], machine: Machine | None
) -> list[Result]:
    stop = file.stop.reasons.get(experiment.id, "") if file.stop else "truncated"
    if has_failed_node(measurements):
        stop = "failed"
    probe = load_probes().get(experiment.probe)
    if probe is None:
        return [
            _without_number(
                experiment,
                None,
                f"unknown probe {experiment.probe}: read the run with the version of nameplate that measured it",
                stop,
            )
        ]
    if not measurements:
        return [_without_number(experiment, None, _NOT_REACHED.get(stop, "not measured"), stop)]
    with_samples = good_rounds(measurements)
    if not with_samples or machine is None:
        worst = worst_outcome(measurements)
        return [_without_number(experiment, worst, worst.reason or "it ended before its first sample", stop)]
    last = with_samples[-1].outcome
    metrics = [
        _MetricSummary(file.run, probe, with_samples, rounds) for rounds in metric_rounds(probe, with_samples, machine)
    ]
    results = [metric.result(experiment.id, stop) for metric in metrics]
    if not metrics:
        return []
    interval_s = experiment.interval_s or file.run.plan.limits.interval_s
    if interval_s is not None:
        summary = msgspec.structs.replace(results[0].summary, over_time=metrics[0].over_time(interval_s))
        results[0] = msgspec.structs.replace(results[0], summary=summary)
    remarks = [f"one series of {experiment.slice_s:g} s"] if experiment.interval_s else []
    remarks += [missing] if (missing := missing_rounds(measurements)) else []
    results[0] = msgspec.structs.replace(results[0], remarks=[*remarks, *results[0].remarks])
    resolved = resolved_experiment(last, machine)
    with_evidence = _with_evidence(results, probe, resolved, with_samples)
    return [msgspec.structs.replace(result, is_series=experiment.interval_s is not None) for result in with_evidence]


def _with_evidence(
    results: Sequence[Result], probe: Probe, resolved: ResolvedExperiment, measurements: Sequence[Measurement]
) -> list[Result]:
    """Return the results of an experiment with the evidence of its samples; the first result also has their details.

    Details are the distribution of the times of operations, the times of nodes, and the values of pairs.
    """
    samples = [sample for measurement in measurements for sample in measurement.samples]
    operations = pooled_operations([measurement.samples for measurement in measurements])
    distribution = [(histogram_percentile_s(operations, s), s) for s in _SHARES] if operations.total else []
    matrix = probe.pair_matrix
    lines = line_evidence(map(round_trip_s, measurements))
    evidence, source = probe.evidence(resolved, samples) | lines, probe.source(resolved, samples)
    first, *rest = [
        msgspec.structs.replace(result, evidence=evidence, source=source, labels=resolved.labels) for result in results
    ]
    first = msgspec.structs.replace(
        first,
        distribution=distribution,
        node_times=times_of_nodes(samples),
        pairs=matrix.medians([matrix.sample_medians(m.samples) for m in measurements]) if matrix else [],
    )
    return [first, *rest]


def _without_number(experiment: Experiment, outcome: Outcome | None, reason: str, stop: str) -> Result:
    probe = load_probes().get(experiment.probe)
    metric = probe.metrics[0] if probe else None
    summary = Summary(
        probe=experiment.probe,
        params=outcome.params if outcome and outcome.params else experiment.params,
        metric=metric.name if metric else "",
        value=None,
        unit=metric.unit if metric else "",
        ci=None,
        rounds=0,
        samples=0,
        mean=None,
        best=None,
        sustained=None,
        p95=None,
        p99=None,
        rated=None,
        efficiency=None,
        outcome=outcome.ending if outcome and outcome.ending != "ok" else "failed",
        reason=reason,
        stop=stop,
        disturbed=0.0,
    )
    return Result(
        id=experiment.id,
        summary=summary,
        better=metric.better if metric else "higher",
        rated=Rated(None, reason),
        efficiency_ci=None,
        series=Series([], [], [], []),
        round_values=[],
        utilisation=0.0,
        oversubscribed=outcome.oversubscribed if outcome else False,
        facts={},
    )


def is_disturbed(sample: Sample, oversubscribed: bool, typical_burst_s: float) -> bool:
    """Return whether a sample is disturbed by steal, throttling, preemption or a slower clock.

    Any of these conditions on ``sample.disturbed`` suffices; a key that is missing counts as undisturbed:

    - ``steal_s``, ``cgroup_throttled`` or ``thermal_throttled`` is above 0.
    - ``burst_s`` exceeds ``typical_burst_s`` by more than 3 % (``CLOCK_DROP``). ``typical_burst_s`` is the median of
      ``burst_s`` over the experiment's samples in seconds, or infinity if no sample has it.
    - ``involuntary_switches`` exceeds 1 + 50 per second (``SWITCHES_PER_S``). This is ignored if ``oversubscribed``
      says that there are more workers than CPUs, since workers then preempt each other.
    """
    seen = sample.disturbed
    taken = any(seen.get(key, 0) > 0 for key in ("steal_s", "cgroup_throttled", "thermal_throttled"))
    preempted = seen.get("involuntary_switches", 0) > 1 + SWITCHES_PER_S * sample.elapsed_s
    slowed = seen.get("burst_s", typical_burst_s) > typical_burst_s * (1 + CLOCK_DROP)
    return taken or slowed or (preempted and not oversubscribed)


def _interval_around(share: float | None, shares: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of a share from the shares of the rounds, extended to the share if that is outside.

    The quotient of two medians is between the lowest and the highest quotient of the rounds, but not always in the
    interval of their median. The result is None if ``share`` is None or the rounds are too few.
    """
    interval = median_interval(shares)
    if share is None or interval is None:
        return None
    return min(interval.low, share), max(interval.high, share)


def _times(given: Rated, times: int) -> Rated:
    if times == 1 or given.value is None:
        return given
    return msgspec.structs.replace(given, value=given.value * times, source=f"{given.source}, {times} directions")


class _MetricSummary:
    """Summarises one metric of one experiment.

    ``measurements`` are all rounds of the experiment, and ``rounds`` are the rounds in which the metric has a value.
    """

    def __init__(self, run: Run, probe: Probe, measurements: Sequence[Measurement], rounds: MetricRounds) -> None:
        self._run = run
        self._probe = probe
        self._metric = rounds.metric
        self._outcome = rounds.measurements[-1].outcome
        self._experiments = rounds.experiments
        self._measurements = [
            msgspec.structs.replace(m, samples=[s for s in m.samples if self._metric.has_value(experiment, s)])
            for experiment, m in zip(rounds.experiments, rounds.measurements, strict=True)
        ]
        self._all_samples = [sample for m in measurements for sample in m.samples]
        self._samples = [sample for m in self._measurements for sample in m.samples]
        self._typical = rounds.typical
        self.rounds = rounds.values

    @cached_property
    def _values(self) -> list[float]:
        return [
            self._metric.value(resolved, sample)
            for resolved, m in zip(self._experiments, self._measurements, strict=True)
            for sample in m.samples
        ]

    def result(self, experiment: str, stop: str) -> Result:
        rated, shares = self._rate()
        summary = self._summary(stop, rated)
        return Result(
            id=experiment, summary=summary, better=self._metric.better, rated=rated,
            efficiency_ci=_interval_around(summary.efficiency, shares), series=self._series(),
            round_values=self.rounds, round_numbers=[m.outcome.round for m in self._measurements],
            utilisation=busy_cores(self._samples), oversubscribed=self._outcome.oversubscribed,
            facts=self._outcome.facts,
            remarks=self._remarks(), is_detail=self._metric.is_detail,
            is_pooled=self._metric.is_pooled, sample_s=self._middle(lambda s: s.elapsed_s),
            sample_work=self._middle(lambda s: float(s.work.main)),
            measured_s=sum(sample.elapsed_s for sample in self._samples),
            limit=self._capable.limit if self._capability else "",
            capable_rounds=sum(map(bool, self._capable.rounds)) if self._capability else 0,
        )  # fmt: skip

    @cached_property
    def _references(self) -> list[Rated]:
        """Return the reference value of each round: the user's if there is one, otherwise the probe's."""
        op = str(self._outcome.params.get("op", ""))
        given = overriding(self._run.rated, self._probe.name, self._metric.unit, op)
        references = [
            self._probe.rated(self._metric, resolved, m.samples)
            for resolved, m in zip(self._experiments, self._measurements, strict=True)
        ]
        return [
            _times(given, reference.times) if given and reference.can_be_given else reference
            for reference in references
        ]

    def _best(self) -> float | None:
        """Return the best sample; None if any round has one above its ceiling, which was timed or counted wrongly."""
        if self._metric.better == "lower":
            return min(self._values)
        values = iter(self._values)
        of_rounds = [max(next(values) for _ in m.samples) for m in self._measurements]
        is_possible = all(
            not reference.is_ceiling or not reference.value or value <= reference.value * (1 + CEILING_TOLERANCE)
            for value, reference in zip(of_rounds, self._references, strict=True)
        )
        return max(of_rounds) if is_possible else None

    def _rate(self) -> tuple[Rated, list[float]]:
        """Return the reference value, the median over the rounds, and each round's share of its own reference value.

        A clock that drifts changes the value and the reference value of a round together. A disturbed round may lack a
        reference value, if its ports could not be counted. The median is then used, since a share without the disturbed
        rounds would be too good. If half of the rounds or more lack it, there is no reference value, and the shares are
        empty.
        """
        ceilings = self._references
        known = [(c.value, c) for c in ceilings if c.value is not None]
        if 2 * len(known) <= len(ceilings):
            return next(c for c in ceilings if c.value is None), []
        middle = median([value for value, _ in known])
        nearest = min(known, key=lambda item: abs(item[0] - middle))[1]
        shares = [value / (c.value or middle) for value, c in zip(self.rounds, ceilings, strict=True)]
        return msgspec.structs.replace(nearest, value=middle), shares

    def _summary(self, stop: str, rated: Rated) -> Summary:
        higher = self._metric.better == "higher"
        value, interval = self._typical
        capability = self._capability
        return Summary(
            probe=self._probe.name, params=self._outcome.params, metric=self._metric.name,
            value=value, unit=self._metric.unit,
            ci=interval, rounds=len(self.rounds),
            samples=len(self._values), mean=statistics.fmean(self._values), best=self._best(),
            sustained=self._metric.sustained(self._experiments[-1], self._samples),
            p95=reached_by(self._values, 0.95, higher), p99=reached_by(self._values, 0.99, higher), rated=rated.value,
            efficiency=value / rated.value if rated.value else None, outcome="ok",
            reason="" if rated.value is not None else f"rated: {rated.source}", stop=stop,
            disturbed=sum(self._flags) / len(self._samples),
            capability=capability.value if capability else None, capability_ci=capability.ci if capability else None,
        )  # fmt: skip

    @cached_property
    def _capability(self) -> Capability | None:
        """Return what the machine is capable of; None if interference may improve the metric, or for samples of nodes.

        A sample of a node is the sum of all samples of the node in a round, and the best samples would all be from the
        best node. Samples above the ceiling do not count. A metric that is pooled has no capability either.
        """
        metric = self._metric
        if (
            metric.is_pooled
            or not metric.is_one_sided
            or any(sample.node is not msgspec.UNSET for sample in self._samples)
        ):
            return None
        possible = [[value for value in values if value <= self._ceiling] for values in self._capable.rounds]
        return capability(possible, metric.better == "higher", bool(self._capable.limit))

    @cached_property
    def _capable(self) -> CapableValues:
        values = iter(self._values)
        rounds = [
            Round(m.samples, [next(values) for _ in m.samples], partial(self._metric.sustained, resolved))
            for resolved, m in zip(self._experiments, self._measurements, strict=True)
        ]
        has_credits = self._probe.name.startswith(_WITH_CREDITS)
        return capable_values(rounds, self._metric.better == "higher", has_credits=has_credits)

    def _middle(self, quantity: Callable[[Sample], float]) -> float:
        """Return the median over the rounds of the median of a quantity over the samples of a round; 0 for a series.

        Rounds with short samples have many samples, so they would dominate a median over all samples.
        """
        if "between_calls_s" in self._samples[0].disturbed:
            return 0.0
        return median([median([quantity(sample) for sample in m.samples]) for m in self._measurements])

    def _remarks(self) -> list[str]:
        remarks = self._probe.remarks(self._experiments[-1], self._all_samples)
        if not self._capability or self._capable.limit not in _LIMIT_MESSAGES:
            return remarks
        first = self._measurements[self._capable.before_limit].outcome.round
        message = _LIMIT_MESSAGES[self._capable.limit].format(first)
        return [*remarks, f"{message}: the capability is that of whole rounds since then"]

    @cached_property
    def _ceiling(self) -> float:
        """Return the highest value that is physically possible, or infinity if that is not known.

        A sample above it was timed or counted wrongly. It is the highest ceiling of the rounds, since the clock from
        which a ceiling is computed may be measured too low in a disturbed round.
        """
        known = [reference.value for reference in self._references if reference.is_ceiling and reference.value]
        is_known = known and self._metric.better == "higher"
        return max(known) * (1 + CEILING_TOLERANCE) if is_known else math.inf

    @cached_property
    def _flags(self) -> list[bool]:
        bursts = [s.disturbed["burst_s"] for s in self._samples if "burst_s" in s.disturbed]
        typical_s = median(bursts) if bursts else float("inf")
        return [is_disturbed(sample, self._outcome.oversubscribed, typical_s) for sample in self._samples]

    def _series(self) -> Series:
        """Return the samples of all rounds on one time axis. In the records, the times of each round start at 0."""
        starts: list[float] = []
        rounds: list[int] = []
        offset = 0.0
        for number, measurement in enumerate(self._measurements, start=1):
            starts += [offset + sample.start_s for sample in measurement.samples]
            rounds += [number] * len(measurement.samples)
            offset += measurement.outcome.total_s
        return Series(starts, self._values, self._flags, rounds)

    def over_time(self, interval_s: float) -> OverTime | None:
        """Return the summary of the last round as a series; None if it is too short. There are gaps between rounds.

        ``interval_s`` is the planned time in seconds from the start of one sample to the start of the next.
        """
        from nameplate.results.series_summary import summarise_series  # noqa: PLC0415 (scipy takes a second to import)

        resolved, samples = self._experiments[-1], self._measurements[-1].samples
        sustained = self._metric.sustained(resolved, samples)
        values = [self._metric.value(resolved, sample) for sample in samples]
        return summarise_series(values, samples, self._metric.better, interval_s, sustained)


def _notes_of_budget(file: RunFile, by_id: Mapping[str, Sequence[Measurement]]) -> list[str]:
    """Return a note if the budget was spent before all of the fixed rounds were measured."""
    limits = file.run.plan.limits
    if limits.rounds is None or file.stop is None or "budget" not in file.stop.reasons.values():
        return []
    short = [identity for identity, reason in file.stop.reasons.items() if reason == "budget"]
    n_complete = min(
        sum(not measurement.outcome.interrupted for measurement in by_id.get(identity, [])) for identity in short
    )
    return [
        f"the budget of {limits.budget_s:g} s was spent after {n_complete} of {limits.rounds} rounds; "
        f"{len(short)} of {len(file.stop.reasons)} experiments lack a round"
    ]


def _notes_of_unknowns(file: RunFile) -> list[str]:
    """Return notes on properties that the system does not report, so that no value shows their influence."""
    samples = [sample for measurement in file.measurements for sample in measurement.samples]
    notes = []
    if file.headers and samples and not any("steal_s" in sample.disturbed for sample in samples):
        notes.append("steal is unknown: this system does not count it, so samples that it disturbed are not marked")
    if file.machine and not file.machine.topology.are_cores_listed:
        notes.append("the system does not show which hardware threads share a core: each counts as a core")
    return notes


def _notes_of_nodes(file: RunFile) -> list[str]:
    """Return notes on values measured per node, and on nodes that could not be measured."""
    if not file.run.per_node or not file.headers:
        return []
    names = nodes_of(file.machine)
    way = {"in-turn": "one at a time", "at-once": "all at once"}[file.run.per_node]
    notes = [f"each value is the median of {len(names)} nodes, measured {way}; nameplate nodes RUN shows each node"]
    failed = {
        f"{outcome.id} on {names[node]}: {outcome.ending}: {outcome.reason}"
        for measurement in file.measurements
        for node, outcome in measurement.of_nodes.items()
        if outcome.ending != "ok"
    }
    return notes + sorted(failed)


def _notes_of_missing(results: Sequence[Result], by_id: Mapping[str, Sequence[Measurement]]) -> Iterator[str]:
    """Yield a note for each reason why values or rounds are missing, with one experiment and the number of others."""
    missing: dict[str, dict[str, None]] = {}
    for result in results:
        has_value = result.summary.value is not None
        why = missing_rounds(by_id.get(result.id, [])) if has_value else result.summary.why_no_value
        if why:
            missing.setdefault(why, {})[result.id] = None
    for why, names in missing.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"{next(iter(names))}{more}: {why}"


def _notes(
    file: RunFile, results: list[Result], same: Mapping[str, str], by_id: Mapping[str, Sequence[Measurement]]
) -> list[str]:
    notes = list(file.run.plan.notes)
    notes += [f"{later} has no row of its own: on this machine its parameters have the same values as those of {first}"
              for later, first in same.items()]  # fmt: skip
    if file.lost:
        notes.append(f"{file.lost} samples are left out, because their experiment was cut off")
    notes += _notes_of_unknowns(file)
    if any(result.oversubscribed for result in results):
        notes.append("oversubscribed: there are more workers than CPUs, so workers share a CPU")
    notes += _notes_of_budget(file, by_id)
    notes += _notes_of_nodes(file)
    notes += _notes_of_missing(results, by_id)
    for result in results:
        if result.rated.is_ceiling and result.efficiency_ci and result.efficiency_ci[0] > 1 + CEILING_TOLERANCE:
            notes.append(
                f"{result.id}: at least {percent_text(result.efficiency_ci[0])} of its ceiling: one of the two values "
                f"is wrong ({result.rated.source})"
            )
    return notes
