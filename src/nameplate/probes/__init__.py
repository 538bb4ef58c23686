"""What nameplate makes of each probe's raw samples: one module per probe, found by its name.

The core declares parameters, counters and facts; the module of the same stem declares metrics, rated values and the
cells of the shipped plans in one ``PROBE``.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

from nameplate.probes.shared.recorded import Recorded
from nameplate.records.model import Experiment, Histogram, Rated, Result, Sample, Table, Value
from nameplate.statistics.stats import histogram_percentile_s, median, merged


@dataclass(frozen=True)
class Cell:
    """One experiment of a run, as far as a metric depends on it: complete parameters, facts, words, the machine."""

    params: Mapping[str, Value]
    facts: Mapping[str, float]
    machine: Mapping[str, Any]
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        """The number of workers."""
        return int(self.params.get("threads", 1))

    @property
    def cores(self) -> int:
        """The physical cores that the workers can keep busy."""
        return min(self.threads, int(self.machine["topology"]["allowed_cores"]))


Quantity = Callable[[Cell, Sample], float]


@dataclass(frozen=True)
class Metric(ABC):
    """A figure of one cell in the SI base unit ``unit``.

    Cells where ``when`` is False have no such figure, or one that repeats another. A detail has no row of its own: it
    stands in the probe's tables, and in exports.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    when: Callable[[Cell], bool] = field(default=lambda _: True, kw_only=True)
    is_detail: bool = field(default=False, kw_only=True)
    # Whether it is shown from the rounds that tell it, when others do not.
    may_lack_rounds: ClassVar[bool] = False

    @abstractmethod
    def value(self, cell: Cell, sample: Sample) -> float:
        """Of one sample."""

    @abstractmethod
    def sustained(self, cell: Cell, samples: Sequence[Sample]) -> float:
        """Of all samples together."""

    def of_round(self, cell: Cell, samples: Sequence[Sample]) -> float:
        """Of one round's samples."""
        return median([self.value(cell, sample) for sample in samples])

    def is_known(self, cell: Cell, _: Sequence[Sample]) -> bool:
        """Whether a round's samples tell it."""
        return self.when(cell)

    def is_told_by(self, _: Cell, __: Sample) -> bool:
        """Whether a single sample has a value of it."""
        return True


@dataclass(frozen=True)
class Ratio(Metric):
    """A quotient of two quantities that add up over samples, so that ``sustained`` is all work over all time.

    A sample whose denominator is 0 has no value: where every datagram was lost, no round trip took any time. A round of
    such samples only has none either, and the other rounds count.
    """

    numerator: Quantity
    denominator: Quantity
    may_lack_rounds = True

    def value(self, cell: Cell, sample: Sample) -> float:
        """``numerator / denominator``."""
        return self.numerator(cell, sample) / self.denominator(cell, sample)

    def of_round(self, cell: Cell, samples: Sequence[Sample]) -> float:
        """Of those of a round's samples that have a value."""
        return median([self.value(cell, sample) for sample in samples if self.is_told_by(cell, sample)])

    def is_known(self, cell: Cell, samples: Sequence[Sample]) -> bool:
        """Whether a sample has a value of it."""
        return self.when(cell) and any(self.is_told_by(cell, sample) for sample in samples)

    def is_told_by(self, cell: Cell, sample: Sample) -> bool:
        """Whether there is something to divide by."""
        return self.denominator(cell, sample) != 0

    def sustained(self, cell: Cell, samples: Sequence[Sample]) -> float:
        """All work over all time."""
        return sum(self.numerator(cell, sample) for sample in samples) / sum(
            self.denominator(cell, sample) for sample in samples
        )


@dataclass(frozen=True)
class Percentile(Metric):
    """The time in seconds that ``share`` of the single operations do not exceed; 1 is the longest.

    Of a round it is taken of all its samples together.
    """

    share: float

    def value(self, cell: Cell, sample: Sample) -> float:
        """Of one sample's operations."""
        return self.sustained(cell, [sample])

    def of_round(self, cell: Cell, samples: Sequence[Sample]) -> float:
        """Of all operations of a round, since a sample may have too few."""
        return self.sustained(cell, samples)

    def sustained(self, _: Cell, samples: Sequence[Sample]) -> float:
        """Of all samples' operations."""
        return histogram_percentile_s(_counts(_These(samples)), self.share)

    def is_known(self, cell: Cell, samples: Sequence[Sample]) -> bool:
        """Whether enough operations lie beyond it; of the longest one is enough."""
        timed = sum(sum(histogram.count) for histogram in _histograms(samples))
        enough = self.share == 1 or timed * (1 - self.share) >= MIN_BEYOND
        return self.when(cell) and timed > 0 and enough

    def is_told_by(self, _: Cell, sample: Sample) -> bool:
        """Of few operations, of which one in so many is timed by chance, a sample may have timed none."""
        return isinstance(sample.histogram, Histogram) and sum(sample.histogram.count) > 0


@dataclass(frozen=True, eq=False)
class _These:
    """Samples by which list they are, not by what is in it."""

    samples: Sequence[Sample]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _These) and other.samples is self.samples

    def __hash__(self) -> int:
        return id(self.samples)


@lru_cache(maxsize=64)
def _counts(these: _These) -> Mapping[int, int]:
    """Several percentiles are of the same operations, of every round in turn."""
    return merged(_histograms(these.samples))


def _histograms(samples: Sequence[Sample]) -> list[Histogram]:
    return [sample.histogram for sample in samples if isinstance(sample.histogram, Histogram)]


