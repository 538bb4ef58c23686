"""Compare net_stream with iperf3 and iperf 2 over loopback: same CPUs, block sizes and socket buffers.

iperf3 before 3.16 has one thread for all its streams, so N connections are compared with N processes on N ports. Pass
the number of pairs as the first argument (default 7) and the groups to run as further arguments: tcp, small,
congestion, udp. Segmentation offload over UDP needs iperf3 3.19 or later in the PATH, which Debian 12 does not have.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from nameplate.records.plan_record import Value

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from net import HOST, bind_clients, core_with_peer, our_server, output, servers
from pairs import asked_pairs, comparison, measure

SECONDS = 2
PORT, IPERF3_PORT, IPERF_PORT = 7601, 7610, 7620
MAX_CONNECTIONS = 8


def mine(**params: Value) -> float:
    """Measure with net_stream, in samples of a quarter of a second; return the receiver's Gbit/s."""
    _, samples, _ = measure("net_stream", params, SECONDS, 0.25, start=partial(core_with_peer, PORT))
    return sum(s.work.bytes for s in samples) / sum(s.elapsed_s for s in samples) * 8e-9


def iperf3(connections: int, length: int, *more: str) -> float:
    """Run one iperf3 client per connection and return the sum of the receivers' Gbit/s."""
    clients = [
        subprocess.Popen(
            ["iperf3", "-c", HOST, "-p", str(IPERF3_PORT + i), "-t", str(SECONDS), "-l", str(length), "-J", *more],
            stdout=subprocess.PIPE, text=True,
        )
        for i in range(connections)
    ]  # fmt: skip
    total = 0.0
    for client in clients:
        end = json.loads(client.communicate()[0])["end"]
        if "-u" in more:
            stream = end["streams"][0]["udp"]
            total += stream["bits_per_second"] * (1 - stream["lost_packets"] / stream["packets"])
        else:
            total += end["sum_received"]["bits_per_second"]
    return total * 1e-9


def iperf(connections: int, length: int) -> float:
    """Run iperf with one thread per connection and return their total in Gbit/s."""
    command = ["iperf", "-c", HOST, "-p", str(IPERF_PORT), "-t", str(SECONDS), "-l", str(length), "-P",
               str(connections), "-f", "m"]  # fmt: skip
    lines = [line for line in output(command).splitlines() if "Mbits/sec" in line]
    sums = [line for line in lines if "SUM" in line] or lines
    match = re.search(r"([\d.]+) Mbits/sec", sums[-1])
    assert match, lines
    return float(match[1]) * 1e-3


def tcp(pairs: int) -> Iterator[str]:
    """Send blocks of 64 KiB over TCP."""
    yield from _tcp(pairs, 65536, (1, 2, 4, 8))


def small(pairs: int) -> Iterator[str]:
    """Send messages of 1 KiB over TCP, one system call each."""
    yield from _tcp(pairs, 1024, (1, 8))


def _tcp(pairs: int, block: int, counts: tuple[int, ...]) -> Iterator[str]:
    theirs = [["iperf3", "-s", "-p", str(IPERF3_PORT + i)] for i in range(MAX_CONNECTIONS)]
    iperf_server = ["iperf", "-s", "-p", str(IPERF_PORT), "-l", str(block)]
    with servers(our_server(PORT), iperf_server, *theirs):
        for count in counts:
            ours = partial(mine, block=block, connections=count)
            name = f"tcp, {block} B, {count} connections"
            yield comparison(f"{name}, iperf3", ours, partial(iperf3, count, block), pairs, "Gbit/s")
            yield comparison(f"{name}, iperf", ours, partial(iperf, count, block), pairs, "Gbit/s")


def congestion(pairs: int) -> Iterator[str]:
    """Send blocks of 128 KiB over one TCP connection, with each congestion control that any user may choose."""
    with servers(our_server(PORT), ["iperf3", "-s", "-p", str(IPERF3_PORT)]):
        for name in Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split():
            ours = partial(mine, block=128 << 10, congestion=name)
            yield comparison(f"tcp, {name}, iperf3", ours, partial(iperf3, 1, 128 << 10, "-C", name), pairs, "Gbit/s")


def udp(pairs: int) -> Iterator[str]:
    """Send datagrams of 1 KiB over UDP as fast as possible; the receiver counts."""
    offload = ["--gsro"] if "--gsro" in output(["iperf3", "--help"]) else []
    with servers(our_server(PORT), ["iperf3", "-s", "-p", str(IPERF3_PORT)]):
        for mode, more in (("plain", []), ("mmsg", []), ("gso", offload)):
            ours = partial(mine, protocol="udp", block=1024, mode=mode)
            theirs = partial(iperf3, 1, 1024, "-u", "-b", "0", *more)
            yield comparison(f"udp, {mode}, iperf3 {' '.join(more)}", ours, theirs, pairs, "Gbit/s")


GROUPS = {"tcp": tcp, "small": small, "congestion": congestion, "udp": udp}


def main() -> None:
    """Print a line per comparison."""
    pairs = asked_pairs()
    bind_clients()
    print(f"net_stream, iperf3 {output(['iperf3', '--version']).split()[1]} and iperf {_iperf_version()}")
    for name in sys.argv[2:] or list(GROUPS):
        print(f"{name}: {GROUPS[name].__doc__}")
        for line in GROUPS[name](pairs):
            print(line, flush=True)


def _iperf_version() -> str:
    """Return iperf's version; ``iperf --version`` exits with 1, so the exit code is not checked."""
    answer = subprocess.run(["iperf", "--version"], capture_output=True, text=True, check=False)
    return (answer.stdout + answer.stderr).split()[2]


if __name__ == "__main__":
    main()
