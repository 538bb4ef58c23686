"""Generate ``schema/record.schema.json`` from the typed records, with their docstrings as descriptions.

``python docs/generate/json_schema.py`` replaces the file. The types accept the records of every version. The schema
describes those that this version writes: the tables below have the differences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from nameplate.planning.sweep import ProbeInfo
from nameplate.records.machine_record import Machine
from nameplate.records.run_record import (
    SCHEMA,
    Digest,
    End,
    Header,
    Outcome,
    Reference,
    Run,
    Sample,
    Stop,
)

PATH = Path(__file__).parents[2] / "schema" / "record.schema.json"

_WIDTH = 120

Schema = dict[str, Any]


class Description(msgspec.Struct, frozen=True, tag_field="type", tag="description", kw_only=True):
    """The answer to ``--describe``; with ``--machine`` it has the machine, too.

    ``mpi`` is the MPI library that is linked in, empty without one.
    """

    schema: int
    version: str
    mpi: str
    machine: Machine | msgspec.UnsetType = msgspec.UNSET
    probes: list[ProbeInfo]


class MachineRecord(Machine, frozen=True, tag_field="type", tag="machine", kw_only=True):
    """The answer to ``--machine``: the fields of ``machine``."""

    schema: int


_RECORDS = (Header, Sample, Outcome, End, Run, Stop, Digest, Reference, Description, MachineRecord)

# The fields that a record may lack, by the name of the definition. All others are always written.
OPTIONAL: Mapping[str, Sequence[str]] = {
    "header": ("round", "libraries"),
    "sample": ("round", "workers", "nodes", "node", "pairs", "histogram", "read_histogram", "write_histogram"),
    "outcome": ("round", "reason", "stage", "may_pass", "node"),
    "end": ("round",),
    "run": ("round", "per_node"),
    "stop": ("round",),
    "figures": ("round", "seed", "judgeable"),
    "judgeable_value": ("ci", "rounds", "capability", "capability_ci", "is_main"),
    "reference": ("round",),
    "description": ("machine",),
    "plan": ("notes", "references", "per_node", "priority", "reference_works"),
    "experiment": ("sample_s", "dense", "interval_s", "overhead_s", "variant"),
    "limits": ("budget_binds", "detect"),
    "machine": ("is_hypervisor_known", "job"),
    "machine_record": ("is_hypervisor_known", "job"),
    "power": ("is_visible",),
    "topology": ("are_cores_listed",),
    "parameter": ("choices", "percent_of", "minimum", "maximum"),
}

# The fields that are null only in records of earlier versions.
NOT_NULL: Mapping[str, Sequence[str]] = {
    "figures": ("seed",),
    "machine": ("power",),
    "machine_record": ("power",),
    "job": ("hardware", "eager_limits", "mtu_bytes", "socket_buffer_bytes"),
    "group_limits": ("are_visible",),
    "core_kind": ("maximum_frequency_hz",),
    "memory": ("modules_status",),
}

_POSITIVE = {"exclusiveMinimum": 0}
_AT_LEAST_ONE = {"minimum": 1}
_NOT_EMPTY = {"minItems": 1}
_TEXT = {"minLength": 1}
_CACHE_TYPES = {"enum": ["data", "instruction", "unified"]}
_NUMBER = {"type": "number"}
_EVENTS = {"type": "number", "minimum": 0}

# The values that this version writes where the types accept more.
VALUES: Mapping[str, Mapping[str, Schema]] = {
    "header": {"schema": {"const": SCHEMA}},
    "run": {"schema": {"const": SCHEMA}, "priority": {"enum": ["normal", "high"]}},
    "description": {"schema": {"const": SCHEMA}},
    "machine_record": {"schema": {"const": SCHEMA}, "default_threads": _AT_LEAST_ONE},
    "machine": {"default_threads": _AT_LEAST_ONE},
    "clock": {
        "source": {"enum": ["tsc", "cntvct", "monotonic"]}, "resolution_s": _POSITIVE, "cost_s": _POSITIVE,
    },
    "sample": {
        "counters": {"required": ["cpu_user_s", "cpu_system_s"]},
        "disturbed": {
            "required": ["involuntary_switches", "burst_s"],
            "additionalProperties": False,
            "properties": {
                "involuntary_switches": _EVENTS, "burst_s": _EVENTS, "between_calls_s": _EVENTS,
                "temperature_celsius": _NUMBER, "steal_s": _NUMBER, "cgroup_throttled": _EVENTS,
                "thermal_throttled": _EVENTS,
            },
        },
        "workers": _NOT_EMPTY, "nodes": _NOT_EMPTY, "pairs": _NOT_EMPTY,
    },
    "histogram": {"count": {"items": {"type": "integer", "minimum": 1}}},
    "outcome": {"stage": {"enum": ["request", "setup", "prepare", "run", "verify"]}},
    "stop": {
        "reasons": {"additionalProperties": {"enum": [
            "precision", "decided", "rounds", "budget", "even", "duplicate", "interrupted", "skipped", "invalid",
            "failed",
        ]}},
    },
    "plan": {"experiments": _NOT_EMPTY},
    "limits": {
        "precision": {"minimum": 0}, "rounds": _AT_LEAST_ONE, "samples": _AT_LEAST_ONE, "detect": _POSITIVE,
    },
    "memory": {
        "page_bytes": {"minimum": 4096},
        "transparent_huge_pages": {"enum": ["always", "madvise", "never", ""]},
        "modules_status": {"enum": ["read", "no_table", "no_permission", "damaged"]},
    },
    "module": {name: {"type": ["integer", "null"]} for name in ("rated_transfers_per_s", "configured_transfers_per_s")},
    "topology": {"allowed_cpus": _NOT_EMPTY},
    "cache": {"type": _CACHE_TYPES, "level": _AT_LEAST_ONE, "count": _AT_LEAST_ONE, "shared_by": _AT_LEAST_ONE},
    "cpuid_cache": {
        "type": _CACHE_TYPES, "line_bytes": _AT_LEAST_ONE, "ways": _AT_LEAST_ONE, "shared_by": _AT_LEAST_ONE,
    },
    "core_kind": {"maximum_frequency_hz": {"type": "integer"}},
    "group_limits": {"cgroup_version": {"enum": [0, 1, 2]}},
    "probe_info": {"name": {"pattern": "^[a-z]+(_[a-z]+)?$"}, "summary": _TEXT},
    "parameter": {"summary": _TEXT, "choices": _NOT_EMPTY},
    "named": {"summary": _TEXT},
}  # fmt: skip

# The conditions between fields.
CONDITIONS: Mapping[str, Schema] = {
    "outcome": {"if": {"properties": {"ending": {"const": "ok"}}}, "else": {"required": ["reason", "stage"]}},
    "memory": {
        "if": {"properties": {"modules_status": {"const": "read"}}},
        "then": {"properties": {"modules": {"type": "array"}}},
        "else": {"properties": {"modules": {"type": "null"}}},
    },
    "parameter": {
        "if": {"properties": {"default": {"type": "null"}}},
        "then": {"properties": {"automatic": {"minLength": 1}}},
    },
}


def schema_text() -> str:
    """Return the text of the schema."""
    _, components = msgspec.json.schema_components(_RECORDS, ref_template="#/$defs/{name}")
    renamed = {name: _definition_name(definition) for name, definition in components.items()}
    text = re.sub(r'"#/\$defs/(\w+)"', lambda match: f'"#/$defs/{renamed[match[1]]}"', json.dumps(components))
    definitions = {renamed[name]: definition for name, definition in json.loads(text).items()}
    for name, definition in definitions.items():
        _tighten(name, definition)
    kinds = [renamed[record.__name__] for record in _RECORDS]
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:nameplate:record:{SCHEMA}",
        "title": f"nameplate records, schema {SCHEMA}",
        "description": "One line of nameplate-core's output or of a run file. Durations in seconds, frequencies in "
        "hertz, sizes in bytes. In a run file every record of the core carries the round it belongs to.",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds],
        "$defs": {name: definitions[name] for name in (*kinds, *sorted(definitions.keys() - set(kinds)))},
    }
    return _dumped(document) + "\n"


def _definition_name(definition: Schema) -> str:
    """Return the name of a definition: the record's ``type``, or the type's name in snake case."""
    tag = definition["properties"].get("type", {}).get("enum")
    if tag and len(tag) == 1:
        return "machine_record" if tag == ["machine"] else str(tag[0])
    return re.sub(r"(?<!^)(?=[A-Z])", "_", definition["title"]).lower()


def _tighten(name: str, definition: Schema) -> None:
    """Restrict a definition to the records that this version writes."""
    properties = definition["properties"]
    for field, schema in properties.items():
        schema.pop("default", None)
        if field in NOT_NULL.get(name, ()):
            schema.update(next(choice for choice in schema.pop("anyOf") if choice != {"type": "null"}))
        for choice in schema.get("anyOf", [schema]):
            if choice != {"type": "null"}:
                choice.update(VALUES.get(name, {}).get(field, {}))
    definition["required"] = [field for field in properties if field not in OPTIONAL.get(name, ())]
    # The machine's record extends the machine.
    if name not in ("machine", "machine_record"):
        definition["additionalProperties"] = False
    definition |= CONDITIONS.get(name, {})
    definition.pop("title")
    definition["description"] = _in_json(definition["description"])


def _in_json(docstring: str) -> str:
    """Return a docstring with one line for each paragraph and item, in the words of JSON."""
    text = re.sub(r"(?<!\n)\n(?!\n|- )\s*", " ", docstring)
    return text.replace("None", "null").replace("UNSET", "missing").replace("True", "true")


def _dumped(value: Any, indent: str = "") -> str:
    """Return a value as JSON text in which everything that fits on a line is on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= _WIDTH or not isinstance(value, dict | list):
        return line
    inner = indent + " "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + _dumped(item, inner) for item in value) + f"\n{indent}]"
    items = [f"{inner}{json.dumps(key)}: {_dumped(item, inner)}" for key, item in value.items()]
    return "{\n" + ",\n".join(items) + f"\n{indent}}}"


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
