"""The results of a run, computed from its records, with their tables, and the report that holds them.

Values are in SI base units.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from nameplate.records.machine_record import Machine
from nameplate.records.numbers import Count, Elapsed, Real
from nameplate.records.plan_record import Value
from nameplate.records.run_record import NOT_MEASURED, Clock, Ending, NodeTimes, Run
from nameplate.records.series_events import OverTime
from nameplate.records.study_record import Study

RatedKind: TypeAlias = Literal["measured", "derived", "catalogue", "site", "given"]


class Rated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference value in the SI base unit of its metric, and its source.

    If ``value`` is None, ``source`` says why there is none. ``is_ceiling`` is False for a value that a healthy machine
    may exceed, such as a base clock below its turbo clock. ``can_be_given`` is False for a metric that no ``--rated``
    value applies to, such as the rate of a cache. ``times`` is the factor by which a value given with ``--rated`` is
    multiplied: 2 for a link that is used in both directions. ``value`` already includes it. ``kind`` says how the value
    is known: ``measured`` (a ceiling that the run measured), ``derived`` (from what the system lists), ``given`` (by
    the user), or what ``site`` or ``catalogue`` expects of such a machine.
    """

    value: Real | None
    source: str
    is_ceiling: bool = True
    can_be_given: bool = True
    times: Count = 1
    kind: RatedKind = "derived"


class Interval(msgspec.Struct, frozen=True):
    """A confidence interval of a median from ``low`` to ``high``, with its coverage probability (0 to 1)."""

    low: Real
    high: Real
    coverage: Real


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one experiment over all rounds: a row of ``show --format json``.

    - ``params``: complete; the plan's if the experiment has no outcome, or the ones that the experiments of a
      derived value share
    - ``value``: the typical value, which a user got during the run: the median of the values of the rounds, in the SI
      base unit ``unit``; ``ci``: its exact 95 % interval (lower, upper), None with fewer than six rounds. A derived
      value has the interval of its own computation or None.
    - ``capability``: the value that one in twenty undisturbed samples reaches, in ``unit``: what the machine does when
      nothing else takes part (``statistics/capability.py``); with a limit (``Result.limit``), that of whole periods or
      rounds. None with fewer than 12 samples or 6 of these, for a value that was not measured or is taken per node,
      and for a metric that interference can improve. ``capability_ci``: its 95 % interval (lower, upper), None with
      fewer than five rounds
    - ``rounds``, ``samples``: the number of rounds and of samples that the value is computed from; a derived value has
      no samples
    - ``mean``, ``best``: those of all samples; ``best`` is None if a sample is above the ceiling of its round, which
      was timed or counted wrongly. ``sustained``: all work over all time
    - ``p95``, ``p99``: reached by 95 % and 99 % of the samples: lower bounds of a rate, upper bounds of a time
    - ``rated``: the reference value; ``efficiency``: ``value`` ÷ ``rated``
    - ``outcome``: "ok" with a value, else the worst outcome of a round, "failed" if each round had the outcome "ok"
    - ``reason``: why a value is missing, or "rated: " and why there is no reference value; empty if nothing is missing
    - ``stop``: a reason of ``Stop``, also "failed" if a node of a job failed, "" if it has none for the experiment,
      "truncated" if the run was cut off, or "derived" or "imported"
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
    capability: Real | None = None
    capability_ci: tuple[Real, Real] | None = None

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

