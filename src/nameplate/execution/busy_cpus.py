"""Read how busy the CPUs of this machine are."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from nameplate.results.fitness import busy_shares

_STAT = Path("/proc/stat")
# The kernel lets other programs run several times in this time.
_LOOP_S = 0.03


def read_cpu_times() -> str:
    """Return the text of /proc/stat, which has the time that each CPU spent in each state since boot.

    The result is "" if the file cannot be read, as in some sandboxes.
    """
    try:
        return _STAT.read_text(errors="replace")
    except OSError:
        return ""


def busiest_cpu(cpus: Collection[int], over_s: float) -> tuple[int, float] | None:
    """Return the busiest of ``cpus`` and its busy share (0 to 1), measured over the next ``over_s`` seconds.

    ``cpus`` are the numbers of CPUs. The call takes ``over_s`` seconds. The result is None if /proc/stat cannot be read
    or counts no time for any of ``cpus``.
    """
    before = read_cpu_times()
    time.sleep(over_s)
    shares = {cpu: share for cpu, share in busy_shares(before, read_cpu_times()).items() if cpu in cpus}
    return max(shares.items(), key=lambda item: item[1], default=None)


def slowdown() -> float:
    """Return the factor, at least 1, by which other programs slow this one down.

    It is the elapsed time divided by the CPU time of a loop that takes 30 ms of CPU time.
    """
    began_s, began_cpu_s = time.monotonic(), time.thread_time()
    while time.thread_time() - began_cpu_s < _LOOP_S:
        pass
    return max(1.0, (time.monotonic() - began_s) / (time.thread_time() - began_cpu_s))
