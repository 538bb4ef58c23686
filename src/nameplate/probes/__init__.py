"""Turn each probe's raw samples into metrics: one module per probe, found by its name.

The core declares parameters, counters and facts. The module of the same stem declares one ``PROBE`` with the metrics,
the reference values and the experiments of the shipped plans.
"""

from __future__ import annotations

import importlib
import operator
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import ClassVar, Literal, NamedTuple

from nameplate.probes.interface.pair_matrix import PairMatrix
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import ScreenLine
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Value
from nameplate.records.result import Rated, Result, Table
from nameplate.records.run_record import Histogram, Sample
from nameplate.statistics.pooled_percentile import percentile_interval_s
from nameplate.statistics.stats import (
    MergedHistogram,
    histogram_percentile_s,
    median,
    median_interval,
    merged,
    pooled,
)


@dataclass(frozen=True)
class ResolvedExperiment:
    """An experiment that was measured: its complete parameters, its facts and labels, and the machine.

    ``params`` has a value for every parameter of the probe, including the parameters that the probe chose itself. Only
    a parameter that was not given and has no default, such as ``rate``, is missing. ``facts`` are the numbers that
    set-up determined, by name, in SI base units. ``labels`` are the strings that set-up determined, by name, such as
    the name of a file system. The facts and labels that ``Probe.recorded`` names are always present; others depend on
    the probe and the machine.
    """

    params: Mapping[str, Value]
    facts: Mapping[str, float]
    machine: Machine
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        """Return the number of workers: the parameter ``threads``, or 1 if the probe has no such parameter."""
        return int(self.params.get("threads", 1))

    @property
    def cores(self) -> int:
        """Return the number of physical cores that the workers use: ``threads``, but at most the allowed cores."""
        return min(self.threads, int(self.machine.topology.allowed_cores))


# Which of a sample's operations: all of them, or the reads or the writes of a mixture.
OperationKind = Literal["all", "reads", "writes"]
_HISTOGRAMS: Mapping[OperationKind, str] = {
    "all": "histogram", "reads": "read_histogram", "writes": "write_histogram",
}  # fmt: skip

# A function that returns a quantity of one sample, such as its bytes or its duration in seconds.
SampleQuantity = Callable[[ResolvedExperiment, Sample], float]


class TypicalValue(NamedTuple):
    """The typical value of a metric over several rounds and its 95 % interval (low, high); None without an interval."""

    value: float
    ci: tuple[float, float] | None


