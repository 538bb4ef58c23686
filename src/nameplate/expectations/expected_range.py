"""Describe what a value should be, and from where the expectation comes."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

MAX_VALUE = 1e30
_Above = Annotated[float, msgspec.Meta(gt=0, le=MAX_VALUE)]
_Name = Annotated[str, msgspec.Meta(pattern=r"^\S", max_length=1024)]

# Of a run's result: what the machine does when nothing else takes part, or what a user got.
Kind: TypeAlias = Literal["capability", "typical"]


class ExpectedRange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The range of a metric of healthy machines.

    ``experiment`` is the experiment's id in a run, such as "cpu_clock under=idle", and ``metric`` the name of its
    metric. ``kind`` says which of its values is meant. ``low``, ``typical`` and ``high`` are in ``unit``, an SI base
    unit. The range comes from ``machines`` machines; ``left_out`` has the names of further ones whose values were too
    far from the others.
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
            ValueError: they do not ascend.
        """
        if not self.low <= self.typical <= self.high:
            raise ValueError(f"low {self.low:g}, typical {self.typical:g}, high {self.high:g}: they must ascend")
