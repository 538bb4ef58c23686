"""Define the percentiles of single operations' times, and the table that shows them."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes import Percentile
from nameplate.probes.shared.grid import labels, quantity_of
from nameplate.records.result import Quantity, Result, Table

# More experiments are shown in a chart, or exported.
MAX_ROWS = 40

PERCENTILES = tuple(
    Percentile(f"latency_{name}", "s", "lower", share, is_detail=True)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0))
)


def percentile_tables(probe: str, results: Sequence[Result]) -> list[Table]:
    """Return a list with one table of the percentiles of operation times in seconds, with a row for each experiment.

    ``results`` are those of the probe named ``probe``. Experiments without ``latency_max`` have no row, and a
    percentile that is not known, with fewer than ten operations above it, is an empty cell. The list is empty for no
    such experiment or more than ``MAX_ROWS``. Each must have the facts ``clock_cost_s`` (the time of reading the clock)
    and ``timed_every`` (n if on average one in n operations is timed), or KeyError is raised.
    """
    experiments: dict[str, dict[str, Result]] = {}
    for result in results:
        experiments.setdefault(result.id, {})[result.summary.metric] = result
    timed = {name: own for name, own in experiments.items() if "latency_max" in own}
    if not timed or len(timed) > MAX_ROWS:
        return []
    names = labels([next(iter(own.values())) for own in timed.values()])
    rows: list[list[str | Quantity | None]] = [
        [label, *(quantity_of(own.get(metric.name)) for metric in PERCENTILES)]
        for label, own in zip(names, timed.values(), strict=True)
    ]
    headings = ["", *(metric.name.removeprefix("latency_") for metric in PERCENTILES)]
    return [Table(probe, "Times of single operations", headings, rows, [_note(list(timed.values()))])]


def _note(experiments: Sequence[dict[str, Result]]) -> str:
    facts = [next(iter(own.values())).facts for own in experiments]
    cost_ns = max(fact["clock_cost_s"] for fact in facts) * 1e9
    every = sorted({int(fact["timed_every"]) for fact in facts})
    timed = " or ".join("each" if one == 1 else f"one in {one} on average" for one in every)
    return (
        f"Timed operations: {timed}. Reading the clock takes {cost_ns:.0f} ns. The maximum is the median of the "
        "rounds' maxima."
    )
