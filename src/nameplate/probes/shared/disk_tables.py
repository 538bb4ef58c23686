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
# Columns of IOzone's matrix (iozone.org, "Defined terms") and the parameters that do the same.
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
_WRITES = {
    "into the page cache": ("warm", "none"),
    "with fdatasync": ("warm", "end"),
    "direct": ("direct", "none"),
}


def tables(results: Sequence[Result]) -> list[Table]:
    """Return all tables of the probe disk_block for its results, of any metric, in the order in which they are shown.

    If the results include at least ten columns of IOzone's matrix for one ``size`` and ``block``, all on one thread,
    the only table is that matrix in KiB/s. Results without a value only help to recognise it. A table without rows is
    left out, so that the list is empty for no results.
    """
    measured = [result for result in results if result.summary.value is not None]
    if _is_iozone(_of("bandwidth", results)):
        return _iozone(_of("bandwidth", measured))
    return [
        *_studies(measured),
        *_libraries(_of("bandwidth", measured)),
        *_writes(_of("bandwidth", measured)),
        *percentile_tables(PROBE, measured),
        *_evidence(_of("bandwidth", measured)),
        *_steady(_of("bandwidth", measured)),
    ]


def served(result: Result) -> str:
    """Return what served an experiment's bytes, in the words of ``served_by``.

    It is read from the result's remark that starts with ``served by``, and is ``unknown`` without such a remark.
    """
    return next((words.removeprefix(_SERVED) for words in result.remarks if words.startswith(_SERVED)), "unknown")


def _of(metric: str, results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.summary.metric == metric]


def _studies(results: Sequence[Result]) -> list[Table]:
    """Return tables with rows by operation, pattern and block, and bandwidth and latency for each number of threads."""
    cells = {name: (name, quantity_of) for name in ("bandwidth", "latency")}
    return [
        Table(
            PROBE, f"By operation, pattern and block {title}".strip(), ["", *headings, "served by"],
            [[*row, ", ".join(dict.fromkeys(served(result) for result in own))]
             for row, own in zip(body, in_rows, strict=True)],
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
    groups = {others: own for others, own in groups.items() if len(own) > 1}
    titles = labels([own[0] for own in groups.values()])
    rows: list[Row] = []
    for title, own in zip(titles, groups.values(), strict=True):
        by_library = {str(result.summary.params["library"]): result for result in own}
        verdicts = dict.fromkeys(served(result) for result in own)
        rows.append([_plain(title), *(quantity_of(by_library.get(name)) for name in names), ", ".join(verdicts)])
    return [Table(PROBE, "Bandwidth by library", ["", *names, "served by"], rows)] if rows else []


def _plain(label: str) -> str:
    return " ".join(word for word in label.split() if not word.startswith("library=")) or "same parameters"


def _writes(results: Sequence[Result]) -> list[Table]:
    """Return the bandwidths of the same write with and without durability, if more than one was measured."""
    writes = [result for result in results if result.summary.params["op"] == "write"]
    rows: list[Row] = []
    groups = grouped(writes, lambda r: without(r.summary.params, ["cache", "sync"]))
    whole = [own for own in groups.values() if len(own) > 1]
    for title, own in zip(labels([own[0] for own in whole]), whole, strict=True):
        by_kind = {(str(r.summary.params["cache"]), str(r.summary.params["sync"])): r for r in own}
        rows.append([_kindless(title), *(quantity_of(by_kind.get(kind)) for kind in _WRITES.values())])
    return [Table(PROBE, "Durability of writes", ["", *_WRITES], rows)] if rows else []


def _kindless(label: str) -> str:
    return " ".join(w for w in label.split() if not w.startswith(("cache=", "sync="))) or "same parameters"


def _evidence(results: Sequence[Result]) -> list[Table]:
    known = [result for result in results if result.evidence]
    if not 0 < len(known) <= MAX_ROWS:
        return []
    rows: list[Row] = []
    for label, result in zip(labels(known), known, strict=True):
        facts = result.evidence
        rows.append([label, served(result), *(_share(facts.get(name)) for name in _EVIDENCE)])
    headings = ["", "served by", *_EVIDENCE.values()]
    notes = [
        "Cached: the share of the file in the page cache before and after a sample. The other columns are bytes moved "
        "per byte asked for: read and written by this process (/proc/self/io, where dirtying a page counts as a "
        "write) and by the whole device.",
        *_hypervisor_note(results),
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


def _hypervisor_note(results: Sequence[Result]) -> list[str]:
    is_guest = any(served(result).startswith("virtual device") for result in results)
    return ["For a virtual device, a guest cannot see whether the host's cache or a disk answered."] * is_guest


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
    """Return whether a plan measures IOzone's matrix: most of its columns for one size on one thread, reached or
    not.
    """
    if any(int(result.summary.params.get("threads", 1)) > 1 for result in results):
        return False
    columns: dict[tuple[str, str], set[str]] = {}
    for result in results:
        column = _column_of(result)
        if column is not None:
            params = result.summary.params
            columns.setdefault((str(params.get("size")), str(params.get("block"))), set()).add(column)
    return max((len(own) for own in columns.values()), default=0) >= _MIN_COLUMNS_OF_IOZONE


def _column_of(result: Result) -> str | None:
    params = result.summary.params
    kind = tuple(str(params.get(name)) for name in ("op", "pattern", "pass", "library"))
    return next((name for name, own in _IOZONE.items() if own == kind), None)


def _iozone(results: Sequence[Result]) -> list[Table]:
    """Return IOzone's columns by file size × record size, in KiB/s as IOzone prints them."""
    places: dict[tuple[int, int], dict[str, Result]] = {}
    for result in results:
        column = _column_of(result)
        if column is not None:
            params = result.summary.params
            places.setdefault((int(params["size"]), int(params["block"])), {})[column] = result
    rows: list[Row] = [
        [f"{size // 1024}", f"{record // 1024}", *(_kibibytes(own.get(name)) for name in _IOZONE)]
        for (size, record), own in sorted(places.items())
    ]
    notes = [_size_note(results[-1])] if results else []
    return [Table(PROBE, "IOzone's matrix, KiB/s", ["kB", "reclen", *_IOZONE], rows, notes)] if rows else []


def _kibibytes(result: Result | None) -> str | None:
    return f"{result.summary.value / 1024:.0f}" if result and result.summary.value is not None else None
