"""What bounds a loop on this machine: peak rates and bandwidths as measured, and where the two meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nameplate.probes import Cell
from nameplate.probes.shared.levels import find
from nameplate.probes.shared.memory import is_beyond_caches
from nameplate.records.model import Quantity, Report, Result
from nameplate.report.cells import is_derived
from nameplate.report.format import count, digits, parameters
from nameplate.report.repeat_commands import repeat_command, sweep_command

# The first that was measured is drawn: loops compute in it unless they say otherwise.
_PRECISIONS = ("fp64", "fp32", "bf16")


@dataclass(frozen=True)
class Bound:
    """A peak rate in FLOP/s or a bandwidth in B/s, of one thread or of many, and where it comes from."""

    name: str
    threads: int
    quantity: Quantity
    source: str
    command: str

    @property
    def is_of_one_core(self) -> bool:
        """What one core does is bounded by what one core gets, what all do by what all get."""
        return self.threads == 1

    @property
    def label(self) -> str:
        """``fp64, 2 threads``."""
        return f"{self.name}, {count(self.threads, 'thread')}"


@dataclass(frozen=True)
class Roofline:
    """The bounds of one machine: ``peaks`` are horizontal, ``slopes`` rise with the arithmetic intensity."""

    peaks: list[Bound]
    slopes: list[Bound]

    def peak_over(self, slope: Bound) -> Bound | None:
        """The peak of as many cores."""
        return next((peak for peak in self.peaks if peak.is_of_one_core == slope.is_of_one_core), None)

    def ridge(self, slope: Bound) -> float | None:
        """In FLOP/byte, where a slope meets the peak of as many cores; None where that was not measured."""
        peak = self.peak_over(slope)
        return peak.quantity.value / slope.quantity.value if peak else None


def roofline(report: Report) -> Roofline | None:
    """From a run that measured at least one peak and one bandwidth."""
    peaks = _peaks(report.results)
    slopes = _slopes(report) if peaks else []
    return Roofline(peaks, slopes) if slopes else None


def meaning(roofs: Roofline) -> str:
    """What the chart says of loops on this machine."""
    ridges = [(slope, roofs.ridge(slope)) for slope in roofs.slopes if slope.name == "memory"]
    words = [
        f"from {digits(ridge)} FLOP/byte on with {count(slope.threads, 'thread')}" for slope, ridge in ridges if ridge
    ]
    here = f" On this machine it limits a loop over data in memory {', '.join(words)}." if words else ""
    return (
        "A loop's place on the x axis is the number of floating-point operations that it does for "
        "each byte that it reads or writes; a triad does 2 for 24 bytes, 1/12. The most that it can reach is the lower "
        "of two lines above that place: the slope of the level that holds its data, and the horizontal peak rate. Left "
        "of the mark where they meet it waits for data, and fewer bytes make it faster; right of it, arithmetic limits "
        f"it.{here}"
    )


def _peaks(results: Iterable[Result]) -> list[Bound]:
    rates = [r for r in results if r.summary.probe == "cpu_flops" and r.summary.metric == "rate" and _is_usable(r)]
    for precision in _PRECISIONS:
        if own := [r for r in rates if r.summary.params.get("precision") == precision]:
            return [_bound(precision, best) for best in _best_by_cores(own)]
    return []


def _slopes(report: Report) -> list[Bound]:
    """Of each cache, for one core, and of the memory."""
    streams = [r for r in report.results if r.summary.probe == "memory_stream" and r.summary.metric == "bandwidth"]
    measured = [r for r in streams if _is_usable(r)]
    beyond = [r for r in measured if is_beyond_caches(Cell(r.summary.params, r.facts, report.machine))]
    caches = _of_levels(report, measured)
    memory = [_bound("memory", best) for best in _best_by_cores(beyond)]
    has_own = any(bound.is_of_one_core for bound in memory)
    return [bound for bound in caches if bound.name != "memory" or not has_own] + memory


def _of_levels(report: Report, streams: Sequence[Result]) -> list[Bound]:
    """What one core reads from each level, as the table of the levels gives it."""
    by_probe: dict[str, list[Result]] = {}
    for result in report.results:
        if not is_derived(result):
            by_probe.setdefault(result.summary.probe, []).append(result)
    read = [r for r in streams if _is_of(r.summary.params, op="read", threads=1) and "block" not in r.summary.params]
    sizes = len({result.summary.params["size"] for result in read})
    source = f"table of the cache levels: memory_stream op=read threads=1, {count(sizes, 'size')}, by level"
    return [
        Bound(level.shown, 1, level.bandwidth, source, sweep_command(read, "size"))
        for level in (find(by_probe, report.machine) if read else [])
        if level.bandwidth is not None
    ]


def _is_of(params: Mapping[str, object], **wanted: object) -> bool:
    return all(params.get(name) == value for name, value in wanted.items())


def _is_usable(result: Result) -> bool:
    """With workers that take turns the system's scheduler is measured."""
    return bool(result.summary.value) and not result.oversubscribed


def _best_by_cores(results: Sequence[Result]) -> list[Result]:
    """The best of one thread, and the best of more."""
    one = [result for result in results if _threads(result) == 1]
    more = [result for result in results if _threads(result) > 1]
    return [max(own, key=lambda result: result.summary.value or 0.0) for own in (one, more) if own]


def _threads(result: Result) -> int:
    return int(result.summary.params.get("threads", 1))


def _bound(name: str, result: Result) -> Bound:
    row = result.summary
    value = Quantity(row.value or 0.0, row.unit, row.ci)
    source = f"{row.probe} {parameters(row.params)}"
    return Bound(name, _threads(result), value, source, repeat_command(result))
