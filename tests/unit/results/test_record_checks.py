"""An invalid record is reported when it is read, with the file, the line and the field."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nameplate.errors import FileError
from nameplate.probes.interface.recorded import Recorded
from nameplate.records.run_record import Histogram, Outcome, Sample
from nameplate.results.run_file import read_run
from nameplate.statistics.stats import histogram_percentile_s, merged
from recorded_runs import unpacked
from run_samples import outcome, sample

GONE = object()
HUGE = 10**11


def edited(kind: str, record_type: str, field: str, value: Any) -> tuple[bytes, int]:
    """Return a recorded run with another value in this field of the first such record, and the number of its line."""
    lines = unpacked(kind).splitlines()
    *parents, name = field.split("/")
    for number, line in enumerate(lines, start=1):
        record = position = json.loads(line)
        if record["type"] != record_type:
            continue
        for parent in parents:
            position = position[int(parent)] if isinstance(position, list) else position.get(parent, {})
        if name in position:
            position.update({name: value})
            if value is GONE:
                del position[name]
            lines[number - 1] = json.dumps(record).encode()
            return b"\n".join(lines) + b"\n", number
    raise AssertionError(f"no {record_type} of {kind} has {field}")


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        ("quick header machine/hostname", GONE, "Object missing required field `hostname` - at `$.machine`"),
        ("quick header machine/hostname", 5, "Expected `str`, got `int` - at `$.machine.hostname`"),
        ("quick header machine/topology/cores", "two", "Expected `int`, got `str` - at `$.machine.topology.cores`"),
        ("quick header machine/topology/cores", -1, "Expected `int` >= 0 - at `$.machine.topology.cores`"),
        ("quick header machine/topology/caches", [{}], "missing required field `level`"),
        ("quick header machine/memory/modules_status", "read", "`modules` must not be null"),
        ("quick header machine/cpu", [], "Expected `object`, got `array` - at `$.machine.cpu`"),
        ("mpi_pairs header machine/job/hardware", [["", HUGE]], "Expected `int` <= 4194304"),
        ("mpi_pairs header machine/job/hardware", [["", 5]], "`hardware` has 5 nodes, but the job has 4"),
        ("mpi_pairs header machine/job/placement", [[0, HUGE]], "Expected `int` <= 4194304"),
        ("mpi_pairs header machine/job/placement", [[0, 1 << 20]] * 4, "has 4194304 ranks, but the job has 4"),
        ("mpi_pairs header machine/job/placement", [[9, 4]], "`placement` names node 9, but the last of `nodes` is 3"),
        ("quick run started", "yesterday", "`started` is 'yesterday': write it like 2026-01-31T12:00:00+00:00"),
        ("quick run started", "0001-01-01T00:00:00+00:00", "`started` is '0001-01-01"),
        ("quick run seed", -1, "Expected `int` >= 0 - at `$.seed`"),
        ("quick run plan/experiments/0/params", {"threads": "x"}, "'threads' is 'x'; it must be a whole number"),
        ("quick run plan/experiments/0/params", {"threads": 0}, "parameter 'threads' is 0; the minimum is 1"),
        ("quick outcome facts", {}, "fact 'touched_bytes' is missing"),
        ("quick outcome facts/burst_cycles", 0, "fact 'burst_cycles' is 0; it must be above 0"),
        ("quick outcome facts/port_block_s", -1, "fact 'port_block_s' is -1; it must not be negative"),
        ("quick outcome params/threads", 2.5, "parameter 'threads' is 2.5; it must be a whole number"),
        ("quick outcome params/threads", 10**30, "Expected `int` <= 9223372036854775807"),
        ("quick outcome total_s", -1, "Expected `float` >= 0.0 - at `$.total_s`"),
        ("quick sample elapsed_s", 0, "Expected `float` >= 1e-12 - at `$.elapsed_s`"),
        ("quick sample work/ops", -5, "Expected `int` >= 0 - at `$.work.ops`"),
        ("quick sample counters", {}, "counter 'cpu_user_s' is missing"),
        ("quick sample counters/burst_s", 0, "counter 'burst_s' is 0; it must be above 0"),
        ("quick sample histogram/count", [1], "values, but `count` has 1 - at `$.histogram`"),
        ("quick sample disturbed/burst_s", "x", "Expected `float`, got `str` - at `$.disturbed[...]`"),
        ("quick sample disturbed/burst_s", 0, "disturbed: 'burst_s' is 0; it must be above 0"),
        ("mpi_pairs sample pairs", [0.0], "Expected `float` >= 1e-12 - at `$.pairs[0]`"),
        ("mpi_stream sample nodes/0/repeats", 0, "Expected `int` >= 1 - at `$.nodes[0].repeats`"),
        ("mpi_stream sample nodes", [], "it has 0 nodes, but the job has 1"),
        ("per_node sample node", 7, "node 7 is not one of the job's"),
        ("per_node outcome node", 7, "node 7 is not one of the job's"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named(tmp_path: Path, where: str, value: Any, message: str) -> None:
    kind, record_type, field = where.split(" ")
    content, line = edited(kind, record_type, field, value)
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        read_run(path)
    assert message in str(caught.value)
    assert f"{path}: line {line}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_histogram_of_very_many_operations_has_a_maximum() -> None:
    assert histogram_percentile_s(merged([Histogram([5, 7], [2**53 + 1, 2**53])]), 1.0) == pytest.approx(7e-9)
    assert histogram_percentile_s(merged([Histogram([5], [2**54 + 3])]), 1.0) == pytest.approx(5e-9)


def test_a_duplicate_experiment_is_rejected(tmp_path: Path) -> None:
    records = [json.loads(line) for line in unpacked("quick").splitlines()]
    records[0]["plan"]["experiments"][1] = records[0]["plan"]["experiments"][0]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(FileError, match="line 1: 2 experiments of the plan have the id 'cpu_"):
        read_run(path)


@pytest.mark.parametrize(
    ("record_type", "field"),
    [
        ("sample", "counters/device_read_bytes"), ("sample", "counters/resident_before_bytes"),
        ("outcome", "facts/unwritten_bytes"),
    ],
)  # fmt: skip
def test_a_value_that_the_system_does_not_report_is_valid(tmp_path: Path, record_type: str, field: str) -> None:
    path = tmp_path / "x.jsonl"
    for value in (-1, -23):  # the sample of a node is a sum of many values
        path.write_bytes(edited("quick", record_type, field, value)[0])
        assert read_run(path).stop is not None


GOOD = sample("a")
NO_BYTES = replace(GOOD, work=replace(GOOD.work, bytes=0))


@pytest.mark.parametrize(
    ("recorded", "seen", "problem"),
    [
        (Recorded(work=("bytes",)), NO_BYTES, "work: 'bytes' is 0; it must be above 0"),
        (Recorded(), NO_BYTES, ""),
        (Recorded(), replace(GOOD, disturbed={"burst_s": 0.0}), "disturbed: 'burst_s' is 0; it must be above 0"),
        (Recorded(counters=("lost",)), GOOD, "counter 'lost' is missing"),
        (Recorded(counters=("cpu_user_s",), divisors=("cpu_user_s",)),
         replace(GOOD, counters={**GOOD.counters, "cpu_user_s": 0.0}), "counter 'cpu_user_s' is 0; it must be above 0"),
    ],
)  # fmt: skip
def test_the_fast_check_of_samples_agrees_with_the_one_that_names_the_problem(
    recorded: Recorded, seen: Sample, problem: str
) -> None:
    assert recorded.problem_of_sample(outcome("a"), seen) == problem
    assert recorded.are_plainly_valid([GOOD, seen]) is (problem == "")


FINE = replace(outcome("a"), labels={"host": "x"})


@pytest.mark.parametrize(
    ("recorded", "seen", "problem"),
    [
        (Recorded(params=("mix",), facts=tuple(FINE.facts), labels=("host",)), FINE, ""),
        (Recorded(params=("size",)), FINE, "parameter 'size' is missing"),
        (Recorded(facts=("lost",)), FINE, "fact 'lost' is missing"),
        (Recorded(labels=("peer",)), FINE, "label 'peer' is missing"),
        (Recorded(), replace(FINE, params={"threads": 0}), "parameter 'threads' is 0; the minimum is 1"),
        (Recorded(), replace(FINE, params={"threads": 1.0}), "parameter 'threads' is 1.0; it must be a whole number"),
        (Recorded(numbers={"duration": 0.0}), replace(FINE, params={"duration": 0.5}), ""),
        (Recorded(numbers={"duration": 0.0}), replace(FINE, params={"duration": "x"}),
         "parameter 'duration' is 'x'; it must be a number"),
        (Recorded(numbers={"chains": 1}), replace(FINE, params={"chains": 0}),
         "parameter 'chains' is 0; the minimum is 1"),
        (Recorded(numbers={"nice": -20}), replace(FINE, params={"nice": -5}), ""),
        (Recorded(), replace(FINE, params={"nice": -5}), "parameter 'nice' is -5; the minimum is 0"),
        (Recorded(), replace(FINE, params={"window": "none"}), ""),
        (Recorded(), replace(FINE, params={"Mix": "fma"}), "'Mix' is not a parameter name"),
        (Recorded(facts=("left",)), replace(FINE, facts={"left": -1.0}), "fact 'left' is -1; it must not be negative"),
        (Recorded(facts=("left",), unreported=("left",)), replace(FINE, facts={"left": -1.0}), ""),
        (Recorded(facts=("left",), divisors=("left",)), replace(FINE, facts={"left": 0.0}),
         "fact 'left' is 0; it must be above 0"),
    ],
)  # fmt: skip
def test_a_problem_of_an_outcome_is_named(recorded: Recorded, seen: Outcome, problem: str) -> None:
    assert recorded.problem_of_outcome(seen) == problem


def test_the_line_of_a_wrong_sample_is_named_among_many(tmp_path: Path) -> None:
    lines = unpacked("quick").splitlines()
    records = [json.loads(line) for line in lines]
    neighbours = pairwise(records)
    index = next(i for i, (one, two) in enumerate(neighbours) if one["type"] == two["type"] == "sample") + 1
    records[index]["counters"]["cpu_user_s"] = -1
    lines[index] = json.dumps(records[index]).encode()
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(FileError, match=f"line {index + 1}: sample of '.*': counter 'cpu_user_s' is -1"):
        read_run(path)
