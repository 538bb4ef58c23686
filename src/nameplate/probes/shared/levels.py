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

# Fewer sizes are a comparison, not a curve; a curve with one line per page only has to show a step.
MIN_SIZES, MIN_PAGES = 12, 6
# A listed size disagrees with the measurement if it is outside the measured interval by this factor.
TOLERANCE = 0.1
# Besides memory, as many as plateaus.MAX_LEVELS allows.
_NAMES = ("l1d", "l2", "l3", "l4", "l5", "l6")


@dataclass(frozen=True)
class MeasuredLevel:
    """One level of the memory hierarchy with everything that was measured about it.

    - ``name``: l1d, l2 and so on up to memory; level1, level2 and so on if the levels could not be identified
    - ``level``: the plateau of the curve that determined the levels
    - ``latency``: seconds of a dependent load; ``bandwidth``: B/s that one thread reads; ``rate``: FLOP/s of
      cpu_workset. A value that was not measured is None
    - ``listed_bytes`` and ``cpuid_bytes``: the size by the system and by CPUID; None if they list no such cache
    - ``remark``: a predicate whose subject is the level, such as "is limited by its capacity"; "" for none
    """

    name: str
    level: MemoryLevel
    latency: Quantity | None
    bandwidth: Quantity | None
    rate: Quantity | None
    listed_bytes: int | None  # by the system
    cpuid_bytes: int | None
    remark: str

    @property
    def shown(self) -> str:
        """Return the name that is shown: ``L1d``, or ``level1`` if it is not identified, or ``memory``."""
        return self.name.capitalize() if self.name in _NAMES else self.name

    @property
    def size(self) -> Quantity | None:
        """Return the effective capacity in bytes with its 95 % interval; None for memory."""
        if self.level.size_bytes is None:
            return None
        return Quantity(self.level.size_bytes, "B", self.level.size_ci)


@dataclass(frozen=True)
class Levels:
    """The levels from the first cache to memory, ``found``, and sentences on steps that are no levels, ``notes``."""

    found: list[MeasuredLevel]
    notes: list[str]


def derived(probe: str, by_probe: ByProbe, machine: Machine) -> list[Result]:
    """Return the derived results of a probe's curve: a size, and a latency or a rate, for each level.

    ``probe`` is memory_latency, whose results are ``l1d_size`` (B) and ``l1d_latency`` (s) up to ``memory_latency``, or
    cpu_workset, with ``l1d_rate`` (FLOP/s) instead; the prefixes are those of ``MeasuredLevel.name``. ``by_probe`` has
    the measured results of a run. Without a curve of the probe (see ``find``) the list is empty. A curve of
    memory_latency determines the levels of both probes. A value that was not measured has no result.
    """
    curve = _own_curve(probe, by_probe)
    if curve is None:
        return []
    what: Literal["latency", "rate"] = "latency" if probe == "memory_latency" else "rate"
    better: Literal["higher", "lower"] = "lower" if what == "latency" else "higher"
    rounds = min(len(values) for values in curve.values)
    results = []
    none = Rated(None, "it is not specified", can_be_given=False)
    for found in find(by_probe, machine):
        quantity = getattr(found, what)
        if found.size is not None:
            size = DerivedMetric(probe, f"{found.name}_size", "higher")
            results.append(derived_result(size, found.size, rounds, _listed(found)))
        if quantity is not None:
            metric = DerivedMetric(probe, f"{found.name}_{what}", better)
            results.append(derived_result(metric, quantity, rounds, none))
    return results


def table(probe: str, by_probe: ByProbe, machine: Machine) -> list[Table]:
    """Return a list with the table of all levels, or an empty list if the table belongs to the other probe.

    It belongs to the probe whose curve determined the levels (see ``find``): memory_latency, or cpu_workset if only
    that has a curve. Without a curve the list is empty. ``probe`` is the one that asks, and ``by_probe`` has the
    measured results of a run.
    """
    if probe != _leading(by_probe):
        return []
    levels = _find(by_probe, machine)
    found = levels.found
    headings = [
        "level", "effective size", "interval", "listed size", "CPUID", "largest k × k", "latency", "bandwidth", "rate",
    ]  # fmt: skip
    notes = [f"{each.shown} {each.remark}" for each in found if each.remark] + levels.notes
    notes += _number_of_levels(found, machine) + _disagreements(found)
    if probe == "memory_latency":
        notes += other_pages(machine.memory.page_bytes) + _knees_of_the_rate(found, by_probe)
    title = f"Cache levels by {'latency' if probe == 'memory_latency' else 'rate against working set'}"
    return [Table(probe, title, headings, [_row(each) for each in found], notes)]


def find(by_probe: ByProbe, machine: Machine) -> list[MeasuredLevel]:
    """Return the levels from the first cache to memory; empty if the run has no curve of latency or rate.

    ``by_probe`` has the measured results of a run by probe. The curve has at least ``MIN_SIZES`` sizes. It is that of
    memory_latency (stride=64, chains=1, load=0, pages=huge), or else that of cpu_workset (threads=1, build=vector,
    pages=huge).
    """
    return _find(by_probe, machine).found


