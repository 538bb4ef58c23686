"""Build results that are computed from several experiments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from nameplate.records.plan_record import Value
from nameplate.records.result import Quantity, Rated, Result, Series, Summary

FITTED = Rated(None, "fitted values are not specified", can_be_given=False)


class DerivedMetric(NamedTuple):
    """A metric named ``name`` that is computed from several experiments of ``probe``.

    ``better`` says whether higher or lower values are better.
    """

    probe: str
    name: str
    better: Literal["higher", "lower"]


def derived_result(
    metric: DerivedMetric, quantity: Quantity, rounds: int, rated: Rated, params: Mapping[str, Value] | None = None
) -> Result:
    """Return a result of kind "derived", for the whole probe or for all experiments that have ``params`` in common.

    ``quantity`` is the value with its unit and interval, ``rounds`` the number of rounds from which it is computed, and
    ``rated`` its reference value in the same unit. The result's share is value / reference value; there is none if the
    reference value is missing or 0. ``params`` None means no parameters. The id consists of the probe, the metric and
    ``params``, so results of the same metric must differ in ``params``; this is not checked. The result has no samples
    and no series.
    """
    probe, name, better = metric
    shared = dict(params or {})
    identity = " ".join([probe, name, *(f"{key}={value}" for key, value in shared.items())])
    efficiency = quantity.value / rated.value if rated.value else None
    interval = (quantity.ci[0] / rated.value, quantity.ci[1] / rated.value) if rated.value and quantity.ci else None
    summary = Summary(
        probe=probe, params=shared, metric=name, value=quantity.value, unit=quantity.unit, ci=quantity.ci,
        rounds=rounds, samples=0, mean=None, best=None, sustained=None, p95=None, p99=None, rated=rated.value,
        efficiency=efficiency, outcome="ok", reason="" if rated.value is not None else f"rated: {rated.source}",
        stop="derived", disturbed=0.0,
    )  # fmt: skip
    return Result(
        id=identity, summary=summary, better=better, rated=rated, efficiency_ci=interval,
        series=Series([], [], [], []), round_values=[], utilisation=0.0, oversubscribed=False, facts={},
        kind="derived",
    )  # fmt: skip
