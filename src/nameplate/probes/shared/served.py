"""Who served a file's bytes: a verdict from what the page cache held and what the process and the device moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes import Cell
from nameplate.records.model import Sample

PAGE_CACHE = "page cache"
UNKNOWN = "unknown"
# Shares of the user's bytes that came from storage, from which it is all storage, and up to which it is all cache: a
# few pages are read ahead, or are left in the cache.
ALL, NONE = 0.95, 0.05


def evidence(cell: Cell, samples: Sequence[Sample]) -> dict[str, float]:
    """What was read before and after each sample, put together; without what the system does not tell.

    Shares of the file in the page cache (``resident_before``, ``resident_after``), and bytes moved for each of the
    user's: ``fetched`` and ``given`` by this process, ``device_read`` and ``device_written`` by the whole device.
    """
    user_bytes = sum(sample.work.bytes for sample in samples)
    whole_bytes = len(samples) * cell.facts["file_bytes"]
    of = {
        "resident_before": ("resident_before_bytes", whole_bytes),
        "resident_after": ("resident_after_bytes", whole_bytes),
        "fetched": ("process_read_bytes", user_bytes),
        "given": ("process_write_bytes", user_bytes),
        "device_read": ("device_read_bytes", user_bytes),
        "device_written": ("device_write_bytes", user_bytes),
    }
    found = {}
    for name, (counter, whole) in of.items():
        values = [sample.counters[counter] for sample in samples]
        if whole and min(values) >= 0:
            found[name] = sum(values) / whole
    return found


def served_by(cell: Cell, samples: Sequence[Sample]) -> str:
    """``page cache``, ``device nvme0n1``, ``virtual device vda``, ``RAM disk (tmpfs)``, a mixture, or ``unknown``."""
    if cell.facts["is_memory"]:
        return f"RAM disk ({cell.labels.get('filesystem') or 'memory'})"
    found = evidence(cell, samples)
    if cell.params["op"] == "read":
        return _reader(cell, found)
    return _writer(cell, found)


def is_device(served: str) -> bool:
    """Whether a verdict names nothing but a device."""
    return served.startswith(("device", "virtual device"))


def source(cell: Cell, samples: Sequence[Sample]) -> str:
    """``page cache``, ``device``, ``RAM disk``, ``mixed`` or ``unknown``: without a device's name or a share."""
    served = served_by(cell, samples)
    return "device" if is_device(served) else served.partition(":")[0].partition(" (")[0]


def _device(cell: Cell) -> str:
    kind = "virtual device" if cell.machine.get("hypervisor") else "device"
    return f"{kind} {cell.labels.get('device') or ''}".strip()


def _reader(cell: Cell, found: Mapping[str, float]) -> str:
    share = found.get("fetched")
    if share is None:
        whole = found.get("resident_before", 0.0) >= ALL and cell.params["cache"] != "direct"
        return PAGE_CACHE if whole else UNKNOWN
    if share >= ALL:
        return _device(cell)
    return PAGE_CACHE if share <= NONE else f"mixed: {share:.0%} {_device(cell)}"


def _writer(cell: Cell, found: Mapping[str, float]) -> str:
    """A write without fdatasync ends in the page cache, whatever the kernel writes out meanwhile by itself."""
    if cell.params["cache"] == "direct":
        return _device(cell) if found.get("given", 1.0) > NONE else UNKNOWN
    if cell.params["sync"] != "none":
        return _device(cell)
    share = 0.0 if cell.params["op"] == "write" else found.get("fetched", 0.0)
    return PAGE_CACHE if share <= NONE else f"mixed: {min(share, 1.0):.0%} {_device(cell)}"