@dataclass(frozen=True)
class Metric(ABC):
    """A metric of one experiment, computed from its samples in the SI base unit ``unit``; "" is a plain number.

    - ``better``: whether higher or lower values are better
    - ``when``: returns whether an experiment has the metric; it also returns False where the metric would repeat
      another
    - ``is_detail``: True if the metric has no row of its own and appears only in the probe's tables and in exports
    - ``is_one_sided``: True if interference can only make values worse; only then do the best samples show what the
      machine is capable of
    - ``may_lack_rounds``: True if a round for which ``round_value`` returns None is left out; otherwise one such round
      makes the whole metric unknown
    - ``is_pooled``: True if ``typical_value`` is computed from the operations of all rounds together, instead of being
      the median of the rounds' values. Such a metric has no capability: a sample has too few operations for it.

    Every sample that is passed to ``value`` or ``sustained`` must have a value (see ``has_value``), and ``sustained``
    needs at least one sample.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    when: Callable[[ResolvedExperiment], bool] = field(default=lambda _: True, kw_only=True)
    is_detail: bool = field(default=False, kw_only=True)
    is_one_sided: bool = field(default=True, kw_only=True)
    may_lack_rounds: ClassVar[bool] = False
    is_pooled: ClassVar[bool] = False

    @abstractmethod
    def value(self, experiment: ResolvedExperiment, sample: Sample) -> float:
        """Return the value of one sample, in ``unit``. The sample must have a value (see ``has_value``)."""

    @abstractmethod
    def sustained(self, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float:
        """Return one value of all the samples together, in ``unit``. The samples may be of several rounds."""

    def round_value(self, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float | None:
        """Return the value of one round, in ``unit``: the median of its samples' values; None if no sample has a value.

        ``samples`` are all samples of the round. ``when`` is not called, so that an experiment without the metric may
        have a value here.
        """
        values = [self.value(experiment, sample) for sample in samples if self.has_value(experiment, sample)]
        return median(values) if values else None

    def typical_value(self, _: Sequence[Sequence[Sample]], values: Sequence[float], /) -> TypicalValue | None:
        """Return the typical value of the metric over several rounds, with its 95 % interval, both in ``unit``.

        The first argument has the samples of each round, and ``values`` the result of ``round_value`` for each of these
        rounds, at least one. Here it is the median of ``values`` with its exact interval, which needs six rounds. A
        subclass may return None if the samples are too few for a typical value.
        """
        interval = median_interval(values)
        return TypicalValue(median(values), (interval.low, interval.high) if interval else None)

    def has_value(self, _: ResolvedExperiment, __: Sample) -> bool:
        """Return whether a sample has a value of this metric. Subclasses override it; here every sample has one."""
        return True


@dataclass(frozen=True)
class Ratio(Metric):
    """A quotient of two quantities that add up over samples, so that ``sustained`` is all work divided by all time.

    ``numerator`` and ``denominator`` each return a quantity of one sample; their quotient is in ``unit``. A sample with
    denominator 0 has no value: if every datagram was lost, no round trip took any time. A round in which every sample
    has denominator 0 is left out.
    """

    numerator: SampleQuantity
    denominator: SampleQuantity
    may_lack_rounds = True

    def value(self, experiment: ResolvedExperiment, sample: Sample) -> float:
        """Return ``numerator / denominator`` of one sample. Raises ZeroDivisionError if the denominator is 0."""
        return self.numerator(experiment, sample) / self.denominator(experiment, sample)

    def round_value(self, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float | None:
        """Return the median over the samples with a denominator other than 0, in ``unit``; None if there is none."""
        values = [
            self.numerator(experiment, sample) / divisor
            for sample in samples
            if (divisor := self.denominator(experiment, sample)) != 0
        ]
        return median(values) if values else None

    def has_value(self, experiment: ResolvedExperiment, sample: Sample) -> bool:
        """Return whether the sample has a value, which is the case if its denominator is not 0."""
        return self.denominator(experiment, sample) != 0

    def sustained(self, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float:
        """Return the sum of the numerators divided by the sum of the denominators: all work divided by all time.

        Raises ZeroDivisionError if the denominators add up to 0, or if there are no samples.
        """
        return sum(self.numerator(experiment, sample) for sample in samples) / sum(
            self.denominator(experiment, sample) for sample in samples
        )


@dataclass(frozen=True)
class Percentile(Metric):
    """The time in seconds that a share of the operations do not exceed, computed from the histograms of the samples.

    - ``share``: from 0 to 1; 0.99 is the 99th percentile, and 1 is the maximum
    - ``operations``: which operations count: all of a sample, or only the reads or the writes of a mixture

    Samples without a histogram of these operations are ignored. The typical value is the percentile of the timed
    operations of all rounds together.
    """

    share: float
    operations: OperationKind = "all"
    may_lack_rounds = True
    is_pooled = True

    def value(self, experiment: ResolvedExperiment, sample: Sample) -> float:
        """Return the percentile of one sample's operations in seconds. Raises ValueError if no operation is timed."""
        return histogram_percentile_s(merged(_histograms([sample], self.operations)), self.share)

    def round_value(self, _: ResolvedExperiment, samples: Sequence[Sample]) -> float | None:
        """Return the percentile in seconds of the timed operations of a round; None if no operation is timed.

        If a round has few operations, the result is that of a few or of a single one of them.
        """
        operations = timed_operations(samples, self.operations)
        return histogram_percentile_s(operations, self.share) if operations.total else None

    def typical_value(self, rounds: Sequence[Sequence[Sample]], _: Sequence[float], /) -> TypicalValue | None:
        """Return the percentile in seconds of the timed operations of all rounds together, with its interval.

        The result is None if fewer than ``MIN_BEYOND`` timed operations are above the percentile. The maximum (share 1)
        needs only one timed operation and has no interval. ``percentile_interval_s`` says when there is none.
        """
        operations = [timed_operations(samples, self.operations) for samples in rounds]
        together = pooled_operations(rounds, self.operations)
        # The product may be rounded down.
        if self.share < 1 and together.total * (1 - self.share) < MIN_BEYOND - 1e-9:
            return None
        interval = percentile_interval_s(operations, together, self.share)
        return TypicalValue(histogram_percentile_s(together, self.share), interval)

    def sustained(self, _: ResolvedExperiment, samples: Sequence[Sample]) -> float:
        """Return the percentile in seconds of all samples' operations. Raises ValueError if no operation is timed."""
        return histogram_percentile_s(timed_operations(samples, self.operations), self.share)

    def has_value(self, _: ResolvedExperiment, sample: Sample) -> bool:
        """Return whether the sample has a timed operation; a short sample may have none if not all are timed."""
        return any(sum(histogram.count) > 0 for histogram in _histograms([sample], self.operations))


