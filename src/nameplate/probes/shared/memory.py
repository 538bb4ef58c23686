"""Code that the memory probes use."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Cell, Metric
from nameplate.probes.shared.ceilings import memory_bandwidth
from nameplate.records.model import Rated, Sample

# STREAM's rule for its arrays: the caches may serve part of anything smaller.
TIMES_LAST_LEVEL = 4
# Of the memory asked for: the ends of an array need not fill a huge page.
ENOUGH_HUGE = 0.9

# Facts of every probe with arrays in memory.
ARRAYS = ("touched_bytes", "huge_bytes", "last_level_bytes")


def is_beyond_caches(cell: Cell) -> bool:
    """Return whether the touched memory is so large that the caches serve almost none of it."""
    return cell.facts["touched_bytes"] >= TIMES_LAST_LEVEL * cell.facts["last_level_bytes"]


def remarks(cell: Cell, samples: Sequence[Sample]) -> list[str]:
    """Return what a reader must know: that caches may have served an experiment, or that it lacked huge pages."""
    return [*([] if is_beyond_caches(cell) else ["may fit the caches"]), *page_remarks(cell, samples)]


def page_remarks(cell: Cell, _: Sequence[Sample]) -> list[str]:
    """Return the same without the remark on caches, for probes that use small regions on purpose."""
    if cell.params.get("pages") != "huge" or cell.facts["huge_bytes"] >= ENOUGH_HUGE * cell.facts["touched_bytes"]:
        return []
    return ["no huge pages" if cell.facts["huge_bytes"] == 0 else "huge pages only in part"]


def rated_bandwidth(_: Metric, cell: Cell, __: Sequence[Sample]) -> Rated:
    """Return the memory's bandwidth as reference value for arrays that no cache can hold."""
    if not is_beyond_caches(cell):
        return Rated(None, "the arrays may fit the caches", can_be_given=False)
    return memory_bandwidth(cell.machine)
