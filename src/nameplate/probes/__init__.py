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

from nameplate.model import Rated, Sample, Value


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

    A sample's value is ``numerator / denominator``, in the SI base unit ``unit``.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    numerator: Quantity
    denominator: Quantity

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
    """Cells of a shipped plan: parameters as on the command line, and the time of each cell in each round."""

    params: Mapping[str, str]
    slice_s: float


RatedBy = Callable[[Metric, Cell, Sequence[Sample]], Rated]


@dataclass(frozen=True)
class Probe:
    """What nameplate makes of one probe. ``rated`` gives the ceiling of a metric from the samples of one round."""

    name: str
    title: str
    metrics: tuple[Metric, ...]
    rated: RatedBy
    quick: tuple[Cells, ...] = ()
    full: tuple[Cells, ...] = ()

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
