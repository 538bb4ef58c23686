"""Change the times of a recorded run, or of one that is being measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nameplate.records.run_record import Sample
from nameplate.records.run_writer import RunWriter


def slowed(original: Path, path: Path, factor: float) -> Path:
    """Write the same run with every sample ``factor`` times as long."""
    lines = []
    for line in original.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "sample":
            record["elapsed_s"] *= factor
            _set_busy(record)
            for worker in record.get("workers", []):
                worker["elapsed_s"] *= factor
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n")
    return path


def steady(original: Path, path: Path, factor: float) -> Path:
    """Write the same run with every sample ``factor`` times as long as the shortest one of its experiment.

    Samples are compared by their time for each operation, or repetition if a probe counts none: what a repetition does
    is chosen anew in each round. Even three in four samples of a run next to other programs may be disturbed.
    """
    records = [json.loads(line) for line in original.read_text().splitlines()]
    samples = [record for record in records if record["type"] == "sample"]
    shortest_s: dict[str, float] = {}
    bursts_s = [record["counters"]["burst_s"] for record in samples if "burst_s" in record["counters"]]
    for record in samples:
        operation_s = record["elapsed_s"] / _operations(record)
        shortest_s[record["id"]] = min(operation_s, shortest_s.get(record["id"], operation_s))
    for record in samples:
        record["elapsed_s"] = factor * shortest_s[record["id"]] * _operations(record)
        _set_busy(record)
        if bursts_s:
            record["counters"]["burst_s"] = min(bursts_s)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def _set_busy(record: dict[str, Any]) -> None:
    """Set the CPU time of a sample to what two threads can use: a run next to other programs would not be judged."""
    record["counters"]["cpu_user_s"] = 2 * record["elapsed_s"]


def _operations(record: dict[str, Any]) -> int:
    return int(record["work"]["flops"] or record["repetitions"])


def write_steadily(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make runs write each sample as long as the first one of its experiment, by the time for each operation.

    While other tests run, the rounds of a run may vary so much that no number of them decides. The CPU time of a sample
    is what two threads can use.
    """
    first: dict[str, Sample] = {}
    write = RunWriter.write

    def write_as_the_first(writer: RunWriter, record: Any) -> None:
        if isinstance(record, Sample):
            model = first.setdefault(record.id, record)
            operation_s = model.elapsed_s / (model.work.main or model.repetitions)
            elapsed_s = operation_s * (record.work.main or record.repetitions)
            burst_s = {"burst_s": model.counters["burst_s"]} if "burst_s" in model.counters else {}
            busy_s = {"cpu_user_s": 2 * elapsed_s}
            record = replace(record, elapsed_s=elapsed_s, counters={**record.counters, **burst_s, **busy_s})
        write(writer, record)

    monkeypatch.setattr(RunWriter, "write", write_as_the_first)
