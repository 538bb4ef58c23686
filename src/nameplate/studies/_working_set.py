"""Rates against the working set: the levels of each of the study's machines, and its Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from nameplate.records.result import Result
from nameplate.records.study_record import StudyAxis, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.studies._cells import study_cell
from nameplate.studies._measured import StudyRun
from nameplate.studies._theory import clock_of
from nameplate.studies._units import FACTORS, in_unit
from nameplate.studies.published import Printed, Published, published, published_items

_PROBE = "cpu_workset"
_MACHINES = ("melmak", "cocoa-server", "cocoa-node")
# For each machine, the name of its clock in ``more.csv``, and the printed quotient of its peak and its clock.
_CLOCKS = ("", "COCOA server Pentium II Xeon", "COCOA nodes Pentium II")
_PER_CLOCK = (None, Printed.of("0.567"), Printed.of("0.563"))
# The rows of the table: the published metric and its unit.
_ROWS: Mapping[str, tuple[str, str]] = {
    "L1 data cache, KiB": ("l1d_size", "KiB"),
    "L2 cache, KiB": ("l2_size", "KiB"),
    "peak, MFLOP/s": ("peak_rate", "MFLOP/s"),
    "rate in L2, MFLOP/s": ("l2_rate", "MFLOP/s"),
    "rate in memory, MFLOP/s": ("memory_rate", "MFLOP/s"),
}
_CONCLUSIONS = "melmak peak in the conclusions"
# The number of the largest working sets from which the rate in memory is computed.
_LARGEST = 3
_NOTES = [
    "Here: the loop as the compiler makes it of plain C++ (build=plain), as in the study. Its vectorised form and the "
    "levels that it shows are in cpu_workset's tables.",
    "The study takes cache sizes for powers of two; here they are the measured effective sizes.",
    "Each column compares this machine with one of the study's. The document gives melmak's peak twice: 175 in its "
    "results and 170 in its conclusions.",
]
# The ends of the published lines on the x axis: the document's array of 10⁶ elements ends at 8 MB.
_FIRST_KIB, _LAST_KIB = 1.0, 8e6 / 1024


def workset_table(measured: StudyRun) -> StudyTable:
    """Return a table of cache sizes (KiB) and of the rate in each cache level and memory (MFLOP/s).

    There is one column for each of the study's machines. ``cpu_workset`` with ``build=plain`` measured the run's rates,
    and the run's cache sizes are derived from these rates. A value that the run lacks is None. ``measured`` must be a
    run of the plan "cse557-now", whose published values are shown; another plan raises KeyError.
    """
    rows = {
        name: [study_cell(_here(measured, metric, unit), _levels(measured.plan, machine).get(metric))
               for machine in _MACHINES]
        for name, (metric, unit) in _ROWS.items()
    }  # fmt: skip
    peak, clock = _here(measured, "peak_rate", "MFLOP/s"), clock_of(measured)
    conclusions = published_items(measured.plan, "text")[_CONCLUSIONS]
    rows["peak in the conclusions, MFLOP/s"] = [study_cell(peak, conclusions), study_cell(None), study_cell(None)]
    clocks = published_items(measured.plan, "clock")
    rows["clock, MHz"] = [study_cell(in_unit(clock.value, "MHz"), clocks.get(name)) for name in _CLOCKS]
    per_cycle = peak * FACTORS["MFLOP/s"] / clock.value if peak and clock.value else None
    rows["peak per clock, FLOP/cycle"] = [study_cell(per_cycle, printed) for printed in _PER_CLOCK]
    known = f"Per clock: with the {clock.source}." if clock.value else "Per clock: the system lists no clock."
    return StudyTable(title="Rate by working set", rows=list(rows), columns=[StudyColumn(name) for name in _MACHINES],
                      cells=list(rows.values()), notes=[*_NOTES, known])  # fmt: skip


def _levels(plan: str, machine: str) -> Mapping[str, Printed]:
    items: list[Published] = [p for p in published(plan) if (p.probe, p.table) == (_PROBE, machine)]
    return {p.metric: p.printed for p in items}


def _here(measured: StudyRun, metric: str, unit: str) -> float | None:
    if metric.endswith("_size"):
        result = measured.derived(_PROBE, metric)
        return in_unit(result[0].summary.value, unit) if result else None
    rates = [rate for _, rate in _within(measured, metric)]
    return (max(rates) if metric == "peak_rate" else median(rates)) if rates else None


def _within(measured: StudyRun, metric: str) -> list[tuple[float, float]]:
    """Return the points of the curve from which a rate is computed.

    For "l2_rate", their working sets are from 1.5 × the size of L1 to 0.75 × the size of L2. For "memory_rate" they are
    the three largest working sets, and for the peak all points.
    """
    points = _curve(measured)
    if metric == "l2_rate":
        ends = [measured.derived(_PROBE, name) for name in ("l1d_size", "l2_size")]
        first, second = (results_of_end[0].summary.value or 0.0 if results_of_end else 0.0 for results_of_end in ends)
        return [point for point in points if 1.5 * first <= point[0] <= 0.75 * second]
    return points[-_LARGEST:] if metric == "memory_rate" else points


def workset_chart(measured: StudyRun) -> StudyChart:
    """Return Figures 1 and 2 of the study as one chart: the rate in MFLOP/s against the working set in KiB.

    The chart has the run's curve and, for each of the study's machines, the published rate of each level. ``measured``
    must be a run of the plan "cse557-now"; another plan raises KeyError.
    """
    lines = [StudyLine("here", [(size / 1024, rate) for size, rate in _curve(measured)])]
    lines += [StudyLine(machine, _steps(_levels(measured.plan, machine)), is_published=True) for machine in _MACHINES]
    return StudyChart("Figures 1 and 2: rate against working set", StudyAxis("working set (KiB)", is_logarithmic=True),
                      StudyAxis("rate (MFLOP/s)", is_logarithmic=True), lines)  # fmt: skip


def _curve(measured: StudyRun) -> list[tuple[float, float]]:
    """Return the pairs of working set in bytes and rate in MFLOP/s of the compiled loop, ordered by working set."""
    results: list[Result] = [
        r for r in measured.results
        if r.summary.probe == _PROBE and r.summary.metric == "rate" and r.summary.value
        and r.summary.params.get("build") == "plain"
    ]  # fmt: skip
    points = {float(r.summary.params["size"]): in_unit(r.summary.value, "MFLOP/s") or 0.0 for r in results}
    return sorted(points.items())


def _steps(levels: Mapping[str, Printed]) -> list[tuple[float, float]]:
    """Return a line of the published rates by level: each rate applies to the working sets that its level can hold."""
    first, second = levels["l1d_size"].value, levels["l2_size"].value
    peak, in_l2, in_memory = (levels[name].value for name in ("peak_rate", "l2_rate", "memory_rate"))
    return [(_FIRST_KIB, peak), (first, peak), (first, in_l2), (second, in_l2), (second, in_memory),
            (_LAST_KIB, in_memory)]  # fmt: skip
