"""The data that modules hand to each other: frozen and typed. Records match ``schema/record.schema.json``.

Units are SI base units and stand in the field's name; a parameter's value is a word, a count (also bytes) or
seconds.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

SCHEMA = 1
_FIRST_YEAR, _LAST_YEAR = 1971, 9998

# What numbers a record may have: quotients and products of a few of them stay finite.
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
AtLeastOne: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Real: TypeAlias = Annotated[float, msgspec.Meta(ge=-1e50, le=1e50)]
Positive: TypeAlias = Annotated[float, msgspec.Meta(ge=1e-50, le=1e50)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
# Of something that took place: no clock is finer than a picosecond, and rates are quotients by it.
Elapsed: TypeAlias = Annotated[float, msgspec.Meta(ge=1e-12, le=1e12)]

Value: TypeAlias = str | Whole | Real
Ending: TypeAlias = Literal["ok", "skipped", "invalid", "failed"]
PerNode: TypeAlias = Literal["", "in-turn", "at-once"]


def check_moment(text: str) -> None:
    """Raise ValueError unless the text is a date and time that every calendar here can show."""
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
    """What was done in a sample."""

    bytes: Count
    flops: Count
    ops: Count


class Worker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One worker's part of a sample; ``start_s`` counts from the first worker's start."""

    start_s: Seconds
    elapsed_s: Elapsed
    work: Work


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of several repeats, or of several ranks' repeats."""

    average_s: Elapsed
    minimum_s: Elapsed
    maximum_s: Elapsed


class NodeTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One node's part of a sample that many nodes take.

    Of each repeat ``window`` goes from its first rank's start to its last one's finish, ``longest`` is the time of the
    rank that took longest; ``rank`` is every rank's own. Nodes are in the order of the job's.
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
        """Raise ValueError where a bucket has no count, or a count no bucket."""
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
    machine: dict[str, Any]
    clock: Clock