@dataclass(frozen=True)
class Cells:
    """Cells of a shipped plan: parameters as on the command line, and the time of each cell in each round.

    ``probe`` is named where the cells are another probe's than the one that declares them.
    Where ``between`` gives further values of it, all others are measured in any case, and these where they change.
    ``{beyond}`` in a value stands for a size that no cache holds, ``{nodes}`` for the NUMA nodes. ``curve`` names a
    parameter whose range is measured sparsely at first and densely only where the figures change. On a machine with
    fewer than ``fewest_nodes`` NUMA nodes there are no such cells. ``overhead_s``: where they cost less beside their
    slice than most of their probe's.
    """

    params: Mapping[str, str]
    slice_s: float
    sample_s: float | None = None
    probe: str = ""
    curve: str = ""
    between: str = ""
    fewest_nodes: int = 1
    overhead_s: float | None = None


class ParameterChart(NamedTuple):
    """A chart of a metric against a parameter; ``meaning`` says how to read it and what a bad sign would be."""

    metric: str
    parameter: str
    meaning: str


ByProbe = Mapping[str, Sequence[Result]]
RatedBy = Callable[[Metric, Cell, Sequence[Sample]], Rated]

_NOTHING = Recorded()
# A percentile is shown only where so many operations lie beyond it: one of them alone decides nothing then.
MIN_BEYOND = 10


@dataclass(frozen=True)
class Probe:
    """What nameplate makes of one probe.

    - ``rated``: the ceiling of a metric, from the samples of one round
    - ``recorded``: what the probe's records must have; readers check it, so that nothing else does
    - ``remarks``: what a cell's reader must know; ``evidence``: figures that speak for or against its value
    - ``source``: where a cell's bytes came from, in a word; runs in which it differs did not do the same work
    - ``derive``: further results from all of a run's; ``tables``: what is shown as rows and columns; ``along``:
      charts over a parameter
    - ``sweep``: what ``nameplate run PROBE`` measures unless it is told otherwise, which may be another probe's cells
      beside its own. Where ``sweep_with`` names parameters, only these may be given with it; with others there is no
      sweep
    - ``refine``: which of a curve's values are worth measuring, from all of them and the medians so far; default: those
      between neighbours that differ
    - ``overhead_s``: what a cell costs in a round beside its slice; ``setup_s``: what it costs besides because of its
      parameters: the time to bring a large file into the cache; ``longest_setup_s``: how long it may take to make
      itself ready, beyond what any probe may; ``disk_use`` and ``network_use``: what so many rounds of such cells write
      and send
    - ``by_node``: of a probe that takes a whole job, a metric's value in one round for each node, by its place; empty
      where it has none; ``extremes_by_node``: the lowest and highest value of a single repeat in that round
    """

    name: str
    title: str
    metrics: tuple[Metric, ...]
    rated: RatedBy
    recorded: Recorded = _NOTHING
    quick: tuple[Cells, ...] = ()
    full: tuple[Cells, ...] = ()
    sweep: tuple[Cells, ...] = ()
    sweep_with: frozenset[str] | None = None
    refine: Callable[[Sequence[int], Mapping[int, float]], set[int]] | None = None
    overhead_s: float = 0.12
    setup_s: Callable[[Mapping[str, Value]], float] = lambda _: 0.0
    remarks: Callable[[Cell, Sequence[Sample]], list[str]] = lambda _, __: []
    evidence: Callable[[Cell, Sequence[Sample]], dict[str, float]] = lambda _, __: {}
    source: Callable[[Cell, Sequence[Sample]], str] = lambda _, __: ""
    derive: Callable[[ByProbe, Mapping[str, Any]], list[Result]] = lambda _, __: []
    along: tuple[ParameterChart, ...] = ()
    disk_use: Callable[[Sequence[Experiment], int], list[str]] = lambda _, __: []
    network_use: Callable[[Sequence[Experiment], int], str] = lambda _, __: ""
    longest_setup_s: Callable[[Mapping[str, Value]], float] = lambda _: 0.0
    tables: Callable[[ByProbe, Mapping[str, Any]], list[Table]] | None = None
    by_node: Callable[[Metric, Cell, Sequence[Sample]], Mapping[int, float]] = lambda _, __, ___: {}
    extremes_by_node: Callable[[Metric, Sequence[Sample]], Mapping[int, tuple[float, float]]] = lambda _, __: {}

    def beside_slice_s(self, params: Mapping[str, Value]) -> float:
        """Return an estimate of what an experiment with these parameters takes besides its slice, in seconds."""
        return self.overhead_s + self.setup_s(params)

    @property
    def takes_whole_job(self) -> bool:
        """Whether all ranks of an MPI job take it together."""
        return self.area == "mpi"

    @property
    def area(self) -> str:
        """cpu, memory, disk, net, mpi, or null."""
        return self.name.partition("_")[0]


def elapsed(_: Cell, sample: Sample) -> float:
    """Seconds from the first worker's start to the last one's finish."""
    return sample.elapsed_s


def moved_bytes(_: Cell, sample: Sample) -> float:
    """The user's bytes."""
    return float(sample.work.bytes)


def operations(_: Cell, sample: Sample) -> float:
    """Loads, blocks, or whatever a probe counts."""
    return float(sample.work.ops)


@cache
def load_probes() -> Mapping[str, Probe]:
    """Every module of this package, by the probe's name."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]
    return {name: importlib.import_module(f"{__name__}.{name}").PROBE for name in names}


def probe_of(name: str) -> Probe:
    """A probe's module; for one that only the core knows, a probe without metrics."""
    unknown = Rated(None, f"this nameplate does not know the probe {name}")
    return load_probes().get(name) or Probe(name, name, (), lambda _, __, ___: unknown)
