"""Decide what served a file's bytes: the page cache, a device, or both.

The evidence is the content of the page cache, and the bytes that the process and the device moved.
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
    """Return numbers that show where the bytes of all samples together came from, by name.

    - ``resident_before``, ``resident_after``: the mean share (0 to 1) of the file in the page cache before and after a
      sample
    - ``fetched``, ``given``: the bytes that the process read from storage, and wrote to storage or to the page cache,
      per byte that the user moved
    - ``device_read``, ``device_written``: the bytes that the whole device read and wrote, per byte that the user moved

    A number is missing if the system does not report it in every sample. A number per byte is missing if the user moved
    no bytes. Without samples the result is empty. The experiment must have the fact ``file_bytes``, and every sample
    the counters ``resident_before_bytes``, ``resident_after_bytes``, ``process_read_bytes``, ``process_write_bytes``,
    ``device_read_bytes`` and ``device_write_bytes``, which are -1 where the system does not report them.
    """
    user_bytes = sum(sample.work.bytes for sample in samples)
    read_bytes = len(samples) * experiment.facts["file_bytes"]
    of = {
        "resident_before": ("resident_before_bytes", read_bytes),
        "resident_after": ("resident_after_bytes", read_bytes),
        "fetched": ("process_read_bytes", user_bytes),
        "given": ("process_write_bytes", user_bytes),
        "device_read": ("device_read_bytes", user_bytes),
        "device_written": ("device_write_bytes", user_bytes),
    }
    shares = {}
    for name, (counter, total) in of.items():
        values = [sample.counters[counter] for sample in samples]
        if total and min(values) >= 0:
            shares[name] = sum(values) / total
    return shares


def served_by(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> str:
    """Return what served the bytes: ``page cache``, ``device nvme0n1``, ``RAM disk (tmpfs)``, a mixture or ``unknown``.

    In a virtual machine, the device is ``virtual device vda``. If its name is not known, it is only ``device``. A
    mixture is ``mixed: 40 % device nvme0n1``, with the share that came from the device. The result is ``unknown`` in
    two cases: for a read, the system does not report what the process read and the cache did not hold the whole file
    before; or a direct write reached no storage.

    The result is computed from ``evidence`` and from the experiment: the facts ``file_bytes`` and ``is_memory``, the
    parameters ``op``, ``cache`` and ``sync``, and the labels ``filesystem`` and ``device``. Only the labels may be
    missing.
    """
    if experiment.facts["is_memory"]:
        return f"RAM disk ({experiment.labels.get('filesystem') or 'memory'})"
    shares = evidence(experiment, samples)
    if experiment.params["op"] == "read":
        return _reader(experiment, shares)
    return _writer(experiment, shares)


def is_device(served: str) -> bool:
    """Return whether ``served``, a result of ``served_by``, names only a device, real or virtual."""
    return served.startswith(("device", "virtual device"))


def source(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> str:
    """Return what served the bytes, as ``served_by`` without names and shares.

    The result is ``page cache``, ``device`` (even for a virtual one), ``RAM disk``, ``mixed`` or ``unknown``.
    ``samples`` are all samples of the experiment.
    """
    served = served_by(experiment, samples)
    return "device" if is_device(served) else served.partition(":")[0].partition(" (")[0]


def _device(experiment: ResolvedExperiment) -> str:
    kind = "virtual device" if experiment.machine.hypervisor else "device"
    return f"{kind} {experiment.labels.get('device') or ''}".strip()


def _reader(experiment: ResolvedExperiment, shares: Mapping[str, float]) -> str:
    share = shares.get("fetched")
    if share is None:
        is_resident = shares.get("resident_before", 0.0) >= ALL and experiment.params["cache"] != "direct"
        return PAGE_CACHE if is_resident else UNKNOWN
    if share >= ALL:
        return _device(experiment)
    return PAGE_CACHE if share <= NONE else f"mixed: {share * 100:.0f} % {_device(experiment)}"


def _writer(experiment: ResolvedExperiment, shares: Mapping[str, float]) -> str:
    """Return what served a write.

    A write without fdatasync ends in the page cache, whatever the kernel writes out meanwhile.
    """
    if experiment.params["cache"] == "direct":
        return _device(experiment) if shares.get("given", 1.0) > NONE else UNKNOWN
    if experiment.params["sync"] != "none":
        return _device(experiment)
    share = 0.0 if experiment.params["op"] == "write" else shares.get("fetched", 0.0)
    return PAGE_CACHE if share <= NONE else f"mixed: {min(share, 1.0) * 100:.0f} % {_device(experiment)}"