@dataclass(frozen=True, eq=False)
class _SamplesById:
    """A list of samples that is compared by the identity of each sample, so that it can be a cache key."""

    samples: Sequence[Sample]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _SamplesById) or len(other.samples) != len(self.samples):
            return False
        return all(map(operator.is_, self.samples, other.samples))

    def __hash__(self) -> int:
        return hash((len(self.samples), id(self.samples[0]) if self.samples else 0))


@lru_cache(maxsize=256)
def _timed_operations(key: _SamplesById, kind: OperationKind) -> MergedHistogram:
    return merged(_histograms(key.samples, kind))


def timed_operations(samples: Sequence[Sample], kind: OperationKind = "all") -> MergedHistogram:
    """Return one histogram of the timed operations of a round's samples; samples without a histogram are ignored.

    ``kind`` says which operations count. The histogram is cached, since several percentiles are computed from the same
    samples.
    """
    return _timed_operations(_SamplesById(samples), kind)


@lru_cache(maxsize=8)
def _pooled_operations(keys: tuple[_SamplesById, ...], kind: OperationKind) -> MergedHistogram:
    return pooled([_timed_operations(key, kind) for key in keys])


def pooled_operations(rounds: Sequence[Sequence[Sample]], kind: OperationKind = "all") -> MergedHistogram:
    """Return one histogram of the timed operations of several rounds, given the samples of each round.

    ``kind`` says which operations count. The histogram is cached, since several percentiles and the distribution are
    computed from the same rounds.
    """
    return _pooled_operations(tuple(map(_SamplesById, rounds)), kind)


def _histograms(samples: Sequence[Sample], kind: OperationKind) -> list[Histogram]:
    of_kind = operator.attrgetter(_HISTOGRAMS[kind])
    return [histogram for histogram in map(of_kind, samples) if isinstance(histogram, Histogram)]


