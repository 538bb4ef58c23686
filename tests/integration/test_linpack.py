"""cpu_linpack with real libraries: the solution, detected errors, and the choice of the library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

FAULTS = Path(__file__).parent.parent / "faults" / "lapack_faults.c"
SMALL: Mapping[str, Any] = {"n": 200, "threads": 1}


@pytest.fixture(scope="module")
def plain_lapack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile and return a LAPACK library without threads that can be made to return errors."""
    library = tmp_path_factory.mktemp("faults") / "liblapack_faults.so"
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library, FAULTS, "-lm"], check=True)
    return library


def measure(
    core: Path, *options: str, env: Mapping[str, str] | None = None, **params: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run one short experiment and return its outcome and samples."""
    request = {"id": "x", "probe": "cpu_linpack", "params": params, "slice_s": 0.0, "warmup_s": 0.0}
    answer = subprocess.run(
        [core, *options], input=json.dumps(request) + "\n", capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, **(env or {})},
    )  # fmt: skip
    records = [json.loads(line) for line in answer.stdout.splitlines()]
    outcome = next(record for record in records if record["type"] == "outcome")
    return outcome, [record for record in records if record["type"] == "sample"]


def nameplate(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("nameplate"), *arguments], cwd=cwd, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_every_solution_is_counted_and_verified(core_path: Path, n: int, threads: int) -> None:
    outcome, samples = measure(core_path, n=n, threads=threads, trials=3)
    assert (outcome["ending"], len(samples)) == ("ok", 3), outcome
    for sample in samples:
        assert sample["work"]["flops"] == pytest.approx(2 / 3 * n**3 + 3 / 2 * n**2, abs=1)
        assert sample["repetitions"] == 1
        assert 0 <= sample["counters"]["residual"] < 16
    assert outcome["params"]["threads"] == threads
    assert outcome["facts"]["port_block_s"] > 0
    assert outcome["labels"]["blas"].startswith("OpenBLAS 0.")
    assert outcome["labels"]["blas_core"]
    assert outcome["labels"]["blas_threading"] == "pthreads"


def test_openblas_uses_the_core_type_that_is_set(core_path: Path) -> None:
    outcome, _ = measure(core_path, env={"OPENBLAS_CORETYPE": "Haswell"}, **SMALL)
    assert outcome["labels"]["blas_core"] == "Haswell"


@pytest.mark.parametrize(("n", "lda"), [(1, 8), (1000, 1000), (1024, 1032), (2000, 2008)])
def test_columns_are_an_odd_number_of_lines_apart(core_path: Path, n: int, lda: int) -> None:
    outcome, _ = measure(core_path, n=n, threads=2)
    assert (outcome["ending"], outcome["params"]["lda"]) == ("ok", lda)


@pytest.mark.parametrize("align", ["8", "64", "4KiB", "1MiB"])
def test_any_alignment_and_leading_dimension_gives_the_solution(core_path: Path, align: str) -> None:
    outcome, samples = measure(core_path, lda=201, align=align, **SMALL)
    assert outcome["ending"] == "ok", outcome
    assert outcome["params"]["lda"] == 201
    assert samples[0]["counters"]["residual"] < 16


def test_more_threads_than_cpus_are_flagged(core_path: Path) -> None:
    threads = len(os.sched_getaffinity(0)) + 1
    outcome, _ = measure(core_path, n=200, threads=threads)
    assert (outcome["ending"], outcome["oversubscribed"]) == ("ok", True)


def test_a_library_is_loaded_and_called_by_an_unbound_thread(core_path: Path, plain_lapack: Path) -> None:
    """A thread that is bound to a core must not load the library, because its threads would inherit the binding."""
    outcome, _ = measure(core_path, "--blas", str(plain_lapack), env={"NAMEPLATE_FAULT": "affinity"}, **SMALL)
    assert outcome["reason"].endswith(f"INFO = {len(os.sched_getaffinity(0))}"), outcome


def test_too_large_a_system_is_skipped_with_the_sizes(core_path: Path) -> None:
    outcome, samples = measure(core_path, n=1_000_000)
    assert (outcome["ending"], samples) == ("skipped", [])
    assert "n=1000000 would take 7.276 TiB of memory, but" in outcome["reason"]


@pytest.mark.parametrize(
    ("params", "ending", "message"),
    [
        ({"n": 0}, "failed", "n=0: not possible; use 1 to"),
        ({"n": 100, "lda": 99}, "skipped", "lda=99 is less than n=100"),
        ({"n": 100, "align": "100"}, "skipped", "align=100: not a power of two"),
        ({"n": 100, "threads": 4096}, "skipped", "threads=4096: not possible; libopenblas.so.0 takes "),
        ({"n": 100, "trials": 0}, "failed", "trials=0: not possible"),
    ],
)
def test_impossible_parameters_are_rejected_with_the_rule(
    core_path: Path, params: dict[str, Any], ending: str, message: str
) -> None:
    outcome, samples = measure(core_path, **params)
    assert (outcome["ending"], samples) == (ending, [])
    assert message in outcome["reason"]


# Detected errors.


def test_a_wrong_element_of_the_solution_is_found(faulty_core: Path) -> None:
    outcome, samples = measure(faulty_core, **SMALL)
    assert outcome["ending"] == "invalid"
    assert "the scaled residual is" in outcome["reason"]
    assert samples[0]["counters"]["residual"] > 16


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("singular", "dgesv of liblapack_faults.so returned INFO = 1"),
        ("wrong", "but must be below 16"),
        ("nan", "the scaled residual is 1.8e+308, but must be below 16"),
    ],
)
def test_a_library_with_wrong_results_is_invalid(core_path: Path, plain_lapack: Path, fault: str, message: str) -> None:
    outcome, _ = measure(core_path, "--blas", str(plain_lapack), env={"NAMEPLATE_FAULT": fault}, **SMALL)
    assert outcome["ending"] == "invalid"
    assert message in outcome["reason"]


# The choice of the library.


def test_a_library_without_a_version_is_accepted(core_path: Path, plain_lapack: Path) -> None:
    outcome, _ = measure(core_path, "--blas", str(plain_lapack), n=200)
    assert (outcome["ending"], outcome["params"]["threads"]) == ("ok", 1)
    assert outcome["labels"] == {"blas": "liblapack_faults.so"}, "its place is nobody's business"
    refused, _ = measure(core_path, "--blas", str(plain_lapack), n=200, threads=2)
    assert refused["ending"] == "skipped"
    assert refused["reason"] == "threads=2: not possible; liblapack_faults.so takes 1"


def test_any_lapack_is_accepted(core_path: Path) -> None:
    outcome, _ = measure(core_path, "--blas", "liblapack.so.3", **SMALL)
    assert outcome["ending"] == "ok"


OPENBLAS = Path("/usr/lib/x86_64-linux-gnu/openblas-pthread")
MISSING = "libopenblas.so.0 is not on this machine; apt install libopenblas0-pthread"


@pytest.fixture
def without_openblas() -> list[str | Path]:
    """Return the start of a command that hides Debian's OpenBLAS behind an empty folder."""
    if os.getuid() != 0 or not OPENBLAS.is_dir():
        pytest.skip("needs root, and Debian's OpenBLAS for x86-64")
    return ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$1" && shift && exec "$@"', "sh", OPENBLAS]


def test_without_a_library_the_experiment_is_skipped_with_the_package(
    core_path: Path, without_openblas: list[str | Path]
) -> None:
    request = json.dumps({"id": "x", "probe": "cpu_linpack", "params": SMALL})
    command = [*without_openblas, core_path]
    answer = subprocess.run(command, input=request + "\n", capture_output=True, text=True, check=True)
    outcome = next(record for record in map(json.loads, answer.stdout.splitlines()) if record["type"] == "outcome")
    assert (outcome["ending"], outcome["reason"]) == ("skipped", MISSING)


def test_doctor_names_the_library_that_would_be_used(tmp_path: Path, without_openblas: list[str | Path]) -> None:
    doctor: list[str | Path] = [Path(sys.executable).with_name("nameplate"), "doctor", "--json"]
    for command, is_there, message in ((doctor, True, "OpenBLAS 0."), ([*without_openblas, *doctor], False, MISSING)):
        answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        part = next(candidate for candidate in json.loads(answer.stdout)["parts"] if candidate["what"] == "LAPACK")
        assert part["is_there"] == is_there
        assert message in part["state"] + part["advice"]


def test_doctor_survives_a_library_that_does_not(tmp_path: Path, plain_lapack: Path) -> None:
    """A library may execute instructions that the processor does not have."""
    (tmp_path / "libopenblas.so.0").symlink_to(plain_lapack)
    answer = subprocess.run(
        [Path(sys.executable).with_name("nameplate"), "doctor", "--json"], cwd=tmp_path, capture_output=True, text=True,
        check=True, env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "NAMEPLATE_FAULT": "crash"},
    )  # fmt: skip
    part = next(candidate for candidate in json.loads(answer.stdout)["parts"] if candidate["what"] == "LAPACK")
    assert (part["is_there"], part["state"]) == (False, "no working library")
    assert "SIGILL" in part["advice"]


