"""The probes of memory and caches: detected errors, rejected parameters, and the generated code of their loops."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from disassembly import BUILT_CORE, disassembly, inner_loop, loops
from machine_wide import unused_name
from nameplate.execution.core_process import describe, read_machine

PR_SET_THP_DISABLE = 41
CGROUP_V1 = Path("/sys/fs/cgroup/memory")


def measure(
    core: Path, probe: str, preexec: Callable[[], None] | None = None, slice_s: float = 0.01, **params: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run one short experiment and return its outcome and samples."""
    request = {
        "id": "x",
        "probe": probe,
        "params": params,
        "slice_s": slice_s,
        "warmup_s": 0.0,
        "sample_s": 0.1 * slice_s,
    }
    answer = subprocess.run(
        [core], input=json.dumps(request) + "\n", capture_output=True, text=True, timeout=120, check=True,
        preexec_fn=preexec,
    )  # fmt: skip
    records = [json.loads(line) for line in answer.stdout.splitlines()]
    outcome = next(record for record in records if record["type"] == "outcome")
    return outcome, [record for record in records if record["type"] == "sample"]


def measured(core: Path, probe: str, **params: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run one short experiment that must succeed; return its outcome and its last sample."""
    outcome, samples = measure(core, probe, **params)
    assert outcome["ending"] == "ok", outcome["reason"]
    return outcome, samples[-1]


# Detected errors. Each kernel of the faulty core spoils one element.

WRONG = [
    ("memory_stream", {"op": "copy", "size": "64KiB"}, r"c\[4096\] is [\d.]+, but copy gives [\d.]+"),
    ("memory_stream", {"op": "triad", "size": "64KiB", "precision": "fp32"}, r"a\[8192\] is [\d.]+, but triad gives"),
    ("memory_stream", {"op": "write", "size": "64KiB", "stores": "nontemporal"}, r"a\[4096\] is 4, but write gives 3"),
    (
        "memory_stream",
        {"op": "read", "size": "64KiB"},
        r"the checksum of a\[0\] to a\[8191\] is 0x\w+, but should be 0x\w+",
    ),
    ("memory_block", {"op": "write", "size": "1MB"}, r"block \d+ of 122 has neither its old nor its new content"),
    ("memory_block", {"op": "copy", "size": "1MB", "library": "inline"}, r"block \d+ of 61 has neither"),
    (
        "memory_block",
        {"op": "read", "size": "1MB"},
        r"the first \d+ blocks add up to 0x\w+, but should add up to 0x\w+",
    ),
    ("memory_latency", {"size": "64KiB"}, r"chain 0 is at stop \d+ of 1024 after \d+ steps, but should be at \d+"),
    ("cpu_workset", {"size": "16KiB"}, r"x\[512\] is -?[\d.]+, but should be -?[\d.]+"),
    ("cpu_workset", {"size": "16KiB", "build": "plain"}, r"x\[512\] is"),
]


@pytest.mark.parametrize(("probe", "params", "message"), WRONG)
def test_one_wrong_element_is_named(faulty_core: Path, probe: str, params: dict[str, Any], message: str) -> None:
    threads: dict[str, Any] = {} if probe == "memory_latency" else {"threads": 1}
    outcome, _ = measure(faulty_core, probe, **params, **threads)
    assert outcome["ending"] == "invalid"
    assert re.search(message, outcome["reason"]), outcome["reason"]


# Rejected parameters, with the rule in the message.

REFUSED = [
    ("memory_stream", {"size": "1TiB"}, "skipped", "would take 3 TiB of memory"),
    ("memory_block", {"size": "1TB"}, "skipped", "of memory, but"),
    ("memory_latency", {"size": "1TiB"}, "skipped", "of memory, but"),
    ("cpu_workset", {"size": "1TiB"}, "skipped", "of memory, but"),
    ("memory_block", {"block": "80MB", "threads": 32}, "skipped", "is larger than a thread's half of its part"),
    ("memory_block", {"op": "read", "library": "libc"}, "skipped", "no function that only reads"),
    ("memory_block", {"block": 0}, "failed", "block=0: not possible; use 1 to"),
    ("memory_block", {"size": 0}, "failed", "size=0: not possible"),
    ("memory_stream", {"size": 0}, "failed", "size=0: not possible"),
    ("memory_stream", {"size": 100}, "skipped", "multiples of 8 bytes"),
    ("memory_stream", {"size": 64, "threads": 2}, "skipped", "every thread needs 64 bytes"),
    ("memory_stream", {"op": "read", "stores": "nontemporal"}, "skipped", "op=read stores nothing"),
    ("memory_stream", {"size": "64KiB", "block": 8, "stores": "nontemporal"}, "skipped", "multiple of 64 bytes"),
    ("memory_stream", {"pattern": "random"}, "skipped", "needs block="),
    ("memory_stream", {"size": "64KiB", "block": "1MiB"}, "skipped", "larger than a thread's part of an array"),
    ("memory_stream", {"node": 999}, "skipped", "there is no NUMA node 999; this machine has"),
    ("memory_stream", {"memory_node": 999}, "skipped", "there is no NUMA node 999"),
    ("memory_latency", {"stride": 100}, "skipped", "multiple of a cache line, 64 bytes"),
    ("memory_latency", {"size": "4KiB", "stride": "4KiB"}, "skipped", "less than two strides"),
    ("memory_latency", {"chains": 17}, "failed", "chains=17: not possible; use 1 to 16"),
    ("cpu_workset", {"size": 0}, "failed", "size=0: not possible"),
]


@pytest.mark.parametrize(("probe", "params", "ending", "message"), REFUSED)
def test_impossible_parameters_are_rejected_with_the_rule(
    core_path: Path, probe: str, params: dict[str, Any], ending: str, message: str
) -> None:
    outcome, samples = measure(core_path, probe, **params)
    assert (outcome["ending"], samples) == (ending, [])
    assert message in outcome["reason"]


@contextmanager
def memory_group(limit_bytes: int) -> Iterator[Path]:
    """Create a control group with a memory limit; skip the test if that is not possible."""
    group = CGROUP_V1 / unused_name("nameplate-test")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit_bytes))
        yield group
    finally:
        group.rmdir()


def test_a_region_above_the_memory_limit_is_rejected_before_the_oom_killer(core_path: Path) -> None:
    with memory_group(400 << 20) as group:

        def enter() -> None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

        outcome, _ = measure(core_path, "memory_block", preexec=enter, size="1GB")
        assert outcome["ending"] == "skipped"
        assert "of the control group's limit of 400 MiB" in outcome["reason"]
        fits, _ = measure(core_path, "memory_block", preexec=enter, size="100MB")
        assert fits["ending"] == "ok"


def test_missing_huge_pages_show_in_the_facts(core_path: Path) -> None:
    def without_huge_pages() -> None:
        ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)

    for probe in ("memory_stream", "memory_latency", "cpu_workset", "memory_block"):
        outcome, _ = measure(core_path, probe, preexec=without_huge_pages, size="8MiB")
        assert outcome["ending"] == "ok"
        assert outcome["params"]["pages"] == "huge"
        assert outcome["facts"]["huge_bytes"] == 0
    outcome, _ = measured(core_path, "memory_stream", size="8MiB", pages="small")
    assert outcome["facts"]["huge_bytes"] == 0


# Counted work and traffic.


def test_stream_counts_the_bytes_of_the_user_and_of_the_bus(core_path: Path) -> None:
    arrays = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "read": 1, "write": 1, "update": 2}
    for op, number in arrays.items():
        outcome, sample = measured(core_path, "memory_stream", op=op, size="1MiB")
        assert outcome["facts"]["pass_bytes"] == number << 20
        assert sample["work"]["bytes"] == sample["repetitions"] * number << 20
        assert sum(worker["work"]["bytes"] for worker in sample["workers"]) == sample["work"]["bytes"]
        reads_line = 1 if op in ("copy", "scale", "add", "triad", "write") else 0
        assert outcome["facts"]["bus_bytes_per_byte"] == pytest.approx((number + reads_line) / number)
    outcome, _ = measured(core_path, "memory_stream", op="triad", size="1MiB", stores="nontemporal")
    assert (outcome["facts"]["nontemporal"], outcome["facts"]["bus_bytes_per_byte"]) == (1, 1)


@pytest.mark.slow
def test_stream_arrays_default_to_four_times_the_last_level_caches(core_path: Path) -> None:
    outcome, _ = measured(core_path, "memory_stream", op="read")
    assert outcome["params"]["size"] >= max(4 * outcome["facts"]["last_level_bytes"], 64 << 20)


def test_a_given_number_of_operations_is_exact(core_path: Path) -> None:
    _, sample = measured(core_path, "memory_block", size="8MiB", block="1KiB", count=123, threads=2)
    assert sample["repetitions"] == 123
    assert sample["work"] == {"bytes": 2 * 123 * 1024, "flops": 0, "ops": 2 * 123}


@pytest.mark.parametrize("generator", ["precomputed", "xoshiro", "pcg", "rand"])
@pytest.mark.parametrize("pattern", ["sequential", "random"])
def test_blocks_of_any_size_are_verified(core_path: Path, generator: str, pattern: str) -> None:
    for op in ("read", "write", "copy"):
        for block in (1, 8, 13, 4096, 1_000_003):
            outcome, _ = measured(
                core_path,
                "memory_block",
                op=op,
                block=block,
                pattern=pattern,
                generator=generator,
                size="8MiB",
                threads=3,
            )
            assert (outcome["facts"]["offset_s"] > 0) == (generator != "precomputed")


def test_chases_with_several_chains_and_background_traffic(core_path: Path) -> None:
    _, alone = measured(core_path, "memory_latency", size="1MiB", chains=16)
    assert alone["work"]["ops"] == alone["repetitions"] * 16 * 16
    assert alone["counters"]["load_bytes"] == 0
    # The slice is long enough for load threads that wait for a busy CPU.
    outcome, samples = measure(core_path, "memory_latency", slice_s=2.0, size="1MiB", load="100MB", load_threads=2)
    assert samples[-1]["work"]["ops"] == samples[-1]["repetitions"] * 16
    assert any(sample["counters"]["load_bytes"] > 0 for sample in samples)
    assert outcome["params"]["load_threads"] == 2


def test_a_working_set_counts_28_flops_for_4_elements(core_path: Path) -> None:
    _, sample = measured(core_path, "cpu_workset", size="16KiB", threads=2)
    assert sample["work"]["flops"] == 2 * sample["repetitions"] * 1024 // 4 * 28
    outcome, _ = measured(core_path, "cpu_workset", size=13_107)
    assert outcome["facts"]["touched_bytes"] == 13_107 // 64 * 64


def test_every_size_of_the_study_can_be_measured(core_path: Path) -> None:
    names = {parameter.name for parameter in describe()["cpu_workset"].parameters}
    assert names == {"size", "threads", "build", "pages"}
    for power in range(18):
        measured(core_path, "cpu_workset", size=round(3200 * 1.6**power), build="plain")


# The generated code.


def code_of(pattern: str) -> list[str]:
    """Return the code of the only function whose name matches."""
    if read_machine().cpu.architecture != "x86_64":
        pytest.skip("these are x86-64's kernels")
    matches = [code for name, code in disassembly(BUILT_CORE).items() if re.search(pattern, name)]
    assert len(matches) == 1, pattern
    return matches[0]


def vector_loops(code: list[str]) -> list[list[str]]:
    """Return the innermost loops over whole vectors, the shortest one first: others process the tail, or repeat all."""
    over_vectors = [loop for loop in loops(code) if any("zmm" in line for line in loop)]
    innermost = [loop for loop in over_vectors if not any(set(other) < set(loop) for other in over_vectors)]
    return [[line.split("\t", 1)[1].split("<")[0] for line in loop] for loop in sorted(innermost, key=len)]


@pytest.mark.parametrize(("op", "loads"), [(0, 1), (1, 1), (2, 2), (3, 2), (5, 0), (6, 1)])
@pytest.mark.parametrize("stores", [0, 1])
def test_stream_loops_have_the_selected_stores(op: int, loads: int, stores: int) -> None:
    name = rf"N_AVX3::store_loop<double, \(nameplate::StreamOp\){op}, \(nameplate::Stores\){stores}>"
    # A block of a line is a single vector.
    for loop, vectors in zip(vector_loops(code_of(name)), (1, 4), strict=True):
        past = [line for line in loop if line.startswith("vmovntpd")]
        through = [line for line in loop if re.match(r"vmov[au]pd\s+%zmm\d+,", line) and "(" in line]
        assert (len(past), len(through)) == ((vectors, 0) if stores else (0, vectors)), loop
        reads = [line for line in loop if "(" in line and not line.startswith("lea") and line not in past + through]
        assert len(reads) == vectors * loads, loop


def test_a_chase_consists_of_loads_only() -> None:
    loop = [line.split("\t", 1)[1] for line in inner_loop(code_of(r"chase_chains<1ul>"))]
    steps = [line for line in loop if re.match(r"mov\s+\((%r\w+)\),\1$", line)]
    assert len(steps) == 16
    assert len(loop) == 18, "a count and a jump next to the steps"


@pytest.mark.parametrize("op", [0, 1, 2])
def test_loops_have_no_calls(op: int) -> None:
    for shape in (rf"OneWord<unsigned char, \(nameplate::BlockOp\){op}>", rf"AnyLength<\(nameplate::BlockOp\){op}>"):
        code = code_of(rf"block_loop<nameplate::N_AVX3::{shape}")
        assert not [line for line in code if "call" in line]
