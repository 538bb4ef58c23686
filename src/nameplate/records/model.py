"""The data that packages exchange, frozen and typed. Records match ``schema/record.schema.json``.

Units are SI base units and part of the field's name. The value of a parameter is a word, a count (of bytes, too) or a
time in seconds.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from nameplate.records.machine_record import Machine
from nameplate.records.numbers import AtLeastOne, Count, Elapsed, Positive, Real, Seconds, Whole

SCHEMA = 1
_FIRST_YEAR, _LAST_YEAR = 1971, 9998

Value: TypeAlias = str | Whole | Real
Ending: TypeAlias = Literal["ok", "skipped", "invalid", "failed"]
# The beginning of the reason of an experiment that was not begun.
NOT_MEASURED = "not measured"
PerNode: TypeAlias = Literal["", "in-turn", "at-once"]


def check_moment(text: str) -> None:
    """Check that a text is a date and time in ISO 8601, such as ``2026-01-31T12:00:00+00:00``.

    The years 1971 to 9998 are accepted, which ``datetime`` can show in every time zone. The time and the offset from
    UTC may be missing. Python 3.10 accepts fewer forms of ISO 8601 than later versions; for example, it rejects ``Z``.

    Raises:
        ValueError: the text is anything else.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = datetime.min
    if not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        raise ValueError(f"`started` is '{text[:40]}': write it like 2026-01-31T12:00:00+00:00")


class Record(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True, forbid_unknown_fields=True):
    """One line of a run file: a JSON object whose ``type`` tells the subclass.

    ``round`` is the round in which the record was written, from 1; 0 means before the first round or outside any.
    nameplate-core does not write it.
    """

    round: Count = 0


class Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The work of a sample or of one worker in it.

    It consists of the bytes moved, the floating-point operations, and other operations such as messages. A number that
    the probe does not count is 0.
    """

    bytes: Count
    flops: Count
    ops: Count


class Worker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One worker's part of a sample: a thread, a pair or a rank.

    ``start_s`` counts from the start of the sample. ``elapsed_s`` is the time from the worker's own start to its
    finish. ``work`` is the worker's own; its numbers may be 0 although the probe counts them for the whole sample.
    """

    start_s: Seconds
    elapsed_s: Elapsed
    work: Work


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The average, minimum and maximum in seconds of the times of several repeats, of one rank or of several."""

    average_s: Elapsed
    minimum_s: Elapsed
    maximum_s: Elapsed


class NodeTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One node's part of a sample of all nodes of a job, over several repeats of the same work.

    ``ranks`` is the number of its ranks. ``bytes_in_repeat`` are the bytes that all of them move in one repeat.
    ``window`` is the time of a repeat from the start of its first rank to the finish of its last one, ``longest`` the
    time of its slowest rank, and ``rank`` the time of each rank; each has the average, minimum and maximum over the
    repeats. ``start_skew_s`` is the longest delay in any repeat of a rank's start after the first one.
    """

    ranks: AtLeastOne
    repeats: AtLeastOne
    bytes_in_repeat: Count
    window: Spread
    longest: Spread
    rank: Spread
    start_skew_s: Seconds