@dataclass(frozen=True)
class ParameterSweep:
    """Experiments that a probe declares: the values of their parameters, and their time in each round.

    - ``params``: the values of each parameter as on the command line, such as ``4KiB..64MiB*2`` or ``tcp,udp``; there
      is an experiment for every combination. ``{name}`` in a value is replaced by a value of the machine
      (``planning/stand_ins.py``), such as ``{beyond}`` by a size that no cache holds. Parameters that are missing have
      their defaults
    - ``slice_s``: the time of an experiment in each round, in seconds
    - ``sample_s``: the minimum length of a sample in seconds; None for the default of 10 ms
    - ``probe``: the probe of the experiments; "" for the probe that declares the sweep
    - ``curve``: the parameter, one of ``params`` with whole numbers, whose range is measured sparsely at first and
      densely only where the values change; "" for none
    - ``between``: the dense values of ``curve``, written like a value of ``params``. With "", the values in ``params``
      are the dense ones, and every fourth of them is measured at first
    - ``min_nodes``: the minimum number of NUMA nodes; a machine with fewer nodes has none of these experiments
    - ``overhead_s``: the time in seconds that an experiment takes in a round besides its slice, if it is less than
      ``Probe.overhead_s``; None for that default
    """

    params: Mapping[str, str]
    slice_s: float
    sample_s: float | None = None
    probe: str = ""
    curve: str = ""
    between: str = ""
    min_nodes: int = 1
    overhead_s: float | None = None


class ParameterChart(NamedTuple):
    """A chart of the metric named ``metric`` (y) against the parameter named ``parameter`` (x).

    Both names belong to the probe that declares the chart. ``meaning`` is text for the reader of the report: how to
    read the chart, and what a bad sign looks like.
    """

    metric: str
    parameter: str
    meaning: str


ByProbe = Mapping[str, Sequence[Result]]
RatedBy = Callable[[Metric, ResolvedExperiment, Sequence[Sample]], Rated]

_NOTHING = Recorded()
# The minimum number of operations above a percentile: with fewer, a single operation would decide its value.
MIN_BEYOND = 10


