"""Hostile files, each with the command that reads it and a part of the expected error message."""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorded_runs import unpacked

MIB = 1 << 20


@dataclass(frozen=True)
class Hostile:
    """A hostile file: ``make`` writes it into a folder and returns the arguments of the command that reads it."""

    title: str
    make: Callable[[Path], Sequence[str]]
    says: str


def _bytes(name: str, content: bytes | Callable[[], bytes], *command: str) -> Callable[[Path], Sequence[str]]:
    def make(folder: Path) -> Sequence[str]:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content())
        return [*command, name]

    return make


def _pipe(*command: str) -> Callable[[Path], Sequence[str]]:
    def make(folder: Path) -> Sequence[str]:
        os.mkfifo(folder / "pipe.jsonl")
        return [*command, "pipe.jsonl"]

    return make


def _job(**job: Any) -> Callable[[Path], Sequence[str]]:
    """Return a maker of a run on several nodes whose job has these values instead."""

    def make(folder: Path) -> Sequence[str]:
        lines = unpacked("mpi_pairs").splitlines()
        for index, line in enumerate(lines):
            record = json.loads(line)
            if record["type"] == "header":
                record["machine"]["job"] |= job
                lines[index] = json.dumps(record).encode()
        (folder / "x.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        return ["show", "x.jsonl"]

    return make


def _page(data: bytes) -> bytes:
    packed = base64.b64encode(gzip.compress(data, 9))
    return b'<script type="text/plain" id="nameplate-data">' + packed + b"</script>"


_ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
_LAUGHS = f'<!DOCTYPE x [<!ENTITY e0 "ha">{_ENTITIES}]><stream_run><experiment>&e9;</experiment></stream_run>'


def _pipe_in_folder(folder: Path) -> list[str]:
    os.mkfifo(folder / "x.jsonl")
    return ["nodes", str(folder)]


HOSTILE = [
    Hostile("a named pipe as a run", _pipe("show"), "it is a named pipe, not a regular file"),
    Hostile("a named pipe as nodes", _pipe("nodes"), "it is a named pipe, not a regular file"),
    Hostile("a device as a run", lambda _: ["show", "/dev/zero"], "it is a character device, not a regular file"),
    Hostile("a device as a plan", lambda _: ["plan", "/dev/zero"], "it is a character device, not a regular file"),
    Hostile(
        "a device as reference values", lambda _: ["run", "null", "--dry-run", "--rated", "/dev/zero"],
        "it is a character device, not a regular file",
    ),
    Hostile("a directory without runs as nodes", lambda folder: ["nodes", str(folder)], "has no run files (.jsonl)"),
    Hostile("a named pipe among the runs of a fleet", _pipe_in_folder, "it is a named pipe, not a regular file"),
    Hostile(
        "XML with entities that expand", _bytes("x.dat", _LAUGHS.encode(), "nodes"), "x.dat: line 1: it has a document"
    ),
    Hostile(
        "XML that is nested deeply", _bytes("x.dat", b"<stream_run>" + b"<a>" * (MIB // 3), "nodes"),
        "x.dat: line 1: 'a' is nested more than 16 elements deep",
    ),
    Hostile(
        "XML that is nested deeply, as a run", _bytes("x.dat", b"<stream_run>" + b"<a>" * (MIB // 3), "show"),
        "nested more than 16 elements deep",
    ),
    Hostile(
        "a report that unpacks to spaces", _bytes("x.html", lambda: _page(b" " * (700 * MIB)), "show"),
        "when uncompressed",
    ),
    Hostile(
        "a report that unpacks to values", _bytes("x.html", lambda: _page(b"[" + b"[]," * (60 * MIB) + b"[]]"), "show"),
        "when uncompressed",
    ),
]  # fmt: skip


_MARK = "starts with a byte order mark of UTF-8: save it as UTF-8 without one"


def _rated(content: bytes) -> Callable[[Path], Sequence[str]]:
    return _bytes("rated.txt", content, "run", "null", "--dry-run", "--rated")


def _site(content: bytes) -> Callable[[Path], Sequence[str]]:
    def make(folder: Path) -> Sequence[str]:
        (folder / "x.jsonl").write_bytes(unpacked("quick"))
        (folder / "site.toml").write_bytes(content)
        return ["check", "x.jsonl", "--expect", "site.toml"]

    return make


def _plan(text: str) -> Callable[[Path], Sequence[str]]:
    return _bytes("x.toml", text.encode(), "plan")


HOSTILE += [
    Hostile("a plan of dotted keys", _plan(f"{'a.' * 30_000}a=1"), "line 1 has more than 200 dots"),
    Hostile("a plan of nested lists", _plan(f"a={'[' * 60_000}"), "x.toml: lists or tables are nested too deeply"),
    Hostile("a plan of a long number", _plan(f"a={'9' * 60_000}"), "x.toml: line 1 has a number of thousands of"),
    Hostile("a plan of empty lines", _plan("\n" * 120_000 + "a=1"), "line 120001: unknown key 'a'"),
    Hostile("a plan that is too long", _plan("\n" * MIB), "x.toml is too large: the limit"),
    Hostile(
        "reference values that are none", lambda folder: [
            "run", "null", "--dry-run", *_bytes("rated.txt", b"# ours\nmemory=\xff\n", "--rated")(folder)
        ], "rated.txt: line 2: byte 0xff is not UTF-8",
    ),
    Hostile(
        "a line of reference values", lambda folder: [
            "run", "null", "--dry-run", *_bytes("rated.txt", b"memory=59.7GB/s\nmemory=fast\n", "--rated")(folder)
        ], "rated.txt: line 2: 'fast' is not a value with a unit",
    ),
    Hostile("a long line of reference values", _rated(b"x " * (500 << 10)), "not a reference value; use KEY=VALUE"),
    Hostile("a long name of a value", _rated(b"x" * (1023 << 10) + b"=1GB/s"), "no probe or area has this name"),
    Hostile(
        "two reference values of a key", _rated(b"memory_latency=90ns\nmemory_latency=9ns\n"),
        "rated.txt: memory_latency has several reference values in s: give one",
    ),
    Hostile("reference values with a byte order mark", _rated(b"\xef\xbb\xbfmemory=59.7GB/s\n"), _MARK),
    Hostile("a long key of a site file", _site(b"a" * (8000 << 10) + b" = 1\n"), "unknown key 'aaa"),
    Hostile("a key of a site file with special characters", _site(b'schema = 1\n"a(" = 1\n'), "unknown key 'a('"),
    Hostile("a site file with a byte order mark", _site(b"\xef\xbb\xbfschema = 1\n"), _MARK),
    Hostile("a site file in UTF-16", _site("schema = 1\n".encode("utf-16")), "a byte order mark of UTF-16"),
    Hostile("a plan with a byte order mark", _plan("\ufeffbudget = '1s'\n"), _MARK),
    Hostile(
        "a run with a byte order mark", _bytes("x.jsonl", lambda: b"\xef\xbb\xbf" + unpacked("mpi_stream"), "show"),
        _MARK,
    ),
    Hostile(
        "a run in UTF-16", _bytes("x.jsonl", lambda: unpacked("mpi_stream").decode().encode("utf-16"), "show"),
        "a byte order mark of UTF-16",
    ),
    Hostile(
        "a long type of a record", _bytes("x.jsonl", b'{"type":"%s","schema":1}\n' % (b"a" * MIB), "show"), "not 'run'"
    ),
]  # fmt: skip

# Calls of pure functions whose input comes from --mpi "srun …", from node names or from the notes of a run.
SLOW_CALLS = {
    "a list of hosts with many long ranges": (
        "from nameplate.hostlist import expand; expand('n[' + '1-65536,' * 100_000 + '1]')",
        "has more than 65536 hosts",
    ),
    "a list of hosts with many brackets": (
        "from nameplate.hostlist import expand; expand('[1-2]' * 100_000)", "has more than 65536 hosts",
    ),
    "a list of hosts with a long name": (
        "from nameplate.hostlist import expand; expand('[1-65536]' + '[1]' * 300_000)",
        "has a name of more than 255 characters",
    ),
    "names of digits": (
        "from nameplate.hostlist import compress; print(len(compress(['1' * 500_000 + 'x', '1' * 500_000])))", "",
    ),
    "a range without an end": (
        "from nameplate.planning.sweep import _RANGE; print(_RANGE.fullmatch('1..' * 60_000))", "",
    ),
    "an address without an end": (
        "from nameplate.report.content.aliases import _hidden; print(len(_hidden('[' + ':' * 500_000)))", "",
    ),
}  # fmt: skip


def _records(kind: str) -> list[dict[str, Any]]:
    return [record for record in map(json.loads, unpacked(kind).splitlines()) if record["type"] != "figures"]


def _run_of(records: Sequence[dict[str, Any]], *command: str) -> Callable[[Path], Sequence[str]]:
    content = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    return _bytes("x.jsonl", content.encode(), *command)


def _of_experiment(records: Sequence[dict[str, Any]], identity: str) -> list[dict[str, Any]]:
    return [record for record in records if record.get("id") == identity and record["round"] == 1]


def _many_experiments(folder: Path) -> Sequence[str]:
    first, *rest = _records("mpi_stream")
    experiments = [{"id": f"x{index}", "probe": "null", "params": {}} for index in range(20_000)]
    first["plan"] = {**first["plan"], "experiments": experiments}
    return _run_of([first, *rest[:1]], "show", "--format", "csv")(folder)


def _many_digests(folder: Path) -> Sequence[str]:
    content = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in _records("mpi_stream"))
    return _bytes("x.jsonl", (content + '{"type":"figures"}\n' * 50_000).encode(), "show")(folder)


def _many_sizes(folder: Path) -> Sequence[str]:
    """Write a sweep over message sizes with as many points as fit in 1 MB and random times."""
    first, header, *rest = _records("mpi_pingpong")
    template = first["plan"]["experiments"][0]
    sample, *_, outcome = _of_experiment(rest, template["id"])
    experiments, lines = [], []
    for index in range(900):
        identity = {"id": f"x{index}"}
        params = {**outcome["params"], "size": 64 * index}
        experiments.append({**template, **identity, "params": params})
        elapsed_s = 1e-3 * (1 + index * 7919 % 1000)
        lines += [{**sample, **identity, "elapsed_s": elapsed_s}, {**outcome, **identity, "params": params}]
    first["plan"]["experiments"] = experiments
    return _run_of([first, header, *lines], "show", "--format", "csv")(folder)


def _long_series(folder: Path) -> Sequence[str]:
    """Write a series of as many samples as fit in 1 MB, with random times."""
    first, header, *rest = _records("series")
    experiment = first["plan"]["experiments"][0]
    sample, *_, outcome = _of_experiment(rest, experiment["id"])
    first["plan"]["experiments"] = [experiment]
    samples = [
        {**sample, "index": index, "start_s": index, "elapsed_s": 1 + index * 7919 % 1000 / 1000}
        for index in range(2400)
    ]
    return _run_of([first, header, *samples, outcome], "show", "--format", "csv")(folder)


def _many_nodes(folder: Path, *command: str) -> Sequence[str]:
    count = 40_000
    first, header, *rest = _records("mpi_pairs")
    names = [f"n{index}" for index in range(count)]
    header["machine"]["job"] |= {
        "nodes": names, "ranks": count, "hardware": [["", count]],
        "placement": [[index, 1] for index in range(count)],
    }  # fmt: skip
    first["plan"]["notes"] = ["n1 n2 x" * 100] * 100
    return _run_of([first, header, *rest], *command)(folder)


def _many_ranks(folder: Path) -> Sequence[str]:
    first, header, *rest = _records("mpi_pairs")
    header["machine"]["job"] |= {"ranks": 4 << 20, "placement": [[0, 4 << 20]]}
    return _run_of([first, header, *rest], "show")(folder)


def _many_pairs(folder: Path) -> Sequence[str]:
    first, header, *rest = _records("mpi_pairs")
    for record in rest:
        if "pairs" in record:
            record["pairs"] = [1e-6] * (400 * 399 // 2)
            break
    return _run_of([first, header, *rest], "show")(folder)


def _page_of_values(text: str) -> Callable[[Path], Sequence[str]]:
    """Return a maker of a report of 1 MB with many values, and with noise that limits the compression."""

    def content() -> bytes:
        noise = json.dumps(base64.b64encode(os.urandom(500_000)).decode())
        return _page(f'[{{"machine":{{"x":{noise},"y":[{text}0]}}}}]'.encode())

    return _bytes("x.html", content, "show")


# Valid or almost valid files of the maximum size. Readers need not reject them.
HEAVY = [
    Hostile("20,000 experiments", _many_experiments, ""),
    Hostile("50,000 digests", _many_digests, ""),
    Hostile("900 message sizes", _many_sizes, ""),
    Hostile("a series of 2,400 samples", _long_series, ""),
    Hostile("40,000 nodes, named", lambda folder: _many_nodes(folder, "show"), ""),
    Hostile("40,000 nodes, by aliases", lambda folder: _many_nodes(folder, "show", "--format", "csv"), ""),
    Hostile("40,000 nodes, their view", lambda folder: _many_nodes(folder, "nodes"), ""),
    Hostile("four million ranks", _many_ranks, ""),
    Hostile("80,000 pairs", _many_pairs, ""),
    Hostile("a report of empty lists", _page_of_values("[]," * 1_300_000), ""),
    Hostile("a report of empty objects", _page_of_values("{}," * 1_300_000), ""),
    Hostile("a report of long text", _page_of_values(json.dumps("x" * 30_000_000) + ","), ""),
]