class Histogram(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The times of single operations: ``count[i]`` operations took at least ``lower_ns[i]`` nanoseconds.

    ``lower_ns`` has the lower bounds of the buckets that are not empty, ascending. A bucket below 256 ns is 1 ns wide;
    above, there are 256 per power of two, as in HdrHistogram. In a sample with a ``node``, neighbouring buckets may be
    merged; the bound is then their mean. Both lists are empty if no operation was timed.
    """

    lower_ns: list[Count]
    count: list[Count]

    def __post_init__(self) -> None:
        """Check the lengths.

        Raises:
            ValueError: the number of counts differs from that of the buckets.
        """
        if len(self.lower_ns) != len(self.count):
            raise ValueError(f"`lower_ns` has {len(self.lower_ns)} values, `count` {len(self.count)}")


class Clock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The clock that nameplate-core times with.

    ``source`` is ``tsc`` or ``monotonic``, and ``frequency_hz`` the number of its ticks per second. ``resolution_s`` is
    the smallest step between two readings, and ``cost_s`` the time that one reading takes.
    """

    source: str
    frequency_hz: Positive
    resolution_s: Seconds
    cost_s: Seconds


class Header(Record, frozen=True, kw_only=True):
    """The first record of a core process.

    ``schema`` is the version of the record format (``SCHEMA``) and ``version`` that of nameplate-core. ``build`` is the
    compiler and build type, and ``features`` are the optional libraries that it was built with, such as ``openmp``; the
    list may be empty.
    ``machine`` is what ``nameplate-core --machine`` prints.
    """

    schema: int
    version: str
    build: str
    features: list[str]
    machine: Machine
    clock: Clock


class Sample(Record, frozen=True, kw_only=True):
    """One timed call of a probe; in a series, all calls of one interval.

    - ``id``: the experiment; ``index``: the number of the sample in its round, from 0
    - ``start_s``: the start, counted from the begin of the experiment in this round, which includes set-up
    - ``elapsed_s``: the time from the first worker's start to the last one's finish
    - ``repetitions``: how many times the probe repeated its unit of work
    - ``counters``: the probe's own counters by name, and the CPU time of the process as ``cpu_user_s`` and
      ``cpu_system_s``
    - ``disturbed``: what happened meanwhile. nameplate-core always writes ``involuntary_switches`` (events) and
      ``burst_s``, the time of a burst that measures the clock; ``steal_s``, the sum over all CPUs, and the events
      ``cgroup_throttled`` and ``thermal_throttled`` only if the machine tells; ``between_calls_s`` and
      ``temperature_celsius`` only in a series, the latter only if there is a sensor
    - ``workers``: the part of each worker. Some probes do not report it, such as ``memory_latency``, and a sample with
      ``node`` never has it.
    - ``nodes``: the part of each node, in the order of the job; only ``mpi_stream`` reports it
    - ``node``: the index of a node in the job's list. The sample is the sum of all samples that this node took in the
      round by running a single-machine probe on its own; ``burst_s`` is their mean.
    - ``pairs``: the one-way times in seconds of a message between all pairs of nodes or ranks, the upper triangle row
      by row (0-1, 0-2, …, 1-2, …); only ``mpi_pairs`` reports them
    - ``histogram``: the times of single operations; only ``disk_block`` and ``net_pingpong`` report them

    The last five fields are UNSET if they do not apply.
    """

    id: str
    index: Count
    start_s: Seconds
    elapsed_s: Elapsed
    repetitions: AtLeastOne
    work: Work
    counters: dict[str, Real]
    disturbed: dict[str, Real]
    workers: list[Worker] | msgspec.UnsetType = msgspec.UNSET
    nodes: list[NodeTimes] | msgspec.UnsetType = msgspec.UNSET
    node: Count | msgspec.UnsetType = msgspec.UNSET
    pairs: list[Elapsed] | msgspec.UnsetType = msgspec.UNSET
    histogram: Histogram | msgspec.UnsetType = msgspec.UNSET


class Outcome(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of an experiment in one round; in a run file it follows the samples.

    ``ending`` is "skipped" if the experiment is not possible on this machine, "invalid" if the result of its work was
    wrong, and "failed" if anything else prevented it. Unless it is "ok", ``reason`` says in words why, and ``stage``
    names the step: ``request``, ``setup``, ``prepare``, ``run`` or ``verify``. With "ok" both are empty.

    ``params`` are complete with automatic values resolved if ``ending`` is "ok", otherwise as far as set-up came.
    ``facts`` are numbers that set-up determined, ``labels`` words, such as the name of a file system.
    ``oversubscribed`` means that there are more workers than CPUs, ``interrupted`` that the run was stopped during the
    experiment. ``samples`` is the number of samples in this round. ``setup_s`` is the time of set-up, ``total_s`` that
    of the whole experiment in this round. With ``node``, an index in the job's list, it is the outcome of this node;
    the outcome of all nodes, with ``node`` UNSET, follows.
    """

    id: str
    probe: str
    ending: Ending
    params: dict[str, Value]
    facts: dict[str, Real]
    labels: dict[str, str]
    oversubscribed: bool
    interrupted: bool
    samples: Count
    setup_s: Seconds
    total_s: Seconds
    reason: str = ""
    stage: str = ""
    node: Count | msgspec.UnsetType = msgspec.UNSET


class End(Record, frozen=True, kw_only=True):
    """The last record of a core process. If it is missing, the process did not end normally.

    ``experiments`` is the number of requests that it answered. ``interrupted`` means that it was told to stop.
    """

    experiments: Count
    interrupted: bool


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One probe with one set of parameters; ``id`` is unique in its plan.

    ``params`` may lack parameters, which then have the probe's defaults. ``slice_s`` is the time of its samples in each
    round, and ``sample_s`` the minimum length of a sample unless the run sets one; None means the usual 10 ms. A
    ``dense`` experiment is a point of a curve that is measured only if the sparse points around it show a change there.
    With ``interval_s`` it is a series: one round, with one sample per interval of its slice; None means no series.
    ``overhead_s`` is the estimated time besides the slice in a round; None means that of the probe. The constructor
    checks nothing.
    """

    id: str
    probe: str
    params: dict[str, Value]
    slice_s: Seconds = 0.25
    sample_s: Seconds | None = None
    dense: bool = False
    interval_s: Elapsed | None = None
    overhead_s: Seconds | None = None


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a run and of its samples.

    The constructor checks nothing. Reading a run file checks only that each value is in the range of its type;
    ``make_limits`` rejects the other impossible values.

    - ``budget_s``: the time for the whole run
    - ``precision``: a share. Without fixed rounds, an experiment ends once half of its median's 95 % interval is at
      most this share of the median, but not before six rounds.
    - ``rounds``: the fixed number of rounds of each experiment, 1 or more; with None, precision and budget decide
    - ``samples``: the highest number of samples of an experiment in a round; None for no limit
    - ``sample_s``: the minimum length of a sample; None for that of the experiment
    - ``warmup_s``: the minimum time of the warm-up before the first sample of a round
    - ``series_s``, ``interval_s``: if set, each experiment is a series of this length in each round, with one sample
      per interval. Set both or neither, the interval at most the length, and ``rounds`` to 1 for a single series. None
      of this is checked.
    - ``budget_binds``: all ``rounds`` must end within the budget, so that slices are shortened (but not ``series_s``),
      and the run ends with it. Without fixed rounds the budget always ends the run.
    """

    budget_s: Seconds
    precision: Real
    rounds: Count | None = None
    samples: Count | None = None
    sample_s: Seconds | None = None
    warmup_s: Seconds = 0.02
    series_s: Seconds | None = None
    interval_s: Elapsed | None = None
    budget_binds: bool = False


class ReferenceWork(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference tool by name, with the parameters of its work that a plan sets.

    ``params`` maps the name of each parameter to its value as text, as the plan file has it.
    """

    tool: str
    params: dict[str, str]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The experiments and limits of a run.

    A plan for a single probe has the probe's name. ``notes`` say what was left out or shortened to fit the budget.
    ``references`` are the names of reference tools that are run with their default work if they are installed,
    ``reference_works`` those for which the plan sets the work. ``per_node`` says how the nodes of a job run
    single-machine experiments by default: one node at a time ("in-turn"), all at once ("at-once"), or not per node
    (""). ``priority`` is "high" if the plan requests a high scheduling priority, otherwise "".
    """

    name: str
    experiments: list[Experiment]
    limits: Limits
    notes: list[str] = []
    references: list[str] = []
    per_node: PerNode = ""
    priority: Literal["", "high"] = ""
    reference_works: list[ReferenceWork] = []


class Rated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference value in the SI base unit of its metric, and its source.

    If ``value`` is None, ``source`` says why there is none. ``is_ceiling`` is False for a value that a healthy machine
    may exceed, such as a base clock below its turbo clock. ``can_be_given`` is False for a metric that no ``--rated``
    value applies to, such as the rate of a cache. ``times`` is the factor by which a value given with ``--rated`` is
    multiplied: 2 for a link that is used in both directions. ``value`` already includes it.
    """

    value: Real | None
    source: str
    is_ceiling: bool = True
    can_be_given: bool = True
    times: Count = 1


class Run(Record, frozen=True, kw_only=True):
    """The first record of a run file: what is measured, and how.

    ``schema`` is the version of the record format (``SCHEMA``) and ``version`` that of nameplate. ``started`` is a date
    and time in ISO 8601. ``seed`` determines the order of the experiments in each round. ``rated`` has the values given
    with ``--rated`` in SI base units; a key is the name and the unit, as in ``memory B/s``, and the mapping is empty if
    none were given. ``priority`` is "normal" or "high". ``per_node`` says how the nodes of a job ran single-machine
    experiments, as in ``Plan``.
    """

    schema: int
    version: str
    started: str
    plan: Plan
    seed: Count
    rated: dict[str, Positive]
    priority: str = "normal"
    per_node: PerNode = ""

    def __post_init__(self) -> None:
        """Check the record.

        Raises:
            ValueError: ``started`` is not a date and time that ``check_moment`` accepts.
        """
        check_moment(self.started)


class Reference(Record, frozen=True, kw_only=True):
    """A value that a reference tool gave in one run before the first round, or the reason why there is none.

    ``command`` is how the tool was called, and ``work`` describes what it measured. ``value`` is in the SI base unit
    ``unit``; if it is None, ``reason`` says why, otherwise ``reason`` is empty. ``version`` may be empty, as may
    ``command`` if the tool was not run.
    """

    tool: str
    version: str
    command: str
    work: str
    metric: str
    unit: str
    value: Real | None
    reason: str


class Stop(Record, frozen=True, kw_only=True):
    """The last record of the measurements; a run without it was cut off.

    ``reasons`` maps the id of each experiment to why it was no longer measured: "precision", "rounds" or "budget"
    reached, "even" (a dense point that its curve does not need), "interrupted", or the ending "skipped", "invalid" or
    "failed". ``elapsed_s`` is the time from the start of the command that wrote this record; with ``--resume``, earlier
    commands are not included. ``interrupted`` means that the user stopped the run.
    """

    reasons: dict[str, str]
    elapsed_s: Seconds
    interrupted: bool


class MetricKey(msgspec.Struct, frozen=True):
    """The identity of a metric across runs: the metric of a probe with complete parameters.

    ``unit`` is the SI base unit. ``better`` says whether higher or lower values are better.
    """

    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    better: Literal["higher", "lower"]


class MetricValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The value of a metric in a run, in its SI base unit.

    ``value`` is the median of the rounds and ``ci`` its 95 % interval (lower, upper), None with fewer than six rounds.
    ``nodes`` has the value of each node of a job by its name; it is empty unless the metric is known per node.
    """

    key: MetricKey = msgspec.field(name="figure")
    value: Real
    ci: tuple[Real, Real] | None = None
    nodes: dict[str, Real] = {}


class Digest(Record, frozen=True, tag="figures", kw_only=True):
    """The digest of a run, for readers of many runs. It counts only as the last line of a run file.

    ``by`` identifies the code that computed it, and ``crc32`` is zlib's checksum of everything before this line: a
    digest is current only for the same code and the same records. ``started`` is that of the run, ``plan`` the name of
    its plan, and ``machine`` the host name, the nodes of a job as a list such as ``node[01-16]``, or "unknown".
    ``values`` has one entry per metric that was measured and has a value; it may be empty.
    """

    by: str
    crc32: Count
    started: str
    machine: str
    plan: str
    values: list[MetricValue]


CoreRecord: TypeAlias = Header | Sample | Outcome | End
FileRecord: TypeAlias = Run | Reference | Header | Sample | Outcome | End | Stop


class Interval(msgspec.Struct, frozen=True):
    """A confidence interval of a median from ``low`` to ``high``, with its coverage probability (0 to 1)."""

    low: Real
    high: Real
    coverage: Real


class CorrelatedCondition(msgspec.Struct, frozen=True):
    """A condition whose mean within an event differs from its mean elsewhere in the series.

    ``inside`` and ``outside`` are the means within the event and elsewhere. ``name`` is one of "steal" and "CPU time"
    (in CPUs), "cgroup throttling", "thermal throttling" and "involuntary switches" (events per second), "clock" (bursts
    per second, useful only as a ratio) and "temperature" (degrees Celsius).
    """

    name: str
    inside: Real
    outside: Real


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event in a long series, by ``kind``.

    The kinds are a lasting change of level ("level"), a slow drift ("drift"), recurring dips ("dips"), and a single dip
    or burst ("run"). Seconds count from the first sample. ``change`` is a share of the level before, positive if values
    rise, whichever direction is better. A level or a drift lasts from ``begin_s`` to ``end_s``. Dips and single runs
    last ``width_s`` each and begin at each of ``at_s``; ``begin_s`` is the first begin and ``end_s`` the last end.
    ``period_s`` is the time from one dip to the next, None for other kinds. ``moved`` are the conditions that changed
    with the event and may explain it, ``still`` the names of the conditions that did not change. A condition that was
    not recorded, or changed in a direction that does not explain the event, is in neither list.
    """

    kind: Literal["level", "drift", "dips", "run"]
    begin_s: Real
    end_s: Real
    change: Real
    period_s: Real | None
    width_s: Real
    at_s: list[Real]
    moved: list[CorrelatedCondition]
    still: list[str]


class LevelOverTime(msgspec.Struct, frozen=True):
    """A level of a series: from ``begin_s`` to ``end_s`` the values vary around ``value``, their median.

    Seconds count from the first sample; ``value`` is in the unit of the metric.
    """

    begin_s: Real
    end_s: Real
    value: Real


class Sensitivity(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest events that the noise of a series does not hide, as shares of its level.

    ``spread`` is the noise: nine of ten intervals lie within this share of the trend, up or down. ``lasting`` is a
    change of level, ``dips`` are periodic dips of one interval in ten (or in fewer, in a short series), and ``single``
    is a dip of one whole interval. None means that an event of any size would be hidden.
    """

    spread: Real
    lasting: Real | None
    dips: Real | None
    single: Real | None


Verdict: TypeAlias = Literal["steady", "events", "too noisy"]


class OverTime(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment as a series, with one sample per ``interval_s``.

    Values are in the metric's unit. ``burst`` is the best level before the first lasting change for the worse, and
    ``burst_s`` the time of that change in seconds from the first sample, or the end of the series if there is none.
    ``sustained`` is all work over all time. ``p1`` is the value that 99 % of the intervals reach or surpass: a lower
    bound of a rate, an upper bound of a time. ``own_share`` is the share of the time that nameplate itself took, 0 to
    1. ``levels`` has at least one entry, and ``events`` may be empty. ``verdict`` is "events" if there are any,
    "steady" if there are none and ``sensitivity`` shows that an event of relevant size would have been found, otherwise
    "too noisy". ``verdict`` and ``sensitivity`` are None in reports of earlier versions.
    """

    interval_s: Real
    burst: Real
    burst_s: Real
    sustained: Real
    p1: Real
    own_share: Real
    levels: list[LevelOverTime]
    events: list[Event]
    verdict: Verdict | None = None
    sensitivity: Sensitivity | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one experiment over all rounds: a row of ``show --format json``.

    - ``params``: complete; the plan's if the experiment has no outcome, or the ones that the experiments of a
      derived value share
    - ``value``: the median of the values of the rounds, in the SI base unit ``unit``; ``ci``: its exact 95 % interval
      (lower, upper), None with fewer than six rounds. A derived value has the interval of its own computation or None.
    - ``rounds``, ``samples``: the number of rounds and of samples that the value is computed from; a derived value has
      no samples
    - ``mean``, ``best``: those of all samples; ``sustained``: all work over all time
    - ``p95``, ``p99``: reached by 95 % and 99 % of the samples: lower bounds of a rate, upper bounds of a time
    - ``rated``: the reference value; ``efficiency``: value ÷ reference value, the median of the rounds
    - ``outcome``: the worst outcome of a round; "failed" if there is no value although no round had another outcome
    - ``reason``: why a value is missing, or "rated: " and why there is no reference value; empty if nothing is missing
    - ``stop``: a reason of ``Stop``, "" if it has none for the experiment, "truncated" if the run was cut off, or
      "derived" or "imported"
    - ``disturbed``: the share of the samples that were disturbed, 0 to 1; 0 without a value
    - ``over_time``: only for the first metric of an experiment that was measured as a series of 20 samples or more

    Unknown values are None. Without a value ``rounds`` and ``samples`` are 0, and ``metric`` is the first of the probe,
    or "" if this version does not know the probe.
    """

    probe: str
    params: dict[str, Value]
    metric: str
    value: Real | None
    unit: str
    ci: tuple[Real, Real] | None
    rounds: int
    samples: int
    mean: Real | None
    best: Real | None
    sustained: Real | None
    p95: Real | None
    p99: Real | None
    rated: Real | None
    efficiency: Real | None
    outcome: Ending
    reason: str
    stop: str
    disturbed: Real
    over_time: OverTime | None = None

    @property
    def was_begun(self) -> bool:
        """Return False if the run ended before the experiment was begun, otherwise True, with or without a value."""
        return not self.reason.startswith(NOT_MEASURED)

    @property
    def why_no_value(self) -> str:
        """Return why ``value`` is None, such as "skipped: needs 4 GiB" or "not measured, because the run was stopped".

        Without a recorded reason it is such as "failed: no reason was recorded". If there is a value, the text says
        nothing useful.
        """
        reason = self.reason or "no reason was recorded"
        return f"{self.outcome}: {reason}" if self.was_begun else reason


class Series(msgspec.Struct, frozen=True):
    """A metric over time: four lists with one entry per sample of all rounds, in order of time.

    ``start_s`` is the start of each sample on a time axis that joins the rounds of the experiment, each from the begin
    of its set-up, without the time between them. ``value`` is in the metric's SI base unit. ``disturbed`` says whether
    the sample is disturbed. ``round`` numbers the rounds that have a value, from 1. The lists are empty for a result
    without a value, and for one that was derived or imported.
    """

    start_s: list[Real]
    value: list[Real]
    disturbed: list[bool]
    round: list[int]


# "derived" from the values of other experiments, "imported" from another tool's output.
ResultKind = Literal["measured", "derived", "imported"]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A summary with the other data that tables, charts and verdicts need.

    - ``id``: that of the experiment, or the probe, metric and parameters of a derived value
    - ``rated``: the reference value; ``efficiency_ci``: the 95 % interval (lower, upper) of ``summary.efficiency``,
      None if it is not known, as without a reference value or with fewer than six rounds
    - ``round_values``: the value of each round in order; ``series``: that of each sample; both in SI base units. Both
      are empty without a value and for a derived result, the series also for an imported one.
    - ``utilisation``: the mean number of busy cores, 0 if it is not known; ``oversubscribed``: more workers than CPUs
    - ``facts``, ``labels``: numbers and words that set-up determined, such as an instruction set
    - ``remarks``: sentences to show with the value
    - ``evidence``: numbers by name that support or question the value, such as the bytes that storage transferred
    - ``is_detail``: the result has no row in a table
    - ``source``: what served the bytes, empty if the probe does not know it
    - ``is_series``: the experiment was planned as one long series
    - ``kind``: whether the value was measured, derived from other experiments, or imported from another tool's output.
      Only a "measured" result has samples of its own. If ``summary.stop`` is "derived" or "imported", the constructor
      sets ``kind`` to it.

    Three fields belong to the first metric of an experiment and are otherwise empty. ``distribution`` has ascending
    times of operations in seconds, each with the share of all operations that took at most that time. ``pairs`` has the
    median one-way time in seconds of each pair of nodes or ranks, in the order of ``Sample.pairs``. ``node_times`` has
    the times of each node over all rounds, in the order of the job.
    """

    id: str
    summary: Summary
    better: Literal["higher", "lower"]
    rated: Rated
    efficiency_ci: tuple[Real, Real] | None
    series: Series
    round_values: list[Real]
    utilisation: Real
    oversubscribed: bool
    facts: dict[str, Real]
    remarks: list[str] = []
    evidence: dict[str, Real] = {}
    is_detail: bool = False
    distribution: list[tuple[Real, Real]] = []
    node_times: list[NodeTimes] = []
    pairs: list[Elapsed] = []
    source: str = ""
    labels: dict[str, str] = {}
    is_series: bool = False
    kind: ResultKind = "measured"

    def __post_init__(self) -> None:
        """Set the kind of results in reports of earlier versions, which have it only in the summary's ``stop``."""
        if self.summary.stop in ("derived", "imported"):
            msgspec.structs.force_setattr(self, "kind", self.summary.stop)


class NodeMetric(msgspec.Struct, frozen=True):
    """A metric of every node; each list except ``slow`` has one entry per node, in the order of the job.

    None stands for a node that was not measured or judged. ``experiment`` is the id in the plan. ``value`` is in the SI
    base unit ``unit``, adjusted to the usual level of the node's hardware class over the rounds; a node that was
    measured but not judged has the median of its rounds. ``gap`` is the share by which it is worse than the median of
    its class, negative if it is better. ``z`` is that distance in robust standard deviations with the opposite sign,
    negative if it is worse. ``spread`` is the standard error of the value as a share of it. ``slow`` has the indices of
    the slow nodes, ascending, and is empty if there are none. ``minimum`` and ``maximum`` are those of single repeats,
    empty if the probe does not report them.
    """

    experiment: str
    metric: str
    unit: str
    better: Literal["higher", "lower"]
    value: list[Real | None]
    gap: list[Real | None]
    z: list[Real | None]
    spread: list[Real | None]
    slow: list[int]
    minimum: list[Real | None] = []
    maximum: list[Real | None] = []

    @property
    def title(self) -> str:
        """Return the experiment's id and the metric's name, separated by a space, as a title to show."""
        return f"{self.experiment} {self.metric}"


class Nodes(msgspec.Struct, frozen=True):
    """The nodes of a job by name, the hardware class of each, and their metrics.

    ``names`` and ``classes`` are in the order of the job. Nodes with the same class should be equally fast. All classes
    are "" if none were recorded.
    """

    names: list[str]
    classes: list[str]
    metrics: list[NodeMetric]


class Quantity(msgspec.Struct, frozen=True):
    """A value in its SI base unit; ``ci`` is its 95 % interval (lower, upper), None if it is not known."""

    value: Real
    unit: str
    ci: tuple[Real, Real] | None = None


class Table(msgspec.Struct, frozen=True):
    """A table of values in the form usual for a probe.

    ``probe`` is the probe's name, empty for a table of several probes. ``headings`` has the heading of each column, and
    each row one cell per column; the first cell is the name of the row. A cell of None is empty. ``notes`` are
    sentences to show below the table.
    """

    probe: str
    title: str
    headings: list[str]
    rows: list[list[str | Quantity | None]]
    notes: list[str] = []


StudyValue: TypeAlias = Real | str | None


class StudyColumn(msgspec.Struct, frozen=True):
    """A column of a study's table: its heading, and the unit of its numbers, empty if they have none."""

    name: str
    unit: str = ""


class StudyCell(msgspec.Struct, frozen=True):
    """One entry of a study's table, in its column's unit; None means that there is no such value.

    ``here`` is the value of this run by the study's definition, and ``published`` that of the document. ``own`` is
    nameplate's value if nameplate defines the quantity otherwise; ``StudyTable.own`` names it. ``remarks`` name
    conditions that differ, or the reason why ``here`` is missing.
    """

    here: StudyValue = None
    published: StudyValue = None
    own: StudyValue = None
    remarks: list[str] = []


class StudyTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table as in the document of a study: ``cells[i][j]`` belongs to ``rows[i]`` and ``columns[j]``.

    ``rows`` has the names of the rows, and ``corner`` is the heading above them. ``here`` is the heading of the values
    of this run, and ``own`` that of the ``own`` values of the cells, empty if there are none. With ``has_ratio``, the
    quotient here ÷ published is shown. ``notes`` are sentences to show below the table.
    """

    title: str
    rows: list[str]
    columns: list[StudyColumn]
    cells: list[list[StudyCell]]
    corner: str = ""
    here: str = "here"
    own: str = ""
    has_ratio: bool = True
    notes: list[str] = []


class StudyLine(msgspec.Struct, frozen=True):
    """A line of a study's chart: points (x, y), ascending in x, in the units of the axes.

    ``is_published`` is True for values of the document, False for those of this run. With ``is_joined`` False the
    points are drawn without a line between them.
    """

    name: str
    points: list[tuple[Real, Real]]
    is_published: bool = False
    is_joined: bool = True


class StudyAxis(msgspec.Struct, frozen=True):
    """An axis of a study's chart.

    ``title`` includes the unit in brackets, as in ``time (µs)``. ``names`` has the labels of ticks as pairs (position,
    label), such as (8192, ``8 KiB``); if it is empty, the numbers are shown.
    """

    title: str
    is_logarithmic: bool = False
    names: list[tuple[Real, str]] = []


class StudyChart(msgspec.Struct, frozen=True):
    """A chart as in the document of a study.

    ``marks`` are named positions on the x axis as pairs (position, name), such as a break point.
    """

    title: str
    x: StudyAxis
    y: StudyAxis
    lines: list[StudyLine]
    marks: list[tuple[Real, str]] = []


class Study(msgspec.Struct, frozen=True):
    """The tables and charts of a published study with the values of a run, in the document's order."""

    tables: list[StudyTable]
    charts: list[StudyChart]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A summarised run, which ``show``, ``report`` and ``compare`` work on.

    ``machine`` and ``clock`` are None for a run that ended before its first header, or was imported from another tool.
    ``results`` has one entry for each metric of each experiment, grouped by probe in the order of the plan; derived
    values are last in each group. ``truncated`` means that the run file was cut off, ``interrupted`` that the user
    stopped the run. ``notes`` are sentences to show with the results. ``nodes`` is None unless the run has values of
    several nodes. ``study`` is the published study that the plan reproduces, None for any other plan, and also if
    ``machine`` is None.
    """

    run: Run
    machine: Machine | None
    clock: Clock | None
    results: list[Result]
    tables: list[Table]
    truncated: bool
    interrupted: bool
    notes: list[str]
    nodes: Nodes | None = None
    study: Study | None = None
