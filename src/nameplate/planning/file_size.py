"""Choose the size of a test file: larger than the memory, if possible, so that the page cache cannot hold it."""

from __future__ import annotations

import os
from pathlib import Path

from nameplate.records.machine_record import Machine
from nameplate.units import size_text

# The reproduced study used a file of 10 GB with 4 GB of memory. A file that is just larger than the memory is enough.
_TIMES_MEMORY = (2.5, 1.25)
_MIB = 1 << 20
# A smaller file does not hold two blocks of 80 MiB for each of eight threads.
OTHERWISE_BYTES = 1280 * _MIB
# The core leaves the first share of a file system free, and at least these bytes or, if that is less, the second share.
_RESERVED_SHARE, _RESERVED_BYTES, _RESERVED_SHARE_OF_SMALL = 0.1, 2 << 30, 0.5
# The usual rate of writing a file. At a third of this rate, writing may take _BUDGET_SHARE of the budget.
WRITTEN_BYTES_PER_S = 300e6
_SLOWEST_BYTES_PER_S = WRITTEN_BYTES_PER_S / 3
_BUDGET_SHARE = 0.15


def file_beyond_memory(machine: Machine, folder: Path, budget_s: float) -> tuple[int, str]:
    """Return the size in bytes of a test file, and the reason if it is not larger than the memory, otherwise "".

    The size is the first of these for which the file system has room and the budget has time:

    - 2.5 times the memory, rounded up to a multiple of 1280 MiB
    - 1.25 times the memory, rounded up to a multiple of 1280 MiB
    - 1280 MiB, whatever the budget; with less room, the largest multiple of 1 MiB that there is room for, but at least
      1 MiB

    ``folder``, which must exist, is in the file system that the test file would use; ``room_bytes`` says how much stays
    free. ``budget_s`` is the budget of the run in seconds; writing the file at 100 MB/s may take 15 % of it. No file is
    created.
    """
    memory = int(machine.memory.total_bytes)
    room, time = room_bytes(folder), int(budget_s * _BUDGET_SHARE * _SLOWEST_BYTES_PER_S)
    for times in _TIMES_MEMORY:
        size = -(-int(times * memory) // OTHERWISE_BYTES) * OTHERWISE_BYTES
        if size <= min(room, time):
            return size, ""
    min_bytes = -(-int(_TIMES_MEMORY[-1] * memory) // OTHERWISE_BYTES) * OTHERWISE_BYTES
    size = min(OTHERWISE_BYTES, max(room // _MIB, 1) * _MIB)
    text = f"the disk file has {size_text(size)} instead of {size_text(min_bytes)}, so it is not larger than the memory"
    if min_bytes > room:
        return size, f"{text}: the file system has room for {size_text(max(room, 0))}"
    seconds = min_bytes / _BUDGET_SHARE / _SLOWEST_BYTES_PER_S
    return size, f"{text}: writing that much needs a budget of {seconds / 60:.0f}min or more"


def room_bytes(folder: Path) -> int:
    """Return how many bytes test files may have in ``folder``, which must exist; 0 or less if there is no room.

    Like the core, it leaves free 10 % of the file system, and at least 2 GiB or, if that is less, half of the file
    system.
    """
    status = os.statvfs(folder)
    total = status.f_blocks * status.f_frsize
    reserved = max(_RESERVED_SHARE * total, min(_RESERVED_SHARE_OF_SMALL * total, _RESERVED_BYTES))
    return int(status.f_bavail * status.f_frsize - reserved)
