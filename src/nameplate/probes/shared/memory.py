"""What the probes of memory share."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Cell, Metric
from nameplate.probes.shared.ceilings import memory_bandwidth
from nameplate.records.model import Rated, Sample

# STREAM's rule for its arrays: what is smaller may partly be served by the caches.
TIMES_LAST_LEVEL = 4
# Of what was asked for: the ends of an array need not fill a huge page.
ENOUGH_HUGE = 0.9

# Facts of every probe whose arrays lie in memory.
ARRAYS = ("touched_bytes", "huge_bytes", "last_level_bytes")


def is_beyond_caches(cell: Cell) -> bool:
    """Whether what is touched is so large that the caches serve next to nothing of it."""
    return cell.facts["touched_bytes"] >= TIMES_LAST_LEVEL * cell.facts["last_level_bytes"]


def remarks(cell: Cell, samples: Sequence[Sample]) -> list[str]:
    """What a reader must know of a cell: that caches may have served it, or that it did not get its huge pages."""
    return [*([] if is_beyond_caches(cell) else ["may fit the caches"]), *page_remarks(cell, samples)]


def page_remarks(cell: Cell, _: Sequence[Sample]) -> list[str]:
    """As ``remarks``, of a probe that is asked for small regions on purpose."""
    if cell.params.get("pages") != "huge" or cell.facts["huge_bytes"] >= ENOUGH_HUGE * cell.facts["touched_bytes"]:
        return []
    return ["no huge pages" if cell.facts["huge_bytes"] == 0 else "huge pages in part only"]


def rated_bandwidth(_: Metric, cell: Cell, __: Sequence[Sample]) -> Rated:
    """That of the memory, for what no cache can hold."""
    if not is_beyond_caches(cell):
        return Rated(None, "what may fit the caches has no rated bandwidth", can_be_given=False)
    return memory_bandwidth(cell.machine)
