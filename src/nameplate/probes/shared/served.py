"""Decide what served a file's bytes, from the page cache's content and the bytes moved by the process and the
device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes import ResolvedExperiment
from nameplate.records.run_record import Sample

PAGE_CACHE = "page cache"
UNKNOWN = "unknown"
# Above the first share, everything came from storage; below the second, everything came from the cache. A few pages are
# read ahead or remain in the cache.
ALL, NONE = 0.95, 0.05


def evidence(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> dict[str, float]:
    """Return the evidence of all samples together, without what the system does not report in every sample.

    ``resident_before`` and ``resident_after`` are the mean shares (0 to 1) of the file in the page cache. ``fetched``
    and ``given`` are the bytes that the process read from storage, and wrote to it or to the page cache, per byte of
    the user; ``device_read`` and ``device_written`` are those of the whole device. The result is empty without samples,
    and lacks the last four if the user moved no bytes. The fact ``file_bytes`` is read, and each sample's counters
    ``resident_before_bytes``, ``resident_after_bytes``, ``process_read_bytes``, ``process_write_bytes``,
    ``device_read_bytes`` and ``device_write_bytes``, -1 where the system does not report them; all of them must exist.
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
    """Return what served the bytes: ``page cache``, ``device nvme0n1``, ``RAM disk (tmpfs)``, a mixture or ``unknown``.

    A device of a virtual machine is ``virtual device vda``, and a device whose name is not known only ``device``. A
    mixture is ``mixed: 40 % device nvme0n1``, the share that came from the device. It is ``unknown`` if the system does
    not report what the process read, unless the cache held the whole file before, or if a direct write reached no
    storage. The verdict is computed from ``evidence``, the facts ``file_bytes`` and ``is_memory``, the parameters
    ``op``, ``cache`` and ``sync``, which the experiment must have, and the labels ``filesystem`` and ``device``, which
    may be missing.
    """
    if experiment.facts["is_memory"]:
        return f"RAM disk ({experiment.labels.get('filesystem') or 'memory'})"
    found = evidence(experiment, samples)
    if experiment.params["op"] == "read":
        return _reader(experiment, found)
    return _writer(experiment, found)


def is_device(served: str) -> bool:
    """Return whether a result of ``served_by`` names only a device, real or virtual."""
    return served.startswith(("device", "virtual device"))


def source(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> str:
    """Return what served the bytes without names and shares, given the samples of an experiment.

    It is ``page cache``, ``device`` (also a virtual one), ``RAM disk``, ``mixed`` or ``unknown``.
    """
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
