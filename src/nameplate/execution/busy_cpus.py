"""Read how busy the CPUs of this machine are."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from nameplate.errors import FileError
from nameplate.results.fitness import busy_shares

_STAT = Path("/proc/stat")


def read_cpu_times() -> str:
    """Return the text of /proc/stat, with the time that each CPU spent in each state since the start.

    Raises:
        FileError: the file cannot be read.
    """
    try:
        return _STAT.read_text()
    except OSError as error:
        raise FileError(f"cannot read the load of this machine from {_STAT}: {error.strerror}") from None


def busiest_cpu(cpus: Collection[int], over_s: float) -> tuple[int, float] | None:
    """Return the busiest of these CPUs and its busy share, 0 to 1, over the next ``over_s`` seconds.

    The result is None if the system lists none of them.

    Raises:
        FileError: /proc/stat cannot be read.
    """
    before = read_cpu_times()
    time.sleep(over_s)
    shares = {cpu: share for cpu, share in busy_shares(before, read_cpu_times()).items() if cpu in cpus}
    return max(shares.items(), key=lambda item: item[1], default=None)
