"""The disk probe: its results, its error messages, and the state of the directory after a failure."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from machine_wide import unused_name
from machines import MACHINE
from nameplate.execution.core_process import CoreProcess
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.probes import ResolvedExperiment
from nameplate.probes.shared.served import served_by
from nameplate.records.run_record import Header, Outcome, Sample

FAULTS = Path(__file__).parent.parent / "faults" / "disk_faults.c"
SIZE = "4MiB"
LIBRARIES = ("stdio", "posix", "pread", "mmap", "uring", "libaio")
PR_CAPBSET_DROP, CAP_IPC_LOCK = 24, 14
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SYS_IO_URING_SETUP = 425


@pytest.fixture(scope="session")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile and return the library that makes system calls fail."""
    library = tmp_path_factory.mktemp("faults") / "disk_faults.so"
    subprocess.run(["gcc", "-shared", "-fPIC", FAULTS, "-o", library], check=True)
    return library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create an empty directory; ``measure`` checks that it is empty again afterwards."""
    directory = tmp_path / "disk"
    directory.mkdir()
    return directory


def measure(
    core: Path,
    folder: Path,
    env: dict[str, str] | None = None,
    preexec: Callable[[], None] | None = None,
    **params: Any,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run one short experiment, check that the directory is empty again, and return the outcome and the samples."""
    params = {"file": str(folder), "size": SIZE, "threads": 1, **params}
    params = {name: value for name, value in params.items() if value is not None}
    request = {"id": "x", "probe": "disk_block", "params": params, "slice_s": 0.01, "warmup_s": 0.0, "sample_s": 0.001}
    answer = subprocess.run(
        [core], input=json.dumps(request) + "\n", capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, **(env or {})}, preexec_fn=preexec,
    )  # fmt: skip
    assert list(folder.iterdir()) == []
    records = [json.loads(line) for line in answer.stdout.splitlines()]
    outcome = next(record for record in records if record["type"] == "outcome")
    return outcome, [record for record in records if record["type"] == "sample"]


