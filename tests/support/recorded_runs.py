"""Read the recorded runs of every kind and the expected output of ``show --format json`` for them.

``python tests/support/recorded_runs.py`` replaces the expected output, and the hash of the values, by the current ones,
for an intended change.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from nameplate.commands._reading import read_report
from nameplate.report.exports.json import export
from nameplate.results.digest import VALUES_VERSION, digest_of_report
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

GOLDEN = Path(__file__).parents[1] / "golden"
RUNS = sorted((GOLDEN / "runs").glob("*.jsonl.xz"))
VALUES = GOLDEN / "values.json"
OUTPUTS = [GOLDEN / "references" / name for name in ("fio-3.33.json", "osu_latency-7.5.txt")]


def unpacked(kind: str) -> bytes:
    """Return the content of the recorded run file of a kind, such as "quick"."""
    return lzma.decompress((GOLDEN / "runs" / f"{kind}.jsonl.xz").read_bytes())


def quieted(content: bytes) -> bytes:
    """Return the content of a run file as if nothing else ran, so that its machine is judged.

    The CPU time of each sample is raised to what two threads can use.
    """
    sample = re.compile(rb'("elapsed_s":([0-9.e-]+),.*?"cpu_user_s":)[0-9.e-]+')
    lines = content.splitlines(keepends=True)
    return b"".join(sample.sub(lambda m: m[1] + b"%.9g" % (2 * float(m[2])), line, count=1) for line in lines)


def quiet_file(name: str, folder: Path) -> Path:
    """Write a recorded run that is ``quieted`` into the folder and return its path."""
    path = recorded_file(name, folder)
    path.write_bytes(quieted(path.read_bytes()))
    return path


def recorded_file(name: str, folder: Path) -> Path:
    """Write a recorded run, such as ``quick.jsonl``, into the folder and return its path."""
    path = folder / name
    path.write_bytes(unpacked(path.stem))
    return path


def rows_of(recorded: Path, folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a recorded run, or of another tool's output; a run is unpacked into the folder."""
    path = recorded_file(recorded.stem, folder) if recorded.suffix == ".xz" else recorded
    rows: list[dict[str, Any]] = json.loads(export(read_report(path)))["rows"]
    return rows


def expected_path(recorded: Path) -> Path:
    """Return the path of the expected rows of a recording."""
    return GOLDEN / "runs" / f"{recorded.name.removesuffix('.xz')}.rows.json.xz"


def values_hash(folder: Path) -> str:
    """Return the hash of the values that digests of all recorded runs have; the runs are unpacked into the folder."""
    files = [read_run(recorded_file(path.stem, folder)) for path in RUNS]
    digests = [digest_of_report(summarise(file)) for file in files]
    values = [msgspec.json.encode(msgspec.structs.replace(digest, by=""), order="deterministic") for digest in digests]
    return hashlib.sha256(b"\n".join(values)).hexdigest()


def recorded_values() -> tuple[int, str]:
    """Return the version of the values and their hash, as recorded."""
    recorded = json.loads(VALUES.read_text())
    return recorded["version"], recorded["sha256"]


def main() -> None:
    """Replace the expected rows of every recording, and the hash of the values, by the current ones."""
    with TemporaryDirectory() as folder:
        current = {"version": VALUES_VERSION, "sha256": values_hash(Path(folder))}
        VALUES.write_text(json.dumps(current, indent=1) + "\n")
        for recorded in (*RUNS, *OUTPUTS):
            text = json.dumps(rows_of(recorded, Path(folder)), separators=(",", ":"))
            expected_path(recorded).write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    main()
