"""Results that are made of other cells' figures."""

from __future__ import annotations

from typing import Literal

from nameplate.model import Quantity, Rated, Result, Series, Summary


def derived_result(  # noqa: PLR0913, PLR0917
    probe: str, metric: str, quantity: Quantity, better: Literal["higher", "lower"], rounds: int, rated: Rated
) -> Result:
    """A figure of a whole probe, which is no cell's."""
    efficiency = quantity.value / rated.value if rated.value else None
    interval = (quantity.ci[0] / rated.value, quantity.ci[1] / rated.value) if rated.value and quantity.ci else None
    summary = Summary(
        probe=probe, params={}, metric=metric, value=quantity.value, unit=quantity.unit, ci=quantity.ci, rounds=rounds,
        samples=0, mean=None, best=None, sustained=None, p95=None, p99=None, rated=rated.value, efficiency=efficiency,
        outcome="ok", reason="" if rated.value is not None else f"rated: {rated.source}", stop="derived", disturbed=0.0,
    )  # fmt: skip
    return Result(
        id=f"{probe} {metric}", summary=summary, better=better, rated=rated, efficiency_ci=interval,
        series=Series([], [], [], []), round_values=[], utilisation=0.0, oversubscribed=False, facts={},
    )  # fmt: skip
