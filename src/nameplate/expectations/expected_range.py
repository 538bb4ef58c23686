"""Define the expected range of a value."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

# The high end of a range that has no upper limit.
MAX_VALUE = 1e30
_Above = Annotated[float, msgspec.Meta(gt=0, le=MAX_VALUE)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^\S", max_length=1024)]

# Two values of a result: what the machine delivers without interference, and what a user got.
Kind: TypeAlias = Literal["capability", "typical"]


class ExpectedRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The range of a metric of healthy machines.

    ``experiment`` is the experiment's id in a run, such as "cpu_clock under=idle", and ``metric`` the name of its
    metric. ``kind`` says whether the range is for the capability or for the typical value (``Summary``). ``low``,
    ``typical`` and ``high`` are ascending, in ``unit``, an SI base unit. ``machines`` is the number of machines that
    the range comes from; ``left_out`` has the names of further machines, whose values were too far from the others.
    """

    experiment: _Name
    metric: _Name
    kind: Kind
    unit: Annotated[str, msgspec.Meta(max_length=64)]
    low: _Above
    typical: _Above
    high: _Above
    machines: Annotated[int, msgspec.Meta(ge=1)]
    left_out: list[str] = []

    def __post_init__(self) -> None:
        """Check the order of the three values.

        Raises:
            ValueError: ``low``, ``typical`` and ``high`` do not ascend.
        """
        if not self.low <= self.typical <= self.high:
            raise ValueError(f"low {self.low:g}, typical {self.typical:g}, high {self.high:g}: they must ascend")
