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


def is_udp(experiment: ResolvedExperiment) -> bool:
    """Return whether the experiment's parameter ``protocol`` is "udp"."""
    return experiment.params["protocol"] == "udp"


def rated_link(experiment: ResolvedExperiment, directions: int) -> Rated:
    """Return the interface's speed in B/s times ``directions`` as reference value.

    ``directions`` is 1, or 2 for traffic that flows in both directions at once. A speed that the user gives is
    multiplied by ``directions`` as well. The result has no value if the fact ``is_local`` is not 0, which means that
    the traffic stays on this machine, or if the fact ``link_bytes_per_s`` is 0, which means that the interface reports
    no speed. The experiment must have both facts. The label ``interface`` may be missing.
    """
    if experiment.facts["is_local"]:
        return Rated(None, "the traffic does not leave this machine, so no link limits it", can_be_given=False)
    link = network_link(experiment.facts["link_bytes_per_s"] * directions, experiment.labels.get("interface", ""))
    return msgspec.structs.replace(link, times=directions)


def notes_of(results: Sequence[Result]) -> list[str]:
    """Return a list with a note if the traffic of any result did not leave the machine, or an empty list.

    The traffic did not leave the machine if the fact ``is_local`` is not 0. A result without the fact is ignored.
    """
    is_local = any(result.facts.get("is_local") for result in results)
    return ["The traffic did not leave this machine: the values are those of its kernel, not of a network."] * is_local


def way(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    """Return remarks: the path of the traffic, and a remark if the peer served other clients at the same time.

    The path is the interface, the route and the MTU, such as ``eth0, in the same network, MTU 1500``, or a remark that
    the traffic used no network. A part that is not known is left out; the path is "" if nothing is known. The
    experiment must have the facts ``is_local`` and ``path_mtu_bytes`` (0 if not known), and each sample the counter
    ``other_sessions``. The labels ``peer`` ("own" for a peer that nameplate started), ``interface`` and ``route``
    ("gateway" or "direct") may be missing.
    """
    remarks = [_route(experiment)]
    if any(sample.counters["other_sessions"] > 0 for sample in samples):
        remarks.append("the peer served others at the same time")
    return remarks


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
    """Return a result in B/s as bits per second, with its interval; None if the result has no value."""
    row = result.summary
    if row.value is None:
        return None
    interval = (row.ci[0] * BITS, row.ci[1] * BITS) if row.ci else None
    return Quantity(row.value * BITS, "bit/s", interval)


def network_use(experiments: Sequence[Experiment], rounds: int) -> str:
    """Return a text that says for how many seconds ``rounds`` rounds of the experiments load the path to the peer.

    The time is ``rounds`` times the sum of the experiments' slices, rounded to whole seconds.
    """
    time_s = rounds * sum(experiment.slice_s for experiment in experiments)
    return f"{time_s:.0f} s of traffic at full speed or at the given rate"
