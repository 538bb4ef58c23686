"""Parse sizes, durations, counts and rates as people write them. Pure functions."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from nameplate.errors import UsageError

SIZE_UNITS = {
    "": 1, "B": 1,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
_LONGEST_SIZE = len("1024KiB")
DURATION_UNITS = {
    "": Fraction(1), "s": Fraction(1),
    "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "ms": Fraction(1, 10**3),
    "m": Fraction(60), "min": Fraction(60), "h": Fraction(3600),
}  # fmt: skip
_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_BASE_UNITS = ("FLOP/s", "op/s", "B/s", "bit/s", "Hz", "s")
# About 32 years, and the maximum of a signed 64-bit integer.
MAX_DURATION_S = 10**9
MAX_COUNT = 2**63 - 1
_NUMBER = re.compile(r"(\d{1,30}(?:\.\d{1,30})?)([A-Za-z/]*)")


def _split(text: str, kind: str, examples: str) -> tuple[Fraction, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise UsageError(f"'{text}' is not {kind}: write it like {examples}")
    return Fraction(match[1]), match[2]


def parse_size(text: str) -> int:
    """Return the number of bytes of a size such as ``8``, ``8KiB``, ``80MB`` or ``1.5GiB``.

    The units are the keys of ``SIZE_UNITS``, in this spelling and without a space: KB, MB, GB and TB are powers of
    1000, KiB, MiB, GiB and TiB powers of 1024; B or no unit means bytes. 0 is valid, and there is no maximum.

    Raises:
        UsageError: the text is not a size, for example because it has a sign, a space or an exponent; or the size is
            not a whole number of bytes.
    """
    examples = "8, 8KiB or 80MB (KB/MB/GB are powers of 1000, KiB/MiB/GiB of 1024)"
    number, unit = _split(text, "a size", examples)
    if unit not in SIZE_UNITS:
        raise UsageError(f"'{text}' is not a size: write it like {examples}")
    size = number * SIZE_UNITS[unit]
    if size.denominator != 1:
        raise UsageError(f"'{text}' is not a whole number of bytes: round it, or use a smaller unit")
    return int(size)


def size_text(size_bytes: float) -> str:
    """Return a size in bytes as short text, such as ``8KiB``, ``80MB`` or ``4.36KiB``.

    If the size is a whole number of a unit of ``SIZE_UNITS`` above the byte, the result is the shortest such text,
    provided that it has at most seven characters. Otherwise the size is given in the largest of KiB, MiB, GiB and TiB
    that is not above it, or in bytes below 1 KiB (``0B`` for 0), rounded to three significant digits, or to a whole
    number from 1000 on. Nearly equal sizes may then have the same text.
    """
    texts = [f"{size_bytes / f:.0f}{unit}" for unit, f in SIZE_UNITS.items() if f > 1 and size_bytes % f == 0]
    shortest = min(texts, key=len, default="")
    if size_bytes > 0 and shortest and len(shortest) <= _LONGEST_SIZE:
        return shortest
    unit, factor = max(((u, f) for u, f in SIZE_UNITS.items() if u.endswith("iB") and f <= size_bytes),
                       key=lambda item: item[1], default=("B", 1))  # fmt: skip
    number = size_bytes / factor
    return f"{number:.0f}{unit}" if number >= 1000 else f"{number:.3g}{unit}"


def memory_text(size_bytes: float) -> str:
    """Return a size of memory in bytes as text with a space before the unit, such as ``251.4 GiB`` or ``512 MiB``.

    Sizes from 1 GiB on have one decimal. Smaller sizes are whole numbers of the largest of MiB, KiB and B that is not
    above the size, so that only 0 is shown as ``0 B``.
    """
    if size_bytes >= 2**30:
        return f"{size_bytes / 2**30:.1f} GiB"
    factor, unit = next(
        ((factor, unit) for factor, unit in ((2**20, "MiB"), (2**10, "KiB")) if size_bytes >= factor), (1, "B")
    )
    return f"{size_bytes / factor:.0f} {unit}"


def parse_duration(text: str) -> float:
    """Return the number of seconds of a duration such as ``10ms``, ``2s``, ``1.5min``, ``3m``, ``1h`` or ``0.25``.

    The units are the keys of ``DURATION_UNITS``, in this spelling and without a space: ns, us, ms, s, m or min
    (minutes) and h; a number without a unit is in seconds. 0 is valid.

    Raises:
        UsageError: the text is not a duration, for example because it has a sign, a space or an exponent; or it is
            longer than ``MAX_DURATION_S`` (10⁹ s).
    """
    examples = "10ms, 2s, 10min or 0.25"
    number, unit = _split(text, "a duration", examples)
    if unit not in DURATION_UNITS:
        raise UsageError(f"'{text}' is not a duration: write it like {examples}")
    duration_s = number * DURATION_UNITS[unit]
    if duration_s > MAX_DURATION_S:
        raise UsageError(f"'{text}' is too long: use at most {MAX_DURATION_S} s")
    return float(duration_s)


def parse_fraction(text: str) -> float:
    """Return a share as a number above 0 and at most 1: 0.02 for the text ``2%`` or ``0.02``.

    Raises:
        UsageError: the text is anything else, such as ``0``, ``2 %``, or a number with a sign or an exponent.
    """
    number, unit = _split(text.removesuffix("%"), "a share", "2% or 0.02")
    if unit:
        raise UsageError(f"'{text}' is not a share: write it like 2% or 0.02")
    share = float(number / 100 if text.endswith("%") else number)
    if not 0 < share <= 1:
        raise UsageError(f"'{text}' is not a share: use more than 0 and at most 100%, such as 2%")
    return share


def parse_count(text: str) -> int:
    """Return a whole number from 0 to ``MAX_COUNT`` (2⁶³ − 1), written in digits without a sign or unit; ``4.0`` is 4.

    Raises:
        UsageError: the text is anything else, such as ``1e3`` or ``4KiB``.
    """
    number, unit = _split(text, "a whole number", "4")
    if unit or number.denominator != 1:
        raise UsageError(f"'{text}' is not a whole number: write it like 4")
    if number > MAX_COUNT:
        raise UsageError(f"'{text}' is too large: use at most {MAX_COUNT}")
    return int(number)


def parse_bit_rate(text: str) -> int:
    """Return the bits per second of a rate such as ``100Mbit/s``, ``1.5Gbit/s`` or ``10Gbps``.

    The units are bit/s, kbit/s, Mbit/s and Gbit/s, or bps, kbps, Mbps and Gbps, with powers of 1000, in this spelling
    and without a space; a number without a unit is in bit/s. 0 is valid.

    Raises:
        UsageError: the text is not a rate, for example because it has a sign, a space or an exponent; or the rate is
            not a whole number of bits per second.
    """
    examples = "100Mbit/s or 1Gbit/s"
    number, unit = _split(text, "a rate", examples)
    unit = _per_second(unit)
    prefix = unit.removesuffix("bit/s")
    if prefix not in ("", "k", "M", "G") or (unit and prefix == unit):
        raise UsageError(f"'{text}' is not a rate: write it like {examples}")
    rate = number * int(_PREFIXES[prefix])
    if rate.denominator != 1:
        raise UsageError(f"'{text}' is not a whole number of bits per second: round it, or use a smaller unit")
    return int(rate)


def parse_quantity(text: str) -> tuple[float, str]:
    """Return a value such as ``3.2GHz`` in its base unit, and the base unit: ``(3.2e9, "Hz")``.

    The base units are FLOP/s, op/s, B/s (or Bps), bit/s (or bps), Hz and s. A unit may have one of the prefixes k or K,
    M, G, T, P, m, u and n, which are powers of 1000; no space is allowed. Bits are not converted to bytes. The value is
    finite and 0 or more.

    Raises:
        UsageError: the text is anything else, such as a number without a unit, or with a sign or an exponent.
    """
    examples = "59.7GB/s, 10Gbit/s, 3.2GHz, 2TFLOP/s or 5us"
    number, unit = _split(text, "a value with a unit", examples)
    unit = _per_second(unit)
    for base in _BASE_UNITS:
        prefix = unit.removesuffix(base)
        if unit.endswith(base) and prefix in _PREFIXES:
            return float(number) * _PREFIXES[prefix], base
    raise UsageError(f"'{text}' has an unknown unit: write it like {examples}")


def _per_second(unit: str) -> str:
    """Return a unit with "bps" and "Bps" written as "bit/s" and "B/s"."""
    return re.sub("bps$", "bit/s", re.sub("Bps$", "B/s", unit))


def geometric(low: int, high: int, factor: float) -> list[int]:
    """Return ascending whole numbers from ``low`` to ``high``, both included, each about ``factor`` times the last one.

    The numbers are rounded, and a number occurs only once. The last ratio may differ from ``factor``, so that the list
    ends at ``high``. ``low`` must be 1 or more, ``high`` at least ``low``, and ``factor`` above 1.
    """
    steps = round(math.log(high / low, factor))
    return sorted({*(round(low * factor**step) for step in range(steps)), low, high})


def percent_text(share: float, decimals: int = 1) -> str:
    """Return a share in percent, rounded to ``decimals`` digits after the point: ``66.6 %`` for 0.666."""
    return f"{share * 100:.{decimals}f} %"


def duration_text(seconds: float) -> str:
    """Return a duration as text with its unit, such as ``1234 s``, ``60 s``, ``7.34 s`` or ``20 ms``.

    ``seconds`` must not be negative. Durations below 1 s, including 0 (``0 ms``), are shown in milliseconds. From 100 s
    on they are rounded to whole seconds, otherwise to three significant digits.
    """
    if seconds < 0.9995:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.0f} s" if seconds >= 100 else f"{seconds:.3g} s"
