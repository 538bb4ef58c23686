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
