"""Files that were made to stop their reader, each with the command that reads it and with what it should say."""

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


def _bytes(name: str, content: bytes, *command: str) -> Callable[[Path], Sequence[str]]:
    def make(folder: Path) -> Sequence[str]:
        (folder / name).write_bytes(content)
        return [*command, name]

    return make


def _pipe(*command: str) -> Callable[[Path], Sequence[str]]:
    def make(folder: Path) -> Sequence[str]:
        os.mkfifo(folder / "pipe.jsonl")
        return [*command, "pipe.jsonl"]

    return make


def _job(**job: Any) -> Callable[[Path], Sequence[str]]:
    """A run of several nodes with other facts about its job."""

    def make(folder: Path) -> Sequence[str]:
        lines = unpacked("mpi_pairs").splitlines()
        for place, line in enumerate(lines):
            record = json.loads(line)
            if record["type"] == "header":
                record["machine"]["job"] |= job
                lines[place] = json.dumps(record).encode()
        (folder / "x.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        return ["show", "x.jsonl"]

    return make


def _page(data: bytes) -> bytes:
    packed = base64.b64encode(gzip.compress(data, 9))
    return b'<script type="text/plain" id="nameplate-data">' + packed + b"</script>"


_ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
_LAUGHS = f'<!DOCTYPE x [<!ENTITY e0 "ha">{_ENTITIES}]><stream_run><experiment>&e9;</experiment></stream_run>'

HOSTILE = [
    Hostile("a named pipe as a run", _pipe("show"), "it is a named pipe, not a regular file"),
    Hostile("a named pipe as nodes", _pipe("nodes"), "it is a named pipe, not a regular file"),
    Hostile("a device as a run", lambda _: ["show", "/dev/zero"], "it is a character device, not a regular file"),
    Hostile("a device as a plan", lambda _: ["plan", "/dev/zero"], "it is a character device, not a regular file"),
    Hostile(
        "a device as rated values", lambda _: ["run", "null", "--dry-run", "--rated", "/dev/zero"],
        "it is a character device, not a regular file",
    ),
    Hostile("a directory as nodes", lambda _: ["nodes", "/"], "it is a directory, not a regular file"),
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
        "a report that unpacks to spaces", _bytes("x.html", _page(b" " * (700 * MIB)), "show"), "unpacks to more than",
    ),
    Hostile(
        "a report that unpacks to values", _bytes("x.html", _page(b"[" + b"[]," * (60 * MIB) + b"[]]"), "show"),
        "unpacks to more than",
    ),
]  # fmt: skip


def _plan(text: str) -> Callable[[Path], Sequence[str]]:
    return _bytes("x.toml", text.encode(), "plan")


HOSTILE += [
    Hostile("a plan of dotted keys", _plan(f"{'a.' * 30_000}a=1"), "line 1 has more than 200 dots"),
    Hostile("a plan of nested lists", _plan(f"a={'[' * 60_000}"), "x.toml: its lists or tables are nested too deeply"),
    Hostile("a plan of a long number", _plan(f"a={'9' * 60_000}"), "x.toml: Exceeds the limit"),
    Hostile("a plan of empty lines", _plan("\n" * 120_000 + "a=1"), "line 120001: unknown key 'a'"),
    Hostile("a plan that is too long", _plan("\n" * MIB), "x.toml is larger than any plan: more than 128 KiB"),
    Hostile(
        "rated values that are none", lambda folder: [
            "run", "null", "--dry-run", *_bytes("rated.txt", b"# ours\nmemory=\xff\n", "--rated")(folder)
        ], "rated.txt: line 2: byte 0xff is not UTF-8",
    ),
    Hostile(
        "a line of rated values", lambda folder: [
            "run", "null", "--dry-run", *_bytes("rated.txt", b"memory=59.7GB/s\nmemory=fast\n", "--rated")(folder)
        ], "rated.txt: line 2: 'fast' is not a value with a unit",
    ),
]  # fmt: skip

# Calls of pure functions that users reach by --mpi "srun …", by names of nodes and by notes of a run.
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
    "a range without an end": ("from nameplate.sweep import _RANGE; print(_RANGE.fullmatch('1..' * 60_000))", ""),
    "an address without an end": (
        "from nameplate.report.aliases import _hidden; print(len(_hidden('[' + ':' * 500_000)))", "",
    ),
}  # fmt: skip
