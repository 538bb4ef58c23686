"""Check records against ``schema/record.schema.json``, the contract of the two programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

ROOT = Path(__file__).parents[2]


@cache
def validator() -> Any:
    schema = json.loads((ROOT / "schema" / "record.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def assert_valid(records: Iterable[dict[str, Any]]) -> None:
    for record in records:
        # Validated against the definition of this record, because the errors of `oneOf` are unreadable.
        name = "machine_record" if record["type"] == "machine" else record["type"]
        validator_of_record = validator().evolve(
            schema={"$ref": f"#/$defs/{name}", "$defs": validator().schema["$defs"]}
        )
        errors = [error.message for error in validator_of_record.iter_errors(record)]
        assert not errors, f"{record['type']}: {errors[:3]}"
        validator().validate(record)
