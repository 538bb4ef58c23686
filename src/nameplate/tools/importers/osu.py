"""The OSU Micro-Benchmarks' latencies: osu_latency and osu_multi_lat, every size."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from nameplate.errors import Unreadable
from nameplate.tools.importers import Imported, only
from nameplate.tools.references import positive, whole

_TITLES = {"Latency Test": "osu_latency", "Multi Latency Test": "osu_multi_lat"}


def recognises(text: str) -> bool:
    """By its heading, before which a launcher may say something."""
    return re.search(r"^# OSU MPI ", text[:4096], re.MULTILINE) is not None


def read(text: str) -> Sequence[Imported]:
    """A latency for each size. Raises Unreadable, also for its other tests."""
    title = re.search(r"^# OSU MPI (.+?) v\d", text, re.MULTILINE)
    if title is None or title[1] not in _TITLES:
        name = title[1] if title else "an unknown test"
        raise Unreadable(f"{name}: nameplate has the same figure of {' and '.join(_TITLES.values())} only")
    if not re.search(r"^# Size\s+(?:Avg )?Latency ?\(us\)(?:\s|$)", text, re.MULTILINE):
        raise Unreadable("other columns than those that were expected")
    rows = [found for found in map(_row, text.splitlines(), itertools.count(1)) if found]
    # How many pairs osu_multi_lat had is the launcher's secret.
    common = {"pairs": 1} if title[1] == "Latency Test" else {}
    return only(
        [Imported("mpi_pingpong", {"size": size, **common}, "latency", time_s) for size, time_s in rows], "sizes"
    )


def _row(line: str, number: int) -> tuple[int, float] | None:
    """Return the size and the time in seconds of a line; None where it is no row."""
    match = re.match(r"(\d+)\s+([\d.]+)(?:\s|$)", line)
    if match is None:
        return None
    try:
        return whole(match[1], "the size"), positive(match[2], 1e-6)
    except Unreadable as error:
        raise Unreadable(f"line {number}: {error}") from None