@dataclass(frozen=True)
class Probe:
    """The declaration of one probe.

    - ``name``: the name on the command line, AREA_WORD; ``title``: the heading in reports
    - ``metrics``: the first one is the main metric, by whose interval a run judges its precision
    - ``rated``: returns the reference value of a metric, given the samples of one round; if it has no value, its
      ``source`` says why
    - ``recorded``: the required contents of the probe's records; readers check them, so that no other code has to
    - ``defining``: the parameters that set how much work is done at once, without which a value is not defined: the
      output of another tool that does not report one of these parameters gets no verdict
    - ``screen``: the probe's lines on the first screen of a run; if it is empty, the first screen lists the probe's
      experiments
    - ``work_line``: returns the line that names the work of an experiment, given its parameters, for a run whose
      experiments are listed: its ``label``, ``metrics``, ``unit`` and ``below`` count. None for a probe whose
      experiments are named by their parameters and shown by their main metric
    - ``quick`` and ``full``: the experiments that the probe adds to the plans ``quick`` and ``full``
    - ``sweep``: the experiments that ``nameplate run PROBE`` measures by default, which may include experiments of
      other probes
    - ``sweep_with``: the parameters that a user may give without replacing the sweep by the given values alone; None
      allows all
    - ``refine``: returns which values of a curve to measure, given all values in ascending order and the median so far
      of each value that was measured; None measures the values between neighbours that differ
    - ``is_always_computing``: True if the workers need their CPUs during all of a sample and never wait
    - ``overhead_s``: the constant time in seconds that an experiment takes in a round besides its slice; ``setup_s``:
      returns the additional time in seconds that depends on the parameters, such as reading a large file into the cache
    - ``longest_setup_s``: returns the maximum time of set-up in seconds, which is added to the deadline of an
      experiment, given its parameters
    - ``remarks``: returns what a reader must know about an experiment, one string for each remark
    - ``evidence``: returns numbers by name that support or contradict an experiment's value
    - ``source``: returns where an experiment's bytes came from, such as "device"; "" if the probe does not know it.
      Runs in which the source differs did not do the same work. Like ``remarks`` and ``evidence``, it gets the samples
      of all rounds, at least one
    - ``derive``: returns further results, computed from all measured results of a run by probe; ``tables``: returns
      tables of these results, None for a probe without tables. Both are called only if the run has a machine and a
      result of the probe, which may lack a value
    - ``along``: charts of a metric against a parameter
    - ``pair_matrix``: declares the values between all pairs that each sample has, which are shown as tables and as a
      heat map and are exported; None for a probe without pairs
    - ``disk_use``: returns lines on what the experiments write to disk in a number of rounds; ``network_use``: returns
      a text on what they send over the network. Both are empty for nothing
    - ``by_node``: for a probe that uses the whole job, returns a metric's value in one round by node, as an index into
      the job's nodes; empty if the metric is not known by node
    - ``extremes_by_node``: returns the lowest and the highest value of a single repeat in one round, in this order, by
      the same index; empty if they are not known
    """

    name: str
    title: str
    metrics: tuple[Metric, ...]
    rated: RatedBy
    recorded: Recorded = _NOTHING
    defining: tuple[str, ...] = ()
    screen: tuple[ScreenLine, ...] = ()
    work_line: Callable[[Mapping[str, Value]], ScreenLine] | None = None
    quick: tuple[ParameterSweep, ...] = ()
    full: tuple[ParameterSweep, ...] = ()
    sweep: tuple[ParameterSweep, ...] = ()
    sweep_with: frozenset[str] | None = None
    refine: Callable[[Sequence[int], Mapping[int, float]], set[int]] | None = None
    is_always_computing: bool = False
    overhead_s: float = 0.12
    setup_s: Callable[[Mapping[str, Value]], float] = lambda _: 0.0
    remarks: Callable[[ResolvedExperiment, Sequence[Sample]], list[str]] = lambda _, __: []
    evidence: Callable[[ResolvedExperiment, Sequence[Sample]], dict[str, float]] = lambda _, __: {}
    source: Callable[[ResolvedExperiment, Sequence[Sample]], str] = lambda _, __: ""
    derive: Callable[[ByProbe, Machine], list[Result]] = lambda _, __: []
    along: tuple[ParameterChart, ...] = ()
    disk_use: Callable[[Sequence[Experiment], int], list[str]] = lambda _, __: []
    network_use: Callable[[Sequence[Experiment], int], str] = lambda _, __: ""
    longest_setup_s: Callable[[Mapping[str, Value]], float] = lambda _: 0.0
    tables: Callable[[ByProbe, Machine], list[Table]] | None = None
    pair_matrix: PairMatrix | None = None
    by_node: Callable[[Metric, ResolvedExperiment, Sequence[Sample]], Mapping[int, float]] = lambda _, __, ___: {}
    extremes_by_node: Callable[[Metric, Sequence[Sample]], Mapping[int, tuple[float, float]]] = lambda _, __: {}

    def total_overhead_s(self, params: Mapping[str, Value], overhead_s: float | None = None) -> float:
        """Return the estimated time in seconds that an experiment takes in a round besides its slice.

        ``params`` has the given parameters; for a missing one, the probe's default counts. ``overhead_s`` replaces the
        constant part ``Probe.overhead_s``, unless it is None. ``setup_s(params)`` is added in both cases.
        """
        return (self.overhead_s if overhead_s is None else overhead_s) + self.setup_s(params)

    @property
    def has_tables(self) -> bool:
        """Return whether the probe's results are shown in tables, by ``tables`` or by ``pair_matrix``."""
        return self.tables is not None or self.pair_matrix is not None

    @property
    def takes_all_ranks(self) -> bool:
        """Return whether all ranks of an MPI job run the probe together, as for every probe of the area mpi."""
        return self.area == "mpi"

    @property
    def area(self) -> str:
        """Return the probe's area, the name up to its first underscore: cpu, memory, disk, net, mpi or null."""
        return self.name.partition("_")[0]


def elapsed(_: ResolvedExperiment, sample: Sample) -> float:
    """Return the duration of a sample in seconds, from its first worker's start to its last worker's finish."""
    return sample.elapsed_s


