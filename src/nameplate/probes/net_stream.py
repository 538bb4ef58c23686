"""This probe sends bulk data to a peer, receives it from the peer, or both at once.

It also shows whether lost datagrams were dropped by the sender, by the receiver's queue or in the network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes import (
    ByProbe,
    Counter,
    Metric,
    ParameterChart,
    ParameterSweep,
    Probe,
    Ratio,
    ResolvedExperiment,
    Sum,
    elapsed,
    moved_bytes,
    one,
)
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import DisplayUnit, ScreenLine
from nameplate.probes.shared.grid import Row, crossed, labels, quantity_of
from nameplate.probes.shared.network import BITS, in_bits, is_udp, network_use, notes_of, rated_link, way
from nameplate.probes.shared.percentiles import MAX_ROWS
from nameplate.records.machine_record import Machine
from nameplate.records.result import Quantity, Rated, Result, Table
from nameplate.records.run_record import Sample

# Counters that add up over samples, and counters whose last value is shown.
_SUMS = ("sent", "lost_sender", "lost_queue", "lost_network", "reordered", "duplicates", "retransmits",
         "zerocopy_sends", "zerocopy_copied")  # fmt: skip
_LAST = ("window_bytes", "round_trip_s", "jitter_s")
_LOST = ("lost_sender", "lost_queue", "lost_network")


def _is_both(experiment: ResolvedExperiment) -> bool:
    return experiment.params["direction"] == "both"


def _is_tcp(experiment: ResolvedExperiment) -> bool:
    return experiment.params["protocol"] == "tcp"


def _rated(metric: Metric, experiment: ResolvedExperiment, _: Sequence[Sample]) -> Rated:
    if not metric.name.startswith("bandwidth"):
        return Rated(None, "the link limits only the bandwidth", can_be_given=False)
    return rated_link(experiment, directions=2 if _is_both(experiment) and metric.name == "bandwidth" else 1)


def _evidence(_: ResolvedExperiment, samples: Sequence[Sample]) -> dict[str, float]:
    sums = {name: sum(sample.counters[name] for sample in samples) for name in _SUMS}
    return {**sums, **{name: samples[-1].counters[name] for name in _LAST}}


def _remarks(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    route = way(experiment, samples)
    known = _evidence(experiment, samples)
    if known["zerocopy_sends"]:
        copied = known["zerocopy_copied"] / known["zerocopy_sends"]
        route.append("zero-copy" if copied == 0 else f"the kernel copied {copied * 100:.0f} % of the zero-copy sends")
    return route


def _tables(by_probe: ByProbe, _: Machine) -> list[Table]:
    results = [result for result in by_probe["net_stream"] if result.summary.value is not None]
    cells = {"bandwidth": ("bandwidth", quantity_of), "in bits": ("bandwidth", in_bits)}
    notes = notes_of(results)
    bandwidths = [result for result in results if result.summary.metric == "bandwidth"]
    return [
        *(
            Table("net_stream", f"By protocol, direction and block {title}".strip(), ["", *headings], body, notes)
            for title, headings, body, _ in crossed(
                results, ("protocol", "direction", "block"), ("connections", "connection"), cells
            )
        ),
        *_datagrams(bandwidths),
        *_tcp(bandwidths),
    ]


def _datagrams(results: Sequence[Result]) -> list[Table]:
    """Return a list with a table of sent, lost, reordered and duplicate datagrams; empty without UDP."""
    udp_results = [result for result in results if result.summary.params["protocol"] == "udp"]
    if not udp_results or len(udp_results) > MAX_ROWS:
        return []
    names = ("sent", *_LOST, "reordered", "duplicates")
    rows: list[Row] = [
        [label, *(_of_sent(result.evidence, name) for name in names), Quantity(result.evidence["jitter_s"], "s")]
        for label, result in zip(labels(udp_results), udp_results, strict=True)
    ]
    headings = ["", "sent", "lost sending", "lost queueing", "lost in network", "reordered",
                "duplicates", "jitter"]  # fmt: skip
    note = (
        "Lost sending: dropped by the sender. Lost queueing: dropped by the receiver's queue. Lost in network: sent, "
        "but neither received nor dropped by the queue. Sent = received + lost."
    )
    return [Table("net_stream", "Datagrams", headings, rows, [note])]


def _of_sent(evidence: Mapping[str, float], name: str) -> str:
    value = evidence[name]
    if name == "sent" or not value or not evidence["sent"]:
        return f"{value:,.0f}"
    return f"{value:,.0f} ({value / evidence['sent'] * 100:.2f} %)"


def _tcp(results: Sequence[Result]) -> list[Table]:
    tcp_results = [result for result in results if result.summary.params["protocol"] == "tcp"]
    if not tcp_results or len(tcp_results) > MAX_ROWS:
        return []
    rows: list[Row] = [
        [
            label,
            f"{result.evidence['retransmits']:,.0f}",
            f"{result.evidence['window_bytes'] / 1024:,.0f} KiB",
            f"{result.evidence['round_trip_s'] * 1e6:,.0f} µs",
        ]
        for label, result in zip(labels(tcp_results), tcp_results, strict=True)
    ]
    headings = ["", "retransmits", "congestion window", "round trip"]
    note = (
        "From TCP_INFO on the sending side: the retransmits of all samples; window and round-trip time at the end of "
        "the last one."
    )
    return [Table("net_stream", "TCP", headings, rows, [note])]


PROBE = Probe(
    name="net_stream",
    title="Network bulk transfer",
    metrics=(
        Ratio("bandwidth", "B/s", "higher", moved_bytes, elapsed),
        Ratio("bandwidth_up", "B/s", "higher", Counter("up_bytes"), elapsed, when=_is_both),
        Ratio("bandwidth_down", "B/s", "higher", Counter("down_bytes"), elapsed, when=_is_both),
        Ratio("loss", "share", "lower", Sum(tuple(map(Counter, _LOST))), Counter("sent"), when=is_udp),
        Ratio("jitter", "s", "lower", Counter("jitter_s"), one, when=is_udp, is_detail=True),
        Ratio("retransmits", "", "lower", Counter("retransmits"), one, when=_is_tcp, is_detail=True),
        Ratio("congestion_window", "B", "higher", Counter("window_bytes"), one, when=_is_tcp, is_detail=True),
    ),
    recorded=Recorded(
        params=("protocol", "direction", "block", "connections"),
        numbers={"connections": 1},
        facts=("connect_s", "path_mtu_bytes", "link_bytes_per_s", "is_local"),
        counters=("up_bytes", "down_bytes", *_SUMS, *_LAST, "other_sessions"),
    ),
    defining=("protocol", "direction", "block", "connections"),
    rated=_rated,
    screen=(ScreenLine("{protocol} stream", ("bandwidth",), {"protocol": "tcp"}, unit=DisplayUnit("bit/s", BITS)),),
    quick=(
        ParameterSweep({"protocol": "tcp"}, slice_s=0.1, sample_s=0.01),
    ),
    full=(
        ParameterSweep({"protocol": "tcp", "direction": "up,down,both", "connections": "1,2,4,8"},
                       slice_s=0.3, sample_s=0.1),
        ParameterSweep({"protocol": "tcp", "block": "1KiB", "connections": "1,8"}, slice_s=0.3, sample_s=0.1),
        ParameterSweep({"protocol": "tcp", "mode": "zerocopy"}, slice_s=0.3, sample_s=0.1),
        ParameterSweep({"protocol": "udp", "mode": "plain,mmsg,gso", "block": "1KiB"}, slice_s=0.3, sample_s=0.1),
        ParameterSweep({"protocol": "udp", "rate": "100Mbit/s"}, slice_s=0.3, sample_s=0.1),
    ),
    sweep=(
        ParameterSweep({"protocol": "tcp", "direction": "up,down,both", "connections": "1,2,4,8"},
                       slice_s=0.3, sample_s=0.1),
        ParameterSweep({"protocol": "udp", "mode": "plain,mmsg,gso", "direction": "up,down", "block": "1KiB"},
                       slice_s=0.3,
                       sample_s=0.1),
    ),
    sweep_with=frozenset({"bind", "window"}),
    overhead_s=0.25,
    remarks=_remarks,
    evidence=_evidence,
    along=(
        ParameterChart("bandwidth", "block",
              "Bandwidth by bytes per call. The cost of a call limits small blocks, the link limits large ones. If "
              "large blocks stay below the link's rate, the window is too small for the path, packets are lost, or "
              "one core is saturated."),
        ParameterChart("bandwidth", "connections",
              "Bandwidth of all connections together. If it rises with their number, a single connection is limited "
              "by its window, by loss or by its core; if it falls, they compete."),
        ParameterChart("bandwidth", "mode",
              "The same stream by different ways of sending. They differ where the processor is the limit, and agree "
              "where the link is. A way that should be cheaper but is slower is emulated by the driver."),
    ),
    network_use=network_use,
    tables=_tables,
)  # fmt: skip
