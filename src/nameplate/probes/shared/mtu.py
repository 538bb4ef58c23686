"""Find the MTU of a path from round trips: every further fragment of a datagram costs time."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.probes.shared.derived import DerivedMetric, derived_result
from nameplate.probes.shared.grid import grouped, without
from nameplate.records.result import Quantity, Rated, Result

# Fewer payloads are not a sweep.
MIN_PAYLOADS = 16


def mtu_results(probe: str, results: Sequence[Result]) -> list[Result]:
    """Return the derived result ``mtu`` in bytes for each sweep of UDP payloads that shows where fragmentation starts.

    ``results`` are the results of the probe named ``probe``; only ``latency_p50`` with ``protocol=udp`` and
    ``round_values`` is used. Experiments that differ only in ``payload`` form a sweep. A sweep has no result if it has
    fewer than ``MIN_PAYLOADS`` payloads, or if ``memory_levels.find_mtu`` finds no MTU in it. The reference value is
    the fact ``path_mtu_bytes``, the MTU that the system reports for the path; there is none if the fact is 0. The
    results have no parameters, so the results of several sweeps have the same id. Raises KeyError if an experiment
    lacks ``payload``.
    """
    timed = [r for r in results if r.summary.metric == "latency_p50" and r.summary.params.get("protocol") == "udp"
             and r.round_values]  # fmt: skip
    from nameplate.statistics.memory_levels import find_mtu  # noqa: PLC0415 (numpy takes a while to import)

    results_of_mtu = []
    for group in grouped(timed, lambda r: without(r.summary.params, ["payload"])).values():
        ascending = sorted(group, key=lambda r: int(r.summary.params["payload"]))
        payloads = [int(r.summary.params["payload"]) for r in ascending]
        if len(set(payloads)) < MIN_PAYLOADS:
            continue
        step = find_mtu(payloads, [r.round_values for r in ascending])
        if step is not None:
            quantity = Quantity(step.mtu_bytes, "B", step.interval)
            reported = ascending[0].facts["path_mtu_bytes"]
            source = "as the system reports it for the path" if reported else "the system does not report it"
            rounds = min(len(r.round_values) for r in ascending)
            results_of_mtu.append(
                derived_result(DerivedMetric(probe, "mtu", "higher"), quantity, rounds, Rated(reported or None, source))
            )
    return results_of_mtu
