"""The results of a run, computed from its records, with their tables, and the report that holds them.

Values are in SI base units.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from nameplate.extras import check_extra
from nameplate.records.fleet_record import Fleet
from nameplate.records.machine_record import Machine
from nameplate.records.node_record import Nodes
from nameplate.records.numbers import Count, PairValue, Real
from nameplate.records.plan_record import Value
from nameplate.records.run_record import NOT_MEASURED, Clock, Ending, NodeTimes, Reference, Run
from nameplate.records.series_events import OverTime
from nameplate.records.study_record import Study

RatedKind: TypeAlias = Literal["measured", "derived", "listed", "catalogue", "site", "given"]

# A measured value may exceed its ceiling by this share before one of the two is called wrong.
CEILING_TOLERANCE = 0.005


class Rated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reference value in the SI base unit of its metric, and its source.

    If ``value`` is None, ``source`` says why there is none. ``is_ceiling`` is False for a value that a healthy machine
    may exceed, such as a base clock below its turbo clock. ``can_be_given`` is False for a metric that no ``--rated``
    value applies to, such as the bandwidth of a cache. ``times`` is the factor by which a value given with ``--rated``
    is multiplied: 2 for a link that is used in both directions. ``value`` is already multiplied by ``times``. ``kind``
    is the origin of the value: ``measured`` (a peak computed from what the run measured), ``derived`` (a peak computed
    from properties of the machine), ``listed`` (by the system), ``given`` (by the user), ``site`` (learned from
    machines of the same class at this site) or ``catalogue`` (other people's measurements of such a machine).
    ``compared_with`` is the value that is divided by the reference value: the typical value, or the capability if the
    capabilities of other machines are the reference. If the reference is from other machines, ``peers`` is a phrase for
    their value, such as "the median of 42 machines of this class"; otherwise it is "".
    """

    value: Real | None
    source: str
    is_ceiling: bool = True
    can_be_given: bool = True
    times: Count = 1
    kind: RatedKind = "derived"
    compared_with: Literal["typical", "capability"] = "typical"
    peers: str = ""


class Interval(msgspec.Struct, frozen=True):
    """A confidence interval of a median from ``low`` to ``high``, with its coverage probability (0 to 1)."""

    low: Real
    high: Real
    coverage: Real


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of one experiment over all rounds: a row of ``show --format json``.

    - ``params``: all parameters of the experiment by name; without an outcome, only the parameters that the plan sets;
      for a derived value, the parameters that are equal in all experiments that it is derived from
    - ``value``: the typical value, with all interference that the run met, in the SI base unit ``unit``: the median of
      the values of the rounds, or for a percentile that of the operations of all rounds together
      (``Result.is_pooled``); ``ci``: its 95 % interval (lower, upper), None with fewer than six rounds. A derived value
      has the interval that its computation gives, or None.
    - ``capability``: the value that one in twenty undisturbed samples reaches, in ``unit``: the performance of the
      machine without interference (``statistics/capability.py``); with a limit (``Result.limit``), the same quantile of
      the values of whole limit periods or of whole rounds. None with fewer than 12 samples (with a limit: fewer than 6
      periods or rounds), for a value that was not measured or is taken per node, and for a metric that interference can
      improve. ``capability_ci``: its 95 % interval (lower, upper), None with fewer than five rounds
    - ``rounds``, ``samples``: the number of rounds and of samples that the value is computed from; a derived value has
      no samples
    - ``mean``, ``best``: the mean and the best value of all samples; ``best`` is None if any sample exceeds the
      measured ceiling of its round, since such a sample was timed or counted wrongly. ``sustained``: the value of all
      samples together, for a rate their total work divided by their total time
    - ``p95``, ``p99``: the values that 95 % and 99 % of the samples reach or surpass: lower bounds of a rate, upper
      bounds of a time
    - ``rated``: the reference value; ``efficiency``: ``value`` ÷ ``rated``, or ``capability`` ÷ ``rated`` if the
      reference value is a capability (``Rated.compared_with``)
    - ``outcome``: "ok" if there is a value, else the worst outcome of any round, or "failed" if all rounds were "ok"
      but gave no value
    - ``reason``: why ``value`` is None, or "rated: " and why ``rated`` is None; "" if neither is None
    - ``stop``: why the experiment was no longer measured, a reason of ``Stop``; "failed" if a node of a job failed, ""
      if ``Stop`` does not list the experiment, "truncated" if the run file was cut off, and "derived" or "imported" for
      a value that was not measured
    - ``disturbed``: the share of the samples that were disturbed, from 0 to 1; 0 without a value
    - ``over_time``: the levels and events of a series; None except for the first metric of an experiment that was
      measured as a series of 20 or more samples

    Unknown values are None. Without a value, ``rounds`` and ``samples`` are 0, and ``metric`` is the first metric of
    the probe, or "" if this version of nameplate does not know the probe.
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
        """Return whether the experiment was started in any round; False if the run ended before."""
        return not self.reason.startswith(NOT_MEASURED)

    @property
    def why_no_value(self) -> str:
        """Return why ``value`` is None, such as "skipped: needs 4 GiB" or "not measured, because the run was stopped".

        Without a recorded reason the result is, for example, "failed: no reason was recorded". Do not use it if
        ``value`` is not None: the result is then meaningless.
        """
        reason = self.reason or "no reason was recorded"
        return f"{self.outcome}: {reason}" if self.was_begun else reason