# A limit that was set on the machine during the run: a CPU quota, a processor that was too hot, or a burst that was
# spent, as of a cloud's credits.
LimitKind: TypeAlias = Literal["", "quota", "heat", "burst"]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A summary with the other data that tables, charts and verdicts need.

    - ``id``: that of the experiment, or the probe, metric and parameters of a derived value
    - ``rated``: the reference value; ``efficiency_ci``: the 95 % interval (lower, upper) of ``summary.efficiency``,
      None if it is not known, as without a reference value or with fewer than six rounds
    - ``round_values``: the value of each round in order; ``series``: that of each sample; both in SI base units. Both
      are empty without a value and for a derived result, the series also for an imported one.
    - ``round_numbers``: the number of each of these rounds in the run, from 1; a round without a value is left out. The
      list is empty in reports of earlier versions, and for a result that was not measured.
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
    - ``sample_s``: the length of its samples in seconds; ``sample_work``: what each did, in the operations or bytes
      that the probe counts. Both are medians of the rounds' medians, and 0 if it was not measured, and for a series.
    - ``possible``: for an imported result, the values that parameters may have had which its tool did not record, if it
      excludes others; an empty list means that the work did not have the parameter
    - ``restriction``: what kept an imported value below what the machine delivers, such as a rate that was asked for;
      empty if there was nothing
    - ``rounding``: of an imported value, the largest rounding of the numbers that its tool printed, as a share of them
      (``statistics/rounding.py``), which ``summary.ci`` includes; 0 if they have many digits
    - ``limit``: the limit that the capability includes, "" if there was none; ``capable_rounds``: the number of rounds
      that the capability is estimated from, those since the limit set in. It is 0 without a capability.

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
    round_numbers: list[Count] = []
    sample_s: Real = 0.0
    sample_work: Real = 0.0
    limit: LimitKind = ""
    capable_rounds: Count = 0
    possible: dict[str, list[Value]] = {}
    restriction: str = ""
    rounding: Real = 0.0

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


class ImportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file with the output of another tool: its name, the tool, the tool's version as it prints it, and SHA-256.

    ``version`` is "" if the output has none.
    """

    name: str
    tool: str
    version: str
    sha256: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A summarised run, which ``show``, ``report`` and ``compare`` work on.

    ``machine`` and ``clock`` are None for a run that ended before its first header, or was imported from another tool.
    ``results`` has one entry for each metric of each experiment, grouped by probe in the order of the plan; derived
    values are last in each group. ``truncated`` means that the run file was cut off, ``interrupted`` that the user
    stopped the run. ``notes`` are sentences to show with the results. ``nodes`` is None unless the run has values of
    several nodes. ``study`` is the published study that the plan reproduces, None for any other plan, and also if
    ``machine`` is None. ``imported`` has the files of a report on the outputs of another tool. ``measured_s`` is the
    time in seconds that the run took. If a later command resumed it (``--resume``), it may be only that of all
    experiments with their set-up. It is 0 for other tools' outputs.
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
    measured_s: Real = 0.0
    imported: list[ImportedFile] = []

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a dictionary for each metric of each experiment, in the order of ``results``.

        It has ``id``, ``probe`` and ``metric``, each parameter by its name, and the other fields of ``Summary`` without
        ``over_time``. An interval is two numbers, ``ci_low`` and ``ci_high``, ``capability_low`` and
        ``capability_high``. Values are in SI base units, and None if unknown.
        """
        return [_to_dict(result) for result in self.results]

    def to_arrow(self) -> Any:
        """Return the rows of ``to_dicts`` as a ``pyarrow.Table``, where a parameter that a row does not have is null.

        A parameter that is a text in some rows is a text in all. ``to_arrow().to_pandas()`` is a DataFrame.

        Raises:
            ImportError: pyarrow is not installed (``pip install 'nameplate[parquet]'``).
        """
        from pyarrow import Table as ArrowTable  # noqa: PLC0415 (an optional package, which takes half a second)

        rows = self.to_dicts()
        texts = {name for row in rows for name, value in row.items() if isinstance(value, str)}
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        for name in texts:
            columns[name] = [None if value is None else str(value) for value in columns[name]]
        return ArrowTable.from_pydict(columns)


def _to_dict(result: Result) -> dict[str, Any]:
    row = msgspec.structs.asdict(result.summary)
    ends = {"ci": row.pop("ci"), "capability": row.pop("capability_ci")}
    del row["over_time"]
    head = {"id": result.id, "probe": row.pop("probe"), "metric": row.pop("metric"), **row.pop("params")}
    for name, interval in ends.items():
        row[f"{name}_low"], row[f"{name}_high"] = interval or (None, None)
    return head | row
