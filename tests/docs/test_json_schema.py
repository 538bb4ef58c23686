"""The JSON schema is generated from the typed records, and accepts what they accept of this version."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest

import json_schema
from nameplate.records.run_record import Outcome, Record, Sample, Work
from record_schema import assert_valid, validator

OUTCOME = Outcome(
    id="a", probe="null", ending="ok", params={"threads": 1}, facts={}, labels={}, oversubscribed=False,
    interrupted=False, samples=1, setup_s=0, total_s=1,
)  # fmt: skip
SAMPLE = Sample(
    id="a", index=0, start_s=0, elapsed_s=1, repetitions=1, work=Work(bytes=0, flops=0, ops=1),
    counters={"cpu_user_s": 0.1, "cpu_system_s": 0}, disturbed={"involuntary_switches": 0, "burst_s": 1e-6},
)  # fmt: skip


def builtins(record: Record, **changes: object) -> dict[str, Any]:
    return {**msgspec.to_builtins(record), **changes}


def test_the_schema_is_current() -> None:
    assert json_schema.PATH.read_text(encoding="utf-8") == json_schema.schema_text(), (
        "run .venv/bin/python docs/generate/json_schema.py"
    )


def test_every_restricted_field_exists() -> None:
    definitions = json.loads(json_schema.schema_text())["$defs"]
    for restricted in (json_schema.OPTIONAL, json_schema.NOT_NULL, json_schema.VALUES):
        assert {(name, field) for name, fields in restricted.items() for field in fields
                if field not in definitions[name]["properties"]} == set()  # fmt: skip
    assert json_schema.CONDITIONS.keys() <= definitions.keys()


def test_records_are_accepted() -> None:
    assert_valid([builtins(OUTCOME), builtins(SAMPLE)])


@pytest.mark.parametrize(
    "record",
    [
        builtins(OUTCOME, ending="failed"),
        builtins(OUTCOME, unknown=1),
        builtins(SAMPLE, elapsed_s=-1),
        builtins(SAMPLE, pairs=[]),
        builtins(SAMPLE, counters={"cpu_user_s": 0.1}),
        builtins(SAMPLE, disturbed={"involuntary_switches": 0, "burst_s": 1e-6, "unknown": 1}),
    ],
)
def test_other_records_are_rejected(record: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(record)
