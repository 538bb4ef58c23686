"""Build the disk probe's tables: block × threads, libraries, evidence, durability of writes, IOzone's matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes.shared.grid import Row, crossed, grouped, labels, quantity_of, without
from nameplate.probes.shared.percentiles import MAX_ROWS, percentile_tables
from nameplate.records.result import Result, Table
from nameplate.statistics.stats import is_steady
from nameplate.units import size_text

PROBE = "disk_block"
_SERVED = "served by "
# Columns of IOzone's matrix (iozone.org, "Defined terms"), each with op, pattern, pass and library of the experiment
# that does the same work.
_IOZONE: Mapping[str, tuple[str, str, str, str]] = {
    "write": ("write", "sequential", "first", "posix"),
    "rewrite": ("write", "sequential", "again", "posix"),
    "read": ("read", "sequential", "first", "posix"),
    "reread": ("read", "sequential", "again", "posix"),
    "random read": ("read", "random", "again", "posix"),
    "random write": ("write", "random", "again", "posix"),
    "bkwd read": ("read", "backward", "again", "posix"),
    "record rewrite": ("write", "record", "again", "posix"),
    "stride read": ("read", "stride", "again", "posix"),
    "fwrite": ("write", "sequential", "first", "stdio"),
    "frewrite": ("write", "sequential", "again", "stdio"),
    "fread": ("read", "sequential", "first", "stdio"),
    "freread": ("read", "sequential", "again", "stdio"),
}
_MIN_COLUMNS_OF_IOZONE = 10
# Above this number of bytes written per byte asked for, the table says why.
MANY_BYTES = 1.5
_WRITES = {
    "into the page cache": ("warm", "none"),
    "with fdatasync": ("warm", "end"),
    "direct": ("direct", "none"),
}


def tables(results: Sequence[Result]) -> list[Table]:
    """Return all tables of the probe disk_block for its results, of any metric, in the order in which they are shown.

    If the results include at least ten columns of IOzone's matrix for one ``size`` and ``block``, all on one thread,
    the only table is that matrix in KiB/s. Results without a value have no row, but count as such columns. A table
    without rows is left out, and without results the list is empty.
    """
    measured = [result for result in results if result.summary.value is not None]
    bandwidths = [result for result in measured if result.summary.metric == "bandwidth"]
    if _is_iozone([result for result in results if result.summary.metric == "bandwidth"]):
        return _iozone(bandwidths)
    return [
        *_by_operation(measured),
        *_libraries(bandwidths),
        *_writes(bandwidths),
        *percentile_tables(PROBE, measured),
        *_evidence(bandwidths),
        *_steady(bandwidths),
    ]


def served(result: Result) -> str:
    """Return what served an experiment's bytes, such as ``page cache``, as ``served_by`` describes it.

    The text is taken from the result's remark that starts with ``served by``; it is ``unknown`` if there is no such
    remark.
    """
    return next((remark.removeprefix(_SERVED) for remark in result.remarks if remark.startswith(_SERVED)), "unknown")


def _by_operation(results: Sequence[Result]) -> list[Table]:
    """Return tables with rows by operation, pattern and block, and bandwidth and latency for each number of threads."""
    cells = {name: (name, quantity_of) for name in ("bandwidth", "latency")}
    return [
        Table(
            PROBE, f"By operation, pattern and block {title}".strip(), ["", *headings, "served by"],
            [[*row, ", ".join(dict.fromkeys(served(result) for result in results_of_row))]
             for row, results_of_row in zip(body, in_rows, strict=True)],
            [_size_note(in_rows[0][0])],
        )
        for title, headings, body, in_rows in crossed(
            results, ("op", "pattern", "block"), ("threads", "thread"), cells
        )
    ]  # fmt: skip


def _size_note(result: Result) -> str:
    size, memory = result.facts["file_bytes"], result.facts["memory_bytes"]
    relation = "larger than memory" if size > memory else "smaller than memory, so that the page cache can hold it"
    return f"The file has {size_text(size)}. It is {relation}, which has {size_text(memory)}."


def _libraries(results: Sequence[Result]) -> list[Table]:
    names = list(dict.fromkeys(str(result.summary.params["library"]) for result in results))
    if len(names) < 2:
        return []
    groups = grouped(results, lambda r: without(r.summary.params, ["library"]))
    groups = {rest: group for rest, group in groups.items() if len(group) > 1}
    titles = labels([group[0] for group in groups.values()])
    rows: list[Row] = []
    for title, group in zip(titles, groups.values(), strict=True):
        by_library = {str(result.summary.params["library"]): result for result in group}
        verdicts = dict.fromkeys(served(result) for result in group)
        label = _label_without(title, ("library=",))
        rows.append([label, *(quantity_of(by_library.get(name)) for name in names), ", ".join(verdicts)])
    return [Table(PROBE, "Bandwidth by library", ["", *names, "served by"], rows)] if rows else []


def _writes(results: Sequence[Result]) -> list[Table]:
    """Return the bandwidths of the same write with and without durability, if more than one was measured."""
    writes = [result for result in results if result.summary.params["op"] == "write"]
    rows: list[Row] = []
    groups = grouped(writes, lambda r: without(r.summary.params, ["cache", "sync"]))
    complete = [group for group in groups.values() if len(group) > 1]
    for title, group in zip(labels([group[0] for group in complete]), complete, strict=True):
        by_kind = {(str(r.summary.params["cache"]), str(r.summary.params["sync"])): r for r in group}
        label = _label_without(title, ("cache=", "sync="))
        rows.append([label, *(quantity_of(by_kind.get(kind)) for kind in _WRITES.values())])
    return [Table(PROBE, "Durability of writes", ["", *_WRITES], rows)] if rows else []


def _label_without(label: str, prefixes: tuple[str, ...]) -> str:
    """Return a result's label without the parameters that begin with one of ``prefixes``, such as ``library=``."""
    return " ".join(part for part in label.split() if not part.startswith(prefixes)) or "same parameters"


