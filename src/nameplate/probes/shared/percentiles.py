"""Define the percentiles of single operations' times, and the table that shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes import OperationKind, Percentile
from nameplate.probes.shared.grid import labels, quantity_of
from nameplate.records.result import Quantity, Result, Table

# With more experiments there is no table; their percentiles are in a chart and in exports.
MAX_ROWS = 40

_SHARES = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0))


def _percentiles(metric: str, operations: OperationKind) -> tuple[Percentile, ...]:
    return tuple(
        Percentile(f"{metric}_{name}", "s", "lower", share, operations, is_detail=True) for name, share in _SHARES
    )


PERCENTILES = _percentiles("latency", "all")
# Only mixtures of reads and writes have these.
READ_PERCENTILES = _percentiles("read_latency", "reads")
WRITE_PERCENTILES = _percentiles("write_latency", "writes")
_ROWS: Mapping[str, tuple[Percentile, ...]] = {
    "": PERCENTILES, "reads": READ_PERCENTILES, "writes": WRITE_PERCENTILES,
}  # fmt: skip


def percentile_tables(probe: str, results: Sequence[Result]) -> list[Table]:
    """Return a list with one table of the percentiles of operation times in seconds, with a row for each experiment.

    ``results`` are the results of the probe named ``probe``. A mixture of reads and writes has further rows for the
    reads and for the writes alone. Experiments without ``latency_max`` have no row. The list is empty if no experiment
    has a row, or more than ``MAX_ROWS`` have one. A percentile with fewer than ten operations above it is not known,
    and its cell is None. Raises KeyError if an experiment lacks the fact ``clock_cost_s`` (the time of reading the
    clock in seconds) or ``timed_every`` (n if one in n operations is timed on average).
    """
    experiments: dict[str, dict[str, Result]] = {}
    for result in results:
        experiments.setdefault(result.id, {})[result.summary.metric] = result
    timed = {name: group for name, group in experiments.items() if "latency_max" in group}
    if not timed or len(timed) > MAX_ROWS:
        return []
    names = labels([next(iter(group.values())) for group in timed.values()])
    rows: list[list[str | Quantity | None]] = [
        [f"{label} {kind}".strip(), *(quantity_of(group.get(metric.name)) for metric in metrics)]
        for label, group in zip(names, timed.values(), strict=True)
        for kind, metrics in _ROWS.items()
        if metrics[-1].name in group
    ]
    headings = ["", *(metric.name.removeprefix("latency_") for metric in PERCENTILES)]
    return [Table(probe, "Times of single operations", headings, rows, [_note(list(timed.values()))])]


def _note(experiments: Sequence[dict[str, Result]]) -> str:
    facts = [next(iter(facts_of_experiment.values())).facts for facts_of_experiment in experiments]
    cost_ns = max(fact["clock_cost_s"] for fact in facts) * 1e9
    every = sorted({int(fact["timed_every"]) for fact in facts})
    timed = " or ".join("each" if one == 1 else f"one in {one} on average" for one in every)
    return (
        f"Percentiles of the operations of all rounds together. Timed operations: {timed}. Reading the clock takes "
        f"{cost_ns:.0f} ns."
    )
