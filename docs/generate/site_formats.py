"""The reference page of file formats: what ``nameplate show`` writes, and which outputs of other tools it reads."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from nameplate.records.result import Summary
from nameplate.report import comparison_exports, exports
from nameplate.report.comparison_exports import comparison_export_names
from nameplate.report.exports import export_names
from nameplate.report.formats.named_formats import format_module
from nameplate.tools import external
from nameplate.tools.external import load_importers, load_references
from site_reference import Row, json_type, markdown_table


def formats_page() -> str:
    """Return the formats of ``nameplate show``, the fields of a row, and the outputs of other tools that are read."""
    written = [(f"`{name}`", _said(exports, name)) for name in export_names()]
    verdicts = [(f"`{name}`", _said(comparison_exports, name)) for name in comparison_export_names()]
    read = [(f"`{importer.name}`", _said(external, importer.name)) for importer in load_importers()]
    compared = [(f"`{name}`", _said(external, name)) for name in load_references()]
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
    (own,), _ = msgspec.json.schema_components([Summary], ref_template="{name}")
    fields = msgspec.json.schema(Summary)["$defs"][own["$ref"]]["properties"]
    for name, field in fields.items():
        yield f"`{name}`", _type(field)


def _type(field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    return "object" if "$ref" in field else json_type(field)


def _said(package: ModuleType, name: str) -> str:
    """Return the first sentence of a module's docstring."""
    module = format_module(name, package)
    paragraph = " ".join((inspect.getdoc(module) or "").partition("\n\n")[0].split())
    if not paragraph:
        raise ValueError(f"{Path(str(module.__file__)).name} has no docstring to show in the reference")
    return paragraph
