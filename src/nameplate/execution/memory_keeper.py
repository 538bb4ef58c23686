"""Keep a guest's memory from its host between experiments.

A guest whose balloon device reports free pages (Virtual I/O Device 1.2, section 5.5.6.7) returns memory to its host
about two seconds after a program has released it. The next experiment that touches as much waits until the host gives
it back page by page: 4 s per GiB instead of 0.2 s on a guest that was measured. So the memory of an experiment is held
until the next one.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from nameplate.probes import probe_of
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment
from nameplate.records.run_record import Outcome

# The type of a balloon device, and the number of its feature of reporting free pages.
_BALLOON = 5
_REPORTING = 5
_CHUNK_BYTES = 64 << 20
# The largest share of the available memory that is held, so that experiments with unknown needs find enough.
_MAX_SHARE = 0.25
# Touches all pages in one call; from Linux 5.14 on (madvise(2)). The module mmap of Python 3.11 does not name it. Two
# threads took no less time: 11 instead of 10 ms for 64 MiB.
_MADV_POPULATE_WRITE = 23

Allocate = Callable[[int], "mmap.mmap | None"]


def returns_free_memory(root: Path = Path("/")) -> bool:
    """Return whether a balloon device of this machine has the feature of reporting free pages.

    ``root`` is the directory that contains ``sys``: ``/``, or a copy for tests. The result is False if there is no such
    device.
    """
    for device in (root / "sys/bus/virtio/devices").glob("*"):
        try:
            kind = int((device / "device").read_text(), 16)
            features = (device / "features").read_text()
        except (OSError, ValueError):
            continue
        if kind == _BALLOON and features[_REPORTING : _REPORTING + 1] == "1":
            return True
    return False


class MemoryKeeper:
    """The memory that is held between experiments.

    ``release_for`` makes room for an experiment, ``hold_after`` holds memory again when it has ended.
    """

    def __init__(self, machine: Machine, root: Path = Path("/"), allocate: Allocate | None = None) -> None:
        """Start without any memory held.

        Nothing is ever held on a machine that does not return free memory to a host, or in a control group with a
        memory limit, since held memory counts towards the limit. ``machine`` has the limits. ``root`` is the root of
        the file systems /proc and /sys. ``allocate`` takes a number of bytes and returns that much touched memory, or
        None if there is not enough; the default uses ``mmap``.
        """
        self._is_active = machine.limits.memory_bytes is None and returns_free_memory(root)
        self._root = root
        self._allocate = allocate or _touched
        self._held: list[mmap.mmap] = []
        self._needs_bytes: dict[str, int] = {}

    @property
    def held_bytes(self) -> int:
        """Return the number of bytes that are held."""
        return len(self._held) * _CHUNK_BYTES

    def release_for(self, experiment: Experiment) -> None:
        """Release as much of the held memory as an experiment needs.

        The need of an experiment that was measured before is known from ``hold_after``. For another experiment, it is
        the parameter ``size``, or all held memory if the size is automatic; for probes that use little memory, nothing
        is released. Call this method directly before the experiment.
        """
        if "touched_bytes" not in probe_of(experiment.probe).recorded.facts:
            return
        need_bytes = self._needs_bytes.get(experiment.id, experiment.params.get("size", self.held_bytes))
        if isinstance(need_bytes, int):
            self._release(-(-need_bytes // _CHUNK_BYTES) if need_bytes >= _CHUNK_BYTES else 0)

    def _release(self, chunks: int) -> None:
        for _ in range(min(chunks, len(self._held))):
            self._held.pop().close()

    def hold_after(self, outcome: Outcome) -> None:
        """Record the memory that an experiment touched, and hold as much as the largest experiment so far needs.

        ``outcome`` is the outcome of the experiment, which must have released its memory. At most a quarter of the
        available memory is held. An experiment that touched less than 64 MiB counts as needing none.
        """
        touched_bytes = int(outcome.facts.get("touched_bytes", 0))
        if not self._is_active or touched_bytes < _CHUNK_BYTES:
            return
        self._needs_bytes[outcome.id] = touched_bytes
        available_bytes = _available_bytes(self._root) + self.held_bytes
        target_bytes = min(max(self._needs_bytes.values()), _MAX_SHARE * available_bytes)
        while self.held_bytes + _CHUNK_BYTES <= target_bytes:
            chunk = self._allocate(_CHUNK_BYTES)
            if chunk is None:
                return
            self._held.append(chunk)

    def close(self) -> None:
        """Release all held memory."""
        self._release(len(self._held))


def _available_bytes(root: Path) -> int:
    """Return MemAvailable of /proc/meminfo in bytes; 0 if the system does not report it."""
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)


def _touched(count: int) -> mmap.mmap | None:
    """Return touched memory, on huge pages if possible; None if there is not enough or the kernel cannot do so."""
    try:
        chunk = mmap.mmap(-1, count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        return None
    with suppress(OSError):  # a kernel without huge pages
        chunk.madvise(mmap.MADV_HUGEPAGE)
    try:
        chunk.madvise(_MADV_POPULATE_WRITE)
    except OSError:
        chunk.close()
        return None
    return chunk
