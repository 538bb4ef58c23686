"""Decide what served a file's bytes, from the page cache's content and the bytes moved by the process and the
device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes import ResolvedExperiment
from nameplate.records.model import Sample

PAGE_CACHE = "page cache"
UNKNOWN = "unknown"
# Above the first share, everything came from storage; below the second, everything came from the cache. A few pages are
# read ahead or remain in the cache.
ALL, NONE = 0.95, 0.05


def evidence(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> dict[str, float]:
    """Return the evidence of all samples together, without what the system does not report.

    ``resident_before`` and ``resident_after`` are shares of the file in the page cache. ``fetched`` and ``given`` are
    the bytes that the process read and wrote per byte of the user; ``device_read`` and ``device_written`` are those of
    the whole device.
    """
    user_bytes = sum(sample.work.bytes for sample in samples)
    whole_bytes = len(samples) * experiment.facts["file_bytes"]
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


def served_by(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> str:
    """Return ``page cache``, ``device nvme0n1``, ``virtual device vda``, ``RAM disk (tmpfs)``, a mixture, or
    ``unknown``.
    """
    if experiment.facts["is_memory"]:
        return f"RAM disk ({experiment.labels.get('filesystem') or 'memory'})"
    found = evidence(experiment, samples)
    if experiment.params["op"] == "read":
        return _reader(experiment, found)
    return _writer(experiment, found)


def is_device(served: str) -> bool:
    """Return whether a verdict names only a device."""
    return served.startswith(("device", "virtual device"))


def source(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> str:
    """Return ``page cache``, ``device``, ``RAM disk``, ``mixed`` or ``unknown``, without names and shares."""
    served = served_by(experiment, samples)
    return "device" if is_device(served) else served.partition(":")[0].partition(" (")[0]


def _device(experiment: ResolvedExperiment) -> str:
    kind = "virtual device" if experiment.machine.hypervisor else "device"
    return f"{kind} {experiment.labels.get('device') or ''}".strip()


def _reader(experiment: ResolvedExperiment, found: Mapping[str, float]) -> str:
    share = found.get("fetched")
    if share is None:
        whole = found.get("resident_before", 0.0) >= ALL and experiment.params["cache"] != "direct"
        return PAGE_CACHE if whole else UNKNOWN
    if share >= ALL:
        return _device(experiment)
    return PAGE_CACHE if share <= NONE else f"mixed: {share * 100:.0f} % {_device(experiment)}"


def _writer(experiment: ResolvedExperiment, found: Mapping[str, float]) -> str:
    """Return what served a write. Without fdatasync it ends in the page cache, whatever the kernel writes out
    meanwhile.
    """
    if experiment.params["cache"] == "direct":
        return _device(experiment) if found.get("given", 1.0) > NONE else UNKNOWN
    if experiment.params["sync"] != "none":
        return _device(experiment)
    share = 0.0 if experiment.params["op"] == "write" else found.get("fetched", 0.0)
    return PAGE_CACHE if share <= NONE else f"mixed: {min(share, 1.0) * 100:.0f} % {_device(experiment)}"
