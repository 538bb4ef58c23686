"""Theoretical peaks by a study's own formula, and the share of them that was measured, there and here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nameplate.probes.shared.ceilings import memory_bandwidth, overriding, textbook_clock
from nameplate.records.result import Rated, Result
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.results.studies._measured import StudyRun
from nameplate.results.studies._quantity import Fields, StudyQuantity
from nameplate.results.studies._units import FACTORS, in_unit

_NOTE = "The peak follows the study's own formula; it is not the ceiling that nameplate's other tables have."


@dataclass(frozen=True)
class Reached:
    """A measured value that is compared with a theoretical peak.

    ``name`` is the name of the value in the table. ``here`` is the run's value in SI base units with the id of the
    experiment that gave it, or None. ``published`` is the study's value in the unit of the peak's table, or None.
    ``remarks`` are shown with the run's value; without ``here`` they are left out.
    """

    name: str
    here: tuple[float, str] | None
    published: float | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class CpuFormula:
    """A study's formula of a CPU's peak, clock × cores × operations per cycle, with the numbers that the study used.

    ``per_cycle`` is the number of floating-point operations per clock cycle of one core.
    """

    clock_ghz: float
    cores: int
    per_cycle: int

    @property
    def peak_gflops(self) -> float:
        """Return the study's theoretical peak in GFLOP/s."""
        return self.clock_ghz * self.cores * self.per_cycle


def highest(quantity: StudyQuantity, fields: Iterable[Fields]) -> tuple[float, str] | None:
    """Return the highest of the run's values of a quantity in SI base units, and the id of its experiment.

    ``fields`` are those of the values to compare (``StudyQuantity``). The result is None if none of them was measured,
    or if there are none.
    """
    found = [(here * FACTORS[quantity.unit], result.id) for each in fields
             if (here := quantity.here(each)) is not None and (result := quantity.result(each))]  # fmt: skip
    return max(found, default=None)


def best_of(results: Iterable[Result | None], samples: int | None = None) -> tuple[float, str] | None:
    """Return the highest sample of results of a rate, in SI base units, and the id of its experiment.

    Only the first ``samples`` (at least 1) samples of each result count, or all by default. A result that is None or
    has no samples is ignored; the return value is None if no other is left.
    """
    found = [(max(r.series.value[:samples]), r.id) for r in results if r and r.series.value]
    return max(found, default=None)


def mean_of(results: Iterable[Result | None]) -> tuple[float, str] | None:
    """Return the highest of the means of results of a rate, in SI base units, and the id of its experiment.

    A mean is that of all samples of a result. A result that is None or has no value is ignored; the return value is
    None if no other is left.
    """
    return max(((r.summary.mean, r.id) for r in results if r and r.summary.mean is not None), default=None)


def clock_of(measured: StudyRun) -> Rated:
    """Return the clock for a theoretical peak in Hz, with its source; its ``value`` is None if no clock is known.

    It is the value in Hz given with ``--rated cpu_clock=`` or else ``cpu=``, or else the base clock of the machine, or
    else the clock in /proc/cpuinfo.
    """
    return overriding(measured.rated, "cpu_clock", "Hz") or textbook_clock(measured.machine)


def cpu_theory(measured: StudyRun, formula: CpuFormula, reached: Sequence[Reached]) -> StudyTable:
    """Return the table of the CPU's theoretical peak in GFLOP/s, its factors, and the shares of it that were reached.

    The peak here is the clock of ``clock_of`` × the machine's cores × the operations per cycle of ``formula``, the
    study's own. Each of ``reached`` adds a row with the value and one with its share in percent, here and in the study;
    published values are in GFLOP/s. If no clock is known, the peak and the shares here are missing.
    """
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
    """Return the table of the memory's theoretical bandwidth in GB/s, and the shares of it that were reached.

    The peak here is the value given with ``--rated memory=`` (or ``memory_block=``), or else follows from the memory
    modules in the DMI table. ``published_gbs`` is the study's peak in GB/s (10⁹ bytes), and ``formula`` describes in
    words how the study computed it, without a full stop. Each of ``reached`` adds a row with the value and one with its
    share in percent; published values are in GB/s. If the peak is not known, it and the shares here are missing.
    """
    known = overriding(measured.rated, "memory_block", "B/s") or memory_bandwidth(measured.machine)
    notes = [f"The study's formula: {formula}."]
    return _theory(_Peak("Theoretical memory bandwidth", "GB/s", known, published_gbs), reached, {}, notes)


def peak_table(title: str, unit: str, known: Rated, published: float | None, reached: Sequence[Reached]) -> StudyTable:
    """Return the table of a theoretical peak here and in the study, and the shares of it that were reached.

    ``known`` is the peak here in SI base units; without a value, its source says why. ``published`` is the study's peak
    in ``unit``, a key of ``FACTORS``, or None. Each of ``reached`` adds a row with the value and one with its share in
    percent.
    """
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
