from __future__ import annotations

import json
import lzma
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nameplate.results.digest import digest_of, digest_of_report
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from recorded_runs import OUTPUTS, RUNS, expected_path, recorded_file, rows_of


def same(now: Any, then: Any) -> bool:
    """Return whether two values are equal, up to the last bits of a float, which depend on the CPU and its libm."""
    if isinstance(now, float) and isinstance(then, int | float):
        return math.isclose(now, then, rel_tol=1e-9, abs_tol=1e-300)
    if isinstance(now, dict):
        return isinstance(then, dict) and now.keys() >= then.keys() and all(same_entry(key, now, then) for key in then)
    if isinstance(now, list):
        return isinstance(then, list) and len(now) == len(then) and all(map(same, now, then))
    return bool(now == then)


def same_entry(key: str, now: dict[str, Any], then: dict[str, Any]) -> bool:
    """Return whether two rows agree in a field; the reason is prose, so it must only be present in both or neither."""
    return bool(now[key]) == bool(then[key]) if key == "reason" else same(now[key], then[key])


@pytest.mark.parametrize("recorded", [*RUNS, *OUTPUTS], ids=lambda path: path.name)
def test_a_recorded_run_keeps_its_values(recorded: Path, tmp_path: Path) -> None:
    then = json.loads(lzma.decompress(expected_path(recorded).read_bytes()))
    now = rows_of(recorded, tmp_path)
    assert len(now) == len(then) > 0
    changed = [(a, b) for a, b in zip(now, then, strict=True) if not same(a, b)]
    assert not changed, f"{len(changed)} of {len(then)} rows changed; the first: {changed[0]}"


@pytest.mark.parametrize("recorded", RUNS, ids=lambda path: path.name)
def test_a_digest_is_the_same_from_records_and_from_results(recorded: Path, tmp_path: Path) -> None:
    file = read_run(recorded_file(recorded.name.removesuffix(".xz"), tmp_path))
    assert msgspec.structs.replace(digest_of_report(summarise(file)), judgeable=None) == digest_of(file)


def test_there_are_recordings_of_every_kind() -> None:
    kinds = {path.name.split(".")[0] for path in RUNS}
    assert kinds >= {"quick", "full", "series", "mpi_stream", "mpi_pairs", "per_node", "t2micro-posix"}
