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
    """Raise ValueError unless the text is a date and time in ISO 8601 that ``datetime`` can show in every time zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = datetime.min
    if not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        raise ValueError(f"`started` is '{text[:40]}': write it like 2026-01-31T12:00:00+00:00")


class Record(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True, forbid_unknown_fields=True):
    """One line of a run file. ``round`` counts from 1; nameplate-core itself does not write it."""

    round: Count = 0


class Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The work of a sample: bytes moved, floating-point operations, other operations."""

    bytes: Count
    flops: Count
    ops: Count


class Worker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One worker's part of a sample; ``start_s`` counts from the first worker's start."""

    start_s: Seconds
    elapsed_s: Elapsed
    work: Work


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Average, minimum and maximum time of several repeats, or of the repeats of several ranks."""

    average_s: Elapsed
    minimum_s: Elapsed
    maximum_s: Elapsed


class NodeTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One node's part of a sample of many nodes, which are in the order of the job.

    ``window`` is the time of a repeat from the start of the first rank to the finish of the last one, ``longest`` the
    time of its slowest rank, and ``rank`` the time of each rank.
    """

    ranks: AtLeastOne
    repeats: AtLeastOne
    bytes_in_repeat: Count
    window: Spread
    longest: Spread
    rank: Spread
    start_skew_s: Seconds


class Histogram(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Times of single operations: the lower bounds of the buckets that are not empty, and their counts."""

    lower_ns: list[Count]
    count: list[Count]

    def __post_init__(self) -> None:
        """Raise ValueError unless there is one count per bucket."""
        if len(self.lower_ns) != len(self.count):
            raise ValueError(f"`lower_ns` has {len(self.lower_ns)} values, `count` {len(self.count)}")


class Clock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The clock that nameplate-core times with."""

    source: str
    frequency_hz: Positive
    resolution_s: Seconds
    cost_s: Seconds


class Header(Record, frozen=True, kw_only=True):
    """The first record of a core process. ``machine`` is what ``nameplate-core --machine`` prints."""

    schema: int
    version: str
    build: str
    features: list[str]
    machine: Machine
    clock: Clock


class Sample(Record, frozen=True, kw_only=True):
    """One timed call of a probe: from the first worker's start to the last one's finish.

    With ``node``, an index in the job's list, it is the sum of all samples of this node in a round. ``pairs`` are the
    one-way times in seconds of a message between all pairs of nodes or ranks (``probes/shared/pair_matrix.py``).
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
    """The outcome of an experiment in one round. ``params`` are complete, with automatic values resolved.

    ``facts`` are numbers that set-up determined, ``labels`` words, such as the name of a file system. With ``node`` it
    is the outcome of this node; the outcome of all nodes follows.
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
    """The last record of a core process. If it is missing, the process did not end normally."""

    experiments: Count
    interrupted: bool


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One probe with one set of parameters; ``id`` is unique in its plan. ``slice_s`` is its time in each round.

    ``sample_s`` is the length of its samples unless the run sets one. A ``dense`` experiment is a point of a curve that
    is measured only if the sparse points around it show a change there. With ``interval_s`` it is a series: one round,
    with one sample per interval of its slice.
    """

    id: str
    probe: str
    params: dict[str, Value]
    slice_s: Seconds = 0.25
    sample_s: Seconds | None = None
    dense: bool = False
    interval_s: Elapsed | None = None


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a run and of its samples. None means not limited, or calibrated.

    If ``budget_binds``, all ``rounds`` must end within the budget: slices are shortened, and the run ends with it.
    Without fixed rounds the budget always ends the run.
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
    """A reference tool with the values that a plan gives for the parameters of its work."""

    tool: str
    params: dict[str, str]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The experiments and limits of a run.

    ``notes`` say what was left out or shortened to fit the budget. ``references`` are reference tools that are run with
    their default work if they are installed, ``reference_works`` those for which the plan sets the work. ``per_node``
    is how the nodes of a job run single-machine experiments by default. ``priority`` is high if the plan requests it.
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
    """A reference value in SI base units and its source; without a value, ``source`` says why there is none.

    ``is_ceiling`` is False for a value that a healthy machine may exceed, such as a base clock below its turbo clock.
    ``can_be_given`` is False for a metric that no ``--rated`` value applies to, such as the rate of a cache. ``times``
    multiplies a given value: 2 for a link that is used in both directions.
    """

    value: Real | None
    source: str
    is_ceiling: bool = True
    can_be_given: bool = True
    times: Count = 1