class Sample(Record, frozen=True, kw_only=True):
    """One timed call of a probe: from the first worker's start to the last one's finish.

    With a ``node``, a place in the job's list, it is the sum of all samples that this node took in a round.
    ``pairs`` are one-way seconds of a message between all pairs of nodes or ranks, as ``probes/_pair_matrix.py`` reads
    them.
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
    """How one experiment ended in one round. ``params`` are complete: automatic ones are resolved.

    ``facts`` are numbers that set-up found out, ``labels`` words (a file system's name). With a ``node`` it is this
    node's own, and that of all nodes follows.
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
    """The last record of a core process: without it the process did not end in order."""

    experiments: Count
    interrupted: bool


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One probe with one set of parameters; ``id`` is unique in its plan. ``slice_s`` is its time in each round.

    ``sample_s`` is the length of its samples where the run gives none. ``dense``: a point of a curve that is measured
    only if the points around it, which are not, show that the curve bends there. With ``interval_s`` it is a series:
    one round, a sample for every interval of its slice.
    """

    id: str
    probe: str
    params: dict[str, Value]
    slice_s: Seconds = 0.25
    sample_s: Seconds | None = None
    dense: bool = False
    interval_s: Elapsed | None = None


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a run ends, and how long its samples are. None: not limited, or calibrated.

    ``budget_binds``: all ``rounds`` must end within the budget, so slices are shortened, and the run ends with it.
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
    """What is to be measured.

    ``notes``: what of it was left out or shortened to fit its budget; ``references``: tools whose own figures stand
    beside, where they are installed, with their usual work; ``reference_works``: tools whose work the plan chooses
    itself. ``per_node``: how the nodes of a job take single machines' experiments, unless the user says otherwise.
    ``priority``: high where the plan asks for it.
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
    """A nameplate value in SI base units, and where it comes from; without a value, why there is none.

    ``is_ceiling`` is False for a value that a healthy machine may pass: a base clock below its turbo.
    ``can_be_given`` is False for a figure that no ``--rated`` value is meant for: what a cache delivers. ``times`` is
    how many times a given one counts: twice for a link that is used in both directions.
    """

    value: Real | None
    source: str
    is_ceiling: bool = True
    can_be_given: bool = True
    times: Count = 1


class Run(Record, frozen=True, kw_only=True):
    """The first record of a run file. ``per_node``: how the nodes of a job took single machines' experiments."""

    schema: int
    version: str
    started: str
    plan: Plan
    seed: Count
    rated: dict[str, Positive]
    priority: str = "normal"
    per_node: PerNode = ""

    def __post_init__(self) -> None:
        """Raise ValueError where ``started`` is no time."""
        check_moment(self.started)


class Reference(Record, frozen=True, kw_only=True):
    """A figure of another tool's, from one run of it before the first round; without a value, why there is none."""

    tool: str
    version: str
    command: str
    work: str
    metric: str
    unit: str
    value: Real | None
    reason: str


class Stop(Record, frozen=True, kw_only=True):
    """The last record of what was measured: why each experiment was not measured any longer."""

    reasons: dict[str, str]
    elapsed_s: Seconds
    interrupted: bool


class Figure(msgspec.Struct, frozen=True):
    """What a value is of: a metric of a probe with complete parameters, in the SI base unit ``unit``."""

    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    better: Literal["higher", "lower"]


class FigureValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a run says of a figure: the median of its rounds with its interval, also of each node of a job by name."""

    figure: Figure
    value: Real
    ci: tuple[Real, Real] | None = None
    nodes: dict[str, Real] = {}


class Figures(Record, frozen=True, kw_only=True):
    """What the records before it come to, for those who read many runs; the last line of a run file, or of no account.

    ``by`` names the code that computed them, ``crc32`` is the checksum (that of zlib) of everything before this line:
    they count only for the same code and the same records. ``machine`` is the host, or the nodes of a job.
    """

    by: str
    crc32: Count
    started: str
    machine: str
    plan: str
    values: list[FigureValue]


CoreRecord: TypeAlias = Header | Sample | Outcome | End
FileRecord: TypeAlias = Run | Reference | Header | Sample | Outcome | End | Stop


class Interval(msgspec.Struct, frozen=True):
    """An interval for a median, with the probability that it covers it."""

    low: Real
    high: Real
    coverage: Real


class CorrelatedCondition(msgspec.Struct, frozen=True):
    """A condition that differed within an event (mean of its samples) from what it was elsewhere.

    Steal and CPU time in CPUs' worth, throttling and switches in events a second, the clock in bursts a second (of use
    as a ratio only), temperature in degrees Celsius.
    """

    name: str
    inside: Real
    outside: Real


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """An event in a long series: a lasting change of level, a slow drift, dips that recur, or a single run of samples.

    ``change`` is a share of the level before. A change of level lasts, and a drift goes on, from ``begin_s`` to
    ``end_s``; dips and single runs last ``width_s`` and begin ``at_s``. Of the conditions that could be read, some
    ``moved`` with the event so that they may explain it, and some, named in ``still``, did not move. Seconds count from
    the first sample.
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
    """From ``begin_s`` to ``end_s`` the values vary about ``value``."""

    begin_s: Real
    end_s: Real
    value: Real