def moved_bytes(_: ResolvedExperiment, sample: Sample) -> float:
    """Return the bytes that a sample moved for the user, without the additional traffic of the hardware."""
    return float(sample.work.bytes)


def floating_point_operations(_: ResolvedExperiment, sample: Sample) -> float:
    """Return the number of floating-point operations of a sample; a multiply-add counts as two."""
    return float(sample.work.flops)


def operations(_: ResolvedExperiment, sample: Sample) -> float:
    """Return the number of a sample's operations, which are loads, blocks or round trips, depending on the probe."""
    return float(sample.work.ops)


def repetitions(_: ResolvedExperiment, sample: Sample) -> float:
    """Return how many times a sample repeated its unit of work."""
    return float(sample.repetitions)


def one(_: ResolvedExperiment, __: Sample) -> float:
    """Return 1, the divisor of a metric that is not a rate."""
    return 1.0


@dataclass(frozen=True)
class Counter:
    """The counter ``name`` of one sample, as a quantity. Every sample of the probe must have the counter."""

    name: str

    def __call__(self, _: ResolvedExperiment, sample: Sample) -> float:
        """Return the value of the counter. Raises KeyError if the sample has no counter of this name."""
        return sample.counters[self.name]


@dataclass(frozen=True)
class Fact:
    """The fact ``name`` of an experiment, as a quantity. Every outcome of the probe must have the fact."""

    name: str

    def __call__(self, experiment: ResolvedExperiment, _: Sample) -> float:
        """Return the value of the fact. Raises KeyError if the experiment has no fact of this name."""
        return experiment.facts[self.name]


@dataclass(frozen=True)
class Sum:
    """The sum of several quantities, ``of``, of one sample."""

    of: tuple[SampleQuantity, ...]

    def __call__(self, experiment: ResolvedExperiment, sample: Sample) -> float:
        """Return the sum. Raises the errors of the quantities, such as KeyError for a missing counter."""
        return sum(quantity(experiment, sample) for quantity in self.of)


@dataclass(frozen=True)
class Scaled:
    """A quantity of one sample, multiplied and divided by parameters and facts of the experiment.

    - ``of``: the quantity
    - ``times``: the names of the parameters by which the quantity is multiplied
    - ``over``: the names of the parameters by which the quantity is divided; none of these parameters may be 0
    - ``times_facts``: the names of the facts by which the quantity is multiplied

    Every outcome of the probe must have these parameters and facts, and the parameters must be numbers. nameplate-core
    computes such a quantity as well (``probes/shared/formulas.py``).
    """

    of: SampleQuantity
    times: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    times_facts: tuple[str, ...] = ()

    def __call__(self, experiment: ResolvedExperiment, sample: Sample) -> float:
        """Return the quantity of one sample, scaled.

        Raises:
            KeyError: the experiment lacks one of the parameters or facts.
            ZeroDivisionError: a parameter in ``over`` is 0.
        """
        value = self.of(experiment, sample)
        for name in self.times_facts:
            value *= experiment.facts[name]
        for name in self.times:
            value *= float(experiment.params[name])
        for name in self.over:
            value /= float(experiment.params[name])
        return value


@cache
def load_probes() -> Mapping[str, Probe]:
    """Return the declaration of every probe by its name, such as ``memory_stream``, in alphabetical order.

    The installed core may lack some of these probes. The mapping is cached; do not change it.
    """
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]
    return {name: importlib.import_module(f"{__name__}.{name}").PROBE for name in names}


def probe_of(name: str) -> Probe:
    """Return the declaration of the probe with this name; for an unknown name, a declaration without metrics.

    A name is unknown if only the core knows it, for example in a run of a later version. The declaration then has the
    name, but no experiments either.
    """
    if probe := load_probes().get(name):
        return probe
    unknown = Rated(None, f"this version of nameplate does not know the probe {name}")
    return Probe(name, name, (), lambda _, __, ___: unknown)
