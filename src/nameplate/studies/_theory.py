"""Theoretical peaks by a study's own formula, and the share of each peak that the run and the study measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nameplate.probes.shared.ceilings import memory_bandwidth, overriding, textbook_clock
from nameplate.records.result import Rated, Result
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable
from nameplate.studies._cells import computed, study_cell
from nameplate.studies._measured import StudyRun
from nameplate.studies._quantity import Fields, StudyQuantity
from nameplate.studies._units import FACTORS, in_unit
from nameplate.studies.published import Printed

_NOTE = "The peak follows the study's own formula; it is not the ceiling that nameplate's other tables have."


@dataclass(frozen=True)
class Reached:
    """A measured value that is compared with a theoretical peak.

    - ``name``: the name of the value in the table
    - ``here``: the run's value in SI base units and the id of its experiment, None if it was not measured
    - ``published``: the study's value in the unit of the table, None if there is none
    - ``remarks``: shown with the run's value, and left out if ``here`` is None
    """

    name: str
    here: tuple[float, str] | None
    published: Printed | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class CpuFormula:
    """A study's formula of a CPU's peak, clock × cores × operations per cycle, with the numbers of the study.

    ``per_cycle`` is the number of floating-point operations per clock cycle of one core, and ``peak_gflops`` the peak
    in GFLOP/s that the study states.
    """

    clock_ghz: Printed
    cores: int
    per_cycle: int
    peak_gflops: Printed


def highest(quantity: StudyQuantity, fields: Iterable[Fields]) -> tuple[float, str] | None:
    """Return the run's highest value of a quantity in SI base units, and the id of its experiment.

    ``fields`` has the fields of each value to compare, as for the methods of ``StudyQuantity``. The result is None if
    no value was measured.
    """
    candidates = [(here * FACTORS[quantity.unit], result.id) for combination in fields
                  if (here := quantity.here(combination)) is not None
                  and (result := quantity.result(combination))]  # fmt: skip
    return max(candidates, default=None)


def best_of(results: Iterable[Result | None]) -> tuple[float, str] | None:
    """Return the highest sample of some results of a rate in SI base units, and the id of its experiment.

    A result that is None or has no samples is ignored. The return value is None if no samples are left.
    """
    return max(((max(r.series.value), r.id) for r in results if r and r.series.value), default=None)


def mean_of(results: Iterable[Result | None]) -> tuple[float, str] | None:
    """Return the highest mean of some results of a rate in SI base units, and the id of its experiment.

    A mean is computed over all samples of a result. A result that is None or has no value is ignored. The return value
    is None if no result is left.
    """
    return max(((r.summary.mean, r.id) for r in results if r and r.summary.mean is not None), default=None)


def clock_of(measured: StudyRun) -> Rated:
    """Return the clock in Hz from which a theoretical peak is computed; its ``value`` is None if it is not known.

    It is the value given with ``--rated`` for ``cpu_clock`` or ``cpu`` in Hz, otherwise the base clock of the machine,
    otherwise the clock in /proc/cpuinfo.
    """
    return overriding(measured.rated, "cpu_clock", "Hz") or textbook_clock(measured.machine)


def cpu_theory(measured: StudyRun, formula: CpuFormula, reached: Sequence[Reached]) -> StudyTable:
    """Return a table of the CPU's theoretical peak in GFLOP/s, its factors, and the share of it that was measured.

    The run's peak is ``clock_of(measured)`` × the machine's cores × ``formula.per_cycle``. Each of ``reached`` adds one
    row with its value and one with the value in percent of the peak, both for the run and the study;
    ``Reached.published`` is in GFLOP/s. If the clock is not known, the run's peak and percentages are None.
    """
    clock = clock_of(measured)
    cores = int(measured.machine.topology.cores)
    rows = {
        "clock, GHz": study_cell(in_unit(clock.value, "GHz"), formula.clock_ghz),
        "cores": study_cell(float(cores), Printed.of(f"{formula.cores}")),
        "operations per cycle and core": study_cell(float(formula.per_cycle), Printed.of(f"{formula.per_cycle}")),
    }
    peak = clock.value * cores * formula.per_cycle if clock.value else None
    source = f"clock × cores × operations per cycle, with the {clock.source}" if peak else "the system lists no clock"
    peak_of_cpu = _Peak("Theoretical peak of the CPU", "GFLOP/s", Rated(peak, source), formula.peak_gflops)
    return _theory(peak_of_cpu, reached, rows, [_NOTE])


def memory_theory(
    measured: StudyRun, published_gbs: Printed | None, formula: str, reached: Sequence[Reached]
) -> StudyTable:  # fmt: skip
    """Return a table of the memory's theoretical bandwidth in GB/s, and of the share of it that was measured.

    The run's peak is the value given with ``--rated`` for ``memory_block`` or ``memory``, otherwise it is computed from
    the memory modules in the DMI table. ``published_gbs`` is the study's peak in GB/s (10⁹ bytes), None if the study
    has none. ``formula`` describes how the study computed it, without a full stop. Each of ``reached`` adds one row
    with its value and one with the value in percent of the peak; ``Reached.published`` is in GB/s. If the run's peak is
    not known, it and the percentages are None.
    """
    known = overriding(measured.rated, "memory_block", "B/s") or memory_bandwidth(measured.machine)
    notes = [f"The study's formula: {formula}."]
    return _theory(_Peak("Theoretical memory bandwidth", "GB/s", known, published_gbs), reached, {}, notes)


def peak_table(
    title: str, unit: str, known: Rated, published: Printed | None, reached: Sequence[Reached]
) -> StudyTable:  # fmt: skip
    """Return a table of a theoretical peak, here and in the study, and of the share of it that was measured.

    ``unit`` is the unit of the table, a key of ``FACTORS``. ``known`` is the run's peak in SI base units; if it has no
    value, its source says why. ``published`` is the study's peak in ``unit``, None if there is none. Each of
    ``reached`` adds one row with its value in ``unit`` and one with the value in percent of the peak.
    """
    return _theory(_Peak(title, unit, known, published), reached, {})


class _Peak(NamedTuple):
    title: str
    unit: str
    known: Rated
    published: Printed | None


def _theory(
    theoretical_peak: _Peak, reached: Sequence[Reached], factors: Mapping[str, StudyCell], notes: Sequence[str] = ()
) -> StudyTable:
    title, unit, known, published = theoretical_peak
    peak = in_unit(known.value, unit)
    rows = {**factors, f"theoretical peak, {unit}": study_cell(peak, published)}
    for reached_value in reached:
        value = in_unit(reached_value.here[0], unit) if reached_value.here else None
        remarks = (
            [f"measured by {reached_value.here[1]}", *reached_value.remarks]
            if reached_value.here
            else ["not measured here"]
        )
        rows[f"{reached_value.name}, {unit}"] = study_cell(value, reached_value.published, remarks=remarks)
        rows[f"{reached_value.name}, % of the peak"] = study_cell(
            _percent(value, peak), computed(_percent(_value(reached_value.published), _value(published)))
        )
    return StudyTable(
        title=title, rows=list(rows), columns=[StudyColumn("value")], cells=[[cell] for cell in rows.values()],
        notes=[f"Here: {known.source}.", *notes],
    )  # fmt: skip


def _value(printed: Printed | None) -> float | None:
    return printed.value if printed else None


def _percent(value: float | None, of: float | None) -> float | None:
    return 100 * value / of if value is not None and of else None
