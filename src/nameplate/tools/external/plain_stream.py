"""Adapter for plain-stream, STREAM's four loops on one thread (``bench/references/plain_stream.c``).

``script/bootstrap bench`` builds it, because no package has STREAM itself. A plan that sets its arrays also gets the
rates of its fastest and slowest pass.
"""

from __future__ import annotations

import re
from functools import partial

from nameplate.errors import Unreadable, UsageError
from nameplate.records.plan_record import Value
from nameplate.tools.output import number
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, Take, ToolSetting, ToolWork
from nameplate.units import parse_size

_ELEMENT_BYTES = 8
# STREAM takes as many, and does not count the first.
_PASSES = 10
# The arrays that each loop reads or writes.
_ARRAYS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
# The column of the times, counted from the best rate, for each kind of value that is compared.
_COLUMNS: dict[Take, int] = {"sustained": 1, "best": 2, "worst": 3}
_NAMES: dict[Take, str] = {"sustained": "average", "best": "fastest", "worst": "slowest"}
_ASSUMED_BYTES_PER_S = 5e9
_ARRAYS_OF_A_PASS = sum(_ARRAYS.values())


def _rate(op: str, column: int, array_bytes: int, text: str) -> float:
    """Return the rate in B/s of the loop ``op``, from the time in this column of its row."""
    if re.search(r"^loop +best MB/s +average s +least s +greatest s$", text, re.MULTILINE) is None:
        raise Unreadable("the output has no heading with the rate and three times in seconds")
    before, after = r"[\d.]+ +" * column, r" +[\d.]+" * (len(_COLUMNS) - column)
    time_s = number(text, rf"^{op} +{before}([\d.]+){after}$", f"line '{op}'")
    return _ARRAYS[op] * array_bytes / time_s


def _works(setting: ToolSetting) -> list[ToolWork]:
    requested = setting.params.get("size", setting.beyond_bytes)
    elements = requested // _ELEMENT_BYTES
    size = elements * _ELEMENT_BYTES
    params: dict[str, Value] = {"stores": "plain", "threads": 1, "size": size, "precision": "fp64", "pages": "small"}
    # By default, only averages are compared: nameplate's samples are more than the tool's passes, and so is their best.
    takes: tuple[Take, ...] = ("best", "sustained", "worst") if setting.params else ("sustained",)
    metrics = [
        ComparedMetric(f"{op}, {_NAMES[take]} pass", "memory_stream", {"op": op, **params}, "bandwidth",
                       partial(_rate, op, _COLUMNS[take], size), take)
        for op in _ARRAYS for take in takes
    ]  # fmt: skip
    command = [setting.programs["plain-stream"].path, f"{elements}", f"{_PASSES}"]
    takes_s = _PASSES * _ARRAYS_OF_A_PASS * size / _ASSUMED_BYTES_PER_S
    return [ToolWork(f"arrays of {size / 1e6:.0f} MB", command, metrics, threads=1, takes_s=takes_s)]


def _array_size(text: str) -> int:
    size = parse_size(text)
    if size < _ELEMENT_BYTES:
        raise UsageError(f"'{text}': not a size of an array; use at least {_ELEMENT_BYTES} B")
    return size


REFERENCE = ReferenceTool(
    name="plain_stream",
    programs=("plain-stream",),
    identify=(),
    version=re.compile(r"^plain-stream (\d+):", re.MULTILINE),
    install="script/bootstrap bench, in a checkout of nameplate",
    works=_works,
    parameters={"size": _array_size},
)
