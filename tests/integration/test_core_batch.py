"""``nameplate-core batch``: a plan of a request file, measured without Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nameplate.execution.core_process import describe_core
from nameplate.planning.plan_file import sweep_plan
from nameplate.planning.request_file import request_file
from nameplate.records.plan_record import Experiment, Limits, Plan
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from record_schema import assert_valid

LIMITS = Limits(budget_s=20, precision=0.02, rounds=2)


def batch(core: Path, request: bytes, file: Path) -> subprocess.CompletedProcess[bytes]:
    """Measure a request file on standard input, and write the records to a file."""
    with file.open("wb") as records:
        return subprocess.run([core, "batch", "-"], check=False, input=request, stdout=records,
                              stderr=subprocess.PIPE, timeout=120)  # fmt: skip


def records_of(file: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert_valid(records)
    return records


def null(name: str, **fields: Any) -> Experiment:
    return Experiment(f"null {name}", "null", {"duration": 0.001}, **{"slice_s": 0.02, **fields})


def test_a_probe_is_measured_as_planned(core_path: Path, tmp_path: Path) -> None:
    core = describe_core()
    plan = sweep_plan("memory_latency", {"size": "64KiB"}, core.probes, {"rounds": "2"}, core.machine)
    done = batch(core_path, request_file(plan, 7), tmp_path / "run.jsonl")
    assert done.returncode == 0, done.stderr
    run = read_run(tmp_path / "run.jsonl")
    assert (run.run.plan, run.run.seed) == (plan, 7)
    assert {measurement.outcome.round for measurement in run.measurements} == {1, 2}
    assert summarise(run).results


def test_the_order_is_that_of_the_seed(core_path: Path, tmp_path: Path) -> None:
    plan = Plan("order", [null(f"{number}") for number in range(8)], LIMITS)
    orders = []
    for number, seed in enumerate((1, 1, 2)):
        file = tmp_path / f"{number}.jsonl"
        assert batch(core_path, request_file(plan, seed), file).returncode == 0
        orders.append([record["id"] for record in records_of(file) if record["type"] == "outcome"])
    assert orders[0] == orders[1] != orders[2]
    assert orders[0][:8] != orders[0][8:]


def test_a_series_has_one_round_and_limits_are_obeyed(core_path: Path, tmp_path: Path) -> None:
    series = null("series", slice_s=0.5, interval_s=0.1)
    plan = Plan("mine", [null("short", slice_s=2), series], msgspec.structs.replace(LIMITS, samples=3, sample_s=0.002))
    assert batch(core_path, request_file(plan, 1), tmp_path / "run.jsonl").returncode == 0
    records = records_of(tmp_path / "run.jsonl")
    samples = [(record["id"], record["round"]) for record in records if record["type"] == "sample"]
    assert samples.count(("null short", 1)) == samples.count(("null short", 2)) == 3
    assert {number for name, number in samples if name == "null series"} == {1}
    assert records[-1]["reasons"] == {"null short": "rounds", "null series": "rounds"}


def test_a_budget_that_binds_ends_fixed_rounds(core_path: Path, tmp_path: Path) -> None:
    limits = Limits(budget_s=0.7, precision=0.02, rounds=50, budget_binds=True)
    plan = Plan("mine", [null("long", slice_s=0.2)], limits)
    assert batch(core_path, request_file(plan, 1), tmp_path / "run.jsonl").returncode == 0
    records = records_of(tmp_path / "run.jsonl")
    assert records[-1]["reasons"] == {"null long": "budget"}
    assert 1 <= max(record["round"] for record in records) < 5


def test_what_the_core_leaves_out_is_noted() -> None:
    dense = null("dense", dense=True)
    plan = Plan("mine", [null("sparse"), dense], LIMITS, references=["fio"], priority="high")
    request = json.loads(request_file(plan, 1))
    assert [experiment["id"] for experiment in request["plan"]["experiments"]] == ["null sparse"]
    assert len(request["longest_setup_s"]) == 1
    assert request["plan"]["references"] == []
    assert [note.split(" ")[0] for note in request["plan"]["notes"]] == ["curves", "reference", "the"]


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("no-such-file", "no-such-file: cannot be read: No such file or directory"),
        (".", ".: a directory; name a request file"),
        ("-", "not a request file: "),
    ],
)
def test_a_wrong_request_file_is_one_line(core_path: Path, argument: str, message: str, tmp_path: Path) -> None:
    done = subprocess.run([core_path, "batch", argument], check=False, input=b'{"plan": 1}', capture_output=True,
                          cwd=tmp_path)  # fmt: skip
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"nameplate-core: {message}")
    assert done.stderr.count(b"\n") == 1
