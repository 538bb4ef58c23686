"""Code that the network probes use: the link's speed, and remarks on the path to the peer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nameplate.probes import ResolvedExperiment
from nameplate.probes.shared.ceilings import network_link
from nameplate.records.plan_record import Experiment
from nameplate.records.result import Quantity, Rated, Result
from nameplate.records.run_record import Sample

BITS = 8


def rated_link(experiment: ResolvedExperiment, directions: int) -> Rated:
    """Return the interface's speed in B/s times ``directions`` as reference value.

    ``directions`` is 1, or 2 for traffic that flows in both directions at once. The result has no value if the traffic
    stays on this machine (the fact ``is_local``) or the interface reports no speed (0 in the fact
    ``link_bytes_per_s``); the experiment must have both facts. The label ``interface`` may be missing. A speed that the
    user gives is multiplied by ``directions``, too.
    """
    if experiment.facts["is_local"]:
        return Rated(None, "the traffic does not leave this machine, so no link limits it", can_be_given=False)
    link = network_link(experiment.facts["link_bytes_per_s"] * directions, experiment.labels.get("interface", ""))
    return msgspec.structs.replace(link, times=directions)


def notes_of(results: Sequence[Result]) -> list[str]:
    """Return a list with a note if the traffic of any of the results did not leave the machine, or an empty list.

    The fact ``is_local`` tells; a result without it is taken for traffic that left the machine.
    """
    is_local = any(result.facts.get("is_local") for result in results)
    return ["The traffic did not leave this machine: the values are those of its kernel, not of a network."] * is_local


def way(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    """Return remarks: which path the traffic took, and whether the peer served others at the same time.

    The path is the interface, the route and its MTU, such as ``eth0, in the same network, MTU 1500``, as far as they
    are known (an empty text if nothing is known), or a remark that the traffic used no network. The experiment must
    have the facts ``is_local`` and ``path_mtu_bytes`` (0 if not known), each sample the counter ``other_sessions``. The
    labels ``peer`` ("own" for a peer that nameplate started), ``interface`` and ``route`` ("gateway" or "direct") may
    be missing.
    """
    found = [_route(experiment)]
    if any(sample.counters["other_sessions"] > 0 for sample in samples):
        found.append("the peer served others at the same time")
    return found


def _route(experiment: ResolvedExperiment) -> str:
    if experiment.labels.get("peer") == "own":
        return "loopback, no network"
    if experiment.facts["is_local"]:
        return "this machine, no network"
    through = {"gateway": "through a gateway", "direct": "in the same network"}.get(
        experiment.labels.get("route", ""), ""
    )
    mtu = f"MTU {experiment.facts['path_mtu_bytes']:.0f}" if experiment.facts["path_mtu_bytes"] else ""
    return ", ".join(word for word in (experiment.labels.get("interface", ""), through, mtu) if word)


def in_bits(result: Result) -> Quantity | None:
    """Return a result in B/s as bits per second, the unit of networks, with its interval; None if it has no value."""
    row = result.summary
    if row.value is None:
        return None
    interval = (row.ci[0] * BITS, row.ci[1] * BITS) if row.ci else None
    return Quantity(row.value * BITS, "bit/s", interval)


def network_use(experiments: Sequence[Experiment], rounds: int) -> str:
    """Return a text that says for how many seconds ``rounds`` rounds of the experiments load the path to the peer.

    It is the sum of their slices, rounded to whole seconds; without experiments it is 0 s.
    """
    time_s = rounds * sum(experiment.slice_s for experiment in experiments)
    return f"{time_s:.0f} s of traffic at full speed or at the given rate"
