"""The size of a test file that a study wants larger than the memory, so that the page cache cannot hold it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# The study had a file of 10 GB and 4 GB of memory. A file that is only just larger than the memory serves as well.
_TIMES_MEMORY = (2.5, 1.25)
_MIB = 1 << 20
# Two blocks of 80 MiB for each of eight threads do not fit a smaller file.
_OTHERWISE_BYTES = 1280 * _MIB
# The core leaves so much of a file system free.
_RESERVED_SHARE, _RESERVED_BYTES = 0.1, 2 << 30
# A file is usually written at this rate, and at a third of it that may take this share of the budget.
WRITTEN_BYTES_PER_S = 300e6
_SLOWEST_BYTES_PER_S = WRITTEN_BYTES_PER_S / 3
_BUDGET_SHARE = 0.15


def file_beyond_memory(machine: Mapping[str, Any], folder: Path, budget_s: float) -> tuple[int, str]:
    """Return the size in bytes, a multiple of 1280 MiB, and where it is not larger than the memory the reason why.

    The file lies in ``folder``; a run of ``budget_s`` seconds has the time to write it.
    """
    memory = int(machine["memory"]["total_bytes"])
    room, time = _room_bytes(folder), int(budget_s * _BUDGET_SHARE * _SLOWEST_BYTES_PER_S)
    for times in _TIMES_MEMORY:
        size = -(-int(times * memory) // _OTHERWISE_BYTES) * _OTHERWISE_BYTES
        if size <= min(room, time):
            return size, ""
    least = -(-int(_TIMES_MEMORY[-1] * memory) // _OTHERWISE_BYTES) * _OTHERWISE_BYTES
    what = f"the disk file has 1280 MiB, not {least / 1e9:.3g} GB, which is more than the memory"
    if least > room:
        return _OTHERWISE_BYTES, f"{what}: the file system has room for {max(room, 0) / 1e9:.3g} GB"
    seconds = least / _BUDGET_SHARE / _SLOWEST_BYTES_PER_S
    return _OTHERWISE_BYTES, f"{what}: to write that much takes a budget of {seconds / 60:.0f}min or more"


def _room_bytes(folder: Path) -> int:
    status = os.statvfs(folder)
    reserved = max(_RESERVED_SHARE * status.f_blocks * status.f_frsize, _RESERVED_BYTES)
    return int(status.f_bavail * status.f_frsize - reserved)