class Sensitivity(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest events that a series' noise would not have hidden, as shares of its level; None: no size is enough.

    Nine of ten intervals lie within ``spread`` of the trend, up or down. ``lasting`` is a change of level, ``dips`` are
    one interval in ten (or in fewer, in a short series), and ``single`` is a dip of one whole interval.
    """

    spread: Real
    lasting: Real | None
    dips: Real | None
    single: Real | None


Verdict: TypeAlias = Literal["steady", "events", "too noisy"]


class OverTime(msgspec.Struct, frozen=True, kw_only=True):
    """A cell as a series: one sample for each ``interval_s``.

    ``burst`` is the best level before the first lasting fall, which came after ``burst_s`` (without one, the end);
    ``sustained`` all work over all time; ``p1`` what 99 % of the intervals at least reach. ``own_share`` is the part of
    the time that the tool itself took. ``verdict`` is "steady" only if ``sensitivity`` shows that an event of a size
    that matters would have been found; both are None in what earlier versions wrote.
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
    ``p95``, ``p99`` and ``sustained`` are computed from all samples. ``p95`` and ``p99`` are what that part of the
    samples at least reaches, counted from the good end. ``sustained`` is all work over all time. Whatever is not known
    is None, and ``reason`` says why. ``over_time`` stands with the first metric of a cell that was measured as a
    series.
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


class Series(msgspec.Struct, frozen=True):
    """A metric over time: one point per sample, with when it began in seconds since the run's first sample.

    ``round`` counts from 1.
    """

    start_s: list[Real]
    value: list[Real]
    disturbed: list[bool]
    round: list[int]


# "derived" from the values of other experiments, "imported" from another tool's output.
ResultKind = Literal["measured", "derived", "imported"]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A summary with what tables, charts and verdicts need beside it.

    ``kind`` says where the value comes from; only a "measured" result has samples of its own.
    A detail has no row of its own in a table. ``evidence`` are figures that speak for or against the value: where the
    bytes came from. ``distribution`` stands with a cell's first metric, where its single operations were timed: times
    in seconds, ascending, each with the share of the operations of all rounds that took no longer. So does ``pairs``,
    where messages went between all pairs of nodes or ranks: the median over the rounds of each pair's one-way seconds;
    and ``node_times``, where a job's nodes were measured at once: each node's over all rounds. ``source`` is where the
    bytes came from, where a probe knows it, and ``labels`` what set-up chose or found: an instruction set, a device.
    ``is_series`` marks an experiment that its plan measures as one long series, next to others that take slices.
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
        """Set the kind of results of reports from before the field, which only the summary's ``stop`` told."""
        if self.summary.stop in ("derived", "imported"):
            msgspec.structs.force_setattr(self, "kind", self.summary.stop)


class NodeMetric(msgspec.Struct, frozen=True):
    """What one metric says of every node, by its place in the job's list; None where it was not measured or judged.

    ``experiment`` is the plan's id.

    ``value`` is in the SI base unit ``unit``, at the usual level of the node's hardware class over the rounds; ``gap``
    the share by which it is worse than the median of the class's values, negative where it is better; ``z`` that
    distance in robust standard deviations, negative where it is worse; ``spread`` what the value itself varies by, as a
    share. ``slow``: the places of those that are. ``minimum`` and ``maximum`` are those of single repeats; empty where
    a probe does not tell them.
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
        """What it is a figure of."""
        return f"{self.experiment} {self.metric}"


class Nodes(msgspec.Struct, frozen=True):
    """The nodes of a job by name, the hardware class of each, and what was found out about them."""

    names: list[str]
    classes: list[str]
    metrics: list[NodeMetric]


class Quantity(msgspec.Struct, frozen=True):
    """A value in its SI base unit, with its interval where there is one."""

    value: Real
    unit: str
    ci: tuple[Real, Real] | None = None


class Table(msgspec.Struct, frozen=True):
    """Figures in rows and columns as a probe's readers expect them; the first cell of a row names it."""

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

    ``here`` follows the study's definition. ``own`` is nameplate's value where nameplate defines the quantity
    otherwise; the table names it. ``remarks`` say in which conditions the two differ, or why ``here`` is missing.
    """

    here: StudyValue = None
    published: StudyValue = None
    own: StudyValue = None
    remarks: list[str] = []


class StudyTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table as a study's document has it: ``cells[i][j]`` belongs to ``rows[i]`` and ``columns[j]``.

    ``corner`` heads the rows' names, ``here`` says who measured the first value, ``own`` names the cells' ``own``
    values (empty: there are none). With ``has_ratio`` each pair of numbers has its quotient, here ÷ published.
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
    """An axis of a study's chart: its title with the unit, and numbers that have names of their own (``8 KiB``)."""

    title: str
    is_logarithmic: bool = False
    names: list[tuple[Real, str]] = []


class StudyChart(msgspec.Struct, frozen=True):
    """A chart as a study's document draws it; ``marks`` are named places on the x axis, such as a break point."""

    title: str
    x: StudyAxis
    y: StudyAxis
    lines: list[StudyLine]
    marks: list[tuple[Real, str]] = []


class Study(msgspec.Struct, frozen=True):
    """What a run of a study's plan shows of the study: its tables and charts, in the document's order."""

    tables: list[StudyTable]
    charts: list[StudyChart]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run, summarised: what ``show``, ``report`` and ``compare`` work on.

    ``study``: the tables and charts of the published study that the plan reproduces; None for any other plan.
    """

    run: Run
    machine: dict[str, Any]
    clock: Clock | None
    results: list[Result]
    tables: list[Table]
    truncated: bool
    interrupted: bool
    notes: list[str]
    nodes: Nodes | None = None
    study: Study | None = None
