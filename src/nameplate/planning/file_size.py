"""Choose the size of a test file that should be larger than the memory, so that the page cache cannot hold it."""

from __future__ import annotations

import os
from pathlib import Path

from nameplate.records.machine_record import Machine
from nameplate.units import size_text

# The study used a file of 10 GB with 4 GB of memory. A file that is just larger than the memory is enough.
_TIMES_MEMORY = (2.5, 1.25)
_MIB = 1 << 20
# A smaller file does not hold two blocks of 80 MiB for each of eight threads.
_OTHERWISE_BYTES = 1280 * _MIB
# The core leaves the first share of a file system free, and at least these bytes or the second share.
_RESERVED_SHARE, _RESERVED_BYTES, _RESERVED_SHARE_OF_SMALL = 0.1, 2 << 30, 0.5
# The usual rate of writing a file; at a third of it, writing may take this share of the budget.
WRITTEN_BYTES_PER_S = 300e6
_SLOWEST_BYTES_PER_S = WRITTEN_BYTES_PER_S / 3
_BUDGET_SHARE = 0.15


def file_beyond_memory(machine: Machine, folder: Path, budget_s: float) -> tuple[int, str]:
    """Return the size in bytes of a test file, and the reason if it was not made larger than the memory, else "".

    The size is 2.5 times the memory if there is room and time, else 1.25 times, each rounded up to a multiple of 1280
    MiB, else 1280 MiB, or the largest multiple of 1 MiB that there is room for; it is 1 MiB if there is no room at all.
    ``folder``, which must exist, is in the file system whose free space counts; 10 % of the file system, and at least 2
    GiB or half of it, stay free. ``budget_s`` is the budget of the run in
    seconds; writing the file at 100 MB/s may take 15 % of it. No file is created.
    """
    memory = int(machine.memory.total_bytes)
    room, time = room_bytes(folder), int(budget_s * _BUDGET_SHARE * _SLOWEST_BYTES_PER_S)
    for times in _TIMES_MEMORY:
        size = -(-int(times * memory) // _OTHERWISE_BYTES) * _OTHERWISE_BYTES
        if size <= min(room, time):
            return size, ""
    min_bytes = -(-int(_TIMES_MEMORY[-1] * memory) // _OTHERWISE_BYTES) * _OTHERWISE_BYTES
    size = min(_OTHERWISE_BYTES, max(room // _MIB, 1) * _MIB)
    what = f"the disk file has {size_text(size)} instead of {size_text(min_bytes)}, so it is not larger than the memory"
    if min_bytes > room:
        return size, f"{what}: the file system has room for {size_text(max(room, 0))}"
    seconds = min_bytes / _BUDGET_SHARE / _SLOWEST_BYTES_PER_S
    return size, f"{what}: writing that much needs a budget of {seconds / 60:.0f}min or more"


def room_bytes(folder: Path) -> int:
    """Return how many bytes test files may have in a folder, which must exist; below 0 if too little is free.

    As for the core, 10 % of the file system, and at least 2 GiB or half of it, stay free.
    """
    status = os.statvfs(folder)
    total = status.f_blocks * status.f_frsize
    reserved = max(_RESERVED_SHARE * total, min(_RESERVED_SHARE_OF_SMALL * total, _RESERVED_BYTES))
    return int(status.f_bavail * status.f_frsize - reserved)
