"""Mutate files for every reader and run the command that reads each; only nameplate's own errors are allowed.

A case depends on a random generator alone, so that it can be reproduced. The files are real: runs of ``tests/golden``
with a few experiments of each probe, outputs of other tools, a report and a folder of runs written from those runs,
plans, reference values and recorded machines.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import gzip
import io
import json
import os
import re
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from cyclopts import CycloptsError

from nameplate.command_line import check_arguments, make_app
from nameplate.errors import NameplateError
from nameplate.history.index import index_file
from nameplate.planning.plan_file import SHIPPED
from nameplate.records.distributed_stream_file import KERNELS, StreamNode, StreamRun, stream_xml
from nameplate.records.run_record import Spread
from nameplate.report.exports import export_names
from nameplate.results.digest import values_version
from recorded_machine import names, unpack
from recorded_runs import GOLDEN, unpacked

KINDS = ("quick", "full", "series", "soak", "t2micro-posix", "mpi_stream", "mpi_pairs", "mpi_pingpong", "per_node")
OUTPUTS = ("fio-3.33.json", "iperf3-tcp-3.12.json", "iperf3-udp-3.12.json", "stream-5.10.txt", "osu_latency-7.5.txt",
           "osu_multi_lat-5.6.3.txt", "imb-pingpong-2021.11.txt")  # fmt: skip
FORMATS = ("table", *export_names())
EXPERIMENTS_OF_PROBE = 2
SAMPLES_OF_ROUND = 4
STREAM_FILE = "memory_results-2x1-1580000000.dat"

ODD_NUMBERS = ("0", "-1", "1", "-0.0", "1e-300", "1e300", "1e999", "4294967296", "9223372036854775808", "1" + "0" * 30,
               "9" * 4300, "NaN", "0x10", "1_0", "٣", "1e-12", "1e12", "0.1")  # fmt: skip
ODD_STRINGS = ("", "x", "\x00", "\u2028", "é" * 3, "a" * 5000, "../../etc", "[1-3]", "node[001-9999]", "%s", "{0}",
               "read", "1" * 4301, "udp", "NaN", "2026-01-01T00:00:00+00:00", "9999-12-31T23:59:59-23:59")  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 3, 255, 65536, 10**11, 2**31, 2**53, 2**63, 10**30, 0.0, -0.5, 0.5, 1e-300, 1e-9,
    1e9, 1e49, 1e300, [], {}, [[]], [0], [None], {"": 0}, {"a": {}}, [1, 2, 3], [[0, 1]], [["x", 1]], *ODD_STRINGS,
)  # fmt: skip


@dataclass(frozen=True)
class Rejected:
    """A traceback, with the case that caused it and the place where it was raised."""

    title: str
    command: Sequence[str]
    where: str
    text: str


def reduced(kind: str) -> list[dict[str, Any]]:
    """Return the records of a recorded run, reduced to a few experiments per probe and a few samples per round."""
    records = [json.loads(line) for line in unpacked(kind).splitlines()]
    retained: dict[str, list[str]] = {}
    for experiment in records[0]["plan"]["experiments"]:
        sizes_of_probe = retained.setdefault(experiment["probe"], [])
        # A fit needs ten points, so a sweep over message sizes keeps twelve.
        if len(sizes_of_probe) < (EXPERIMENTS_OF_PROBE if kind != "mpi_pingpong" else 12):
            sizes_of_probe.append(experiment["id"])
    names = {name for sizes_of_probe in retained.values() for name in sizes_of_probe}
    records[0]["plan"]["experiments"] = [e for e in records[0]["plan"]["experiments"] if e["id"] in names]
    few = SAMPLES_OF_ROUND if kind not in ("series", "soak") else 40
    return [r for r in records if r["type"] != "figures" and r.get("id", next(iter(names))) in names
            and r.get("index", 0) < few]  # fmt: skip


@cache
def _lines(kind: str) -> tuple[bytes, ...]:
    return tuple(msgspec.json.encode(record) for record in reduced(kind))


def run_file(kind: str) -> bytes:
    """Return the content of a reduced run file of this kind."""
    return b"".join(line + b"\n" for line in _lines(kind))


@cache
def stream_file() -> str:
    """Return a file of DistributedStream with six nodes, one of which is slow."""
    times = {number: Spread(0.03 * (1.3 if number == 4 else 1 + number / 1000), 0.029, 0.05) for number in range(6)}
    nodes = [StreamNode(f"node{number}", 2, dict.fromkeys(KERNELS, spread)) for number, spread in times.items()]
    return stream_xml(StreamRun(STREAM_FILE, 2, 1, dict.fromkeys(KERNELS, 80_000_000), nodes))


@cache
def page(kind: str) -> tuple[str, Any]:
    """Return the data element of a run's report with a placeholder instead of the data, and the data."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        path.write_bytes(run_file(kind))
        _output_of(["report", str(path), "-o", f"{folder}/x.html"])
        text = (Path(folder) / "x.html").read_text()
    data = re.search(r'id="nameplate-data">([A-Za-z0-9+/=]*)<', text)
    assert data is not None
    return '<script type="text/plain" id="nameplate-data">DATA</script>', json.loads(
        gzip.decompress(base64.b64decode(data[1]))
    )