def _find(by_probe: ByProbe, machine: Machine) -> Levels:
    """Return the levels by latency if there is such a curve, else by rate, with their values on the other curves."""
    from nameplate.statistics.memory_levels import bounded, find_levels, level_values  # noqa: PLC0415 (numpy takes a tenth of a second to import)

    leading = _leading(by_probe)
    curve = _own_curve(leading, by_probe) if leading else None
    if curve is None:
        return Levels([], [])
    by_latency = leading == "memory_latency"
    walks_pages = by_latency and machine.memory.page_bytes == PAGE_BYTES
    pages = _latency_curve(by_probe, PAGE_BYTES, MIN_PAGES) if walks_pages else None
    pages = bounded(pages, rising=True) if pages else None
    waits = waits_for(curve, pages)
    own = less_waiting(curve, waits.in_lines) if waits.steps else curve
    levels, remarks, notes = without_translation(find_levels(own, rising=by_latency), pages, waits)
    others = ((_latency_curve(by_probe), "s"), (_bandwidth_curve(by_probe), "B/s"), (_rate_curve(by_probe), "FLOP/s"))
    columns = [
        [Quantity(level.value, unit, level.value_ci) for level in levels] if other == curve
        else _quantities(level_values(levels, other) if other else [None] * len(levels), unit)
        for other, unit in others
    ]  # fmt: skip
    names = _names(levels, machine, by_latency)
    found = [
        MeasuredLevel(
            name, level, latency, bandwidth, rate, _listed_bytes(machine.topology.caches, name),
            _listed_bytes(machine.topology.cpuid_caches, name), remark,
        )
        for name, level, latency, bandwidth, rate, remark in zip(names, levels, *columns, remarks, strict=True)
    ]  # fmt: skip
    return Levels(found, notes)


def _names(levels: Sequence[MemoryLevel], machine: Machine, by_latency: bool) -> list[str]:
    """Return the levels' names. A computing loop may hide some caches, and then the levels cannot be identified."""
    count = len(levels) - 1
    known = by_latency or count == len(_listed_levels(machine))
    return [*(_NAMES[i] if known else f"level{i + 1}" for i in range(count)), "memory"]


def _leading(by_probe: ByProbe) -> str:
    return next((probe for probe in ("memory_latency", "cpu_workset") if _own_curve(probe, by_probe)), "")


def _quantities(values: Sequence[tuple[float, tuple[float, float]] | None], unit: str) -> list[Quantity | None]:
    return [Quantity(value[0], unit, value[1]) if value else None for value in values]


def _curve_of(by_probe: ByProbe, probe: str, params: Mapping[str, Value], min_sizes: int = MIN_SIZES) -> Curve | None:
    """Return the first metric of the experiments with these parameters, by size."""
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
    """Return the read bandwidth of one thread. Few sizes are enough, since no levels are searched for in it."""
    return _curve_of(by_probe, "memory_stream", {"op": "read", "threads": 1, "pages": "huge"}, min_sizes=1)


def _own_curve(probe: str, by_probe: ByProbe) -> Curve | None:
    return _latency_curve(by_probe) if probe == "memory_latency" else _rate_curve(by_probe)


def _listed_bytes(caches: Sequence[CpuidCache], name: str) -> int | None:
    if name not in _NAMES:
        return None
    level = _NAMES.index(name) + 1
    return next((c.size_bytes for c in caches if c.level == level and c.type != "instruction"), None)


def _listed_levels(machine: Machine) -> set[int]:
    return {c.level for c in machine.topology.caches if c.type != "instruction"}


def _listed(found: MeasuredLevel) -> Rated:
    if found.listed_bytes is None:
        return Rated(None, "the system lists no such cache", can_be_given=False)
    cpuid = f", CPUID {size_text(found.cpuid_bytes)}" if found.cpuid_bytes else ""
    source = f"listed by the system{cpuid}; a guest may have a smaller part"
    return Rated(float(found.listed_bytes), source, is_ceiling=False, can_be_given=False)


def _row(found: MeasuredLevel) -> list[str | Quantity | None]:
    size = found.size
    interval = f"{size_text(size.ci[0])} to {size_text(size.ci[1])}" if size and size.ci else None
    return [
        found.shown,
        size_text(size.value) if size else None,
        interval,
        size_text(found.listed_bytes) if found.listed_bytes else None,
        size_text(found.cpuid_bytes) if found.cpuid_bytes else None,
        f"k = {math.isqrt(int(size.value) // 8)}" if size else None,
        found.latency,
        found.bandwidth,
        found.rate,
    ]


def _number_of_levels(found: Sequence[MeasuredLevel], machine: Machine) -> list[str]:
    listed, measured = len(_listed_levels(machine)), len(found) - 1
    if measured == listed:
        return []
    return [f"{measured} cache level{'s were' if measured != 1 else ' was'} found; the system lists {listed}."]


def _disagreements(found: Sequence[MeasuredLevel]) -> list[str]:
    """Return the levels whose measured size differs from the listed one."""
    return [
        f"{each.shown}: the measured size is {each.size.value / listed:.2g} × the {size_text(listed)} that {what}."
        for each in found
        for what, listed in (("the system lists", each.listed_bytes), ("CPUID reports", each.cpuid_bytes))
        if each.size and each.size.ci and listed and not _within(listed, each.size.ci)
    ]


def _knees_of_the_rate(found: Sequence[MeasuredLevel], by_probe: ByProbe) -> list[str]:
    """Return where the rate falls although the latency does not rise."""
    from nameplate.statistics.memory_levels import find_levels  # noqa: PLC0415

    curve = _rate_curve(by_probe)
    if curve is None or len(curve.size_bytes) < MIN_SIZES:
        return []
    knees = [(level.size_bytes, level.size_ci) for level in find_levels(curve, rising=False)]
    sizes = [each.level.size_ci for each in found if each.level.size_ci]
    return [
        f"The rate falls from {size_text(knee)}, where the latency shows no end of a level."
        for knee, interval in knees
        if knee and interval and not any(_overlap(interval, other) for other in sizes)
    ]


def _within(value: float, interval: tuple[float, float]) -> bool:
    return interval[0] * (1 - TOLERANCE) <= value <= interval[1] * (1 + TOLERANCE)


def _overlap(one: tuple[float, float], two: tuple[float, float]) -> bool:
    return one[0] <= two[1] and two[0] <= one[1]
