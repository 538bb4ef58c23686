"""Change the times of a recorded run."""

from __future__ import annotations

import json
from pathlib import Path


def slowed(original: Path, path: Path, factor: float) -> Path:
    """Write the same run with every sample ``factor`` times as long."""
    lines = []
    for line in original.read_text().splitlines():
        record = json.loads(line)
        if record["type"] == "sample":
            record["elapsed_s"] *= factor
            for busy in ("cpu_user_s", "cpu_system_s"):
                record["counters"][busy] *= factor
            for worker in record.get("workers", []):
                worker["elapsed_s"] *= factor
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n")
    return path


def steady(original: Path, path: Path, factor: float) -> Path:
    """Write the same run with every sample ``factor`` times as long as the shortest one of its experiment.

    Samples are compared by the time of a repetition. Even three in four samples of a run beside other programs may be
    disturbed.
    """
    records = [json.loads(line) for line in original.read_text().splitlines()]
    samples = [record for record in records if record["type"] == "sample"]
    shortest_s: dict[str, float] = {}
    bursts_s = [record["counters"]["burst_s"] for record in samples if "burst_s" in record["counters"]]
    for record in samples:
        repetition_s = record["elapsed_s"] / record["repetitions"]
        shortest_s[record["id"]] = min(repetition_s, shortest_s.get(record["id"], repetition_s))
    for record in samples:
        record["elapsed_s"] = factor * shortest_s[record["id"]] * record["repetitions"]
        if bursts_s:
            record["counters"]["burst_s"] = min(bursts_s)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