def test_a_library_without_lapack_is_rejected_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken.so").write_text("not a library")
    for name, message in (
        ("./broken.so", "cannot load ./broken.so: "),
        ("libnowhere.so", "cannot load libnowhere.so: cannot open shared object file"),
        ("libm.so.6", "libm.so.6 has no function dgesv_"),
    ):
        answer = nameplate("run", "cpu_linpack", "n=100", "--blas", name, cwd=tmp_path)
        assert answer.returncode == 2
        assert len(answer.stderr.strip().splitlines()) == 1
        assert message in answer.stderr


def test_a_run_prints_the_linpack_table_with_the_ceiling(tmp_path: Path, plain_lapack: Path) -> None:
    command = ["run", "cpu_linpack", "n=100,200", "trials=3", "--rounds", "2", "-o", "x.jsonl"]
    answer = nameplate(*command, "--blas", str(plain_lapack), cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "LINPACK: LINPACK's table: threads=1" in answer.stdout
    assert str(plain_lapack.parent) not in (tmp_path / "x.jsonl").read_text()
    rows = json.loads(nameplate("show", "x.jsonl", "--format", "json", cwd=tmp_path).stdout)["rows"]
    rates = [row for row in rows if row["metric"] == "rate"]
    assert [row["samples"] for row in rates] == [6, 6]
    assert all(row["rated"] is None or row["rated"] > row["value"] for row in rates)