def _evidence(results: Sequence[Result]) -> list[Table]:
    known = [result for result in results if result.evidence]
    if not 0 < len(known) <= MAX_ROWS:
        return []
    rows: list[Row] = []
    for label, result in zip(labels(known), known, strict=True):
        facts = result.evidence
        rows.append([label, served(result), *(_share(facts.get(name)) for name in _EVIDENCE)])
    headings = ["", "served by", *_EVIDENCE.values()]
    is_guest = any(served(result).startswith("virtual device") for result in results)
    largest = max((result.evidence.get("given", 0.0) for result in known), default=0.0)
    notes = [
        "Cached: the share of the file in the page cache before and after a sample. The other columns are bytes moved "
        "per byte asked for: read and written by this process (/proc/self/io) and by the whole device.",
        *[
            f"Process wrote {_share(largest)} bytes per byte: a write into the page cache counts as a whole page "
            "(/proc/self/io) when it makes the page dirty, however few bytes it changes."
        ]
        * (largest > MANY_BYTES),
        *["For a virtual device, a guest cannot see whether the host's cache or a disk answered."] * is_guest,
    ]
    return [Table(PROBE, "Where the bytes came from", headings, rows, notes)]


_EVIDENCE = {
    "resident_before": "cached before",
    "resident_after": "cached after",
    "fetched": "process read",
    "given": "process wrote",
    "device_read": "device read",
    "device_written": "device wrote",
}


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _steady(results: Sequence[Result]) -> list[Table]:
    """Return SNIA's steady-state test of direct writes over the rounds, if there are enough of them."""
    rows: list[Row] = []
    direct = [r for r in results if r.summary.params["op"] == "write" and r.summary.params["cache"] == "direct"]
    for label, result in zip(labels(direct), direct, strict=True):
        verdict = is_steady(result.round_values)
        if verdict is not None:
            rows.append([label, quantity_of(result), "steady" if verdict else "not steady"])
    note = (
        "Steady: over the last five rounds, the range is at most 20 % of the mean and the fitted slope at most 10 % "
        "(SNIA SSS PTS)."
    )
    return [Table(PROBE, "Steady state of direct writes", ["", "bandwidth", ""], rows, [note])] if rows else []


def _is_iozone(results: Sequence[Result]) -> bool:
    """Return whether a plan measures IOzone's matrix: at least ten of its columns for one size, on one thread.

    Experiments without a value count as well.
    """
    if any(int(result.summary.params.get("threads", 1)) > 1 for result in results):
        return False
    columns: dict[tuple[str, str], set[str]] = {}
    for result in results:
        column = _column_of(result)
        if column is not None:
            params = result.summary.params
            columns.setdefault((str(params.get("size")), str(params.get("block"))), set()).add(column)
    return max((len(values_by_size) for values_by_size in columns.values()), default=0) >= _MIN_COLUMNS_OF_IOZONE


def _column_of(result: Result) -> str | None:
    params = result.summary.params
    kind = tuple(str(params.get(name)) for name in ("op", "pattern", "pass", "library"))
    return next((name for name, kind_of_column in _IOZONE.items() if kind_of_column == kind), None)


def _iozone(results: Sequence[Result]) -> list[Table]:
    """Return IOzone's columns by file size × record size, in KiB/s as IOzone prints them."""
    places: dict[tuple[int, int], dict[str, Result]] = {}
    for result in results:
        column = _column_of(result)
        if column is not None:
            params = result.summary.params
            places.setdefault((int(params["size"]), int(params["block"])), {})[column] = result
    rows: list[Row] = [
        [f"{size // 1024}", f"{record // 1024}", *(_kibibytes(group.get(name)) for name in _IOZONE)]
        for (size, record), group in sorted(places.items())
    ]
    notes = [_size_note(results[-1])] if results else []
    return [Table(PROBE, "IOzone's matrix, KiB/s", ["kB", "reclen", *_IOZONE], rows, notes)] if rows else []


def _kibibytes(result: Result | None) -> str | None:
    return f"{result.summary.value / 1024:.0f}" if result and result.summary.value is not None else None
