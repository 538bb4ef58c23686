"""Write the run files of a fleet, made from a recorded run of the plan quick."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recorded_runs import quieted, unpacked

NOISE = 0.004


def write_fleet(
    folder: Path, hosts: Sequence[str], slow: Mapping[str, tuple[str, float]] | None = None, rounds: int = 1
) -> list[Path]:  # fmt: skip
    """Write a run file for each host, and return their paths.

    ``slow`` has a probe and a factor for some hosts: the samples of this probe take as much longer. Otherwise hosts and
    rounds differ by random factors near 1.
    """
    rng = random.Random(1)
    recorded = [json.loads(line) for line in quieted(unpacked("quick")).splitlines() if b'"figures"' not in line[:30]]
    first = [record for record in recorded if record["round"] == 1]
    records = [
        recorded[0], *({**record, "round": number} for number in range(1, rounds + 1) for record in first),
        recorded[-1],
    ]  # fmt: skip
    probes = {record["id"]: record["probe"] for record in recorded if record["type"] == "outcome"}
    paths = []
    for host in hosts:
        probe, factor = (slow or {}).get(host, ("", 1.0))
        factors = {identity: rng.gauss(1.0, NOISE) * (factor if name == probe else 1.0)
                   for identity, name in probes.items()}  # fmt: skip
        boot = str(uuid.UUID(int=rng.getrandbits(128)))
        path = folder / f"{host}.jsonl"
        lines = (json.dumps(record, ensure_ascii=False) for record in _of_host(records, host, boot, factors, rng))
        path.write_text("".join(f"{line}\n" for line in lines))
        paths.append(path)
    return paths


def _of_host(
    records: Sequence[dict[str, Any]], host: str, boot: str, factors: Mapping[str, float], rng: random.Random
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the records as this host would have written them."""
    for record in records:
        if "machine" in record:
            yield {**record, "machine": {**record["machine"], "hostname": host, "boot_id": boot}}
        elif record["type"] == "sample":
            factor = factors[record["id"]] * rng.gauss(1.0, NOISE / 4)
            yield {**record, "elapsed_s": record["elapsed_s"] * factor}
        else:
            yield record
