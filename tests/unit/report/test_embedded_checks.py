"""The data in a report are checked when they are read."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mutated_files import page
from nameplate.errors import FileError
from nameplate.report.html.embed import read_embedded


@pytest.mark.parametrize(
    ("kind", "field", "value", "message"),
    [
        ("quick", "machine/topology/cores", "two", "Expected `int`, got `str` - at `$[0].machine.topology.cores`"),
        ("quick", "machine/memory", [], "Expected `object`, got `array` - at `$[0].machine.memory`"),
        ("quick", "machine", {"hostname": 5}, "Expected `str`, got `int` - at `$[0].machine.hostname`"),
        ("quick", "results/0/facts", {}, "fact 'burst_cycles' is missing"),
        ("quick", "results/0/summary/params/threads", "x", "parameter 'threads' is 'x'; it must be a whole number"),
        ("quick", "results/0/round_values", [], "a value without round_values"),
        ("quick", "results/0/series/value", [1.0], "the lists of the series differ in length"),
        ("quick", "tables/0/rows/0", [], "row 1 has 0 cells for"),
        ("quick", "run/started", "", "write it like 2026-01-31T12:00:00"),
        ("per_node", "nodes/classes", [], "nodes: 0 classes for"),
        ("per_node", "nodes/metrics/0/slow", [99], "a slow node's index is not below"),
        ("per_node", "nodes/metrics/0/gap", [], "a list does not have"),
        ("t2micro-posix", "study/tables/0/cells/0", [], "row 1 has 0 cells for"),
        ("t2micro-posix", "study/tables/0/cells", [], "0 rows of cells"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, kind: str, field: str, value: Any, message: str) -> None:
    _, data = page(kind)
    document = json.loads(json.dumps(data))
    position = document[0]
    *parents, name = field.split("/")
    for parent in parents:
        position = position[int(parent)] if isinstance(position, list) else position[parent]
    position[int(name) if isinstance(position, list) else name] = value
    path = written(kind, document, tmp_path / "x.html")
    with pytest.raises(FileError) as caught:
        read_embedded(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("machine", [{}, {"hostname": "machine 1", "job": None}])
def test_a_report_of_an_earlier_version_without_a_machine_is_read(tmp_path: Path, machine: dict[str, Any]) -> None:
    _, data = page("quick")
    document = json.loads(json.dumps(data))
    document[0]["machine"] = machine
    (read,) = read_embedded(written("quick", document, tmp_path / "x.html"))
    assert read.machine is None
    assert read.results


def written(kind: str, document: Any, path: Path) -> Path:
    """Write a page with these data, in the form that nameplate writes."""
    text, _ = page(kind)
    content = json.dumps(document, separators=(",", ":")).encode()
    path.write_text(text.replace("DATA", base64.b64encode(gzip.compress(content)).decode()))
    return path
