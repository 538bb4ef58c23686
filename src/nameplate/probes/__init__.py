"""What nameplate makes of each probe's raw samples: one module per probe, found by its name.

The core declares parameters, counters and facts; the module of the same stem declares metrics, rated values and the
cells of the shipped plans in one ``PROBE``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from nameplate.model import Rated, Result, Sample, Table, Value


@dataclass(frozen=True)
class Cell:
    """One experiment of a run, as far as a metric depends on it: complete parameters, facts, and the machine."""

    params: Mapping[str, Value]
    facts: Mapping[str, float]
    machine: Mapping[str, Any]

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
class Metric:
    """A figure as a quotient of two quantities that add up over samples, so that ``sustained`` is defined for it.

    A sample's value is ``numerator / denominator``, in the SI base unit ``unit``. Cells where ``when`` is False have no
    such figure, or one that repeats another.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    numerator: Quantity
    denominator: Quantity
    when: Callable[[Cell], bool] = lambda _: True

    def value(self, cell: Cell, sample: Sample) -> float:
        """Of one sample."""
        return self.numerator(cell, sample) / self.denominator(cell, sample)

    def sustained(self, cell: Cell, samples: Sequence[Sample]) -> float:
        """All work over all time."""
        return sum(self.numerator(cell, sample) for sample in samples) / sum(
            self.denominator(cell, sample) for sample in samples
        )


@dataclass(frozen=True)
class Cells:
    """Cells of a shipped plan: parameters as on the command line, and the time of each cell in each round.

    ``probe`` is named where the cells are another probe's than the one that declares them.
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
    fewest_nodes: int = 1
    overhead_s: float | None = None


ByProbe = Mapping[str, Sequence[Result]]
RatedBy = Callable[[Metric, Cell, Sequence[Sample]], Rated]


@dataclass(frozen=True)
class Probe:
    """What nameplate makes of one probe.

    ``rated`` gives the ceiling of a metric from the samples of one round, ``remarks`` what a cell's reader must know,
    ``derive`` further results from all of a run's, ``tables`` what is shown as rows and columns. ``sweep`` is what
    ``nameplate run PROBE`` measures unless it is told otherwise, which may be another probe's cells beside its own,
    ``overhead_s`` what a cell costs in a round beside its slice.
    """

    name: str
    title: str
    metrics: tuple[Metric, ...]
    rated: RatedBy
    quick: tuple[Cells, ...] = ()
    full: tuple[Cells, ...] = ()
    sweep: tuple[Cells, ...] = ()
    overhead_s: float = 0.12
    remarks: Callable[[Cell], list[str]] = lambda _: []
    derive: Callable[[ByProbe, Mapping[str, Any]], list[Result]] = lambda _, __: []
    tables: Callable[[ByProbe, Mapping[str, Any]], list[Table]] | None = None

    @property
    def area(self) -> str:
        """cpu, memory, disk, net, mpi, or null."""
        return self.name.partition("_")[0]


def elapsed(_: Cell, sample: Sample) -> float:
    """Seconds from the first worker's start to the last one's finish."""
    return sample.elapsed_s


@cache
def load_probes() -> Mapping[str, Probe]:
    """Every module of this package, by the probe's name."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return {name: importlib.import_module(f"{__name__}.{name}").PROBE for name in names}


def probe_of(name: str) -> Probe:
    """A probe's module; for one that only the core knows, a probe without metrics."""
    unknown = Rated(None, f"this nameplate does not know the probe {name}")
    return load_probes().get(name) or Probe(name, name, (), lambda _, __, ___: unknown)