class Series(msgspec.Struct, frozen=True):
    """A metric over time: four lists with one entry per sample of all rounds, in order of time.

    ``start_s`` is the start of each sample in seconds on a time axis that joins the rounds of the experiment: each
    round counts from the start of its set-up, and the time between rounds is omitted. ``value`` is in the metric's SI
    base unit. ``disturbed`` says whether the sample is disturbed. ``round`` is the number of the sample's round,
    counting only rounds that have a value, from 1. All lists are empty for a result without a value and for a derived
    or imported result.
    """

    start_s: list[Real]
    value: list[Real]
    disturbed: list[bool]
    round: list[int]


# "derived" from the values of other experiments, "imported" from another tool's output.
ResultKind = Literal["measured", "derived", "imported"]

# A limit on the machine during the run: a CPU quota, a processor that was too hot, or burst credits of a cloud that
# were spent. "" is no limit.
LimitKind: TypeAlias = Literal["", "quota", "heat", "burst"]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A summary with the other data that tables, charts and verdicts need.

    - ``id``: the id of the experiment; for a derived value, its probe, metric and parameters as text
    - ``rated``: the reference value; ``efficiency_ci``: the 95 % interval (lower, upper) of ``summary.efficiency``,
      None without a reference value or with fewer than six rounds
    - ``round_values``: the value of each round in order; ``series``: the value of each sample; both in SI base units.
      Both are empty without a value and for a derived result; an imported result has no ``series`` either.
    - ``round_numbers``: for each entry of ``round_values`` the number of its round in the run, from 1. The list is
      empty in reports of earlier versions of nameplate, and for a result that was not measured.
    - ``utilisation``: the mean number of busy cores, 0 if unknown; ``oversubscribed``: whether there were more workers
      than CPUs
    - ``facts``, ``labels``: numbers and strings by name that set-up determined, such as the touched bytes and the
      instruction set
    - ``remarks``: sentences to show with the value
    - ``evidence``: numbers by name that support or question the value, such as the bytes that storage transferred
    - ``is_detail``: whether the result is left out of the tables
    - ``is_pooled``: whether the value is computed from the operations of all rounds together, as a percentile is;
      otherwise a measured value is the median of ``round_values``
    - ``source``: the origin of the bytes, such as a cache or a device; "" if the probe does not know it
    - ``is_series``: whether the experiment was planned as one long series
    - ``kind``: whether the value was measured, derived from other experiments, or imported from another tool's output.
      Only a "measured" result has samples. If ``summary.stop`` is "derived" or "imported", the constructor sets
      ``kind`` to it.
    - ``sample_s``: the length of a sample in seconds; ``sample_work``: the work of a sample, in the operations or bytes
      that the probe counts. Both are medians over the rounds of the round's median; both are 0 for a series and for a
      result that was not measured. ``measured_s``: the length of all samples in seconds, 0 without a value
    - ``possible``: for an imported result, the values that remain possible for each parameter that the tool did not
      record; an empty list means that the work did not have the parameter, and a parameter that is missing here may
      have had any value
    - ``restriction``: the reason why an imported value is below the capability of the machine, such as a requested rate
      limit; "" if there is none
    - ``rounding``: the largest rounding error of the numbers that the tool of an imported value printed, as a share of
      the number (0.01 is 1 %; ``statistics/rounding.py``); ``summary.ci`` includes it. It is 0 for numbers with many
      digits.
    - ``limit``: the limit on the machine that was in force while the capability was measured, "" if none was;
      ``capable_rounds``: the number of rounds that the capability is estimated from, only the rounds after the limit
      set in. It is 0 without a capability.

    Three fields belong to the first metric of an experiment and are otherwise empty. ``distribution`` has ascending
    times of operations in seconds, each with the share of all operations that took at most that time. ``pairs`` has the
    median of each pair of parties, in the order of ``Sample.pairs``, None for a pair without a value. ``node_times``
    has the times of each node over all rounds, in the order of the job.
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
    is_pooled: bool = False
    distribution: list[tuple[Real, Real]] = []
    node_times: list[NodeTimes] = []
    pairs: list[PairValue | None] = []
    source: str = ""
    labels: dict[str, str] = {}
    is_series: bool = False
    kind: ResultKind = "measured"
    round_numbers: list[Count] = []
    sample_s: Real = 0.0
    sample_work: Real = 0.0
    measured_s: Real = 0.0
    limit: LimitKind = ""
    capable_rounds: Count = 0
    possible: dict[str, list[Value]] = {}
    restriction: str = ""
    rounding: Real = 0.0

    def __post_init__(self) -> None:
        """Set the kind of results in reports of earlier versions, which have it only in the summary's ``stop``."""
        if self.summary.stop in ("derived", "imported"):
            msgspec.structs.force_setattr(self, "kind", self.summary.stop)


