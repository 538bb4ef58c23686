"""Outputs of ``fio --output-format=json``, versions 2.1 to 3.41, with known values.

What each version prints was read in fio's stat.c, client.c and json.c, and compared with outputs of fio 3.33.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from nameplate.records.plan_record import Value
from tool_outputs.fio_jobs import CHANGES, Job, add_harmless, make_job, make_trim_job, set_operation
from tool_outputs.reprint import reprinted
from tool_outputs.truth import Expected, Reading, Remark, ToolOutput

# Versions in which the output changed: options from 2.3, io_bytes in bytes from 2.21, nanoseconds from 2.99, bw_bytes
# from 3.2, numjobs among the global options from 3.4, job_runtime from 3.8, options without a value from 3.39.
VERSIONS = ("2.1.3", "2.2.10", "2.16", "2.21", "3.0", "3.1", "3.2", "3.3", "3.5", "3.7", "3.16", "3.19", "3.28", "3.33",
            "3.36", "3.41")  # fmt: skip
_ORDERED = {"direct", "buffered", "bs", "bssplit", "bsrange", "kb_base", "bs_is_seq_rand", "rwmixread", "rwmixwrite"}


class _Literal(float):
    """A number that C prints as a word, such as -nan."""

    word = "nan"


@dataclass(frozen=True)
class _Pairs:
    """An object in which names may occur more than once."""

    pairs: Sequence[tuple[str, str]]


def _version_number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def generate(rng: random.Random) -> ToolOutput:
    """Return an output with harmless options, with ones that change the work, of another form, or of a failed run."""
    version = rng.choice(VERSIONS)
    share = rng.random()
    if _version_number(version) < (2, 3):
        return _without_options(rng, version)
    if share < 0.5:
        return _plain(rng, version)
    if share < 0.8:
        return _changed(rng, version)
    return rng.choice([_failed, _idle, _cut, _of_client, _of_intervals, _merged, _of_equal_jobs, _together, _twice,
                       _in_sections, _in_files, _beside, _appended, _grouped_with_short,
                       _hidden, _in_ramp])(rng, version)  # fmt: skip


@dataclass(frozen=True)
class _Counts:
    """The numbers of one direction of one printed job."""

    operations: int
    byte_count: int
    runtime_ms: int
    latency_ns: float

    @property
    def bytes_per_s(self) -> int:
        return 1000 * self.byte_count // self.runtime_ms if self.runtime_ms else 0

    @property
    def iops(self) -> float:
        return round(1000 * self.operations / self.runtime_ms, 6) if self.runtime_ms else 0.0


_NOTHING = _Counts(0, 0, 0, 0.0)


def _operations(counts: _Counts) -> int:
    return counts.operations


def _counts(rng: random.Random, job: Job, runtime_ms: int, share: float) -> _Counts:
    operations = max(1, int(10 ** rng.uniform(2, 6) * share))
    if job.limit_iops:
        operations = int(job.limit_iops * rng.uniform(0.97, 1) * runtime_ms / 1000)
    return _Counts(operations, int(operations * job.block), runtime_ms, round(10 ** rng.uniform(3, 8), 6))


def _directions(rng: random.Random, job: Job) -> list[dict[str, _Counts]]:
    """Return the counts of each direction for each printed job."""
    runtime_ms = job.runtime_ms or rng.randint(900, 60_000)
    rows = []
    for _ in range(1 if job.is_grouped else job.processes):
        process_ms = runtime_ms + rng.choice([0, 0, 1, 2])
        kind = job.rw.removeprefix("rand").partition(":")[0]
        if job.key:
            rows.append({job.key: _counts(rng, job, process_ms, 1.0)})
        elif kind in {"rw", "readwrite"}:
            both = _counts(rng, job, process_ms, 1.0)
            reads = max(1, round(both.operations * job.mix))
            writes = max(1, both.operations - reads)
            block = job.block
            rows.append({
                "read": replace(both, operations=reads, byte_count=int(reads * block)),
                "write": _Counts(writes, int(writes * block), process_ms,
                                 round(both.latency_ns * rng.uniform(0.2, 5), 6)),
            })  # fmt: skip
        else:
            rows.append({kind: _counts(rng, job, process_ms, 1.0)})
    return rows


def _expected(job: Job, rows: Sequence[Mapping[str, _Counts]], version: str) -> list[Expected]:
    """Return the values of a job, whose processes count together."""
    counts = [side for row in rows for name, side in row.items() if name in {"read", "write", "mixed"}]
    if not counts or job.error:
        return []
    step = 1 if _version_number(version) >= (3, 2) else 1024
    sides = [{"bytes": side.bytes_per_s // step * step, "iops": side.iops} for side in counts]
    longest_s = max(side.runtime_ms for side in counts) / 1000
    by_bytes = sum(side.byte_count for side in counts) / longest_s
    by_operations = sum(side.operations for side in counts) / longest_s
    bandwidth, iops = sum(side["bytes"] for side in sides), sum(side["iops"] for side in sides)
    required = frozenset(job.required)
    expected = [
        Expected("bandwidth", job.params, min(bandwidth, by_bytes), max(bandwidth + step * len(counts), by_bytes),
                 required),
        Expected("iops", job.params, min(iops, by_operations) - 1e-6, max(iops, by_operations) + 1e-6, required),
    ]  # fmt: skip
    if job.has_latency and job.is_latency_complete:
        scale = 1e-9 if _version_number(version) >= (2, 99) else 1e-6
        operations = sum(side.operations for side in counts)
        mean = sum(_printed_latency(side, version) * side.operations for side in counts) / operations * scale
        expected.append(Expected("latency", job.params, mean * (1 - 1e-6), mean * (1 + 1e-6), required))
    return expected


def _printed_latency(side: _Counts, version: str) -> float:
    return side.latency_ns if _version_number(version) >= (2, 99) else round(side.latency_ns / 1000, 6)


def _printed_side(rng: random.Random, version: str, side: _Counts, has_latency: bool) -> dict[str, object]:
    number = _version_number(version)
    unit = "_ns" if number >= (2, 99) else ""
    mean = _printed_latency(side, version) if has_latency and side.operations else 0.0

    def latency(value: float, is_percentile: bool = False) -> dict[str, object]:
        summary: dict[str, object] = {
            "min": int(value / 3), "max": int(value * 20), "mean": value, "stddev": round(value / 2, 6),
        }  # fmt: skip
        if number >= (3, 18):
            summary["N"] = side.operations if value else 0
        if is_percentile and (value or number < (3, 18)):
            summary["percentile"] = {f"{at:.6f}": int(value * at / 50) for at in (1, 50, 99, 99.99)}
            if rng.random() < 0.2:  # json+
                summary["bins"] = {str(int(value)): 17, str(int(value * 2)): 4}
        return summary

    printed: dict[str, object] = {"io_bytes": side.byte_count if number >= (2, 21) else side.byte_count >> 10}
    if number >= (2, 21):
        printed["io_kbytes"] = side.byte_count >> 10
    if number >= (3, 2):
        printed["bw_bytes"] = side.bytes_per_s
    printed |= {
        "bw": side.bytes_per_s // 1024, "iops": side.iops, "runtime": side.runtime_ms, "total_ios": side.operations,
        "short_ios": 0, "drop_ios": 0, f"slat{unit}": latency(0.0),
        f"clat{unit}": latency(round(mean * 0.97, 6), is_percentile=True), f"lat{unit}": latency(mean),
        "bw_min": 0, "bw_max": side.bytes_per_s // 512, "bw_agg": 100.0, "bw_mean": side.bytes_per_s / 1024,
        "bw_dev": rng.random() * 100,
    }  # fmt: skip
    if number >= (3, 0):
        printed |= {"bw_samples": 60, "iops_min": 1, "iops_max": int(side.iops * 2), "iops_mean": side.iops * 1.01,
                    "iops_stddev": 3.5, "iops_samples": 60}  # fmt: skip
    return printed


def _printed_job(
    rng: random.Random, version: str, job: Job, options: Mapping[str, str], row: Mapping[str, _Counts]
) -> dict[str, object]:
    number = _version_number(version)
    printed: dict[str, object] = {"jobname": job.name, "groupid": job.group}
    if number >= (3, 36):
        printed["job_start"] = 1795992415438
    printed |= {"error": job.error, "eta": rng.choice([0, 2147483647]), "elapsed": 31}
    if options:
        printed["job options"] = dict(options)
    names = [job.key] if job.key else ["read", "write", "trim"]
    for name in names:
        printed[name] = _printed_side(rng, version, row.get(name, _NOTHING), job.has_latency)
    if job.has_sum:
        printed["mixed"] = _printed_side(rng, version, max(row.values(), key=_operations), job.has_latency)
    if number >= (3, 4):
        printed["sync"] = {"total_ios": 0, "lat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}}
    if number >= (3, 8):
        longest = max((side.runtime_ms for side in row.values()), default=0)
        printed["job_runtime"] = longest * (job.processes if job.is_grouped else 1)
    printed |= {"usr_cpu": 2.985075, "sys_cpu": 15.422886, "ctx": 773, "majf": 0, "minf": 25,
                "iodepth_level": _levels(job), "latency_us": {"2": 27.246094, "1000": 0.0},
                "latency_depth": 1, "latency_target": 0, "latency_percentile": 100.0, "latency_window": 0}  # fmt: skip
    return printed


def _levels(job: Job) -> dict[str, float]:
    """Return the percentages of operations by the number in flight: a job fills its queue once."""
    depth = job.params.get("depth", 1)
    assert isinstance(depth, int)
    # A limited rate does not fill the queue.
    level = max(1, 1 << min(6, depth.bit_length() - 1)) if not job.limit_iops else 1
    names = ["1", "2", "4", "8", "16", "32", ">=64"]
    printed = dict.fromkeys(names, 0.0)
    below = names[: level.bit_length() - 1]
    return printed | dict.fromkeys(below, 0.1) | {names[level.bit_length() - 1]: 100.0 - 0.1 * len(below)}


def _render(value: object, indent: int = 0) -> str:
    pad = "  " * (indent + 1)
    end = "  " * indent
    if isinstance(value, (dict, _Pairs)):
        pairs = value.pairs if isinstance(value, _Pairs) else list(value.items())
        if not pairs:
            return "{\n" + end + "}"
        lines = ",\n".join(f'{pad}"{name}" : {_render(item, indent + 1)}' for name, item in pairs)
        return "{\n" + lines + "\n" + end + "}"
    if isinstance(value, list):
        lines = ",\n".join(pad + _render(item, indent + 1) for item in value)
        return "[\n" + lines + "\n" + end + "]"
    if isinstance(value, _Literal):
        return value.word
    if isinstance(value, float):
        return f"{value:f}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _split(rng: random.Random, version: str, jobs: Sequence[Job]) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the global options, and those of each job, as the version prints them.

    Until 3.3, numjobs is left out of the global options; the jobs then lose their number of threads.
    """
    shared = {
        name: value for name, value in jobs[0].options.items() if all(job.options.get(name) == value for job in jobs)
    }
    moved = shared if rng.random() < 0.3 else {name: value for name, value in shared.items() if rng.random() < 0.5}
    # Of options that replace each other the last one counts, so they stay together and in their order.
    ordered = {name for job in jobs for name in job.options} & _ORDERED
    if not ordered <= moved.keys():
        moved = {name: value for name, value in moved.items() if name not in ordered}
    rest = [{name: value for name, value in job.options.items() if name not in moved} for job in jobs]
    if rng.random() < 0.2:
        moved |= _overridden(rng, version, rest)
    hides_flags = _version_number(version) < (3, 39)
    if _version_number(version) < (3, 4) and "numjobs" in moved:
        del moved["numjobs"]
        jobs[0].kinds.append("numjobs not in the output")
    return _printed(moved, hides_flags), [_printed(options, hides_flags) for options in rest]


