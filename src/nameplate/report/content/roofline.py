"""Compute the roofline of a machine: measured peak rates, measured bandwidths, and the points where they meet.

Source: Williams, Waterman and Patterson, "Roofline", Communications of the ACM 52(4), 2009.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nameplate.probes import ResolvedExperiment
from nameplate.probes.shared.levels import MeasuredLevel, find
from nameplate.probes.shared.memory import is_beyond_caches
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity, Report, Result
from nameplate.report.content.experiments import by_probe, is_derived
from nameplate.report.content.format import count, digits, parameters
from nameplate.report.content.repeat_commands import repeat_command, sweep_command
from nameplate.results.cpu_time import why_slowed
from nameplate.units import size_text

# The first of these precisions that was measured is drawn: most loops compute in double precision.
_PRECISIONS = ("fp64", "fp32", "bf16")
# In FLOP/byte: a triad does 2 operations for 24 bytes, and the loop of cpu_workset 28 for 64.
_TRIAD, _WORKSET = 2 / 24, 28 / 64


@dataclass(frozen=True)
class Bound:
    """A measured peak rate in FLOP/s or bandwidth in B/s that limits the attainable rate.

    ``name`` is the precision of a peak ("fp64", "fp32" or "bf16"), or the level of a bandwidth ("memory" or a cache
    such as "L1d"). ``quantity`` is the rate in "FLOP/s" or "B/s" with its 95 % interval, and ``threads`` the number of
    threads with which it was measured. ``source`` describes the measurement for a reader (probe and parameters), and
    ``command`` is the shell command that repeats the measurement.
    """

    name: str
    threads: int
    quantity: Quantity
    source: str
    command: str

    @property
    def is_of_one_core(self) -> bool:
        """Return whether the bound was measured with one thread, so that it limits a loop on one core."""
        return self.threads == 1

    @property
    def label(self) -> str:
        """Return the name with the number of threads, such as ``fp64, 2 threads``."""
        return f"{self.name}, {count(self.threads, 'thread')}"


@dataclass(frozen=True)
class Kernel:
    """A measured loop of known arithmetic intensity, as a point of the roofline.

    ``name`` is, for example, "triad, 2 threads", and ``threads`` the number of threads that ran the loop. ``intensity``
    is in FLOP/byte, without the reads that a store causes (write-allocate). ``quantity`` is the rate in FLOP/s with its
    95 % interval. ``command`` is the shell command that repeats the measurement.
    """

    name: str
    threads: int
    intensity: float
    quantity: Quantity
    command: str


@dataclass(frozen=True)
class Roofline:
    """The bounds of one machine: ``peaks`` are horizontal, ``slopes`` rise with the arithmetic intensity.

    Both lists must have at least one bound, which the constructor does not check. All peaks have the same precision:
    one was measured with a single thread, one with several threads, or both, in this order. ``slopes`` has the caches
    first, then memory. ``kernels`` are measured loops and may be empty.
    """

    peaks: list[Bound]
    slopes: list[Bound]
    kernels: list[Kernel] = field(default_factory=list)

    def by_cores(self) -> list[Roofline]:
        """Return two rooflines, for one core and for several cores, or a list of only this roofline.

        The roofline is not split if either part would have no peak or no slopes.
        """
        parts = [
            Roofline(
                [peak for peak in self.peaks if peak.is_of_one_core == is_one],
                [slope for slope in self.slopes if slope.is_of_one_core == is_one],
                [kernel for kernel in self.kernels if (kernel.threads == 1) == is_one],
            )
            for is_one in (True, False)
        ]
        return parts if all(part.peaks and part.slopes for part in parts) else [self]

    def peak_over(self, slope: Bound) -> Bound | None:
        """Return the peak rate that bounds ``slope`` from above, or None if no such peak was measured.

        The peak of one thread bounds a slope of one thread. The peak of several threads bounds a slope of several
        threads, even if their numbers of threads differ.
        """
        return next((peak for peak in self.peaks if peak.is_of_one_core == slope.is_of_one_core), None)

    def ridge(self, slope: Bound) -> float | None:
        """Return the arithmetic intensity in FLOP/byte at which ``slope`` meets the peak rate ``peak_over(slope)``.

        The result is None if there is no such peak.
        """
        peak = self.peak_over(slope)
        return peak.quantity.value / slope.quantity.value if peak else None


def roofline(report: Report) -> Roofline | None:
    """Return the roofline of a run, or None if it lacks a usable peak rate, a usable bandwidth or a machine record.

    A run that a quota or other programs slowed down has none either: its best values are no limits of the machine.
    Peaks are the best rates of cpu_flops with one thread and with several threads, in fp64 or, if it was not measured,
    fp32 or bf16. Slopes are the read bandwidths of each cache level with one thread and with several threads, and the
    best bandwidths of memory_stream on regions far larger than the caches. Kernels are the triad of memory_stream on
    such a region, and the loop of cpu_workset on its smallest and its largest working set. A result without a value or
    with more threads than CPUs is not usable.
    """
    peaks = [] if why_slowed(report) else _peaks(report.results)
    slopes = _slopes(report) if peaks else []
    return Roofline(peaks, slopes, _kernels(report)) if slopes else None


def meaning(roofs: Roofline, is_repeated: bool = False) -> str:
    """Return the text that explains the chart of a roofline, with the ridge points of memory in FLOP/byte.

    If ``roofs`` has no ridge point of memory, the text has no sentence about this machine. ``is_repeated`` says that an
    earlier chart has the explanation of the axes, which is then left out.
    """
    ridges = [(slope, roofs.ridge(slope)) for slope in roofs.slopes if slope.name == "memory"]
    sentences = [
        f"from {digits(ridge)} FLOP/byte with {count(slope.threads, 'thread')}" for slope, ridge in ridges if ridge
    ]
    here = (
        f" On this machine, arithmetic limits a loop over data in memory {', '.join(sentences)}." if sentences else ""
    )
    if is_repeated:
        return f"The same for several cores at once, on the same axes.{here}"
    return (
        "The x axis is the number of floating-point operations that a loop does for each byte that it reads or "
        "writes; a triad does 2 per 24 bytes, 1/12. The rate that the loop can reach is the lower of two lines at "
        "that place: the slope of the level that holds its data, and the horizontal peak rate. Left of the point "
        "where they meet, the loop waits for data, and moving fewer bytes makes it faster; right of it, arithmetic "
        f"limits it.{here}"
    )


def _peaks(results: Iterable[Result]) -> list[Bound]:
    rates = [r for r in results if r.summary.probe == "cpu_flops" and r.summary.metric == "rate" and _is_usable(r)]
    for precision in _PRECISIONS:
        if rates_of_precision := [r for r in rates if r.summary.params.get("precision") == precision]:
            return [_bound(precision, best) for best in _best_by_cores(rates_of_precision)]
    return []


def _slopes(report: Report) -> list[Bound]:
    """Return the bandwidths of each cache level, for one core and for several, and of memory."""
    reads = [r for r in _streams(report)
             if r.summary.params.get("op") == "read" and "block" not in r.summary.params]  # fmt: skip
    measured = by_probe(result for result in report.results if not is_derived(result))
    levels = find(measured, report.machine) if report.machine else []
    caches = _of_levels(levels, [result for result in reads if _threads(result) == 1])
    memory = [_bound("memory", best) for best in _best_by_cores(_beyond_caches(report))]
    has_bound_of_one_core = any(bound.is_of_one_core for bound in memory)
    one = [bound for bound in caches if bound.name != "memory" or not has_bound_of_one_core]
    several = _of_shared_levels(report.machine, levels, [result for result in reads if _threads(result) > 1])
    return [*one, *several, *memory]


def _kernels(report: Report) -> list[Kernel]:
    triads = [r for r in _beyond_caches(report) if r.summary.params.get("op") == "triad"]
    loops = [r for r in report.results
             if r.summary.probe == "cpu_workset" and r.summary.metric == "rate" and _is_usable(r)]  # fmt: skip
    by_size = sorted(loops, key=lambda result: int(result.summary.params["size"]))
    kernels = [_kernel(f"triad, {count(_threads(r), 'thread')}", _TRIAD, r, _TRIAD) for r in _best_by_cores(triads)]
    for loop in by_size if len(by_size) < 2 else (by_size[0], by_size[-1]):
        kernels.append(_kernel(f"cpu_workset, {size_text(int(loop.summary.params['size']))}", _WORKSET, loop))
    return kernels


def _kernel(name: str, intensity: float, result: Result, times: float = 1.0) -> Kernel:
    """Return a kernel whose rate in FLOP/s is the result's value multiplied by ``times``.

    ``times`` is 1 if the value is a rate in FLOP/s, and the intensity in FLOP/byte if the value is a bandwidth in B/s.
    """
    row = result.summary
    interval = (row.ci[0] * times, row.ci[1] * times) if row.ci else None
    rate = Quantity((row.value or 0.0) * times, "FLOP/s", interval)
    return Kernel(name, _threads(result), intensity, rate, repeat_command(result))


def _of_shared_levels(machine: Machine | None, levels: Sequence[MeasuredLevel], reads: Sequence[Result]) -> list[Bound]:
    """Return the bandwidth that the largest number of threads in ``reads`` reads from each cache level."""
    most = max(map(_threads, reads), default=0)
    by_level: dict[str, Result] = {}
    # Of the arrays of a level, the largest one counts, since the smaller cache before this level holds least of it.
    for result in sorted(reads, key=lambda result: int(result.summary.params["size"])):
        level = _level_of(result, levels, machine) if machine and _threads(result) == most else None
        if level:
            by_level[level.text] = result
    return [_bound(level.text, by_level[level.text]) for level in levels if level.text in by_level]


def _level_of(result: Result, levels: Sequence[MeasuredLevel], machine: Machine) -> MeasuredLevel | None:
    """Return the first cache level that holds the array of a result, or None if no level does.

    Each cache of a level that the threads use holds an equal part of the array. A level that the system does not list
    is assumed to be one cache that all threads share.
    """
    size, threads = int(result.summary.params["size"]), _threads(result)
    for number, level in enumerate(levels, start=1):
        n_caches = sum(c.count for c in machine.topology.caches if c.level == number and c.type != "instruction")
        if level.size and size / min(threads, max(1, n_caches)) <= level.size.value:
            return level
    return None


def _of_levels(levels: Sequence[MeasuredLevel], reads: Sequence[Result]) -> list[Bound]:
    """Return the bandwidth that one core reads from each level, as shown in the table of cache levels.

    ``reads`` were measured with one thread.
    """
    sizes = len({result.summary.params["size"] for result in reads})
    source = f"table of the cache levels: memory_stream op=read threads=1, {count(sizes, 'size')}, by level"
    return [
        Bound(level.text, 1, level.bandwidth, source, sweep_command(reads, "size"))
        for level in levels
        if reads and level.bandwidth is not None
    ]


def _streams(report: Report) -> list[Result]:
    """Return the usable bandwidths of memory_stream."""
    return [r for r in report.results
            if r.summary.probe == "memory_stream" and r.summary.metric == "bandwidth" and _is_usable(r)]  # fmt: skip


def _beyond_caches(report: Report) -> list[Result]:
    """Return the bandwidths of regions that are far larger than the caches."""
    machine = report.machine
    return [r for r in _streams(report)
            if machine and is_beyond_caches(ResolvedExperiment(r.summary.params, r.facts, machine))]  # fmt: skip


def _is_usable(result: Result) -> bool:
    """Return whether a result has a value and a CPU for each worker; otherwise it measures the scheduler."""
    return bool(result.summary.value) and not result.oversubscribed


def _best_by_cores(results: Sequence[Result]) -> list[Result]:
    """Return the best result of one thread and the best of several threads."""
    one = [result for result in results if _threads(result) == 1]
    more = [result for result in results if _threads(result) > 1]
    return [max(group, key=lambda result: result.summary.value or 0.0) for group in (one, more) if group]


def _threads(result: Result) -> int:
    return int(result.summary.params.get("threads", 1))


def _bound(name: str, result: Result) -> Bound:
    row = result.summary
    value = Quantity(row.value or 0.0, row.unit, row.ci)
    source = f"{row.probe} {parameters(row.params)}"
    return Bound(name, _threads(result), value, source, repeat_command(result))