class Run(Record, frozen=True, kw_only=True):
    """The first record of a run file. ``per_node`` is how the nodes of a job ran single-machine experiments."""

    schema: int
    version: str
    started: str
    plan: Plan
    seed: Count
    rated: dict[str, Positive]
    priority: str = "normal"
    per_node: PerNode = ""

    def __post_init__(self) -> None:
        """Raise ValueError unless ``started`` is a date and time."""
        check_moment(self.started)


class Reference(Record, frozen=True, kw_only=True):
    """A value that a reference tool gave in one run before the first round, or the reason why there is none."""

    tool: str
    version: str
    command: str
    work: str
    metric: str
    unit: str
    value: Real | None
    reason: str


class Stop(Record, frozen=True, kw_only=True):
    """The last record of the measurements: the reason why each experiment was no longer measured."""

    reasons: dict[str, str]
    elapsed_s: Seconds
    interrupted: bool


class MetricKey(msgspec.Struct, frozen=True):
    """The identity of a metric across runs: a probe with complete parameters. ``unit`` is the SI base unit."""

    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    better: Literal["higher", "lower"]


class MetricValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The value of a metric in a run: the median of its rounds with its interval, and the values of nodes by name."""

    key: MetricKey = msgspec.field(name="figure")
    value: Real
    ci: tuple[Real, Real] | None = None
    nodes: dict[str, Real] = {}


class Digest(Record, frozen=True, tag="figures", kw_only=True):
    """The digest of a run, for readers of many runs. It counts only as the last line of a run file.

    ``by`` identifies the code that computed it, and ``crc32`` is zlib's checksum of everything before this line: a
    digest is current only for the same code and the same records. ``machine`` is the host, or the nodes of a job.
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
    """An interval of a median, with its coverage probability."""

    low: Real
    high: Real
    coverage: Real


class CorrelatedCondition(msgspec.Struct, frozen=True):
    """A condition whose mean within an event differs from its mean elsewhere.

    Steal and CPU time are in CPUs, throttling and switches in events per second, the clock in bursts per second (useful
    only as a ratio), the temperature in degrees Celsius.
    """

    name: str
    inside: Real
    outside: Real


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event in a long series: a lasting change of level, a slow drift, recurring dips, or a single run of samples.

    ``change`` is a share of the level before. A change of level or a drift lasts from ``begin_s`` to ``end_s``; dips
    and single runs last ``width_s`` and begin at each of ``at_s``. ``moved`` are the conditions that changed with the
    event and may explain it, ``still`` the names of the conditions that did not. Seconds count from the first sample.
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
    """A level of a series: from ``begin_s`` to ``end_s`` the values vary around ``value``."""

    begin_s: Real
    end_s: Real
    value: Real


