"""nameplate-core alone: every record matches the schema, and the generated code is the intended one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import recorded_machine
from disassembly import BUILT_CORE, disassembly, inner_loop
from nameplate.command_line import run
from nameplate.errors import CoreHung, CoreMissing
from nameplate.execution.core_process import CoreProcess, describe, describe_all, read_machine
from nameplate.execution.launch import CORE_VARIABLE
from nameplate.planning.sweep import ProbeInfo
from nameplate.probes import load_probes
from nameplate.records.machine_record import Machine
from nameplate.records.run_record import Header, Outcome, Sample
from nameplate.results.run_file import read_run
from record_schema import assert_valid, validator

ROOT = Path(__file__).parents[2]


def ask(core: Path, *requests: Mapping[str, object]) -> list[dict[str, Any]]:
    text = "".join(json.dumps(request) + "\n" for request in requests)
    answer = subprocess.run([core], input=text, capture_output=True, text=True, timeout=120, check=True)
    assert answer.stderr == ""
    return [json.loads(line) for line in answer.stdout.splitlines()]


def test_every_record_of_every_probe_matches_the_schema(core_path: Path) -> None:
    requests = [{"id": name, "probe": name, "params": {}, "slice_s": 0.02, "warmup_s": 0.001} for name in describe()]
    requests += [
        {"id": "series", "probe": "null", "params": {}, "slice_s": 0.1, "interval_s": 0.02},
        {"id": "refused", "probe": "cpu_flops", "params": {"isa": "scalar", "mix": "fma"}},
        {"id": "unknown", "probe": "frob", "params": {}},
        {"id": "range", "probe": "null", "params": {"threads": 0}},
        {"no": "request"},
    ]
    records = ask(core_path, *requests)
    assert_valid(records)
    assert records[0]["type"] == "header"
    assert records[-1] == {"type": "end", "experiments": len(requests), "interrupted": False}
    endings = {r["id"]: r["ending"] for r in records if r["type"] == "outcome"}
    assert {name: endings[name] for name in describe()} == dict.fromkeys(describe(), "ok")
    assert (endings["refused"], endings["unknown"], endings["range"], endings[""]) == ("skipped", *["failed"] * 3)


def test_description_and_machine_match_the_schema(core_path: Path, tmp_path: Path) -> None:
    for options in (["--describe"], ["--machine"], ["--describe", "--machine"]):
        answer = subprocess.run([core_path, *options], capture_output=True, text=True, check=True)
        assert_valid([json.loads(answer.stdout)])
    for name in recorded_machine.names():
        recorded_machine.unpack(name, tmp_path / name)
        command = [str(core_path), "--machine", "--root", str(tmp_path / name)]
        record = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        assert_valid([record])
        assert_lossless(record)


def assert_lossless(record: dict[str, Any]) -> None:
    """Assert that Python's types keep every field of a machine's record."""
    retained = msgspec.to_builtins(msgspec.convert(record, Machine))
    lost = {path for path, value in leaves(record) if value not in (None, "", 0, [])} - {
        path for path, _ in leaves(retained)
    }
    assert lost == {".type", ".schema"}


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield the path and the value of everything that is neither a mapping nor a list of mappings."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from leaves(part, f"{path}.{name}")
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for index, part in enumerate(value):
            yield from leaves(part, f"{path}[{index}]")
    else:
        yield path, value


def test_a_variable_gives_the_name_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    named = read_machine()
    monkeypatch.setenv("NAMEPLATE_NODE", "node-7")
    assert read_machine().hostname == "node-7"
    monkeypatch.setenv("NAMEPLATE_NODE", "")
    assert read_machine().hostname == named.hostname


def test_a_run_file_matches_the_schema(tmp_path: Path, core_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    options = ["--rounds", "2", "--samples", "2", "--output", str(path), "--quiet"]
    subprocess.run([sys.executable, "-m", "nameplate", "run", "null", *options], check=True)
    assert_valid(json.loads(line) for line in path.read_text().splitlines())
    assert read_run(path).stop is not None


def test_the_schema_rejects_a_wrong_record() -> None:
    for wrong in ({"type": "end"}, {"type": "end", "experiments": -1, "interrupted": False}, {"type": "frob"}):
        with pytest.raises(jsonschema.ValidationError):
            validator().validate(wrong)


def test_one_stem_per_probe_in_the_core_in_python_and_in_the_docs(core_path: Path) -> None:
    in_core = {path.stem for path in (ROOT / "core/probes").glob("*.cpp")}
    in_docs = {path.stem for path in (ROOT / "docs/probes").glob("*.md")}
    assert set(describe_all()) == in_core == set(load_probes()) == in_docs


def test_readers_accept_the_lowest_value_of_every_parameter(described: dict[str, ProbeInfo]) -> None:
    for name, probe in load_probes().items():
        lowest = {
            parameter.name: parameter.minimum if parameter.type == "duration" else int(parameter.minimum)
            for parameter in described[name].parameters
            if parameter.type not in ("choice", "text")
        }
        assert probe.recorded.numbers.keys() <= lowest.keys(), f"{name}: Recorded.numbers names no numeric parameter"
        assert probe.recorded.problem_of_params(lowest) == "", name


def test_every_probe_documents_what_it_measures_and_what_not() -> None:
    for path in (ROOT / "core/probes").glob("*.cpp"):
        head = path.read_text().split("#include")[0]
        assert head.startswith("// What it measures:"), path.name
        assert "does not show" in head, path.name


def test_an_empty_sample_takes_two_readings_of_the_clock(core_path: Path) -> None:
    """The limit is relative to the cost of reading the clock, so that it holds on any machine."""
    request = {
        "id": "x",
        "probe": "null",
        "params": {"duration": "0"},
        "repetitions": 1,
        "max_samples": 200,
        "slice_s": 2,
    }
    records = ask(core_path, request)
    clock = records[0]["clock"]
    shortest = min(r["elapsed_s"] for r in records if r["type"] == "sample")
    assert shortest <= 10 * (clock["cost_s"] + clock["resolution_s"])


def test_an_empty_loop_is_not_optimised_away(core_path: Path) -> None:
    """If it were, no number of repetitions would make a sample long enough, and calibration would not end."""
    records = ask(core_path, {"id": "x", "probe": "null", "params": {"duration": "0"}, "max_samples": 1})
    sample = next(record for record in records if record["type"] == "sample")
    assert sample["elapsed_s"] >= 0.001
    assert 1_000 < sample["repetitions"] < 10**9


def test_a_hanging_core_is_killed_after_its_deadline(use_faulty_core: None) -> None:
    records: list[Header | Sample | Outcome] = []
    core = CoreProcess(records.append)
    pid = core._process.pid
    with pytest.raises(CoreHung, match="did not answer before its deadline and was killed"):
        core.measure({"id": "x", "probe": "fault_hang", "params": {}}, 0.5, records.append)
    assert not Path(f"/proc/{pid}").exists()


def test_a_missing_or_wrong_core_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CORE_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(CoreMissing, match=r"NAMEPLATE_CORE=.*none: no such file; give the path of nameplate-core"):
        describe()
    other = tmp_path / "other"
    other.write_text('#!/bin/sh\necho \'{"schema": 99, "probes": []}\'\n')
    other.chmod(0o755)
    monkeypatch.setenv(CORE_VARIABLE, str(other))
    with pytest.raises(CoreMissing, match="uses record schema 99"):
        describe()


# The generated code.


# Target, mix (of FloatMix), element type, instructions of the loop, and registers that it must use.
LOOPS = [
    ("N_AVX3", 0, "double", r"vf[n]?madd\d+pd", "zmm"),
    ("N_AVX3", 0, "float", r"vf[n]?madd\d+ps", "zmm"),
    ("N_AVX3", 1, "double", r"v(add|sub)pd", "zmm"),
    ("N_AVX2", 0, "double", r"vfmadd\d+pd", "ymm"),
    ("N_AVX2", 2, "double", r"vmulpd", "ymm"),
    ("N_AVX2", 3, "float", r"vdivps", "ymm"),
    ("N_SSSE3", 4, "double", r"(add|sub|mul)pd", "xmm"),
    ("N_SSSE3", 5, "float", r"(add|sub|mul|div)ps", "xmm"),
    ("N_SCALAR", 4, "double", r"(add|sub|mul)sd", "xmm"),
    ("N_SCALAR", 1, "float", r"(add|sub)ss", "xmm"),
]


@pytest.mark.parametrize("loop_of", LOOPS)
def test_the_loops_have_the_instructions_of_the_mix_only(loop_of: tuple[str, int, str, str, str]) -> None:
    target, mix, element, expected, register = loop_of
    if read_machine().cpu.architecture != "x86_64":
        pytest.skip("these are x86-64's kernels")
    operations = f"nameplate::{target}::FloatOperations<{element}, (nameplate::FloatMix){mix}>"
    instructions = {
        int(match[1]): code
        for name, code in disassembly(BUILT_CORE).items()
        if (match := re.search(re.escape(f"run_chains<{operations}, ") + r"(\d+)>", name))
    }
    assert len(instructions) >= 3, "every number of chains is a function of its own"
    for chains, code in instructions.items():
        loop = [line.split("\t", 1)[1] for line in inner_loop(code)]
        arithmetic = [line for line in loop if re.match(expected + r"\s", line)]
        steps = 4 if mix in (4, 5) else 2
        assert len(arithmetic) == chains * steps, loop
        assert all(register in line for line in arithmetic)
        assert not [line for line in loop if "(%rsp" in line or "(%rbp" in line], "spills"
        assert len(loop) - len(arithmetic) <= 3, loop


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("run_floats<double>(double const*", {"addsd": 4, "subsd": 4, "mulsd": 4, "divsd": 4}),
        ("run_integers<int>(int const*", {"add": 4, "sub": 4, "imul": 4, "idiv": 4}),
    ],
)
def test_the_loops_without_optimisation_have_their_operands_in_memory(loop: str, expected: dict[str, int]) -> None:
    if read_machine().cpu.architecture != "x86_64":
        pytest.skip("these are x86-64's kernels")
    (code,) = (code for name, code in disassembly(BUILT_CORE).items() if loop in name)
    instructions = [line.split("\t", 1)[1] for line in inner_loop(code)]
    for name, count in expected.items():
        # The counter of the loop is added to as well; integer instructions may have a suffix for their size.
        matches = [line for line in instructions if re.match(rf"{name}[lq]?\s", line) and "$0x1," not in line]
        assert len(matches) == count, (name, instructions)
    # Each of the 16 operations stores its result, and so does the counter.
    stores = [line for line in instructions if re.search(r",\s*-0x[0-9a-f]+\(%rbp\)$", line) and "cmp" not in line]
    assert len(stores) == 17, instructions


def test_a_run_starts_one_core_before_its_first_round(
    core_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, wrapper = tmp_path / "log", tmp_path / "nameplate-core"
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {core_path} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("NAMEPLATE_CORE", str(wrapper))
    assert run(["run", "null", "--rounds", "1", "--samples", "1", "--quiet", "-o", str(tmp_path / "x.jsonl")]) == 0
    before, *rounds = log.read_text().splitlines()
    assert before == "--describe --machine"
    assert [line.split()[0] for line in rounds] == ["--keeper"]
