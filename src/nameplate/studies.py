"""A run of a plan that reproduces a published study: its tables with the published figures beside the new ones.

A pure function of a run's results. Rows and columns are the study's, figures stand in its units; the ratio is the new
figure over the published one in the corrected unit, whichever direction is better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nameplate.model import Beside, Quantity, Reference, Result, Table, Value
from nameplate.published import Published, published
from nameplate.rated import memory_bandwidth, textbook_clock
from nameplate.units import size_text

# A table of a study belongs to no single probe.
STUDY = ""
LARGEST_DATAGRAM = 65507
_UNITS = {
    "MB/s": 1e6, "MiB/s": 2**20, "GB/s": 1e9, "kB/s": 1e3, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8, "ms": 1e-3, "us": 1e-6,
    "ns": 1e-9, "s": 1.0, "Gop/s": 1e9, "GFLOP/s": 1e9, "MFLOP/s": 1e6, "KiB": 1024.0, "bytes": 1.0, "us/byte": 1e-6,
}  # fmt: skip
# Operations in a cycle of each study's theoretical peak: its result over its clock and cores, where it states them.
_PER_CYCLE = {"t2micro-cloud": 8, "t2micro-posix": 4, "cs553-kvm": 4}
_THEORY = "-theory"
_SERIES = "-series"


class Place(NamedTuple):
    """Where a printed figure is found among our results: which number of which metric of which cell."""

    probe: str
    params: Mapping[str, Value]
    metric: str
    take: Callable[[Result], float | None]


def _value(result: Result) -> float | None:
    return result.summary.value


def _mean(result: Result) -> float | None:
    return result.summary.mean


def _best(result: Result) -> float | None:
    return result.summary.best


_TAKES: Mapping[str, Callable[[Result], float | None]] = {"_mean": _mean, "_best": _best}


def _taken(metric: str) -> tuple[str, Callable[[Result], float | None]]:
    for ending, take in _TAKES.items():
        if metric.endswith(ending):
            return metric.removesuffix(ending), take
    return metric, _value


def _present(**params: Value | None) -> dict[str, Value]:
    return {name: value for name, value in params.items() if value not in (None, "")}


def _block(figure: Published) -> dict[str, Value]:
    return _present(op=figure.op, pattern=figure.pattern, block=figure.block_bytes, threads=figure.threads)


def _payload(figure: Published) -> dict[str, Value]:
    """A datagram holds less than what was printed."""
    most = LARGEST_DATAGRAM if figure.protocol == "udp" else figure.block_bytes
    payload = None if figure.block_bytes is None else min(figure.block_bytes, most or 0)
    return _present(protocol=figure.protocol, payload=payload, connections=figure.threads)


def _iozone(figure: Published) -> dict[str, Value]:
    return {**_block(figure), "op": "write" if figure.op == "rewrite" else figure.op, "pass": "again"}


# By what a figure was measured with: our probe, and the parameters that do the same.
_PLACES: Mapping[str, tuple[str, Callable[[Published], dict[str, Value]]]] = {
    "cpu_flops": ("cpu_flops", lambda f: _present(mix=f.op, threads=f.threads)),
    "cpu_intops": ("cpu_intops", lambda f: _present(mix=f.op, threads=f.threads)),
    "cpu_workset": ("cpu_workset", lambda _: {}),
    "memory_block": ("memory_block", _block),
    "disk_block": ("disk_block", _block),
    "net_pingpong": ("net_pingpong", _payload),
    "mpi_pingpong": ("mpi_pingpong", lambda _: {}),
    "mpi_stream": ("mpi_stream", lambda f: _present(op=f.op)),
    "linpack": ("cpu_linpack", lambda f: {"n": int(f.op.removeprefix("n=")), **_present(threads=f.threads)}),
    "stream": ("memory_stream", lambda f: _present(op=f.op, threads=f.threads)),
    "iozone": ("disk_block", _iozone),
    "iperf3": ("net_stream", lambda f: _present(protocol=f.protocol, connections=f.threads)),
}


def place_of(figure: Published) -> Place:
    """Of a figure that one of our cells measures."""
    probe, params = _PLACES[figure.probe]
    metric, take = _taken(figure.metric)
    return Place(probe, params(figure), metric, take)


def study_of(
    plan: str, results: Sequence[Result], series: frozenset[str], machine: Mapping[str, Any]
) -> tuple[list[Table], list[Beside]]:
    """The study's tables and figures; none for any other plan. ``series``: which of the experiments are long series."""
    finder = _Finder(results, series)
    tables = _grouped(published(plan), lambda figure: figure.table)
    measured = {name: own for name, own in tables.items() if not name.endswith(_THEORY)}
    theories = [figure for name, own in tables.items() if name.endswith(_THEORY) for figure in own]
    shown = [_table(plan, name, own, finder) for name, own in measured.items()]
    drawn = [each for name, own in measured.items() for each in _drawn(name, own, finder)]
    return [*shown, *([_theory(plan, theories, finder, machine)] if theories and machine else [])], drawn


