"""Find cache levels in the curves of a run, and compare them with the sizes from CPUID and from the system."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nameplate.probes import ByProbe, load_probes
from nameplate.probes.shared.derived import DerivedMetric, derived_result
from nameplate.probes.shared.translation import (
    LINE_BYTES,
    PAGE_BYTES,
    less_waiting,
    other_pages,
    waits_for,
    without_translation,
)
from nameplate.records.machine_record import CpuidCache, Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Rated, Result, Table
from nameplate.units import size_text

if TYPE_CHECKING:
    from nameplate.statistics.memory_levels import Curve, MemoryLevel

# Fewer sizes are not a curve. A curve with one line per page needs fewer sizes, since it only has to show a step.
MIN_SIZES, MIN_PAGES = 12, 6
# A listed size disagrees with the measurement if it is outside the measured interval by this factor.
TOLERANCE = 0.1
# The names of the cache levels, as many as plateaus.MAX_LEVELS allows besides memory.
_NAMES = ("l1d", "l2", "l3", "l4", "l5", "l6")


@dataclass(frozen=True)
class MeasuredLevel:
    """One level of the memory hierarchy with everything that was measured about it.

    - ``name``: l1d, l2 and so on up to memory; level1, level2 and so on if the levels could not be identified
    - ``level``: the plateau of the curve that determined the levels
    - ``latency``: the time of a dependent load in seconds; ``bandwidth``: the rate in B/s at which one thread reads;
      ``rate``: the rate of cpu_workset in FLOP/s. A value that was not measured is None
    - ``listed_bytes``: the size that the system lists; ``cpuid_bytes``: the size that CPUID reports; None without such
      a cache
    - ``remark``: a predicate whose subject is the level, such as "is limited by its capacity"; "" for none
    """

    name: str
    level: MemoryLevel
    latency: Quantity | None
    bandwidth: Quantity | None
    rate: Quantity | None
    listed_bytes: int | None
    cpuid_bytes: int | None
    remark: str

    @property
    def text(self) -> str:
        """Return the name that is shown: ``L1d``, or ``level1`` if the level is not identified, or ``memory``."""
        return self.name.capitalize() if self.name in _NAMES else self.name

    @property
    def size(self) -> Quantity | None:
        """Return the effective capacity in bytes with its 95 % interval; None for memory, whose end is not measured."""
        if self.level.size_bytes is None:
            return None
        return Quantity(self.level.size_bytes, "B", self.level.size_ci)


@dataclass(frozen=True)
class Levels:
    """The levels from the first cache to memory, ``levels``, and sentences on steps that are not levels, ``notes``."""

    levels: list[MeasuredLevel]
    notes: list[str]


def derived(probe: str, by_probe: ByProbe, machine: Machine) -> list[Result]:
    """Return the derived results of a probe's curve: a size, and a latency or a rate, for each level.

    ``probe`` is memory_latency, with results ``l1d_size`` (B) and ``l1d_latency`` (s) up to ``memory_latency``, or
    cpu_workset, with ``l1d_rate`` (FLOP/s) instead of the latency. The prefix is ``MeasuredLevel.name``. ``by_probe``
    has the measured results of a run by probe. The list is empty if the run has no curve of ``probe`` (see ``find``).
    If it has a curve of memory_latency, that curve determines the levels of both probes. A value that was not measured
    has no result.
    """
    curve = _measured_curve(probe, by_probe)
    if curve is None:
        return []
    measured_quantity: Literal["latency", "rate"] = "latency" if probe == "memory_latency" else "rate"
    better: Literal["higher", "lower"] = "lower" if measured_quantity == "latency" else "higher"
    rounds = min(len(values) for values in curve.values)
    results = []
    none = Rated(None, "it is not specified", can_be_given=False)
    for level in find(by_probe, machine):
        quantity = getattr(level, measured_quantity)
        if level.size is not None:
            size = DerivedMetric(probe, f"{level.name}_size", "higher")
            results.append(derived_result(size, level.size, rounds, _listed(level)))
        if quantity is not None:
            metric = DerivedMetric(probe, f"{level.name}_{measured_quantity}", better)
            results.append(derived_result(metric, quantity, rounds, none))
    return results


def table(probe: str, by_probe: ByProbe, machine: Machine) -> list[Table]:
    """Return a list with the table of all levels, or an empty list if ``probe`` is not the probe that shows it.

    The table belongs to the probe whose curve determined the levels (see ``find``): memory_latency, or cpu_workset if
    there is no curve of memory_latency. Without any curve the list is empty. ``by_probe`` has the measured results of a
    run by probe.
    """
    if probe != _leading(by_probe):
        return []
    levels = _find(by_probe, machine)
    measured_levels = levels.levels
    headings = [
        "level", "effective size", "interval", "listed size", "CPUID", "largest k × k", "latency", "bandwidth", "rate",
    ]  # fmt: skip
    notes = [f"{level.text} {level.remark}" for level in measured_levels if level.remark] + levels.notes
    listed, measured = len(_listed_levels(machine)), len(measured_levels) - 1
    if measured != listed:
        notes.append(f"{measured} cache level{'s were' if measured != 1 else ' was'} found; the system lists {listed}.")
    notes += _disagreements(measured_levels)
    if probe == "memory_latency":
        notes += other_pages(machine.memory.page_bytes) + _knees_of_the_rate(measured_levels, by_probe)
    title = f"Cache levels by {'latency' if probe == 'memory_latency' else 'rate against working set'}"
    return [Table(probe, title, headings, [_row(level) for level in measured_levels], notes)]


def find(by_probe: ByProbe, machine: Machine) -> list[MeasuredLevel]:
    """Return the levels from the first cache to memory; empty if the run has no curve of latency or rate.

    ``by_probe`` has the measured results of a run by probe. The curve is that of memory_latency with stride=64,
    chains=1, load=0 and pages=huge, or else that of cpu_workset with threads=1, build=vector and pages=huge. Fewer than
    ``MIN_SIZES`` sizes are not a curve.
    """
    return _find(by_probe, machine).levels


def _find(by_probe: ByProbe, machine: Machine) -> Levels:
    """Return the levels by latency if it was measured, otherwise by rate, with their values on the other curves."""
    from nameplate.statistics.memory_levels import bounded, find_levels, level_values  # noqa: PLC0415 (numpy takes a tenth of a second to import)

    leading = _leading(by_probe)
    curve = _measured_curve(leading, by_probe) if leading else None
    if curve is None:
        return Levels([], [])
    by_latency = leading == "memory_latency"
    walks_pages = by_latency and machine.memory.page_bytes == PAGE_BYTES
    pages = _latency_curve(by_probe, PAGE_BYTES, MIN_PAGES) if walks_pages else None
    pages = bounded(pages, rising=True) if pages else None
    waits = waits_for(curve, pages)
    measured_curve = less_waiting(curve, waits.in_lines) if waits.steps else curve
    levels, remarks, notes = without_translation(find_levels(measured_curve, rising=by_latency), pages, waits)
    other_curves = (
        (_latency_curve(by_probe), "s"),
        (_bandwidth_curve(by_probe), "B/s"),
        (_rate_curve(by_probe), "FLOP/s"),
    )
    columns = [
        [Quantity(level.value, unit, level.value_ci) for level in levels] if other == curve
        else _quantities(level_values(levels, other) if other else [None] * len(levels), unit)
        for other, unit in other_curves
    ]  # fmt: skip
    names = _names(levels, machine, by_latency)
    measured_levels = [
        MeasuredLevel(
            name, level, latency, bandwidth, rate, _listed_bytes(machine.topology.caches, name),
            _listed_bytes(machine.topology.cpuid_caches, name), remark,
        )
        for name, level, latency, bandwidth, rate, remark in zip(names, levels, *columns, remarks, strict=True)
    ]  # fmt: skip
    return Levels(measured_levels, notes)


def _names(levels: Sequence[MemoryLevel], machine: Machine, by_latency: bool) -> list[str]:
    """Return the name of each level. If a computing loop hides caches, the levels cannot be identified."""
    count = len(levels) - 1
    known = by_latency or count == len(_listed_levels(machine))
    return [*(_NAMES[i] if known else f"level{i + 1}" for i in range(count)), "memory"]


def _leading(by_probe: ByProbe) -> str:
    return next((probe for probe in ("memory_latency", "cpu_workset") if _measured_curve(probe, by_probe)), "")


def _quantities(values: Sequence[tuple[float, tuple[float, float]] | None], unit: str) -> list[Quantity | None]:
    return [Quantity(value[0], unit, value[1]) if value else None for value in values]


def _curve_of(by_probe: ByProbe, probe: str, params: Mapping[str, Value], min_sizes: int = MIN_SIZES) -> Curve | None:
    """Return the first metric of the probe's experiments with these parameters as a curve by size.

    The result is None for fewer than ``min_sizes`` sizes.
    """
    from nameplate.statistics.memory_levels import Curve  # noqa: PLC0415

    metric = load_probes()[probe].metrics[0].name
    by_size = {
        int(r.summary.params["size"]): r
        for r in by_probe.get(probe, ())
        if r.summary.metric == metric and r.round_values and "block" not in r.summary.params
        and all(r.summary.params.get(name) == value for name, value in params.items())
    }  # fmt: skip
    if len(by_size) < min_sizes:
        return None
    results = [by_size[size] for size in sorted(by_size)]
    best = [r.summary.best for r in results if r.summary.best]
    return Curve(
        tuple(sorted(by_size)),
        tuple(tuple(r.round_values) for r in results),
        tuple(best) if len(best) == len(results) else (),
    )


def _latency_curve(by_probe: ByProbe, stride: int = LINE_BYTES, min_sizes: int = MIN_SIZES) -> Curve | None:
    return _curve_of(by_probe, "memory_latency", {"stride": stride, "chains": 1, "load": 0, "pages": "huge"}, min_sizes)


def _rate_curve(by_probe: ByProbe) -> Curve | None:
    return _curve_of(by_probe, "cpu_workset", {"threads": 1, "build": "vector", "pages": "huge"})


def _bandwidth_curve(by_probe: ByProbe) -> Curve | None:
    """Return the read bandwidth of one thread by size. Few sizes are enough, since no levels are located in it."""
    return _curve_of(by_probe, "memory_stream", {"op": "read", "threads": 1, "pages": "huge"}, min_sizes=1)


def _measured_curve(probe: str, by_probe: ByProbe) -> Curve | None:
    return _latency_curve(by_probe) if probe == "memory_latency" else _rate_curve(by_probe)


def _listed_bytes(caches: Sequence[CpuidCache], name: str) -> int | None:
    if name not in _NAMES:
        return None
    level = _NAMES.index(name) + 1
    return next((c.size_bytes for c in caches if c.level == level and c.type != "instruction"), None)


def _listed_levels(machine: Machine) -> set[int]:
    return {c.level for c in machine.topology.caches if c.type != "instruction"}


def _listed(level: MeasuredLevel) -> Rated:
    if level.listed_bytes is None:
        return Rated(None, "the system lists no such cache", can_be_given=False)
    cpuid = f", CPUID {size_text(level.cpuid_bytes)}" if level.cpuid_bytes else ""
    source = f"listed by the system{cpuid}; a guest may have a smaller part"
    return Rated(float(level.listed_bytes), source, is_ceiling=False, can_be_given=False, kind="listed")


def _row(level: MeasuredLevel) -> list[str | Quantity | None]:
    size = level.size
    interval = f"{size_text(size.ci[0])} to {size_text(size.ci[1])}" if size and size.ci else None
    return [
        level.text,
        size_text(size.value) if size else None,
        interval,
        size_text(level.listed_bytes) if level.listed_bytes else None,
        size_text(level.cpuid_bytes) if level.cpuid_bytes else None,
        f"k = {math.isqrt(int(size.value) // 8)}" if size else None,
        level.latency,
        level.bandwidth,
        level.rate,
    ]


def _disagreements(levels: Sequence[MeasuredLevel]) -> list[str]:
    """Return a sentence for each measured size that differs from the size that the system or CPUID lists."""
    return [
        f"{measured.text}: the measured size is {measured.size.value / listed:.2g} × the {size_text(listed)} that "
        f"{source}."
        for measured in levels
        for source, listed in (("the system lists", measured.listed_bytes), ("CPUID reports", measured.cpuid_bytes))
        if measured.size and measured.size.ci and listed and not _within(listed, measured.size.ci)
    ]


def _knees_of_the_rate(levels: Sequence[MeasuredLevel], by_probe: ByProbe) -> list[str]:
    """Return a sentence for each size at which the rate falls although the latency does not rise."""
    from nameplate.statistics.memory_levels import find_levels  # noqa: PLC0415

    curve = _rate_curve(by_probe)
    if curve is None or len(curve.size_bytes) < MIN_SIZES:
        return []
    knees = [(level.size_bytes, level.size_ci) for level in find_levels(curve, rising=False)]
    sizes = [measured.level.size_ci for measured in levels if measured.level.size_ci]
    return [
        f"The rate falls from {size_text(knee)}, where the latency shows no end of a level."
        for knee, interval in knees
        if knee and interval and not any(interval[0] <= high and low <= interval[1] for low, high in sizes)
    ]


def _within(value: float, interval: tuple[float, float]) -> bool:
    return interval[0] * (1 - TOLERANCE) <= value <= interval[1] * (1 + TOLERANCE)