def measured(core: Path, folder: Path, **params: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run one short experiment that must succeed, and return its outcome and samples."""
    outcome, samples = measure(core, folder, **params)
    assert outcome["ending"] == "ok", outcome["reason"]
    return outcome, samples


def ask(core: Path, folder: Path, params: dict[str, Any], **request: Any) -> list[dict[str, Any]]:
    """Send one request to the core and return all its records."""
    params = {"file": str(folder), "size": SIZE, "threads": 1, **params}
    line = json.dumps({"id": "x", "probe": "disk_block", "params": params, **request}) + "\n"
    text = subprocess.run([core], input=line, capture_output=True, text=True, check=True).stdout
    return [json.loads(record) for record in text.splitlines()]


# Results.


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("op", ["read", "write", "readwrite", "readwrite:70"])
def test_every_operation_of_every_library_is_verified(core_path: Path, folder: Path, library: str, op: str) -> None:
    for pattern in ("sequential", "random"):
        outcome, samples = measured(core_path, folder, library=library, op=op, pattern=pattern, block="4KiB", threads=2)
        sample = samples[-1]
        assert sample["work"]["ops"] == sample["repetitions"] * 2
        assert sample["work"]["bytes"] == sample["work"]["ops"] * 4096
        assert sum(sample["histogram"]["count"]) == sample["work"]["ops"]
        assert outcome["params"]["op"] == op


@pytest.mark.parametrize(("library", "rate"), [("pread", {}), ("pread", {"rate": 2000}), ("uring", {"depth": 4})])
def test_reads_and_writes_of_a_mixture_are_timed_apart(
    core_path: Path, folder: Path, library: str, rate: dict[str, Any]
) -> None:
    _, samples = measured(
        core_path, folder, library=library, op="readwrite:70", pattern="random", block="4KiB", threads=2, **rate
    )
    counts: dict[str, Counter[int]] = {name: Counter() for name in ("", "read_", "write_")}
    for sample in samples:
        for name, count in counts.items():
            times = sample[f"{name}histogram"]
            count.update(dict(zip(times["lower_ns"], times["count"], strict=True)))
    assert counts["read_"] + counts["write_"] == counts[""]
    total = counts[""].total()
    assert counts["read_"].total() / total == pytest.approx(0.7, abs=4 * (0.21 / total) ** 0.5)
    _, only_reads = measured(core_path, folder, library=library, op="read", block="4KiB")
    assert "read_histogram" not in only_reads[0]


@pytest.mark.parametrize("block", ["1", "7", "8", "1000", "4097", "1MiB"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_any_block_size_is_verified(core_path: Path, folder: Path, library: str, block: str) -> None:
    for op in ("read", "write", "readwrite"):
        measured(core_path, folder, library=library, op=op, block=block, pattern="backward")


@pytest.mark.parametrize("library", ["posix", "pread", "uring", "libaio"])
def test_o_direct_bypasses_the_page_cache(core_path: Path, folder: Path, library: str) -> None:
    for op in ("read", "write"):
        outcome, samples = measured(core_path, folder, library=library, op=op, cache="direct", pattern="random")
        if outcome["facts"]["is_memory"]:
            pytest.skip("this directory lies in memory: its files are the page cache")
        assert samples[-1]["counters"]["resident_after_bytes"] == 0


@pytest.mark.parametrize("library", ["uring", "libaio"])
def test_a_queue_keeps_its_depth_in_flight(core_path: Path, folder: Path, library: str) -> None:
    outcome, samples = measured(
        core_path, folder, library=library, depth=16, cache="direct", pattern="random", passes=1
    )
    assert outcome["params"]["depth"] == 16
    sample = samples[-1]
    times = zip(sample["histogram"]["lower_ns"], sample["histogram"]["count"], strict=True)
    in_flight = sum(lower * count for lower, count in times) * 1e-9 / sample["elapsed_s"]
    assert 4 < in_flight <= 17, "by Little's law"


def test_small_blocks_are_timed_sometimes_and_large_ones_always(core_path: Path, folder: Path) -> None:
    small, samples = measured(core_path, folder, block="8")
    share = sum(samples[-1]["histogram"]["count"]) / samples[-1]["work"]["ops"]
    assert small["facts"]["timed_every"] == 64
    assert 1 / 128 < share < 1 / 32
    large, _ = measured(core_path, folder, block="4KiB")
    assert large["facts"]["timed_every"] == 1


def test_a_cold_file_is_read_from_the_device_and_a_warm_one_is_not(core_path: Path, folder: Path) -> None:
    outcome, cold = measured(core_path, folder, cache="cold", block="64KiB")
    if outcome["facts"]["is_memory"]:
        pytest.skip("this directory lies in memory: there is no device behind its page cache")
    assert cold[-1]["counters"]["resident_before_bytes"] == 0
    assert cold[-1]["counters"]["process_read_bytes"] >= cold[-1]["work"]["bytes"]
    _, warm = measured(core_path, folder, cache="warm", block="64KiB")
    assert warm[-1]["counters"]["resident_before_bytes"] >= 4 << 20
    assert warm[-1]["counters"]["process_read_bytes"] == 0


def test_cache_as_is_neither_fills_nor_empties_the_page_cache(core_path: Path, folder: Path) -> None:
    """After direct reads, which drop the file from the cache, it is not cached; after a warm experiment it is."""
    states = ["direct", "as-is", "warm", "as-is"]
    params = {"file": str(folder), "size": "64MiB", "threads": 1, "block": "4KiB", "pattern": "random"}
    short = {"probe": "disk_block", "slice_s": 0.001, "warmup_s": 0.0, "sample_s": 0.001}
    lines = [
        json.dumps({"id": str(number), "params": {**params, "cache": state}, **short})
        for number, state in enumerate(states)
    ]
    text = subprocess.run([core_path], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    records = [json.loads(line) for line in text.splitlines()]
    if any(r["type"] == "outcome" and (r["ending"] != "ok" or r["facts"]["is_memory"]) for r in records):
        pytest.skip("this directory has no O_DIRECT, or lies in memory")
    first = [next(r for r in records if r["type"] == "sample" and r["id"] == str(n)) for n in range(len(states))]
    resident = [sample["counters"]["resident_before_bytes"] for sample in first]
    assert resident[1] < 32 << 20  # calibration has read a part of the file
    assert resident[3] > 63 << 20  # the kernel may have taken some pages back


def test_a_first_pass_writes_into_an_empty_file(core_path: Path, folder: Path) -> None:
    for library in LIBRARIES:
        _, samples = measured(core_path, folder, op="write", **{"pass": "first"}, block="64KiB", library=library)
        for sample in samples:
            assert sample["counters"]["resident_before_bytes"] == 0
            assert sample["repetitions"] <= (4 << 20) // (64 << 10), "no block twice"


def test_passes_are_counted_instead_of_time(core_path: Path, folder: Path) -> None:
    _, samples = measured(core_path, folder, passes=3, block="64KiB", threads=2)
    assert all(sample["work"]["bytes"] == 3 * (4 << 20) for sample in samples)


def test_a_given_rate_is_kept_and_latency_includes_delays(core_path: Path, folder: Path) -> None:
    for library in ("pread", "uring"):
        records = ask(core_path, folder, {"rate": 2000, "library": library}, slice_s=1.0, sample_s=0.1)
        samples = [record for record in records if record["type"] == "sample"]
        rate = sum(s["work"]["ops"] for s in samples) / sum(s["elapsed_s"] for s in samples)
        assert rate < 2001, library
        # A busy machine may be too slow for the rate most of the time.
        assert max(s["work"]["ops"] / s["elapsed_s"] for s in samples) > 1500, library


def test_each_thread_can_have_its_own_file(core_path: Path, folder: Path) -> None:
    outcome, samples = measured(core_path, folder, layout="file-per-thread", threads=2, passes=1, block="64KiB")
    assert outcome["params"]["layout"] == "file-per-thread"
    assert samples[-1]["counters"]["resident_before_bytes"] == 4 << 20


# Where the bytes came from.


def verdict(core: Path, folder: Path, **params: Any) -> str:
    outcome, samples = measured(core, folder, **params)
    records = [Sample(**{k: v for k, v in sample.items() if k in ("id", "index", "start_s", "elapsed_s", "repetitions",
                                                                  "counters")},
                      work=_work(sample), disturbed={}) for sample in samples]  # fmt: skip
    return served_by(ResolvedExperiment(outcome["params"], outcome["facts"], MACHINE, outcome["labels"]), records)


def _work(sample: dict[str, Any]) -> Any:
    from nameplate.records.run_record import Work  # noqa: PLC0415 (only here)

    return Work(**sample["work"])


def test_the_verdict_follows_the_evidence(core_path: Path, folder: Path) -> None:
    if measured(core_path, folder)[0]["facts"]["is_memory"]:
        pytest.skip("this directory lies in memory")
    assert verdict(core_path, folder, cache="warm") == "page cache"
    assert verdict(core_path, folder, cache="direct").startswith("device")
    assert verdict(core_path, folder, cache="cold", block="64KiB").startswith("device")
    assert verdict(core_path, folder, op="write") == "page cache"
    assert verdict(core_path, folder, op="write", sync="end").startswith("device")


def test_a_ram_disk_is_reported_as_such(core_path: Path) -> None:
    memory = Path("/dev/shm") / unused_name("nameplate-test")
    try:
        memory.mkdir()
    except OSError as error:
        pytest.skip(f"there is no /dev/shm to write to: {error}")
    try:
        assert verdict(core_path, memory) == "RAM disk (tmpfs)"
    finally:
        memory.rmdir()


def test_on_an_overlay_the_page_cache_is_that_of_the_layer_below(core_path: Path, tmp_path: Path) -> None:
    for name in ("lower", "upper", "work", "merged"):
        (tmp_path / name).mkdir()
    layers = ",".join(f"{key}dir={tmp_path / key}" for key in ("lower", "upper", "work"))
    merged = tmp_path / "merged"
    mounted = subprocess.run(
        ["mount", "-t", "overlay", "overlay", "-o", layers, merged], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no overlay can be mounted here: {mounted.stderr.strip()}")
    try:
        outcome, warm = measured(core_path, merged, cache="warm")
        assert outcome["labels"]["filesystem"] == "overlay"
        assert warm[-1]["counters"]["resident_before_bytes"] == 4 << 20
        _, cold = measured(core_path, merged, cache="cold", block="64KiB")
        assert cold[-1]["counters"]["resident_before_bytes"] == 0
        assert cold[-1]["counters"]["resident_after_bytes"] > 0
    finally:
        subprocess.run(["umount", merged], check=True)


# Rejected parameters, with the rule in the message.

REFUSED = [
    ({"cache": "direct", "block": "1"}, "skipped", "O_DIRECT requires multiples of"),
    ({"cache": "direct", "library": "stdio"}, "skipped", "its own buffer is not aligned"),
    ({"cache": "direct", "library": "mmap"}, "skipped", "a mapped file always uses the page cache"),
    ({"block": "4MiB", "threads": 2}, "skipped", "larger than a thread's part of the file"),
    ({"depth": 2}, "skipped", "one operation at a time; use uring or libaio"),
    ({"sync": "end"}, "skipped", "op=read writes nothing"),
    ({"cache": "cold", "pass": "again"}, "skipped", "data read before are in the cache"),
    ({"op": "readwrite:70", "pass": "first"}, "skipped", "a new file has nothing to read"),
    ({"op": "write", "pass": "first", "passes": 2}, "skipped", "a second pass"),
    ({"cache": "cold", "op": "write", "passes": 2}, "skipped", "a second pass finds in the cache"),
    ({"op": "readwrite:100"}, "failed", "op=readwrite:100: not possible"),
    ({"op": "read:50"}, "failed", "op=read:50: not possible"),
    ({"size": "100EiB"}, "failed", "not possible"),
    ({"size": "1000TiB"}, "skipped", "stay free"),
    ({"file": "/no/such/directory"}, "failed", "there is no directory /no/such"),
    ({"file": "/dev/null"}, "failed", "not a directory or a new file"),
    ({"file": "/proc"}, "skipped", ": 0 B may be used"),
    ({"file": None, "read_device": "/dev/null"}, "failed", "not a block device"),
    ({"file": None, "read_device": "/dev/null", "op": "write"}, "skipped", "a device is never written to"),
]


@pytest.mark.parametrize(("params", "ending", "message"), REFUSED)
def test_impossible_parameters_are_rejected_with_the_rule(
    core_path: Path, folder: Path, params: dict[str, Any], ending: str, message: str
) -> None:
    outcome, samples = measure(core_path, folder, **params)
    assert (outcome["ending"], samples) == (ending, [])
    assert message in outcome["reason"], outcome["reason"]


def test_a_read_only_directory_is_named(core_path: Path, folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to become somebody else")
    for above in takewhile(lambda item: item != Path(tempfile.gettempdir()), folder.parents):
        above.chmod(0o755)
    outcome, _ = measure(core_path, folder, preexec=lambda: os.setuid(65534))
    assert outcome["ending"] == "failed"
    assert outcome["reason"] == f"cannot create a file in {folder}: Permission denied"


def test_an_existing_file_and_a_link_are_never_touched(core_path: Path, folder: Path) -> None:
    precious = folder.parent / "precious"
    precious.write_text("mine")
    link = folder.parent / "link"
    link.symlink_to(precious)
    for path, message in ((precious, "existing files are never written to"), (link, "is a symbolic link")):
        outcome, _ = measure(core_path, folder, file=str(path), op="write")
        assert message in outcome["reason"]
    assert precious.read_text() == "mine"


def test_a_new_name_is_used_and_removed_at_once(core_path: Path, folder: Path) -> None:
    outcome, _ = measured(core_path, folder, file=str(folder / "mine"), op="write")
    assert outcome["params"]["file"] == str(folder)


def test_a_block_device_is_read_and_never_written(core_path: Path, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(os.urandom(8 << 20))
    attached = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if attached.returncode != 0:
        pytest.skip(f"no loop device can be made here: {attached.stderr.strip()}")
    device = attached.stdout.strip()
    try:
        before = image.read_bytes()
        (tmp_path / "empty").mkdir()
        for cache in ("warm", "cold", "direct"):
            outcome, samples = measured(
                core_path, tmp_path / "empty", file=None, read_device=device, cache=cache, block="64KiB"
            )
            assert outcome["facts"]["file_bytes"] == 4 << 20
            assert samples[-1]["work"]["ops"] > 0
        for op in ("write", "readwrite"):
            assert measure(core_path, tmp_path / "empty", file=device, op=op)[0]["ending"] == "failed"
        assert image.read_bytes() == before
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def test_a_series_with_a_cold_cache_is_rejected(core_path: Path, folder: Path) -> None:
    records = ask(core_path, folder, {"cache": "cold"}, slice_s=0.1, interval_s=0.05)
    outcome = next(record for record in records if record["type"] == "outcome")
    assert outcome["ending"] == "skipped"
    assert "not possible as a series" in outcome["reason"]


# Faults.

BROKEN = [
    ({"op": "write"}, f"pwrite:4096:2:{errno.EIO}", ("failed", "write at", "Input/output error")),
    ({"op": "write"}, f"pwrite:4096:2:{errno.ENOSPC}", ("failed", "write at", "No space left on device")),
    ({"op": "write"}, f"pwrite:4096:2:{errno.EDQUOT}", ("failed", "write at", "Disk quota exceeded")),
    ({"op": "read"}, f"pread:4096:2:{errno.EIO}", ("failed", "read at", "Input/output error")),
    ({"op": "write"}, f"pwrite:0:1:{errno.ENOSPC}", ("failed", "cannot write at 0", "No space left on device")),
    ({"op": "write", "sync": "end"}, f"fdatasync:0:3:{errno.EIO}", ("failed", "fdatasync at", "Input/output error")),
    (
        {"op": "write"},
        f"fdatasync:0:2:{errno.EIO}",
        ("failed", "cannot write the file to the device", "Input/output error"),
    ),
    ({"op": "write"}, "pwrite:4096:2:corrupt", ("invalid", "the byte at", "differs from what was written there")),
    ({"op": "write"}, "pwrite:4096:2:lose", ("invalid", "the byte at", "differs from what was written there")),
    ({"op": "read"}, "pread:4096:2:corrupt", ("invalid", "the byte read at", "differs from the file's content")),
    ({"cache": "direct"}, f"open:{os.O_DIRECT}:1:{errno.EINVAL}", ("skipped", "cache=direct", "has no O_DIRECT")),
]


@pytest.mark.parametrize(("params", "fault", "expected"), BROKEN)
def test_an_io_error_is_named_and_leaves_no_file(
    core_path: Path, folder: Path, faults: Path, params: dict[str, Any], fault: str, expected: tuple[str, str, str]
) -> None:
    env = {"LD_PRELOAD": str(faults), "NAMEPLATE_FAULT": fault}
    outcome, _ = measure(core_path, folder, env, block="4KiB", **params)
    ending, where, name = expected
    assert outcome["ending"] == ending, outcome
    assert where in outcome["reason"]
    assert name in outcome["reason"]


def test_without_o_tmpfile_a_random_name_is_used_and_leftovers_are_removed(
    core_path: Path, folder: Path, faults: Path
) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = folder / f".nameplate-test-file-{socket.gethostname()}.{gone.pid}.0011223344556677"
    left.write_text("left by a run that was killed")
    os.utime(left, (time.time() - 3600,) * 2)
    env = {"LD_PRELOAD": str(faults), "NAMEPLATE_FAULT": f"open:{os.O_TMPFILE}:1:{errno.EOPNOTSUPP}"}
    outcome, _ = measure(core_path, folder, env, op="write")
    assert outcome["ending"] == "ok", outcome


def _without_io_uring() -> None:
    """Install a seccomp filter that answers io_uring_setup with EPERM, as container runtimes do."""
    load_number, is_setup, allow, refuse = (0x20, 0, 0, 0), (0x15, 0, 1, SYS_IO_URING_SETUP), 0x7FFF0000, 0x00050001
    program = [load_number, is_setup, (0x06, 0, 0, refuse), (0x06, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]

    libc = ctypes.CDLL(None, use_errno=True)
    filled = Program(len(program), ctypes.cast(code, ctypes.c_void_p))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filled)) == 0


def test_a_blocked_io_uring_is_reported_as_blocked(core_path: Path, folder: Path) -> None:
    outcome, _ = measure(core_path, folder, preexec=_without_io_uring, library="uring")
    assert outcome["ending"] == "skipped"
    assert "blocked here, by seccomp or by kernel.io_uring_disabled" in outcome["reason"]


def test_buffers_above_the_locked_memory_limit_are_not_registered(core_path: Path, folder: Path) -> None:
    limit = 256 << 10

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0)

    typical, _ = measured(core_path, folder, library="uring", block="1MiB")
    outcome, _ = measure(core_path, folder, preexec=limited, library="uring", block="1MiB")
    assert outcome["ending"] == "ok", outcome
    if os.geteuid() == 0:
        assert (typical["facts"]["registered_buffers"], outcome["facts"]["registered_buffers"]) == (1, 0)


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.2, 0.6])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_core_killed_in_any_phase_leaves_no_file(
    core_path: Path, folder: Path, delay_s: float, number: signal.Signals
) -> None:
    params = {"file": str(folder), "size": "64MiB", "op": "write", "sync": "end"}
    line = {"id": "x", "probe": "disk_block", "params": params, "slice_s": 30}
    process = subprocess.Popen([core_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps(line) + "\n")
    process.stdin.flush()
    time.sleep(delay_s)
    process.send_signal(number)
    text, _ = process.communicate(timeout=60)
    assert list(folder.iterdir()) == []
    if number == signal.SIGINT and text:
        assert json.loads(text.splitlines()[-1])["type"] == "end", "what was measured is kept"


# Test files are kept from process to process.


def test_the_next_core_reuses_the_file_of_the_last(
    core_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = FileDescriptorCache()
    request = {"id": "x", "probe": "disk_block", "params": {"file": str(folder), "size": "16MiB"}, "slice_s": 0.01}
    written = []
    for _ in range(2):
        records: list[Header | Sample | Outcome] = []
        core = CoreProcess(records.append, keeper=keeper)
        outcome = core.measure(request, 30, records.append)
        assert outcome.ending == "ok", outcome.reason
        written.append(Path(f"/proc/{core._process.pid}/io").read_text().partition("\nwrite_bytes: ")[2].split()[0])
        core.close()
        assert list(folder.iterdir()) == []
    assert int(written[0]) >= 16 << 20
    assert int(written[1]) == 0
    keeper.close()
