"""Theoretical peaks by a study's own formula, and the share of them that was measured, there and here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nameplate.probes.shared.ceilings import memory_bandwidth, overriding, textbook_clock
from nameplate.records.model import Rated, Result, StudyCell, StudyColumn, StudyTable
from nameplate.results.studies._measured import StudyRun
from nameplate.results.studies._quantity import Fields, StudyQuantity
from nameplate.results.studies._units import FACTORS, in_unit

_NOTE = "The peak follows the study's own formula; it is not the ceiling that nameplate's other tables have."


@dataclass(frozen=True)
class Reached:
    """A measured value that is compared with a theoretical peak.

    ``here`` is the run's value in SI base units and the experiment that gave it; ``published`` is in the unit of the
    peak's table.
    """

    name: str
    here: tuple[float, str] | None
    published: float | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class CpuFormula:
    """A study's formula: clock × cores × operations per cycle, with the values that it used."""

    clock_ghz: float
    cores: int
    per_cycle: int

    @property
    def peak_gflops(self) -> float:
        """Return the study's theoretical peak in GFLOP/s."""
        return self.clock_ghz * self.cores * self.per_cycle


def highest(quantity: StudyQuantity, fields: Iterable[Fields]) -> tuple[float, str] | None:
    """Return the highest value of a quantity, in SI base units, and the experiment that it is from."""
    found = [(here * FACTORS[quantity.unit], result.id) for each in fields
             if (here := quantity.here(each)) is not None and (result := quantity.result(each))]  # fmt: skip
    return max(found, default=None)


def best_of(results: Iterable[Result | None], samples: int | None = None) -> tuple[float, str] | None:
    """Return the highest of the first ``samples`` samples of each result of a rate (default: of all), and its id."""
    found = [(max(r.series.value[:samples]), r.id) for r in results if r and r.series.value]
    return max(found, default=None)


def mean_of(results: Iterable[Result | None]) -> tuple[float, str] | None:
    """Return the highest mean of results of a rate, and the experiment that it is from."""
    return max(((r.summary.mean, r.id) for r in results if r and r.summary.mean is not None), default=None)


def clock_of(measured: StudyRun) -> Rated:
    """Return the clock that the user gave, else the base clock or what the system lists."""
    return overriding(measured.rated, "cpu_clock", "Hz") or textbook_clock(measured.machine)


def cpu_theory(measured: StudyRun, formula: CpuFormula, reached: Sequence[Reached]) -> StudyTable:
    """Return the theoretical peak of the CPU with its factors, and the share of it that each of ``reached`` is."""
    clock = clock_of(measured)
    cores = int(measured.machine.topology.cores)
    rows = {
        "clock, GHz": StudyCell(in_unit(clock.value, "GHz"), formula.clock_ghz),
        "cores": StudyCell(float(cores), float(formula.cores)),
        "operations per cycle and core": StudyCell(float(formula.per_cycle), float(formula.per_cycle)),
    }
    peak = clock.value * cores * formula.per_cycle if clock.value else None
    source = f"clock × cores × operations per cycle, with the {clock.source}" if peak else "the system lists no clock"
    shown = _Peak("Theoretical peak of the CPU", "GFLOP/s", Rated(peak, source), formula.peak_gflops)
    return _theory(shown, reached, rows, [_NOTE])


def memory_theory(measured: StudyRun, published_gbs: float, formula: str, reached: Sequence[Reached]) -> StudyTable:
    """Return the theoretical memory bandwidth, and the share of it that each of ``reached`` is.

    This machine's is the one given by ``--rated memory=``, or follows from the DMI table; ``formula`` is the study's.
    """
    known = overriding(measured.rated, "memory_block", "B/s") or memory_bandwidth(measured.machine)
    notes = [f"The study's formula: {formula}."]
    return _theory(_Peak("Theoretical memory bandwidth", "GB/s", known, published_gbs), reached, {}, notes)


def peak_table(title: str, unit: str, known: Rated, published: float | None, reached: Sequence[Reached]) -> StudyTable:
    """Return a peak that is known or given, next to the published one in ``unit``, and the shares of both reached."""
    return _theory(_Peak(title, unit, known, published), reached, {})


class _Peak(NamedTuple):
    title: str
    unit: str
    known: Rated
    published: float | None


def _theory(
    shown: _Peak, reached: Sequence[Reached], factors: Mapping[str, StudyCell], notes: Sequence[str] = ()
) -> StudyTable:
    title, unit, known, published = shown
    peak = in_unit(known.value, unit)
    rows = {**factors, f"theoretical peak, {unit}": StudyCell(peak, published)}
    for each in reached:
        value = in_unit(each.here[0], unit) if each.here else None
        remarks = [f"measured by {each.here[1]}", *each.remarks] if each.here else ["not measured here"]
        rows[f"{each.name}, {unit}"] = StudyCell(value, each.published, remarks=remarks)
        rows[f"{each.name}, % of the peak"] = StudyCell(_percent(value, peak), _percent(each.published, published))
    return StudyTable(
        title=title, rows=list(rows), columns=[StudyColumn("value")], cells=[[cell] for cell in rows.values()],
        notes=[f"Here: {known.source}.", *notes],
    )  # fmt: skip


def _percent(value: float | None, of: float | None) -> float | None:
    return 100 * value / of if value is not None and of else None