@cache
def index() -> bytes:
    """Return the content of the index of a folder with three runs."""
    with tempfile.TemporaryDirectory() as folder:
        for name, kind in HISTORY.items():
            (Path(folder) / name).write_bytes(run_file(kind))
            os.utime(Path(folder) / name, (1_700_000_000, 1_700_000_000))
        _output_of(["history", folder])
        return index_file(Path(folder)).read_bytes()


HISTORY = {"a.jsonl": "mpi_pairs", "b.jsonl": "mpi_stream", "c.jsonl": "mpi_stream"}


def _output_of(arguments: Sequence[str]) -> str:
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        make_app()(list(arguments), exit_on_error=False, print_error=False, result_action="return_value")
    return text.getvalue()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document, starting with the document itself."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield from places(child, (*path, key))


def mutate_document(document: Any, random: Random) -> Any:
    """Change one or a few values of a document: replace, scale, remove, repeat, rename or move them."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        path = random.choice(list(places(document)))
        if not path:
            return copy.deepcopy(random.choice(ODD_VALUES))
        parent = document
        for key in path[:-1]:
            parent = parent[key]
        _mutate_at(parent, path[-1], document, random)
    return document


def _mutate_at(parent: Any, key: Any, document: Any, random: Random) -> None:
    value = parent[key]
    way = random.randrange(7)
    if way == 0:
        del parent[key]
    elif way == 1 and isinstance(parent, dict):
        parent[random.choice(ODD_STRINGS) if random.random() < 0.5 else f"{key}x"] = parent.pop(key)
    elif way == 2 and isinstance(value, list):
        parent[key] = value * random.choice((0, 2, 3)) if random.random() < 0.5 else value[::-1]
    elif way == 3 and isinstance(value, int | float) and not isinstance(value, bool):
        parent[key] = value * random.choice((-1, 0, 0.5, 2, 10**6, 10**-6, 1e25)) + random.choice((0, 1, -1))
    elif way == 4:
        other = document
        for step in random.choice(list(places(document))):
            other = other[step]
        parent[key] = copy.deepcopy(other)
    else:
        parent[key] = copy.deepcopy(random.choice(ODD_VALUES))


def mutate_lines(lines: Sequence[bytes], random: Random) -> bytes:
    """Change a record of a run file, or the order of its lines."""
    mutated = list(lines)
    # The first two records have most fields but are rare among the lines, so they are chosen more often.
    number = random.choice((0, 1, *[random.randrange(len(mutated)) for _ in range(3)]))
    mutated[number] = _encoded(mutate_document(json.loads(mutated[number]), random))
    way = random.randrange(12)
    if way == 0:
        del mutated[random.randrange(len(mutated))]
    elif way == 1:
        mutated.insert(random.randrange(len(mutated)), random.choice(mutated))
    elif way == 2:
        one, other = random.randrange(len(mutated)), random.randrange(len(mutated))
        mutated[one], mutated[other] = mutated[other], mutated[one]
    elif way == 3:
        mutated[number] = mutate_bytes(lines[number], random)
    return b"\n".join(mutated) + b"\n"


def _encoded(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode(errors="surrogatepass")


def mutate_text(text: str, random: Random) -> bytes:
    """Change numbers, words or lines of a text."""
    lines = text.splitlines()
    for _ in range(random.choice((1, 1, 2, 5))):
        number = random.randrange(len(lines))
        way = random.randrange(8)
        if way == 0 and len(lines) > 1:
            del lines[number]
        elif way == 1:
            lines.insert(random.randrange(len(lines)), lines[number])
        elif way in (2, 3, 4):
            lines[number] = _with_other(r"\d+(?:\.\d+)?", lines[number], random.choice(ODD_NUMBERS), random)
        elif way == 5:
            lines[number] = _with_other(r"[A-Za-z_]\w*", lines[number], random.choice(ODD_STRINGS), random)
        elif way == 6:
            return mutate_bytes("\n".join(lines).encode(errors="surrogatepass"), random)
    return ("\n".join(lines) + "\n").encode(errors="surrogatepass")


def _with_other(pattern: str, line: str, word: str, random: Random) -> str:
    actual = list(re.finditer(pattern, line))
    if not actual:
        return line + word
    one = random.choice(actual)
    return line[: one.start()] + word + line[one.end() :]


def mutate_bytes(content: bytes, random: Random) -> bytes:
    """Replace, remove or duplicate some bytes."""
    at = random.randrange(len(content) + 1)
    length = random.choice((0, 1, 2, 10, 1000))
    put = random.choice(
        (b"", b"\xff", b"\x00", b"\xc3", b"\n", b"{", b"]", b'"', b"9" * 40, content[at : at + length] * 2)
    )
    return content[:at] + put + content[at + length :]


def _show(path: str, random: Random) -> list[str]:
    how = random.choice(FORMATS)
    identify = ["--identify"] if random.random() < 0.3 else []
    output = ["-o", "out"] if how != "table" and random.random() < 0.5 else []
    return ["show", path, "--format", how, *output, *identify]


def _read_run(path: str, random: Random) -> list[str]:
    ways: list[list[str]] = [
        _show(path, random), _show(path, random), _show(path, random),
        ["compare", path, "base.jsonl"], ["compare", "base.jsonl", path, "--json"],
        ["compare", path, path, "base.jsonl"],
        ["compare", path, "--by", random.choice(("threads", "size", "block", "x"))], ["nodes", path],
        ["nodes", path, "--json"], ["compare", path, "--selftest"], ["show", path, "--format", "table"],
    ]  # fmt: skip
    if random.random() < 0.15:
        ways = [["report", path, "-o", "out.html"], ["report", path, "base.jsonl", "-o", "out.html", "--identify"]]
    return random.choice(ways)


def case_of_run(folder: Path, random: Random) -> list[str]:
    """Make a mutated run file and return a command that reads it."""
    kind = random.choice(KINDS)
    (folder / "x.jsonl").write_bytes(mutate_lines(_lines(kind), random))
    (folder / "base.jsonl").write_bytes(run_file(kind))
    return _read_run("x.jsonl", random)


def case_of_page(folder: Path, random: Random) -> list[str]:
    """Make a report with mutated data and return a command that reads it."""
    kind = random.choice(("quick", "series", "mpi_stream", "mpi_pairs", "per_node", "t2micro-posix"))
    text, data = page(kind)
    document = mutate_document(json.loads(json.dumps(data)), random)
    packed = base64.b64encode(gzip.compress(_encoded(document), 1)).decode()
    content = text.replace("DATA", packed).encode()
    (folder / "x.html").write_bytes(content if random.random() < 0.95 else mutate_bytes(content, random))
    (folder / "base.jsonl").write_bytes(run_file(kind))
    return _read_run("x.html", random)


def case_of_output(folder: Path, random: Random) -> list[str]:
    """Make a mutated output of another tool and return a command that reads it."""
    name = random.choice((*OUTPUTS, STREAM_FILE))
    text = stream_file() if name == STREAM_FILE else (GOLDEN / "references" / name).read_text()
    if name.endswith(".json") and random.random() < 0.7:
        content = json.dumps(mutate_document(json.loads(text), random), indent=1).encode()
    else:
        content = mutate_text(text, random)
    (folder / name).write_bytes(content)
    (folder / "base.jsonl").write_bytes(run_file("mpi_stream"))
    if name == STREAM_FILE and random.random() < 0.5:
        return ["nodes", name, *(["--json"] if random.random() < 0.5 else [])]
    return _read_run(name, random)


def case_of_history(folder: Path, random: Random) -> list[str]:
    """Make a folder with mutated runs or a mutated index and return a command that reads it."""
    for name, kind in HISTORY.items():
        is_changed = random.random() < 0.4
        (folder / name).write_bytes(mutate_lines(_lines(kind), random) if is_changed else run_file(kind))
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    if random.random() < 0.6:
        index_file(folder).parent.mkdir(parents=True, exist_ok=True)
        index_file(folder).write_bytes(_mutated_index(random))
    message = random.choice(([], ["mpi_stream"], ["mpi_pairs", "size=8"], ["bandwidth"], ["x=y"]))
    machine = ["--machine", random.choice(("vm", "node1", "x"))] if random.random() < 0.2 else []
    return ["history", str(folder), *message, *machine, *(["--json"] if random.random() < 0.5 else [])]


def _mutated_index(random: Random) -> bytes:
    if random.random() < 0.2:
        return mutate_bytes(index(), random)
    stored = msgspec.msgpack.decode(index())
    arrays = {name: stored.pop(name) for name in ("usual", "values")}
    changed = mutate_document(stored, random)
    if not isinstance(changed, dict):
        return msgspec.msgpack.encode(changed)
    for name, array in arrays.items():
        changed.setdefault(name, mutate_bytes(array, random) if random.random() < 0.2 else array)
    with contextlib.suppress(OverflowError):
        return msgspec.msgpack.encode({**changed, "by": values_version()})
    return index()


def case_of_plan(folder: Path, random: Random) -> list[str]:
    """Make a mutated plan and return a command that reads it."""
    texts = [path.read_text() for path in sorted(SHIPPED.glob("*.toml"))]
    (folder / "x.toml").write_bytes(mutate_text(random.choice(texts), random))
    if random.random() < 0.5:
        return ["plan", f"{folder}/x.toml"]
    return ["run", f"{folder}/x.toml", "--dry-run"]


def case_of_rated(folder: Path, random: Random) -> list[str]:
    """Make a mutated file of reference values and return a command that reads it."""
    text = "# ours\nmemory=59.7GB/s,disk=3.5GB/s\n\nnet=10Gbit/s\ncpu_clock=3.5GHz\nmpi_pingpong=5us\n"
    (folder / "rated.txt").write_bytes(mutate_text(text, random))
    return ["run", "null", "--dry-run", "--rated", "rated.txt"]


def case_of_machine(folder: Path, random: Random) -> list[str]:
    """Make a recorded machine with mutated files and return a command that reads it."""
    name = random.choice(names())
    (folder / "root").mkdir()
    unpack(name, folder / "root")
    files = sorted(path for path in (folder / "root").rglob("*") if path.is_file() and not path.is_symlink())
    for _ in range(random.choice((1, 2, 5))):
        path = random.choice(files)
        content = path.read_bytes()
        path.chmod(0o600)
        is_text = content and random.random() < 0.6
        path.write_bytes(
            mutate_text(content.decode(errors="replace"), random) if is_text else mutate_bytes(content, random)
        )
    return ["machine", "--root", "root", *(["--json"] if random.random() < 0.5 else [])]


def case_of_arguments(folder: Path, random: Random) -> list[str]:
    """Return a command with an argument that is not valid text."""
    (folder / "x.jsonl").write_bytes(run_file("mpi_stream"))
    bad = os.fsdecode(random.choice((b"\xff", b"a\xe4.jsonl", b"\xc3=1", b"x=\xff")))
    ways = (
        ["show", bad], ["show", "x.jsonl", "--format", bad], ["show", "x.jsonl", "--format", "csv", "-o", bad],
        ["report", "x.jsonl", "-o", bad], ["compare", "x.jsonl", "--by", bad], ["history", ".", bad],
        ["history", ".", "--machine", bad], ["plan", bad], [bad], ["run", "null", bad, "--dry-run"], ["nodes", bad],
        ["run", "null", "--rated", bad, "--dry-run"], ["compare", "x.jsonl", "x.jsonl", "--fail-on", bad],
        ["machine", "--root", bad], ["history", bad], ["show", "x.jsonl", f"--{bad}"],
    )  # fmt: skip
    return list(random.choice(ways))


Make = Callable[[Path, Random], list[str]]
CASES: Sequence[tuple[Make, int]] = (
    (case_of_run, 45), (case_of_page, 20), (case_of_output, 18), (case_of_history, 8), (case_of_plan, 3),
    (case_of_rated, 3), (case_of_machine, 1), (case_of_arguments, 2),
)  # fmt: skip


def read_case(random: Random, folder: Path) -> Rejected | None:
    """Make a case in an empty folder and read it; return the error if it is not one of nameplate's own, else None."""
    make = random.choices([make for make, _ in CASES], [weight for _, weight in CASES])[0]
    command = make(folder, random)
    before = Path.cwd()
    os.chdir(folder)
    try:
        with _silent(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_arguments(command)
            make_app()(command, exit_on_error=False, print_error=False, result_action="return_value")
    except (NameplateError, CycloptsError) as error:
        if isinstance(error, NameplateError) and "\n" in str(error):
            return Rejected(make.__name__, command, "an error of several lines", str(error))
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        frames = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)
                  if "/nameplate/" in f.filename]  # fmt: skip
        where = f"{type(error).__name__} in {' < '.join(frames[-3:][::-1])}"
        return Rejected(make.__name__, command, where, "".join(traceback.format_exception(error))[-3000:])
    finally:
        os.chdir(before)
    return None


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Redirect both streams to memory, with strict UTF-8 on standard output as on a UTF-8 terminal."""
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)),
        contextlib.redirect_stderr(io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)),
    ):
        yield
