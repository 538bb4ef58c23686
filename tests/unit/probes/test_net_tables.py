"""The network probes' tables, reference values, remarks, and distribution of round trips."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from machines import MACHINE
from nameplate.probes import ResolvedExperiment
from nameplate.probes.net_pingpong import PROBE as PINGPONG
from nameplate.probes.net_stream import PROBE as STREAM
from nameplate.probes.shared.ceilings import parse_rated
from nameplate.records.result import Quantity, Result, Table
from nameplate.records.run_record import Histogram, Sample, Work
from nameplate.report.charts.ecdf import ecdf
from nameplate.results.summarise import summarise
from report_samples import result, with_summary
from run_samples import run_of_one

LOOPBACK = {"is_local": 1.0, "link_bytes_per_s": 0.0, "path_mtu_bytes": 65535.0, "clock_cost_s": 25e-9,
         "timed_every": 1.0, "connect_s": 1e-5}  # fmt: skip
REMOTE = {**LOOPBACK, "is_local": 0.0, "link_bytes_per_s": 125e6, "path_mtu_bytes": 1500.0}
COUNTERS = {
    "up_bytes": 1e6, "down_bytes": 0.0, "sent": 1100.0, "lost_sender": 10.0, "lost_queue": 20.0, "lost_network": 70.0,
    "reordered": 3.0, "duplicates": 1.0, "jitter_s": 5e-5, "retransmits": 4.0, "window_bytes": 65536.0,
    "round_trip_s": 1e-4, "zerocopy_sends": 0.0, "zerocopy_copied": 0.0, "other_sessions": 0.0, "lost": 0.0,
}  # fmt: skip


def measured(probe: str, value: float, metric: str, unit: str, **params: Any) -> Result:
    made = with_summary(result(params, value, probe=probe), metric=metric, unit=unit)
    identity = " ".join([probe, *(f"{name}={value}" for name, value in params.items())])
    return msgspec.structs.replace(made, id=identity, facts=LOOPBACK, evidence=dict(COUNTERS))


def sample(**counters: float) -> Sample:
    return Sample(
        id="x", index=0, start_s=0.0, elapsed_s=0.01, repetitions=1, work=Work(1_000_000, 0, 1000),
        counters={**COUNTERS, "cpu_user_s": 0.0, "cpu_system_s": 0.0, **counters}, disturbed={},
        histogram=Histogram([1000, 2000, 100_000], [50, 40, 10]),
    )  # fmt: skip


def reported(probe: Any, facts: dict[str, float], labels: dict[str, str], params: dict[str, Any], **more: float) -> Any:
    return probe.remarks(ResolvedExperiment(params, facts, MACHINE, labels), [sample(**more)])


def titled(tables_of_probe: list[Table], message: str) -> Table:
    return next(table for table in tables_of_probe if message in table.title)


def test_the_studies_table_has_bandwidth_in_bytes_and_bits_and_the_latency() -> None:
    results = [
        measured("net_pingpong", value, metric, unit, protocol=protocol, payload=payload, connections=connections)
        for protocol in ("tcp", "udp") for payload in (1, 65536) for connections in (1, 2)
        for metric, unit, value in (("latency", "s", 5e-5), ("bandwidth", "B/s", 1e6))
    ]  # fmt: skip
    assert PINGPONG.tables is not None
    table = titled(PINGPONG.tables({"net_pingpong": results}, MACHINE), "By protocol and payload")
    assert [row[0] for row in table.rows] == ["tcp 1B", "tcp 64KiB", "udp 1B", "udp 64KiB"]
    assert table.headings[1:4] == ["bandwidth, 1 connection", "in bits, 1 connection", "latency, 1 connection"]
    assert [q.value for q in table.rows[0][1:4] if isinstance(q, Quantity)] == [1e6, 8e6, 5e-5]
    assert "not of a network" in table.notes[-1]


def test_payloads_that_round_to_the_same_size_have_rows_of_their_own() -> None:
    results = [
        measured("net_pingpong", value, "latency", "s", protocol="tcp", payload=payload, connections=1)
        for payload, value in ((1400, 1e-5), (1460, 2e-5), (1464, 3e-5))
    ]
    assert PINGPONG.tables is not None
    table = titled(PINGPONG.tables({"net_pingpong": results}, MACHINE), "By protocol and payload")
    assert [row[0] for row in table.rows] == ["tcp 1.37KiB", "tcp 1460", "tcp 1464"]
    printed = [[cell.value for cell in row if isinstance(cell, Quantity)] for row in table.rows]
    assert [values[-1] for values in printed] == [1e-5, 2e-5, 3e-5]


def test_every_datagram_is_accounted_for_by_where_it_was_lost() -> None:
    assert STREAM.tables is not None
    upward = measured("net_stream", 1e6, "bandwidth", "B/s", protocol="udp", direction="up", block=1000, connections=1)
    table = titled(STREAM.tables({"net_stream": [upward]}, MACHINE), "Datagrams")
    assert table.rows[0][1:] == [
        "1,100",
        "10 (0.91 %)",
        "20 (1.82 %)",
        "70 (6.36 %)",
        "3 (0.27 %)",
        "1 (0.09 %)",
        Quantity(50e-6, "s"),
    ]


def test_loss_is_the_share_of_the_planned_datagrams() -> None:
    loss = next(metric for metric in STREAM.metrics if metric.name == "loss")
    assert loss.value(ResolvedExperiment({"protocol": "udp"}, LOOPBACK, MACHINE), sample()) == pytest.approx(100 / 1100)


def test_the_route_is_named() -> None:
    udp = {"protocol": "udp", "payload": 65507, "direction": "up"}
    assert reported(PINGPONG, LOOPBACK, {"peer": "own"}, udp) == ["loopback, no network",
                                                          "65,507 B, the maximum of a datagram"]  # fmt: skip
    assert reported(STREAM, LOOPBACK, {"peer": "named"}, udp) == ["this machine, no network"]
    labels = {"peer": "named", "interface": "eth1", "route": "gateway"}
    assert reported(STREAM, REMOTE, labels, udp) == ["eth1, through a gateway, MTU 1500"]
    assert reported(STREAM, LOOPBACK, labels, udp, other_sessions=1)[-1] == "the peer served others at the same time"
    assert reported(STREAM, LOOPBACK, labels, udp, zerocopy_sends=10, zerocopy_copied=5)[-1] == (
        "the kernel copied 50 % of the zero-copy sends"
    )


def test_a_link_bounds_each_direction() -> None:
    bandwidth = STREAM.metrics[0]
    for direction, expected in (("up", 125e6), ("both", 250e6)):
        rated = STREAM.rated(
            bandwidth, ResolvedExperiment({"direction": direction}, REMOTE, MACHINE, {"interface": "eth1"}), []
        )
        assert rated.value == expected
        assert rated.times == expected / 125e6
    assert STREAM.rated(bandwidth, ResolvedExperiment({"direction": "up"}, LOOPBACK, MACHINE), []).value is None
    assert parse_rated(["net=10Gbit/s"]) == {"net B/s": 1.25e9}


def test_a_distribution_rises_and_is_drawn_per_experiment() -> None:
    report = summarise(run_of_one("net_pingpong", {"protocol": "tcp", "payload": 64, "connections": 1}, LOOPBACK,
                                  [sample() for _ in range(3)]))  # fmt: skip
    distribution = report.results[0].distribution
    times, shares = zip(*distribution, strict=True)
    assert list(times) == sorted(times)
    assert dict(zip(shares, times, strict=True))[0.5] == pytest.approx(1e-6, rel=0.01)
    assert dict(zip(shares, times, strict=True))[0.999] == pytest.approx(1e-4, rel=0.01)
    assert all(not other.distribution for other in report.results[1:])
    (chart,) = ecdf(report.results[:1])
    assert "share" in [name for name, _ in chart.columns]
    assert len(ecdf([report.results[0]] * 40)) == 0


def test_a_sample_without_timed_operations_is_left_out_of_percentiles() -> None:
    """The timed operations are a random selection if reading the clock for each one would cost too much."""
    untimed = msgspec.structs.replace(sample(), histogram=Histogram([], []))
    report = summarise(run_of_one("net_pingpong", {"protocol": "tcp", "payload": 64, "connections": 1}, LOOPBACK,
                                  [untimed, sample(), untimed]))  # fmt: skip
    rows = {result.summary.metric: result.summary for result in report.results}
    assert rows["latency_p50"].value == pytest.approx(1e-6, rel=0.01)
    assert (rows["latency_p50"].samples, rows["latency"].samples) == (1, 3)
