"""The records of a run file: one line each, as ``schema/record.schema.json`` has them.

Units are SI base units and part of the field's name.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from nameplate.records.machine_record import Machine
from nameplate.records.numbers import AtLeastOne, Count, Elapsed, Positive, Real, Seconds
from nameplate.records.plan_record import PerNode, Plan, Value

SCHEMA = 1
_FIRST_YEAR, _LAST_YEAR = 1971, 9998
Ending: TypeAlias = Literal["ok", "skipped", "invalid", "failed"]
# The beginning of the reason of an experiment that was not begun.
NOT_MEASURED = "not measured"


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


# ``gc=False``: a run has tens of thousands of these. None refers to itself, and the search for such cycles took
# a third of the time to decode them.
class Record(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, kw_only=True, forbid_unknown_fields=True):
    """One line of a run file: a JSON object whose ``type`` tells the subclass.

    ``round`` is the round in which the record was written, from 1; 0 means before the first round or outside any.
    nameplate-core does not write it.
    """

    round: Count = 0


class Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """The work of a sample or of one worker in it.

    It consists of the bytes moved, the floating-point operations, and other operations such as messages. A number that
    the probe does not count is 0.
    """

    bytes: Count
    flops: Count
    ops: Count

    @property
    def main(self) -> int:
        """Return the number that a probe's rate is about: floating-point operations, else bytes, else operations."""
        return self.flops or self.bytes or self.ops


class Worker(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One worker's part of a sample: a thread, a pair or a rank.

    ``start_s`` counts from the start of the sample. ``elapsed_s`` is the time from the worker's own start to its
    finish. ``work`` is the worker's own; its numbers may be 0 although the probe counts them for the whole sample.
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


class Histogram(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
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

    ``schema`` is the version of the record format (``SCHEMA``) and ``version`` that of nameplate-core. ``build`` is the
    compiler and build type, and ``features`` are the optional libraries that it was built with, such as ``openmp``; the
    list may be empty. ``libraries`` has the versions of the libraries that it was built with, by name, as far as they
    tell; it is empty in records of earlier versions. ``machine`` is what ``nameplate-core --machine`` prints.
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


class Outcome(Record, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The outcome of an experiment in one round; in a run file it follows the samples.

    ``ending`` is "skipped" if the experiment is not possible on this machine, "invalid" if the result of its work was
    wrong, and "failed" if anything else prevented it. Unless it is "ok", ``reason`` says in words why, and ``stage``
    names the step: ``request``, ``setup``, ``prepare``, ``run`` or ``verify``. With "ok" both are empty. ``may_pass``
    is True if it was skipped because there was no room at the moment, such as memory or space on a disk.

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
    may_pass: bool = False
    node: Count | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_transient(self) -> bool:
        """Return whether a later attempt may succeed: True if it failed, or was skipped for lack of room."""
        return self.ending == "failed" or self.may_pass


class End(Record, frozen=True, kw_only=True):
    """The last record of a core process. If it is missing, the process did not end normally.

    ``experiments`` is the number of requests that it answered. ``interrupted`` means that it was told to stop.
    """

    experiments: Count
    interrupted: bool


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
    reached, "decided" (its verdict is final), "even" (a dense point that its curve does not need), "duplicate" (its
    parameters resolve to the same values as those of another experiment), "interrupted", or the ending "skipped",
    "invalid" or "failed". It is "failed" also for an experiment that lacks fixed rounds because they failed, which
    ``--resume`` measures again. ``elapsed_s`` is the time from the start of the command that wrote this record; with
    ``--resume``, earlier commands are not included. ``interrupted`` means that the user stopped the run.
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

    ``by`` is the version of its values (``results/digest.py``), and ``crc32`` is zlib's checksum of everything before
    this line: a digest is current only for this version and the same records. ``started`` and ``seed`` are those of the
    run (files of earlier versions lack the seed here), ``plan`` is the name of its plan, and ``machine`` the host name,
    the nodes of a job as a list such as ``node[01-16]``, or "unknown". ``values`` has one entry per metric that was
    measured and has a value; it may be empty.
    """

    by: str
    crc32: Count
    started: str
    seed: Count | None = None
    machine: str
    plan: str
    values: list[MetricValue]


CoreRecord: TypeAlias = Header | Sample | Outcome | End
FileRecord: TypeAlias = Run | Reference | Header | Sample | Outcome | End | Stop
