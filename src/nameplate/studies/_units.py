"""Convert between SI base units and the units that the studies print.

``FACTORS`` has the number of SI base units in each unit. Bit rates have the base unit B/s, and shares the base unit 1.
"""

from __future__ import annotations

FACTORS = {
    "MB/s": 1e6, "MiB/s": 2.0**20, "GB/s": 1e9, "kB/s": 1e3, "KiB/s": 1024.0, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8,
    "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "s": 1.0, "Gop/s": 1e9, "GFLOP/s": 1e9, "MFLOP/s": 1e6,
    "GHz": 1e9, "MHz": 1e6, "KiB": 1024.0, "MiB": 2.0**20, "GB": 1e9, "GiB": 2.0**30, "B": 1.0, "bytes": 1.0,
    "us/byte": 1e-6, "µs/B": 1e-6, "%": 0.01, "FLOP/cycle": 1.0, "": 1.0,
}  # fmt: skip


def in_unit(value: float | None, unit: str) -> float | None:
    """Return a value in SI base units as a number of ``unit``; None stays None.

    ``unit`` is a key of ``FACTORS``, such as "MiB/s"; any other raises KeyError. A value for a bit rate ("Mbit/s") must
    be in B/s, and a value for "%" must be a share.
    """
    return None if value is None else value / FACTORS[unit]