def _overridden(rng: random.Random, version: str, jobs: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return a global option that each job replaces by its own."""
    defaults = {
        "rw": "randwrite",
        "bs": "256k",
        "ioengine": "splice",
        "iodepth": "64",
        "rwmixread": "20",
        "numjobs": "3",
    }
    if _version_number(version) < (3, 4):
        del defaults["numjobs"]
    replaceable = [name for name in defaults if all(name in options for options in jobs)]
    name = rng.choice(replaceable) if replaceable else ""
    return {name: defaults[name]} if name else {}


def _printed(options: Mapping[str, str], hides_flags: bool) -> dict[str, str]:
    return {name: value for name, value in options.items() if value or not hides_flags}


def _document(
    rng: random.Random, version: str, jobs: Sequence[Job], list_name: str = "jobs"
) -> tuple[dict[str, object], list[Expected]]:
    """Return an output as JSON, and the values of its jobs."""
    number = _version_number(version)
    document: dict[str, object] = {"fio version": f"fio-{version}", "timestamp": 1795992416}
    if number >= (2, 14) and list_name == "jobs":
        document["timestamp_ms"] = 1795992416564
    document["time"] = "Sun Nov 29 22:46:56 2026"
    moved, rest = _split(rng, version, jobs)
    if moved:
        document["global options"] = moved
    printed, expected = [], []
    for job, options in zip(jobs, rest, strict=True):
        if not job.has_thread_count or not {"numjobs"} & (moved.keys() | options.keys()):
            job.required.discard("threads")
        device = job.options.get("filename", "")
        if job.params.get("op") == "read" and device.startswith("/dev/"):
            job.params["read_device"] = device
        rows = _directions(rng, job)
        printed += [_printed_job(rng, version, job, options, row) for row in rows]
        expected += _expected(job, rows, version)
    # The counts are those after a ramp of 2 or 5 s; of several jobs, each has one.
    ramp_s = sum(5 for job in jobs if "ramp_time" in job.options)
    _add_times(rng, printed, ramp_s)
    document[list_name] = printed
    document["disk_util"] = [{"name": "vda", "read_ios": 655, "util": 15.458937}]
    return document, expected


def _add_times(rng: random.Random, entries: Sequence[dict[str, Any]], ramp_s: int = 0, is_beside: bool = False) -> None:
    """Set when the entries began, group after group or all at once, and how long fio ran, which all of them have."""
    first_ms = end_ms = 1795992415438
    starts: dict[int, int] = {}
    for entry in entries:
        starts.setdefault(entry["groupid"], first_ms if is_beside else end_ms)
        if "job_start" in entry:
            entry["job_start"] = starts[entry["groupid"]]
        runtime_ms = max(entry[name]["runtime"] for name in ("read", "write", "trim", "mixed") if name in entry)
        # fio looks for ended jobs every 100 ms.
        end_ms = max(end_ms, starts[entry["groupid"]] + runtime_ms + rng.randint(1, 250))
    for entry in entries:
        entry["elapsed"] = ramp_s + -(-(end_ms - first_ms) // 1000)


_BEFORE = (
    "fio: this platform does not support process shared mutexes, forcing use of threads. Use the 'thread' option.\n",
    "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n",
    "job {a}: warning\n",
    "hostname=db1, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1\n<db1> {0} starting\n",
    "+ fio --output-format=json job.fio\n2026-11-29 22:46:56 {\n",
)
_TERSE = "3;fio-3.33;a;0;0;131072;43690;10922;3000;0;0;0.000000;0.000000;2;301;7.1;4.2;1.000000%=3;5.000000%=4\n"
_PROGRESS = "".join(f"\rJobs: 1 (f=1): [R(1)][{at}.0%][r=32.1MiB/s][r=8216 IOPS][eta 00m:02s]" for at in (40, 60, 100))
_AFTER = (
    "\nfio: terminating on signal 2\n",
    "\nreal 0m30.2s\nuser 0m1.0s\n",
    "\n{done}\n",
    "\nDisk stats: done\n",
    _TERSE,
)
_NORMAL = """
a: (groupid=0, jobs=1): err= 0: pid=13389: Mon Nov 30 01:08:04 2026
  read: IOPS=82.3k, BW=321MiB/s (337MB/s)(288MiB/896msec)
  cpu          : usr=1.45%, sys=21.54%, ctx=868, majf=0, minf=15

Run status group 0 (all jobs):
   READ: bw=321MiB/s (337MB/s), 321MiB/s-321MiB/s (337MB/s-337MB/s), io=288MiB (302MB), run=896-896msec
"""


def _surrounded(rng: random.Random, text: str, kinds: list[str]) -> bytes:
    share = rng.random()
    if share < 0.1:
        kinds.append("text before the object")
        text = rng.choice([*_BEFORE, _PROGRESS + "\n"]) + text
    elif share < 0.2:
        kinds.append("text after the object")
        text += rng.choice(_AFTER)
    elif share < 0.25:
        kinds.append("json,normal")
        text += _NORMAL
    if rng.random() < 0.05:
        text = text.replace("\n", "\r\n")
    return text.encode()


def _output(
    rng: random.Random,
    version: str,
    jobs: Sequence[Job],
    reading: Reading,
    kinds: Sequence[str] = (),
) -> ToolOutput:
    document, expected = _document(rng, version, jobs)
    if rng.random() < 0.03:
        document["disk_util"] = [{"name": "vda", "util": _literal("-nan")}]
        kinds = [*kinds, "-nan in a value that is not read"]
        reading = Reading.MAY if reading is Reading.MUST else reading
    labels = [f"fio {version}", *kinds, *(kind for job in jobs for kind in job.kinds)]
    text = _render(document) + "\n"
    if rng.random() < 0.1 and "nan" not in text:
        labels.append("printed again by another program")
        # Of options that replace each other, the last one counts.
        text = reprinted(rng, text, keeps_order=reading is not Reading.MUST)
    content = _surrounded(rng, text, labels)
    named = [option for job in jobs for option in job.named]
    is_old = _version_number(version) < (2, 99)
    if is_old and reading is Reading.MUST:
        reading = Reading.MAY
    return ToolOutput("fio", content, reading, expected, labels, named, name="output.json")


def _plain(rng: random.Random, version: str) -> ToolOutput:
    jobs = _different_jobs(rng, rng.choice([1, 1, 1, 2, 3]))
    noise: dict[str, str] = {}
    add_harmless(rng, noise)
    for job in jobs:
        job.options |= {name: value for name, value in noise.items() if name not in job.options}
        if job.group:
            job.options["stonewall"] = ""
    kinds = ["harmless options"] if len(jobs) == 1 else ["several jobs"]
    if any(job.processes > 1 and not job.is_grouped for job in jobs):
        kinds.append("numjobs without group_reporting")
    if len(jobs) > 1:
        _add_unreadable(rng, jobs, kinds)
    return _output(rng, version, jobs, Reading.MUST, kinds)


def _different_jobs(rng: random.Random, size: int) -> list[Job]:
    """Return jobs that run one after the other, no two of which have the same parameters."""
    jobs: list[Job] = []
    works: set[tuple[Value, ...]] = set()
    for number in count():
        job = make_job(rng, f"job{number}")
        work = (job.params["op"], job.params["pattern"], job.params["block"])
        if work not in works:
            works.add(work)
            job.group = len(jobs)
            jobs.append(job)
        if len(jobs) == size:
            break
    return jobs


def _add_unreadable(rng: random.Random, jobs: list[Job], kinds: list[str]) -> None:
    """Make the last job fail, or add one that trims: neither keeps the others from being read."""
    if rng.random() < 0.2:
        jobs[-1].error = 5
        jobs[-1].named.append(Remark(jobs[-1].name))
        kinds.append("a failed job among others")
    if rng.random() < 0.3:
        jobs.append(make_trim_job(len(jobs)))
        kinds.append("a trim job")


def _changed(rng: random.Random, version: str) -> ToolOutput:
    """Return the output of a job with an option that changes the work."""
    name = rng.choice(sorted(CHANGES))
    job = make_job(rng, "a")
    job.kinds.append(name)
    reading = CHANGES[name](rng, job) or Reading.MAY
    add_harmless(rng, job.options)
    return _output(rng, version, [job], reading)


def _without_options(rng: random.Random, version: str) -> ToolOutput:
    """Return an output of fio before 2.4, which prints no options: only the operation and the block are known."""
    job = make_job(rng, "a")
    set_operation(rng, job, ["read", "write", "randread", "randwrite"])
    job.params = {"op": job.params["op"], "block": int(job.block)}
    job.required = set()
    job.options = {}
    job.is_grouped = True
    return _output(rng, version, [job], Reading.MAY, ["no options in the output"])


def _refused(document: object, version: str, kind: str) -> ToolOutput:
    return ToolOutput(
        "fio", _render(document).encode(), Reading.NEVER, [], [f"fio {version}", kind], name="output.json"
    )


def _failed(rng: random.Random, version: str) -> ToolOutput:
    """Return an output of a job of which one process, or all, ended with an error."""
    job = make_job(rng, "a")
    if rng.random() < 0.5:
        job.error = rng.choice([5, 28, 121])
        return _refused(_document(rng, version, [job])[0], version, "an error")
    job.processes, job.is_grouped, job.options["numjobs"] = 4, False, "4"
    job.options.pop("group_reporting", None)
    document, _ = _document(rng, version, [job])
    _entries(document)[rng.randrange(4)]["error"] = 5
    return _refused(document, version, "an error of one process")


def _idle(rng: random.Random, version: str) -> ToolOutput:
    """Return an output of a job that read and wrote nothing, or for no time."""
    job = rng.choice([make_trim_job(0), make_job(rng, "a")])
    document, _ = _document(rng, version, [job])
    is_infinite = rng.random() < 0.5
    for entry in _entries(document):
        for name in ("read", "write"):
            if is_infinite:
                entry[name] |= {"iops": _literal("inf"), "bw_bytes": _literal("-nan"), "bw": _literal("inf")}
            else:
                entry[name] = _printed_side(rng, version, _NOTHING, False)
    return _refused(document, version, "infinite values" if is_infinite else "nothing transferred")


def _cut(rng: random.Random, version: str) -> ToolOutput:
    output = _refused(_document(rng, version, [make_job(rng, "a")])[0], version, "cut")
    length = len(output.content)
    return replace(output, content=output.content[: rng.randint(length // 3, length - 60)])


def _entries(document: Mapping[str, object], name: str = "jobs") -> list[dict[str, Any]]:
    entries = document[name]
    assert isinstance(entries, list)
    return entries


def _literal(word: str) -> _Literal:
    value = _Literal(math.nan)
    value.word = word
    return value


def _of_client(rng: random.Random, version: str) -> ToolOutput:
    """Return an output of fio --client, whose list has another name and a sum over all at its end."""
    jobs = [make_job(rng, "a"), make_job(rng, "b")]
    set_operation(rng, jobs[0], ["read"])
    set_operation(rng, jobs[1], ["randwrite"])
    jobs[1].group = 1
    for job in jobs:
        job.is_grouped = True
    document, expected = _document(rng, version, jobs, "client_stats")
    printed = _entries(document, "client_stats")
    for entry in printed:
        entry |= {"hostname": "db1", "port": 8765}
    everything = {name: value for name, value in printed[0].items() if name != "job options"}
    printed.append(everything | {"jobname": "All clients"})
    text = rng.choice(["", "hostname=db1, be=0, 64-bit\n<db1> {0}\n"]) + _render(document) + "\n"
    return ToolOutput("fio", text.encode(), Reading.MAY, expected, [f"fio {version}", "client"], name="output.json")


def _of_intervals(rng: random.Random, version: str) -> ToolOutput:
    """Return an output of --status-interval: an object for each interval, of which the last one counts.

    The last job has not begun in the first objects if there are several jobs.
    """
    jobs = _different_jobs(rng, rng.choice([1, 1, 2]))
    for job in jobs:
        job.runtime_ms = 1000 * rng.randint(2, 30)
    document, expected = _document(rng, version, jobs)
    waiting = {job.name for job in jobs[1:]}
    elapsed_ms = _entries(document)[0]["elapsed"] * 1000 - rng.randint(0, 999)
    parts = [_state(document, share, waiting, elapsed_ms) for share in sorted(rng.uniform(0.1, 0.9) for _ in range(3))]
    text = rng.choice(["\n", "\n" + _NORMAL]).join([*parts, _render(document)]) + "\n"
    reading = Reading.MUST if _version_number(version) >= (2, 99) else Reading.MAY
    return ToolOutput("fio", text.encode(), reading, expected, [f"fio {version}", "status-interval"],
                      name="output.json")  # fmt: skip


def _state(document: Mapping[str, object], share: float, waiting: Set[str], elapsed_ms: int) -> str:
    """Return an earlier state of a run, in which its jobs had run for this share of their time, or waited."""
    state: dict[str, Any] = copy.deepcopy(dict(document))
    entries = _entries(state)
    remaining: dict[int, int] = {}
    for entry in entries:
        is_waiting = entry["jobname"] in waiting
        for side in [entry[name] for name in ("read", "write", "trim", "mixed") if name in entry]:
            left_ms = side["runtime"] - int(side["runtime"] * (0 if is_waiting else share))
            remaining[entry["groupid"]] = max(remaining.get(entry["groupid"], 0), left_ms)
            for name in ("runtime", "total_ios", "io_bytes"):
                side[name] = int(side[name] * (0 if is_waiting else share))
        if is_waiting and "job_start" in entry:
            entry["job_start"] = 0
    remaining_ms = sum(remaining.values())
    for entry in entries:
        entry["elapsed"] = max(1, -(-(elapsed_ms - remaining_ms) // 1000))
        entry["eta"] = 4
    if "timestamp_ms" in state:
        state["timestamp_ms"] -= remaining_ms
    return _render(state)


def _in_ramp(rng: random.Random, version: str) -> ToolOutput:
    """Return an output that was cut off, or a job that ended, during the ramp, whose counts are dropped later."""
    job = make_job(rng, "a")
    job.runtime_ms = rng.randint(1, 20_000)
    job.options["ramp_time"] = str(job.runtime_ms // 1000 + rng.randint(1, 10))
    document, _ = _document(rng, version, [job])
    for entry in _entries(document):
        entry["elapsed"] = job.runtime_ms // 1000 + 1
    return _refused(document, version, "counts of the ramp")


def _appended(rng: random.Random, version: str) -> ToolOutput:
    """Return outputs of several runs of the same job in one file."""
    job = make_job(rng, "a")
    job.runtime_ms = rng.choice([187, 1000, 30_000])
    parts = []
    for number in range(rng.choice([2, 3])):
        document, _ = _document(rng, version, [job])
        if "timestamp_ms" in document:
            document["timestamp_ms"] = 1795992416564 + number * (job.runtime_ms + rng.randint(250, 900))
        for entry in _entries(document):
            if "job_start" in entry:
                entry["job_start"] += number * (job.runtime_ms + 300)
        parts.append(_render(document))
    return replace(_refused({}, version, "runs of the same job appended"), content="\n".join(parts).encode())


def _merged(rng: random.Random, version: str) -> ToolOutput:
    """Return a group of different jobs: it has the name of the first one, and the options of the last one."""
    job = make_job(rng, "a")
    set_operation(rng, job, ["write", "randwrite"])
    job.options["name"] = "b"
    job.is_grouped = True
    job.processes = 1
    document, _ = _document(rng, version, [job])
    _entries(document)[0]["read"] = _printed_side(rng, version, _counts(rng, job, 10_000, 1.0), True)
    text = _render(document)
    return ToolOutput(
        "fio", text.encode(), Reading.NEVER, [], [f"fio {version}", "different jobs in a group"], name="output.json"
    )


def _of_equal_jobs(rng: random.Random, version: str) -> ToolOutput:
    """Return a group of jobs that differ in their files only, each with numjobs processes."""
    jobs = rng.choice([2, 3])
    job = make_job(rng, "file1")
    job.is_grouped = True
    if _version_number(version) < (3, 8):  # without job_runtime, nothing tells the number of processes
        return _output(rng, "3.33", [job], Reading.MAY, ["a group of one job"])
    job.options |= {"numjobs": str(job.processes), "filename": "/mnt/test/file2"}
    job.processes *= jobs
    job.params["threads"] = job.processes
    job.has_thread_count = False
    return _output(rng, version, [job], Reading.MAY, ["jobs with other files in a group"])


def _in_sections(rng: random.Random, version: str) -> ToolOutput:
    """Return jobs that have all options from a global section before each of them: fio prints them as one object."""
    jobs = _different_jobs(rng, 2)
    document, expected = _document(rng, version, jobs)
    document["global options"] = _Pairs([pair for job in jobs for pair in job.options.items()])
    for entry in _entries(document):
        entry["job options"] = {"size": "1g", **({"stonewall": ""} if _version_number(version) >= (3, 39) else {})}
    return ToolOutput(
        "fio", _render(document).encode(), Reading.MAY, expected, [f"fio {version}", "global sections between jobs"],
        name="output.json",
    )  # fmt: skip


def _in_files(rng: random.Random, version: str) -> ToolOutput:
    """Return jobs of two files: the first one did not have the number of processes that fio prints for all."""
    version = rng.choice(["3.16", "3.28", "3.33", "3.36", "3.41"])
    jobs = _different_jobs(rng, 2)
    for job, processes in zip(jobs, (1, rng.choice([2, 4, 8])), strict=True):
        job.is_grouped, job.processes, job.params["threads"] = True, processes, processes
        job.options |= {"numjobs": str(processes), "group_reporting": "1"}
    document, expected = _document(rng, version, jobs)
    for entry in _entries(document):
        entry.get("job options", {}).pop("numjobs", None)
    shared = document.setdefault("global options", {})
    assert isinstance(shared, dict)
    shared["numjobs"] = jobs[1].options["numjobs"]
    return ToolOutput(
        "fio", _render(document).encode(), Reading.MAY, expected, [f"fio {version}", "jobs of two files"],
        name="output.json",
    )  # fmt: skip


def _grouped_with_short(rng: random.Random, version: str) -> ToolOutput:
    """Return a group of a job and a shorter one of a job file: it has the name of the first, and the last's options."""
    version = rng.choice(["3.16", "3.28", "3.33", "3.36", "3.41"])
    job = make_job(rng, "a")
    job.is_grouped, job.processes = True, 1
    job.options.pop("numjobs", None)
    document, _ = _document(rng, version, [job])
    entry = _entries(document)[0]
    entry["job_runtime"] += max(20, int(entry["job_runtime"] * rng.uniform(0.02, 1)))
    return _refused(document, version, "a group with a shorter job")


def _together(rng: random.Random, version: str) -> ToolOutput:
    """Return different jobs that run at the same time."""
    jobs = _different_jobs(rng, 2)
    for job in jobs:
        job.group = 0
    return _output(rng, version, jobs, Reading.MAY, ["different jobs at the same time"])


def _beside(rng: random.Random, version: str) -> ToolOutput:
    """Return jobs with groups of their own that ran at the same time; few versions print the flag new_group."""
    jobs = _different_jobs(rng, 2)
    is_printed = _version_number(version) >= (3, 39)
    for job in jobs:
        job.runtime_ms, job.options["new_group"] = 1000 * rng.randint(2, 60), ""
    jobs[1].runtime_ms = jobs[0].runtime_ms + rng.randint(0, 400)
    document, _ = _document(rng, version, jobs)
    _add_times(rng, _entries(document), is_beside=True)
    return _refused(document, version, f"jobs at the same time, new_group {'' if is_printed else 'not '}printed")


def _hidden(rng: random.Random, version: str) -> ToolOutput:
    """Return a job and one that ran with it and wrote no statistics: its entry has no name before 3.42."""
    document, _ = _document(rng, version, [make_job(rng, "a"), make_job(rng, "b")])
    entries = _entries(document)
    hidden = entries[-1]
    for name in ("jobname", "job options", "job_start"):
        hidden.pop(name, None)
    hidden |= {"groupid": 4294967295, "error": 0, "job_runtime": 0}
    hidden |= {name: _printed_side(rng, version, _NOTHING, False) for name in ("read", "write", "trim")}
    return _refused(document, version, "a job without statistics")


def _twice(rng: random.Random, version: str) -> ToolOutput:
    """Return two jobs with the same options, one after the other or at the same time."""
    job = make_job(rng, "a")
    job.is_grouped, job.processes = True, 1
    job.options.pop("numjobs", None)
    job.params["threads"] = 1
    is_sequence = rng.random() < 0.5
    job.runtime_ms = rng.randint(2_000, 60_000)
    other = replace(job, name="b", group=int(is_sequence), options={**job.options})
    if is_sequence:
        other.options["stonewall"] = ""
    document, expected = _document(rng, version, [job, other])
    half = len(expected) // 2
    pairs: Iterator[tuple[Expected, Expected]] = zip(expected[:half], expected[half:], strict=True)
    merged = [_of_pair(first, second, is_sequence) for first, second in pairs]
    kinds = [f"fio {version}", "the same job twice", "one after the other" if is_sequence else "at the same time"]
    return ToolOutput("fio", _render(document).encode(), Reading.MAY, merged, kinds, name="output.json")


def _of_pair(first: Expected, second: Expected, is_sequence: bool) -> Expected:
    low, high = min(first.low, second.low), max(first.high, second.high)
    if is_sequence or first.metric == "latency":
        threads = 1 if is_sequence else 2
        return replace(first, low=low, high=high, params={**first.params, "threads": threads})
    # Two processes at the same time: their sum, and no less than that of all bytes over the longer time.
    return replace(first, low=0.99 * (first.low + second.low), high=first.high + second.high,
                   params={**first.params, "threads": 2})  # fmt: skip
