"""Rates against the working set: the levels of each of the study's machines, and its Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from nameplate.records.result import Result
from nameplate.records.study_record import StudyAxis, StudyCell, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.studies._measured import StudyRun
from nameplate.studies._theory import clock_of
from nameplate.studies._units import FACTORS, in_unit
from nameplate.studies.published import Published, published, published_items

_PROBE = "cpu_workset"
_MACHINES = ("melmak", "cocoa-server", "cocoa-node")
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
# The ends of the published lines on the x axis, in bytes.
_FIRST_BYTES, _LAST_BYTES = 1024.0, 8e6


def workset_table(measured: StudyRun) -> StudyTable:
    """Return a table of cache sizes (KiB) and of the rate in each cache level and memory (MFLOP/s).

    There is one column for each of the study's machines. ``cpu_workset`` with ``build=plain`` measured the run's rates,
    and the run's cache sizes are derived from these rates. A value that the run lacks is None. ``measured`` must be a
    run of the plan "cse557-now", whose published values are shown; another plan raises KeyError.
    """
    rows = {
        name: [StudyCell(_here(measured, metric, unit), _levels(measured.plan, machine).get(metric))
               for machine in _MACHINES]
        for name, (metric, unit) in _ROWS.items()
    }  # fmt: skip
    peak, clock = _here(measured, "peak_rate", "MFLOP/s"), clock_of(measured)
    conclusions = published_items(measured.plan, "text")[_CONCLUSIONS]
    rows["peak in the conclusions, MFLOP/s"] = [StudyCell(peak, conclusions), StudyCell(), StudyCell()]
    per_cycle = peak * FACTORS["MFLOP/s"] / clock.value if peak and clock.value else None
    rows["peak per clock, FLOP/cycle"] = [StudyCell(per_cycle) for _ in _MACHINES]
    known = f"Per clock: with the {clock.source}." if clock.value else "Per clock: the system lists no clock."
    return StudyTable(title="Rate by working set", rows=list(rows), columns=[StudyColumn(name) for name in _MACHINES],
                      cells=list(rows.values()), notes=[*_NOTES, known])  # fmt: skip


def _levels(plan: str, machine: str) -> Mapping[str, float]:
    items: list[Published] = [p for p in published(plan) if (p.probe, p.table) == (_PROBE, machine)]
    return {p.metric: p.value for p in items}


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
    """Return Figures 1 and 2 of the study as one chart: the rate in MFLOP/s against the working set in bytes.

    The chart has the run's curve and, for each of the study's machines, the published rate of each level. ``measured``
    must be a run of the plan "cse557-now"; another plan raises KeyError.
    """
    lines = [StudyLine("here", _curve(measured))]
    lines += [StudyLine(machine, _steps(_levels(measured.plan, machine)), is_published=True) for machine in _MACHINES]
    return StudyChart("Figures 1 and 2: rate against working set", StudyAxis("working set (B)", is_logarithmic=True),
                      StudyAxis("rate (MFLOP/s)"), lines)  # fmt: skip


def _curve(measured: StudyRun) -> list[tuple[float, float]]:
    """Return the pairs of working set in bytes and rate in MFLOP/s of the compiled loop, ordered by working set."""
    results: list[Result] = [
        r for r in measured.results
        if r.summary.probe == _PROBE and r.summary.metric == "rate" and r.summary.value
        and r.summary.params.get("build") == "plain"
    ]  # fmt: skip
    points = {float(r.summary.params["size"]): in_unit(r.summary.value, "MFLOP/s") or 0.0 for r in results}
    return sorted(points.items())


def _steps(levels: Mapping[str, float]) -> list[tuple[float, float]]:
    """Return a line of the published rates by level: each rate applies to the working sets that its level can hold."""
    first, second = levels["l1d_size"] * 1024, levels["l2_size"] * 1024
    return [
        (_FIRST_BYTES, levels["peak_rate"]), (first, levels["peak_rate"]), (first, levels["l2_rate"]),
        (second, levels["l2_rate"]), (second, levels["memory_rate"]), (_LAST_BYTES, levels["memory_rate"]),
    ]  # fmt: skip
