"""The records of a run file: one line each, as ``schema/record.schema.json`` has them.

Units are SI base units and part of the field's name.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from nameplate.records.machine_record import Machine
from nameplate.records.numbers import AtLeastOne, Count, Elapsed, PairValue, Positive, Real, Seconds
from nameplate.records.plan_record import PerNode, Plan, Value

SCHEMA = 1
_FIRST_YEAR, _LAST_YEAR = 1971, 9998
Ending: TypeAlias = Literal["ok", "skipped", "invalid", "failed"]
# The beginning of the reason of an experiment that was not begun.
NOT_MEASURED = "not measured"


def check_moment(text: str) -> None:
    """Check that ``text`` is a date and time in ISO 8601, such as ``2026-01-31T12:00:00+00:00``.

    Only the years 1971 to 9998 are accepted, so that ``datetime`` can show the moment in every time zone. The time of
    day and the offset from UTC may be missing. Python 3.10 accepts fewer forms of ISO 8601 than later versions; for
    example, it rejects ``Z``.

    Raises:
        ValueError: the text is not such a date.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = datetime.min
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"`started` is '{text[:40]}': write it like 2026-01-31T12:00:00+00:00")


# ``gc=False``: a run has tens of thousands of these. No record refers to itself, and the search for such cycles took a
# third of the time to decode them.
class Record(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True, forbid_unknown_fields=True):
    """One line of a run file: a JSON object whose ``type`` names the subclass.

    ``round`` is the number of the round in which the record was written, from 1; 0 means outside of all rounds.
    nameplate-core does not write this field.
    """

    round: Count = 0


class Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The work of a sample or of one worker in it.

    ``bytes`` is the number of bytes moved, ``flops`` of floating-point operations, and ``ops`` of other operations such
    as messages. A number that the probe does not count is 0.
    """

    bytes: Count
    flops: Count
    ops: Count

    @property
    def main(self) -> int:
        """Return the amount of work that a rate refers to: ``flops`` if above 0, else ``bytes``, else ``ops``."""
        return self.flops or self.bytes or self.ops


class Worker(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One worker's part of a sample: a thread, a pair or a rank.

    ``start_s`` is the worker's start in seconds after the start of the sample, and ``elapsed_s`` the time from the
    worker's start to its finish. ``work`` is the work of this worker alone; a number may be 0 even if the probe counts
    it for the whole sample.
    """

    start_s: Seconds
    elapsed_s: Elapsed
    work: Work


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The average, minimum and maximum in seconds of the times of several repeats, of one rank or of several."""

    average_s: Elapsed
    minimum_s: Elapsed
    maximum_s: Elapsed


class NodeTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One node's part of a sample of all nodes of a job, over several repeats of the same work.

    ``ranks`` is the number of ranks on the node, and ``repeats`` the number of repeats. ``bytes_in_repeat`` is the
    number of bytes that these ranks move together in one repeat. ``window`` is the time of a repeat from the start of
    its first rank to the finish of its last one, ``longest`` the time of its slowest rank, and ``rank`` the time of
    each rank; each has the average, minimum and maximum over the repeats. ``start_skew_s`` is the longest delay, in any
    repeat, between the start of the first rank and the start of the last one.
    """

    ranks: AtLeastOne
    repeats: AtLeastOne
    bytes_in_repeat: Count
    window: Spread
    longest: Spread
    rank: Spread
    start_skew_s: Seconds


