"""This probe measures round trips between this machine and a peer over TCP and UDP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.probes import (
    ByProbe,
    Counter,
    Fact,
    Metric,
    ParameterChart,
    ParameterSweep,
    Probe,
    Ratio,
    ResolvedExperiment,
    Scaled,
    Sum,
    elapsed,
    moved_bytes,
    one,
    operations,
)
from nameplate.probes.interface.recorded import Recorded
from nameplate.probes.interface.screen_line import ScreenLine
from nameplate.probes.shared.grid import crossed, quantity_of
from nameplate.probes.shared.mtu import mtu_results
from nameplate.probes.shared.network import in_bits, is_udp, network_use, notes_of, rated_link, way
from nameplate.probes.shared.percentiles import PERCENTILES, percentile_tables
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value
from nameplate.records.result import Rated, Result, Table
from nameplate.records.run_record import Sample
from nameplate.units import size_text

LARGEST_DATAGRAM = 65507
_TIME_UNDER_WAY = Scaled(elapsed, times=("connections",))
_LOST = Counter("lost")
_ASKED = Sum((operations, _LOST))


def _rated(metric: Metric, experiment: ResolvedExperiment, _: Sequence[Sample]) -> Rated:
    if metric.name != "bandwidth":
        return Rated(None, "the link limits the bandwidth, not single round trips", can_be_given=False)
    return rated_link(experiment, directions=2)


def _remarks(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> list[str]:
    route = way(experiment, samples)
    if is_udp(experiment) and experiment.params["payload"] == LARGEST_DATAGRAM:
        route.append("65,507 B, the maximum of a datagram")
    if lost := sum(sample.work.ops == 0 for sample in samples):
        route.append(f"{lost} of {len(samples)} samples lost every datagram and have no latency")
    return route


def _tables(by_probe: ByProbe, _: Machine) -> list[Table]:
    results = [result for result in by_probe["net_pingpong"] if result.summary.value is not None]
    cells = {
        "bandwidth": ("bandwidth", quantity_of),
        "in bits": ("bandwidth", in_bits),
        "latency": ("latency", quantity_of),
    }
    notes = ["Bandwidth is of both directions together. Latency is the mean round-trip time.", *notes_of(results)]
    return [
        *(
            Table("net_pingpong", f"By protocol and payload {title}".strip(), ["", *headings], body, notes)
            for title, headings, body, _ in crossed(
                results, ("protocol", "payload"), ("connections", "connection"), cells
            )
        ),
        *percentile_tables("net_pingpong", results),
    ]


def _derive(by_probe: ByProbe, _: Machine) -> list[Result]:
    return mtu_results("net_pingpong", by_probe.get("net_pingpong", []))


def _work_line(params: Mapping[str, Value]) -> ScreenLine:
    """Return the line of an experiment: the mean time of a round trip and its percentiles.

    Paced round trips have no mean (``rate``), but a rate.
    """
    label = f"{str(params['protocol']).upper()} round trip, {size_text(int(params['payload']))}"
    connections = int(params["connections"])
    label += f", {connections} connections" if connections > 1 else ""
    below = {"latency, p50/p99": ("latency_p50", "latency_p99")}
    if "rate" in params:
        return ScreenLine(label, ("round_trips",), below=below)
    return ScreenLine(label, ("latency",), below=below)


PROBE = Probe(
    name="net_pingpong",
    title="Network round trips",
    metrics=(
        Ratio("latency", "s", "lower", _TIME_UNDER_WAY, operations,
              when=lambda experiment: "rate" not in experiment.params),
        Ratio("round_trips", "op/s", "higher", operations, elapsed),
        Ratio("bandwidth", "B/s", "higher", moved_bytes, elapsed),
        Ratio("connect_time", "s", "lower", Fact("connect_s"), one),
        Ratio("loss", "share", "lower", _LOST, _ASKED, when=is_udp),
        *PERCENTILES,
    ),
    recorded=Recorded(
        params=("protocol", "payload", "connections"),
        numbers={"connections": 1},
        facts=("connect_s", "path_mtu_bytes", "link_bytes_per_s", "is_local", "clock_cost_s", "timed_every"),
        counters=("lost", "other_sessions"),
    ),
    rated=_rated,
    screen=(ScreenLine("{protocol} round trip", ("latency",), {"protocol": "tcp"}),),
    work_line=_work_line,
    quick=(
        ParameterSweep({"protocol": "tcp,udp", "payload": "64"}, slice_s=0.05, sample_s=0.001),
    ),
    full=(
        ParameterSweep({"protocol": "tcp,udp", "payload": "1,1KiB,64KiB", "connections": "1,2,4,8"}, slice_s=0.15,
                       sample_s=0.03),
        ParameterSweep({"protocol": "tcp,udp", "payload": "64", "wait": "block,spin"}, slice_s=0.2, sample_s=0.03),
        ParameterSweep({"protocol": "tcp,udp", "payload": "64", "rate": "1000"}, slice_s=0.3, sample_s=0.1),
    ),
    sweep=(
        ParameterSweep({"protocol": "tcp,udp", "payload": "1,1KiB,64KiB", "connections": "1,2,4,8"}, slice_s=0.2,
                       sample_s=0.03),
    ),
    sweep_with=frozenset({"protocol", "connections", "payload", "wait", "bind"}),
    overhead_s=0.15,
    remarks=_remarks,
    along=(
        ParameterChart("latency", "payload",
              "The round-trip time is constant for small payloads, which the path dominates, and then rises with the "
              "size. If it is high at the smallest payload, the path is long, processors sleep or interrupts are "
              "delayed."),
        ParameterChart("bandwidth", "payload",
              "The bandwidth of successive round trips. It rises with the payload, since the path costs the same. If "
              "it bends down, the payload is fragmented or fills a socket buffer."),
        ParameterChart("round_trips", "connections",
              "Round trips per second by number of concurrent connections. The rate should rise until the processors "
              "or the link are saturated. If it is constant from the start, one core serves all connections."),
    ),
    network_use=network_use,
    derive=_derive,
    tables=_tables,
)  # fmt: skip