class Quantity(msgspec.Struct, frozen=True):
    """A value in its SI base unit; ``ci`` is its 95 % interval (lower, upper), None if unknown."""

    value: Real
    unit: str
    ci: tuple[Real, Real] | None = None


class Table(msgspec.Struct, frozen=True):
    """A table of values in the form usual for a probe.

    ``probe`` is the probe's name, "" for a table of several probes. ``headings`` has one text per column, the first one
    for the column of row names. Each row has one cell per column; the first cell is the name of the row. None is an
    empty cell. ``notes`` are sentences to show below the table.
    """

    probe: str
    title: str
    headings: list[str]
    rows: list[list[str | Quantity | None]]
    notes: list[str] = []


class ImportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that holds the output of another tool.

    ``name`` is the name of the file, ``tool`` the name of the tool, ``version`` the tool's version as its output states
    it ("" if the output has none), and ``sha256`` the SHA-256 digest of the file as hexadecimal digits.
    """

    name: str
    tool: str
    version: str
    sha256: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A summarised run, which ``show``, ``report`` and ``compare`` work on.

    ``machine`` and ``clock`` are None if the run ended before its first header, or was read from another tool's output.
    ``results`` has one entry for each metric of each experiment, grouped by probe in the order of the plan; derived
    values are last in each group. ``tables`` has the values in the layout of each probe. ``truncated`` means that the
    run file was cut off, ``interrupted`` that the user stopped the run. ``notes`` are sentences to show with the
    results. ``nodes`` is None unless the run has values of several nodes. ``references`` are the values that reference
    tools measured before the first round. ``study`` is the published study that the plan reproduces; it is None unless
    ``studies.with_study`` has added it. ``imported`` has the files that a report on another tool's outputs was read
    from; otherwise it is empty. ``fleet`` has the machines of a report on runs of several machines, whose ``nodes``
    they are; it is None for a single run. ``measured_s`` is the duration of the run in seconds; for a run that a later
    command resumed (``--resume``), it may be only the total time of the experiments with their set-up. It is 0 for
    other tools' outputs.
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
    references: list[Reference] = []
    study: Study | None = None
    measured_s: Real = 0.0
    imported: list[ImportedFile] = []
    fleet: Fleet | None = None

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return a dictionary for each metric of each experiment, in the order of ``results``.

        A dictionary has the keys ``id``, ``probe`` and ``metric``, one key per parameter, and the other fields of
        ``Summary`` except ``over_time``. The intervals ``ci`` and ``capability_ci`` become ``ci_low``, ``ci_high``,
        ``capability_low`` and ``capability_high``. Values are in SI base units; unknown values are None. Dictionaries
        of different probes have different parameters.
        """
        return [_to_dict(result) for result in self.results]

    def to_arrow(self) -> Any:
        """Return the rows of ``to_dicts`` as a ``pyarrow.Table`` with one column per key of any row.

        A row that lacks a parameter has null in its column. A column in which some rows have text holds text in all
        rows (numbers are converted), and a column with only unknown values has the type float64.

        Raises:
            UsageError: pyarrow is not installed.
        """
        check_extra("parquet", "to_arrow()")
        import pyarrow as arrow  # noqa: PLC0415 (an optional package, which takes half a second)

        rows = self.to_dicts()
        texts = {name for row in rows for name, value in row.items() if isinstance(value, str)}
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        for name in texts:
            columns[name] = [None if value is None else str(value) for value in columns[name]]
        unknown = {name for name, column in columns.items() if column.count(None) == len(column)}
        return arrow.table({
            name: arrow.array(column, arrow.float64() if name in unknown else None) for name, column in columns.items()
        })  # fmt: skip

    def to_pandas(self) -> Any:
        """Return the table of ``to_arrow`` as a ``pandas.DataFrame``.

        Null becomes NaN in a column of numbers and None in a column of text.

        Raises:
            UsageError: pandas or pyarrow is not installed.
        """
        check_extra("dataframe", "to_pandas()")
        return self.to_arrow().to_pandas()


def _to_dict(result: Result) -> dict[str, Any]:
    row = msgspec.structs.asdict(result.summary)
    ends = {"ci": row.pop("ci"), "capability": row.pop("capability_ci")}
    del row["over_time"]
    head = {"id": result.id, "probe": row.pop("probe"), "metric": row.pop("metric"), **row.pop("params")}
    for name, interval in ends.items():
        row[f"{name}_low"], row[f"{name}_high"] = interval or (None, None)
    return head | row
