"""The reference page of file formats: what ``nameplate show`` writes, and which outputs of other tools it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from nameplate.records.result import Summary
from nameplate.report import comparison_exports, exports
from nameplate.report.comparison_exports import comparison_export_names
from nameplate.report.exports import export_names
from nameplate.report.formats.named_formats import format_content
from nameplate.tools import external
from nameplate.tools.external import load_importers, load_references
from site_reference import Row, json_type, markdown_table


def formats_page() -> str:
    """Return the formats of ``nameplate show``, the fields of a row, and the outputs of other tools that are read."""
    written = [(f"`{name}`", format_content(name, exports)) for name in export_names()]
    verdicts = [(f"`{name}`", format_content(name, comparison_exports)) for name in comparison_export_names()]
    read = [(f"`{importer.name}`", format_content(importer.name, external)) for importer in load_importers()]
    compared = [(f"`{name}`", format_content(name, external)) for name in load_references()]
    return "\n\n".join(
        [
            "# Formats",
            "[The run file](../record-format.md) is the source of all of them.",
            "## Written",
            "`nameplate show RUN --format NAME` writes these formats. `table` is the default.",
            markdown_table(("format", "content"), written),
            "`nameplate compare BASE NEW --format NAME` writes these.",
            markdown_table(("format", "content"), verdicts),
            "## A row of JSON and CSV",
            "Values are in SI base units. [Concepts](../concepts.md) explains them.",
            markdown_table(("field", "type"), _fields()),
            "## Read",
            "`show`, `report` and `compare` read these outputs in place of a run file. They recognise the content.",
            markdown_table(("adapter", "output"), read),
            "## Compared",
            "`nameplate versus` runs these tools on the same work.",
            markdown_table(("adapter", "tool"), compared),
        ]
    )


def _fields() -> Iterator[Row]:
    (schema,), _ = msgspec.json.schema_components([Summary], ref_template="{name}")
    fields = msgspec.json.schema(Summary)["$defs"][schema["$ref"]]["properties"]
    for name, field in fields.items():
        yield f"`{name}`", _type(field)


def _type(field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(choice) for choice in field["anyOf"])
    return "object" if "$ref" in field else json_type(field)
