"""The ranges of numbers in records, which keep quotients and products of a few numbers finite."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
AtLeastOne: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Real: TypeAlias = Annotated[float, msgspec.Meta(ge=-1e50, le=1e50)]
Positive: TypeAlias = Annotated[float, msgspec.Meta(ge=1e-50, le=1e50)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
# The duration of an event. Work is divided by it, so it is not 0: no clock is finer than a picosecond.
Elapsed: TypeAlias = Annotated[float, msgspec.Meta(ge=1e-12, le=1e12)]
# A time or a rate of a pair of parties; the time is a divisor as well.
PairValue: TypeAlias = Annotated[float, msgspec.Meta(ge=1e-12, le=1e18)]