def reference_table(figures: Sequence[Reference]) -> Table:
    """What other tools themselves said on this machine."""
    rows: list[list[str | Quantity | None]] = [
        [
            f"{each.tool} {each.version}".strip(), each.work, each.metric,
            Quantity(each.value, each.unit) if each.value is not None else each.reason, each.command,
        ]
        for each in figures
    ]  # fmt: skip
    notes = ["one run of each, before the first round; in turns with nameplate, with intervals: nameplate versus"]
    return Table(STUDY, "Reference tools on this machine", ["", "work", "figure", "", "command"], rows, notes)


def _grouped(figures: Iterable[Published], key: Callable[[Published], str]) -> dict[str, list[Published]]:
    groups: dict[str, list[Published]] = {}
    for figure in figures:
        groups.setdefault(key(figure), []).append(figure)
    return groups


def _drawn(name: str, figures: Sequence[Published], finder: _Finder) -> Iterator[Beside]:
    """A figure for each unit of a metric: what cannot be told the unit of has none."""
    known = [figure for figure in figures if figure.corrected_unit]
    for words, own in _grouped(known, lambda f: f"{f.probe} {f.metric} in {f.corrected_unit}").items():
        unit = own[0].corrected_unit
        rows = [(_row_name(figure) or figure.metric, _in(finder.value(figure), unit), figure.value) for figure in own]
        if len(rows) > 1:
            yield Beside(f"{name.replace('-', ' ')}: {words}", unit, rows)


def _in(value: float | None, unit: str) -> float | None:
    return None if value is None else value / _UNITS[unit]


class _Finder:
    """Our figures by what they are of."""

    def __init__(self, results: Sequence[Result], series: frozenset[str]) -> None:
        self._cells = [result for result in results if result.id not in series]
        self._series = [result for result in results if result.id in series]

    def value(self, figure: Published) -> float | None:
        """In SI units; None where nothing of the kind was measured."""
        place = place_of(figure)
        special = _SPECIAL.get(figure.probe)
        if special is not None:
            return special(figure, self._cells)
        own = self._series if figure.table.endswith(_SERIES) else self._cells
        found = next(_matching(own, place), None)
        return place.take(found) if found else None

    def best(self, probe: str) -> Result | None:
        """The highest of a probe's rates."""
        own = [r for r in self._cells if r.summary.probe == probe and r.summary.value is not None]
        rates = [r for r in own if r.summary.metric in ("rate", "bandwidth") and r.summary.stop != "derived"]
        return max(rates, key=lambda r: r.summary.value or 0.0, default=None)


def _matching(results: Sequence[Result], place: Place) -> Iterator[Result]:
    for result in results:
        row = result.summary
        is_kind = row.probe == place.probe and row.metric == place.metric and row.value is not None
        if is_kind and all(row.params.get(name) == value for name, value in place.params.items()):
            yield result


def _workset(figure: Published, results: Sequence[Result]) -> float | None:
    """A level's size and rate are derived from the whole curve; its peak is the curve's highest point."""
    own = [r for r in results if r.summary.probe == "cpu_workset" and r.summary.value is not None]
    if figure.metric == "peak_rate":
        return max((r.summary.value or 0.0 for r in own if r.summary.metric == "rate"), default=None)
    return next((r.summary.value for r in own if r.summary.metric == figure.metric), None)


def _message(figure: Published, results: Sequence[Result]) -> float | None:
    """Of the line below the break, or of the last one; a bandwidth is what a byte costs, turned over."""
    metric = "incremental_cost" if figure.metric == "bandwidth" else figure.metric
    own = [r for r in results if r.summary.probe == "mpi_pingpong" and r.summary.metric == metric]
    derived = [r.summary.value for r in own if r.summary.stop == "derived" and r.summary.value]
    if not derived:
        return None
    value = derived[-1 if figure.table.startswith("from-") else 0]
    return 1 / value if figure.metric == "bandwidth" else value


def _ranks(figure: Published, results: Sequence[Result]) -> float | None:
    """Average, best and worst of each rank's, or of each node's by its slowest rank."""
    level = "rank" if figure.table == "rank" else "longest"
    which = {"avg": "average", "max": "best", "min": "worst"}
    what, _, ending = figure.metric.partition("_")
    # The longest time is the worst, the highest bandwidth the best.
    times = {"avg": "average", "min": "best", "max": "worst"}
    name = f"{level}_{times[ending]}_s" if what == "time" else f"{level}_{which[ending]}"
    own = (r for r in results if r.summary.probe == "mpi_stream" and r.summary.params.get("op") == figure.op)
    return next((r.evidence[name] for r in own if name in r.evidence), None)