class Sensitivity(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest events that the noise of a series does not hide, as shares of its level; None if it hides any size.

    Nine of ten intervals lie within ``spread`` of the trend, up or down. ``lasting`` is a change of level, ``dips`` are
    one interval in ten (or in fewer, in a short series), and ``single`` is a dip of one whole interval.
    """

    spread: Real
    lasting: Real | None
    dips: Real | None
    single: Real | None


Verdict: TypeAlias = Literal["steady", "events", "too noisy"]


class OverTime(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment as a series, with one sample per ``interval_s``.

    ``burst`` is the best level before the first lasting fall, at ``burst_s`` (the end, if there is no fall);
    ``sustained`` is all work over all time, ``p1`` the value that 99 % of the intervals reach. ``own_share`` is the
    share of the time that nameplate itself took. ``verdict`` is "steady" only if ``sensitivity`` shows that an event of
    relevant size would have been found; both are None in reports of earlier versions.
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

    ``value`` is the median of the round medians and ``ci`` its exact interval, in SI base units. ``mean``, ``best``,
    ``p95``, ``p99`` and ``sustained`` are computed from all samples. ``p95`` and ``p99`` are
    reached by 95 % and 99 % of the samples: lower bounds of a rate, upper bounds of a time. ``sustained`` is all work
    over all time. Unknown values are None, and ``reason`` says why. ``over_time`` belongs to the first metric of an
    experiment that was measured as a series.
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
        """Return whether the experiment was measured at all: the run may have ended before."""
        return not self.reason.startswith(NOT_MEASURED)

    @property
    def why_no_value(self) -> str:
        """Return why there is no value: "skipped: needs 4 GiB" or "not measured, because the run was stopped"."""
        reason = self.reason or "no reason was recorded"
        return f"{self.outcome}: {reason}" if self.was_begun else reason


class Series(msgspec.Struct, frozen=True):
    """A metric over time: one point per sample, with its start in seconds since the first sample of the experiment.

    ``round`` counts from 1.
    """

    start_s: list[Real]
    value: list[Real]
    disturbed: list[bool]
    round: list[int]


# "derived" from the values of other experiments, "imported" from another tool's output.
ResultKind = Literal["measured", "derived", "imported"]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A summary with the other data that tables, charts and verdicts need.

    ``kind`` says where the value comes from; only a "measured" result has samples of its own. A result with
    ``is_detail`` has no row in a table. ``evidence`` are numbers that support or question the value, such as the bytes
    that storage delivered. ``source`` names what served the bytes, if the probe knows it. ``labels`` are choices and
    findings of set-up, such as an instruction set. ``is_series`` marks an experiment measured as one long series.

    Three fields belong to the first metric of an experiment. ``distribution`` has ascending times of operations in
    seconds, each with the share of all operations that took at most that time. ``pairs`` has the median one-way time in
    seconds of each pair of nodes or ranks. ``node_times`` has the times of each node over all rounds.
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
    """A metric of every node, in the order of the job's nodes; None for a node that was not measured or judged.

    ``experiment`` is the id in the plan. ``value`` is in the SI base unit ``unit``, adjusted to the usual level of the
    node's hardware class over the rounds. ``gap`` is the share by which it is worse than the median of its class,
    negative if it is better. ``z`` is that distance in robust standard deviations, negative if it is worse. ``spread``
    is the variation of the value as a share. ``slow`` has the indices of the slow nodes. ``minimum`` and ``maximum``
    are those of single repeats, empty if the probe does not report them.
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
        """Return the experiment and the metric."""
        return f"{self.experiment} {self.metric}"


class Nodes(msgspec.Struct, frozen=True):
    """The nodes of a job by name, the hardware class of each, and their metrics."""

    names: list[str]
    classes: list[str]
    metrics: list[NodeMetric]


class Quantity(msgspec.Struct, frozen=True):
    """A value in its SI base unit, with its interval if there is one."""

    value: Real
    unit: str
    ci: tuple[Real, Real] | None = None


class Table(msgspec.Struct, frozen=True):
    """A table of values in the form usual for a probe; the first cell of a row is its name."""

    probe: str
    title: str
    headings: list[str]
    rows: list[list[str | Quantity | None]]
    notes: list[str] = []


StudyValue: TypeAlias = Real | str | None


class StudyColumn(msgspec.Struct, frozen=True):
    """A column of a study's table: its heading, and the unit of its numbers; empty where they have none."""

    name: str
    unit: str = ""


class StudyCell(msgspec.Struct, frozen=True):
    """One entry of a study's table, in its column's unit: the value of this run and the published one.

    ``here`` follows the study's definition. ``own`` is nameplate's value if nameplate defines the quantity
    otherwise; the table names it. ``remarks`` name conditions that differ, or the reason why ``here`` is missing.
    """

    here: StudyValue = None
    published: StudyValue = None
    own: StudyValue = None
    remarks: list[str] = []


class StudyTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table as in the document of a study: ``cells[i][j]`` belongs to ``rows[i]`` and ``columns[j]``.

    ``corner`` is the heading of the rows' names, ``here`` says who measured the first value, and ``own`` names the
    ``own`` values of the cells, empty if there are none. With ``has_ratio``, the quotient here ÷ published is shown.
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
    """A line of a study's chart: points ascending in x. With ``is_joined`` False the points stand alone."""

    name: str
    points: list[tuple[Real, Real]]
    is_published: bool = False
    is_joined: bool = True


class StudyAxis(msgspec.Struct, frozen=True):
    """An axis of a study's chart: its title with the unit, and names of its numbers (``8 KiB``)."""

    title: str
    is_logarithmic: bool = False
    names: list[tuple[Real, str]] = []


class StudyChart(msgspec.Struct, frozen=True):
    """A chart as in the document of a study; ``marks`` are named positions on the x axis, such as a break point."""

    title: str
    x: StudyAxis
    y: StudyAxis
    lines: list[StudyLine]
    marks: list[tuple[Real, str]] = []


class Study(msgspec.Struct, frozen=True):
    """The tables and charts of a study with the values of a run, in the document's order."""

    tables: list[StudyTable]
    charts: list[StudyChart]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A summarised run, which ``show``, ``report`` and ``compare`` work on.

    ``machine`` is None for a run that ended before its first record, or was imported from another tool.
    ``study`` is the published study that the plan reproduces, None for any other plan.
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
