"""The OSU Micro-Benchmarks' latencies: osu_latency and osu_multi_lat, every size."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nameplate.errors import Unreadable
from nameplate.importers import Imported, only
from nameplate.references import positive

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
    rows = re.findall(r"^(\d+)\s+([\d.]+)(?:\s|$)", text, re.MULTILINE)
    # How many pairs osu_multi_lat had is the launcher's secret.
    common = {"pairs": 1} if title[1] == "Latency Test" else {}
    return only(
        [Imported("mpi_pingpong", {"size": int(s), **common}, "latency", positive(us, 1e-6)) for s, us in rows], "sizes"
    )