_SPECIAL: Mapping[str, Callable[[Published, Sequence[Result]], float | None]] = {
    "cpu_workset": _workset,
    "mpi_pingpong": _message,
    "mpi_stream": _ranks,
}


def _table(plan: str, name: str, figures: Sequence[Published], finder: _Finder) -> Table:
    columns = list(dict.fromkeys((figure.probe, figure.metric) for figure in figures))
    several = len({probe for probe, _ in columns}) > 1
    rows = {
        row: {(figure.probe, figure.metric): figure for figure in own}
        for row, own in _grouped(figures, _row_name).items()
    }
    headings = [""]
    for probe, metric in columns:
        words = f"{probe} {metric}" if several else metric
        headings += [f"{words} here", "published", "ratio"]
    body: list[list[Any]] = [
        [row, *(cell for column in columns for cell in _cells(own.get(column), finder))] for row, own in rows.items()
    ]
    notes = ["ratio: here over published, in the corrected unit", *dict.fromkeys(f.note for f in figures if f.note)]
    return Table(STUDY, f"{plan}: {name.replace('-', ' ')}", headings, body, notes)


def _row_name(figure: Published) -> str:
    parts = [figure.op, figure.pattern, figure.protocol]
    if figure.block_bytes is not None:
        parts.append(size_text(figure.block_bytes) if figure.block_bytes >= 1024 else f"{figure.block_bytes} B")
    words = " ".join(part for part in parts if part)
    threads = f"{figure.threads} thread{'s' if figure.threads != 1 else ''}" if figure.threads else ""
    return ", ".join(part for part in (words, threads) if part)


def _cells(figure: Published | None, finder: _Finder) -> list[str | None]:
    """Ours in the study's corrected unit, theirs with the unit that it printed, and the ratio."""
    if figure is None:
        return [None, None, None]
    unit = figure.corrected_unit or figure.unit
    printed = f"{_digits(figure.value)} {unit}"
    if not figure.corrected_unit:
        printed += " (?)"
    elif figure.corrected_unit != figure.unit:
        printed += f" (printed {figure.unit})"
    here = _in(finder.value(figure), unit)
    if here is None:
        return [None, printed, None]
    return [f"{_digits(here)} {unit}", printed, f"{_digits(here / figure.value)}" if figure.corrected_unit else None]


def _digits(value: float) -> str:
    """Four significant digits, as plain as they can be written."""
    return f"{value:.4g}" if value < 1e4 else f"{value:,.0f}"


def _theory(plan: str, figures: Sequence[Published], finder: _Finder, machine: Mapping[str, Any]) -> Table:
    """The study's own computation of a theoretical peak, done again for this machine, and what was reached of it."""
    rows: list[list[Any]] = []
    for figure in figures:
        published_here = f"{_digits(figure.value)} {figure.unit}"
        if figure.probe == "cpu_flops":
            peak, source = _peak(plan, machine)
            reached = [finder.best("cpu_flops"), finder.best("cpu_linpack")]
        else:
            rated = memory_bandwidth(machine)
            peak, source = rated.value, rated.source
            reached = [finder.best("memory_block"), finder.best("memory_stream")]
        rows.append([f"{figure.probe} peak: {source}", published_here, _in_unit(peak, figure.unit), None])
        for result in reached:
            if result is not None and result.summary.value is not None:
                share = f"{result.summary.value / peak:.1%}" if peak else None
                rows.append([f"  {result.id}", None, _in_unit(result.summary.value, figure.unit), share])
    notes = ["by the study's own formula, from the clock on paper; not the ceiling that other tables have"]
    return Table(STUDY, f"{plan}: theoretical peak", ["", "published", "here", "of it"], rows, notes)


def _peak(plan: str, machine: Mapping[str, Any]) -> tuple[float | None, str]:
    clock = textbook_clock(machine)
    if clock.value is None:
        return None, "the system lists no clock"
    cores, per_cycle = int(machine["topology"]["cores"]), _PER_CYCLE[plan]
    words = f"{clock.value / 1e9:.2f} GHz ({clock.source}) × {cores} cores × {per_cycle} per cycle"
    return clock.value * cores * per_cycle, words


def _in_unit(value: float | None, unit: str) -> str | None:
    here = _in(value, unit)
    return None if here is None else f"{_digits(here)} {unit}"