class Histogram(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The times of single operations: ``count[i]`` operations took at least ``lower_ns[i]`` nanoseconds.

    ``lower_ns`` has the lower bounds of the buckets that are not empty, ascending. A bucket below 256 ns is 1 ns wide;
    above, there are 256 per power of two, as in HdrHistogram. In a sample with a ``node``, neighbouring buckets may be
    merged; the bound is then their mean. Both lists are empty if no operation was timed.
    """

    lower_ns: list[Count]
    count: list[Count]

    def __post_init__(self) -> None:
        """Check that both lists have the same length.

        Raises:
            ValueError: the lists differ in length.
        """
        if len(self.lower_ns) != len(self.count):
            raise ValueError(f"`lower_ns` has {len(self.lower_ns)} values, but `count` has {len(self.count)}")


class Clock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The clock that nameplate-core times with.

    ``source`` is ``tsc`` (x86-64's time-stamp counter), ``cntvct`` (the virtual count of Arm's generic timer) or
    ``monotonic`` (CLOCK_MONOTONIC), and ``frequency_hz`` the number of its ticks per second. ``resolution_s`` is the
    smallest step between two readings, and ``cost_s`` the time that one reading takes.
    """

    source: str
    frequency_hz: Positive
    resolution_s: Seconds
    cost_s: Seconds


class Header(Record, frozen=True, kw_only=True):
    """The first record of a core process.

    ``schema`` is the version of the record format (``SCHEMA``) and ``version`` the version of nameplate-core. ``build``
    is the compiler and build type, and ``features`` are the optional libraries that it was built with, such as
    ``openmp``; the list may be empty. ``libraries`` maps the names of these libraries to their versions; a library that
    reports no version is left out, and records of earlier versions have no entries. ``machine`` has the facts that
    ``nameplate-core --machine`` prints, and ``clock`` describes the clock for samples.
    """

    schema: int
    version: str
    build: str
    features: list[str]
    libraries: dict[str, str] = {}
    machine: Machine
    clock: Clock


class Sample(Record, frozen=True, kw_only=True, gc=False):
    """One timed call of a probe; in a series, all calls of one interval.

    - ``id``: the id of the experiment; ``index``: the number of the sample in its round, from 0
    - ``start_s``: the start in seconds after the start of the experiment's set-up in this round
    - ``elapsed_s``: the time in seconds from the first worker's start to the last worker's finish
    - ``repetitions``: the number of times that the probe repeated its unit of work; ``work``: the work of all workers
    - ``counters``: the probe's own counters by name, and the CPU time of the process as ``cpu_user_s`` and
      ``cpu_system_s``
    - ``disturbed``: signs of interference during the sample, by name. nameplate-core always writes
      ``involuntary_switches`` (a number) and ``burst_s``, the time of a fixed burst of instructions that shows the
      clock frequency. It writes ``steal_s`` (the sum over all CPUs) and the numbers ``cgroup_throttled`` and
      ``thermal_throttled`` only if the machine reports them. Only a series has ``between_calls_s``, the time outside of
      the probe's calls, and, with a sensor, ``temperature_celsius``, the temperature of the hottest processor at the
      end.
    - ``workers``: the part of each worker. Some probes do not report it, such as ``memory_latency``, and a sample with
      ``node`` never has it.
    - ``nodes``: the part of each node, in the order of the job; only ``mpi_stream`` reports it
    - ``node``: the index of a node in the job's list. The record then sums all samples that this node took in the round
      with a single-machine probe; ``burst_s`` is their mean.
    - ``pairs``: a value above 0 for each pair of parties, such as the one-way seconds of a message between nodes, None
      for a pair without a value; the probe's ``PairMatrix`` says what is paired, and in which order
    - ``histogram``: the times of single operations; only ``disk_block`` and ``net_pingpong`` report them
    - ``read_histogram``, ``write_histogram``: the same times, divided into those of reads and of writes, if the
      operations of a sample are a mixture of both

    The last seven fields are UNSET if they do not apply.
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
    pairs: list[PairValue | None] | msgspec.UnsetType = msgspec.UNSET
    histogram: Histogram | msgspec.UnsetType = msgspec.UNSET
    read_histogram: Histogram | msgspec.UnsetType = msgspec.UNSET
    write_histogram: Histogram | msgspec.UnsetType = msgspec.UNSET

    @property
    def cpu_s(self) -> float:
        """Return the user and system CPU time of the process together in seconds."""
        return self.counters["cpu_user_s"] + self.counters["cpu_system_s"]


class Outcome(Record, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The outcome of an experiment in one round; in a run file it follows the samples.

    ``ending`` is "skipped" if the experiment is not possible on this machine, "invalid" if the result of its work was
    wrong, and "failed" if anything else prevented it. Unless ``ending`` is "ok", ``reason`` is a phrase that says why,
    and ``stage`` is the step that ended it: ``request``, ``setup``, ``prepare``, ``run`` or ``verify``. With "ok" both
    are empty. ``may_pass`` is True if the experiment was skipped because memory or disk space was short at that moment.

    If ``ending`` is "ok", ``params`` has all parameters, with automatic values resolved; otherwise, values that set-up
    did not reach may be missing or unresolved. ``facts`` are numbers that set-up determined, and ``labels`` are
    strings, such as the name of a file system. ``oversubscribed`` means that there are more workers than CPUs,
    ``interrupted`` that the run was stopped during the experiment. ``samples`` is the number of samples in this round.
    ``setup_s`` is the duration of set-up, and ``total_s`` the duration of the whole experiment in this round. With
    ``node``, an index in the job's list of nodes, the record is the outcome of this node; the outcome of all nodes
    together, with ``node`` UNSET, follows.
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
    may_pass: bool = False
    node: Count | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_transient(self) -> bool:
        """Return whether another attempt may succeed: the experiment failed, or memory or disk space was short."""
        return self.ending == "failed" or self.may_pass


class End(Record, frozen=True, kw_only=True):
    """The last record of a core process. If it is missing, the process did not end normally.

    ``experiments`` is the number of requests that the process answered. ``interrupted`` means that the process was told
    to stop early.
    """

    experiments: Count
    interrupted: bool


class Run(Record, frozen=True, kw_only=True):
    """The first record of a run file: what is measured, and how.

    The record contains no command, library, peer or path. ``schema`` is the version of the record format (``SCHEMA``)
    and ``version`` the version of nameplate. ``started`` is a date and time in ISO 8601. ``seed`` determines the order
    of the experiments in each round. ``rated`` has the values given with ``--rated`` in SI base units; a key is the
    name and the unit, as in ``memory B/s``; the mapping is empty without ``--rated``. ``priority`` is the scheduling
    priority of the processes, "normal" or "high". ``per_node`` says how the nodes of a job ran single-machine
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
        """Check the start time.

        Raises:
            ValueError: ``started`` is not a date and time that ``check_moment`` accepts.
        """
        check_moment(self.started)


class Reference(Record, frozen=True, kw_only=True):
    """A value that a reference tool measured, or the reason why there is none.

    The tool ran once, before the first round. ``command`` is its command line, ``work`` describes what it measured, and
    ``metric`` is the name of the value. ``value`` is in the SI base unit ``unit``; if it is None, ``reason`` says why,
    otherwise ``reason`` is empty. ``version`` may be "", and ``command`` is "" if the tool was not run.
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

    ``reasons`` maps the id of each experiment to the reason why it was no longer measured: "precision", "rounds" or
    "budget" (the limit was reached), "decided" (its verdict is final), "even" (a dense point that its curve does not
    need), "duplicate" (its parameters resolve to the same values as those of another experiment), "interrupted", or the
    ending "skipped", "invalid" or "failed". The reason is "failed" also for an experiment with fewer than the fixed
    number of rounds because some rounds failed; ``--resume`` measures these rounds again. ``elapsed_s`` is the time
    since the start of the command that wrote this record; with ``--resume``, the time of earlier commands is not
    included. ``interrupted`` means that the user stopped the run.
    """

    reasons: dict[str, str]
    elapsed_s: Seconds
    interrupted: bool


class MetricKey(msgspec.Struct, frozen=True):
    """The identity of a metric across runs: probe, parameters, metric, unit and direction.

    ``params`` has all parameters of the experiment, with automatic values resolved. ``unit`` is the SI base unit.
    ``better`` says whether higher or lower values are better.
    """

    probe: str
    params: dict[str, Value]
    metric: str
    unit: str
    better: Literal["higher", "lower"]


class MetricValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The value of a metric in a run, in its SI base unit.

    ``experiment`` is the id of the experiment in the plan, "" in files of earlier versions. ``value`` is the median of
    the rounds and ``ci`` its 95 % interval (lower, upper), None with fewer than six rounds. ``error`` is the standard
    error of the median as a share of it (``statistics.stats.median_error``), None with fewer than three rounds and in
    files of earlier versions. ``nodes`` maps the name of each node of a job to its value; it is empty unless the metric
    was measured per node.
    """

    key: MetricKey = msgspec.field(name="figure")
    value: Real
    ci: tuple[Real, Real] | None = None
    nodes: dict[str, Real] = {}
    experiment: str = ""
    error: Real | None = None


class JudgeableValue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value of a run by which its machine can be judged, measured or derived, in its SI base unit.

    ``experiment`` is the id of the experiment, or of the derived result. ``value`` is the typical value and ``ci`` its
    95 % interval (lower, upper), from ``rounds`` rounds. ``capability`` is what the machine delivers without
    interference, with its interval; both are None if they are unknown. ``is_main`` is True for the values that the
    first screen of a run may show.
    """

    experiment: str
    key: MetricKey
    value: Real
    ci: tuple[Real, Real] | None = None
    rounds: Count = 0
    capability: Real | None = None
    capability_ci: tuple[Real, Real] | None = None
    is_main: bool = False


class Judgeable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The values of a run by which its machine is judged.

    ``why_not`` says why the machine cannot be judged by this run, as a clause about the run, "" if it can.
    """

    values: list[JudgeableValue]
    why_not: str = ""


class Digest(Record, frozen=True, tag="figures", kw_only=True):
    """The values of a run in one record, from which many runs can be read quickly.

    It is used only if it is the last line of the run file. ``by`` identifies the computation of its values
    (``results/digest.py``), and ``crc32`` is zlib's checksum of everything before this line: the digest is current only
    if both match. ``started`` and ``seed`` are copied from the run (files of earlier versions lack the seed), ``plan``
    is the name of its plan, and ``machine`` is the host name, the nodes of a job as a list such as ``node[01-16]``, or
    "unknown". ``slowed`` says what slowed the whole run down, so that it does not show what its machine delivers, as a
    clause; otherwise it is "". ``values`` has one entry per metric that was measured and has a value; it may be empty.
    ``judgeable`` is None in files of earlier versions, and if only the values were needed.
    """

    by: str
    crc32: Count
    started: str
    seed: Count | None = None
    machine: str
    plan: str
    slowed: str = ""
    values: list[MetricValue]
    judgeable: Judgeable | None = None


CoreRecord: TypeAlias = Header | Sample | Outcome | End
FileRecord: TypeAlias = Run | Reference | Header | Sample | Outcome | End | Stop
