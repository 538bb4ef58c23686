"""Write metrics as formulas that nameplate-core computes: quotients of numbers in the records, and percentiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nameplate.probes import (
    Counter,
    Fact,
    Metric,
    Percentile,
    Ratio,
    SampleQuantity,
    Scaled,
    Sum,
    elapsed,
    floating_point_operations,
    moved_bytes,
    one,
    operations,
    repetitions,
)

# The path of each quantity in the records.
_PLACES: Mapping[Callable[..., float], list[str]] = {
    elapsed: ["sample/elapsed_s"], moved_bytes: ["sample/work/bytes"], operations: ["sample/work/ops"],
    floating_point_operations: ["sample/work/flops"], repetitions: ["sample/repetitions"], one: [],
}  # fmt: skip


class NoFormulaError(ValueError):
    """A metric that nameplate-core cannot compute."""


def formula_of(metric: Metric) -> dict[str, Any]:
    """Return how nameplate-core computes a metric in one round, as an object for JSON.

    A percentile has ``share``. A quotient has ``numerator`` and ``denominator``, each a list of products that are
    added. A product has ``times``, the paths of the numbers that are multiplied, and ``over``, the paths of the numbers
    by which the product is then divided. A path leads to a number in the records, such as ``sample/work/bytes`` or
    ``outcome/params/threads``.

    Raises:
        NoFormulaError: the metric is neither a quotient nor a percentile, or uses a quantity that the core cannot
            compute.
    """
    if isinstance(metric, Percentile) and metric.operations == "all":
        return {"share": metric.share}
    if not isinstance(metric, Ratio):
        raise NoFormulaError(f"{metric.name}: nameplate-core computes quotients and percentiles of all operations only")
    return {"numerator": _products_of(metric.numerator), "denominator": _products_of(metric.denominator)}


def _products_of(quantity: SampleQuantity) -> list[dict[str, list[str]]]:
    return [_product_of(factor) for factor in (quantity.of if isinstance(quantity, Sum) else (quantity,))]


def _product_of(quantity: SampleQuantity) -> dict[str, list[str]]:
    match quantity:
        case Counter(name):
            return {"times": [f"sample/counters/{name}"], "over": []}
        case Fact(name):
            return {"times": [f"outcome/facts/{name}"], "over": []}
        case Scaled(of, times, over, facts):
            scaled = _product_of(of)
            factors = [f"outcome/facts/{name}" for name in facts] + [f"outcome/params/{name}" for name in times]
            if scaled["over"] and factors:
                raise NoFormulaError(f"{quantity}: nameplate-core divides after all products")
            divisors = [f"outcome/params/{name}" for name in over]
            return {"times": scaled["times"] + factors, "over": scaled["over"] + divisors}
    if quantity not in _PLACES:
        raise NoFormulaError(f"{quantity}: nameplate-core cannot compute it; use Counter, Fact, Scaled or Sum")
    return {"times": _PLACES[quantity], "over": []}
