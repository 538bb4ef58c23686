"""STREAM's output. Its average time is taken, which a median may stand beside; its "best rate" is the best of all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nameplate.errors import Unreadable
from nameplate.tools.importers import Imported, only
from nameplate.tools.references import number, whole

# Arrays that each kernel reads or writes, as STREAM counts.
_ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}


def recognises(text: str) -> bool:
    """By its version."""
    return re.search(r"^STREAM version \$Revision: \S+ \$$", text, re.MULTILINE) is not None


def read(text: str) -> Sequence[Imported]:
    """The four bandwidths. Raises Unreadable."""
    if "Solution Validates" not in text:
        raise Unreadable("STREAM did not say that its solution validates")
    element = int(number(text, r"^This system uses (\d{1,3}) bytes per array element\.$"))
    size = int(number(text, r"^Array size = (\d{1,15}) \(elements\)")) * element
    threads = re.search(r"^Number of Threads counted = (\d+)$", text, re.MULTILINE)
    common = {
        "threads": whole(threads[1], "the number of threads") if threads else 1,
        "size": size,
        "precision": "fp64" if element == 8 else "fp32",
    }
    return only(
        [
            Imported("memory_stream", {"op": op, **common}, "bandwidth", arrays * size / _average_s(op, text))
            for op, arrays in _ARRAYS.items()
        ],
        "kernels",
    )


def _average_s(op: str, text: str) -> float:
    return number(text, rf"^{op.capitalize()}:\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s*$")
