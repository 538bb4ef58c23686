"""Make nameplate_catalogue/machines.jsonl from the tables in sources/."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = [
    {
        "name": "SpareCores, sc-inspector-data, commit 804d3c71dda",
        "address": "https://github.com/SpareCores/sc-inspector-data",
        "licence": "CC BY-SA 4.0",
        "changes": "one measurement of each type, SI base units, most columns left out",
    },
    {
        "name": "Microsoft, azurehpc-health-checks, commit 0e0a1ac",
        "address": "https://github.com/Azure/azurehpc-health-checks",
        "licence": "MIT",
        "changes": "the smallest triad bandwidth of each type",
    },
]
MB = 1e6


def main() -> None:
    """Write the data file."""
    floors = _floors()
    lines: list[object] = [{"schema": 1, "collected": "2026-11-23", "sources": SOURCES}]
    with (HERE / "sources" / "cloud-instances.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            # Azure calls its types Standard_…; the health checks leave that out.
            short = row["type"].lower().removeprefix("standard_")
            lines.append(_machine(row, floors.pop(short, None) if row["vendor"] == "azure" else None))
    lines += [["azure", _azure_name(name), "", "", 0, 0, 0, "", None, None, None, floor]
              for name, floor in sorted(floors.items())]  # fmt: skip
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    (HERE / "nameplate_catalogue" / "machines.jsonl").write_text(text, encoding="utf-8")


def _floors() -> dict[str, float]:
    with (HERE / "sources" / "azure-floors.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["type"]: float(row["arguments"]) * MB for row in rows if row["check"] == "check_cpu_stream"}


def _azure_name(short: str) -> str:
    """Return Azure's name of a type, such as Standard_HB120rs_v3 for hb120rs_v3."""
    return "Standard_" + re.sub(r"^[a-z]+", lambda letters: letters[0].upper(), short)


def _machine(row: Mapping[str, str], floor: float | None) -> list[object]:
    manufacturer, _, product = row["dmi"].partition(" | ")
    # bw_mem counts a line that it reads and writes once.
    return [
        row["vendor"], row["type"], row["arch"], row["cpu"], int(row["vcpus"]), int(row["threads_per_core"] or 1),
        int(row["sockets"] or 1), f"{manufacturer} {product}".strip(), _number(row["latency_ns"], 1e-9),
        _number(row["lmbench_rd_512mb_mb_s"], MB), _number(row["lmbench_rdwr_512mb_mb_s"], 2 * MB), floor,
    ]  # fmt: skip


def _number(text: str, unit: float) -> float | None:
    return float(f"{float(text) * unit:.4g}") if text else None


if __name__ == "__main__":
    main()
