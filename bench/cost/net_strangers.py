"""Load the peer with 4,000 strangers and 64 sessions; measure start times, the peer's memory and lost datagrams.

2,000 strangers send nothing and 2,000 send up to 200 random bytes, each kind from 16 /24 networks. When the peer closes
a connection, the stranger connects again at once. The strangers run at the lowest priority, as if they were on other
machines. Each session sends 10 datagrams per second. The goals: a test starts at most 200 ms later than without
strangers, the peer uses less than 64 MB of memory, and no datagram is lost.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import select
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from nameplate.execution.launch import core_path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from net import HOST, core_with_peer, our_server, resident_bytes
from pairs import measure

PORT = 7604
STRANGERS_OF_A_KIND = 2_000
NETWORKS_OF_A_KIND = 16
SESSIONS = 64
SESSION_S = 40
STARTS = 20


def connect(number: int, network: int, is_silent: bool) -> socket.socket:
    """Connect from this network, 127.0.``network``.0/24."""
    source = f"127.0.{network + number % NETWORKS_OF_A_KIND}.{number % 200 + 1}"
    connection = socket.create_connection((HOST, PORT), source_address=(source, 0))
    if not is_silent:
        connection.sendall(random.randbytes(number % 200 + 1))
    return connection


def be_strangers(network: int, is_silent: bool) -> None:
    """Keep the connections of one kind open until this process is killed."""
    os.nice(19)
    closed = select.epoll()
    connections: dict[int, socket.socket] = {}
    for number in itertools.count():
        while len(connections) >= STRANGERS_OF_A_KIND:
            for descriptor, _ in closed.poll():
                connections.pop(descriptor).close()
        try:
            connection = connect(number, network, is_silent)
        except OSError:  # the peer has closed it already
            continue
        connections[connection.fileno()] = connection
        closed.register(connection, select.EPOLLIN | select.EPOLLRDHUP)


@contextmanager
def strangers() -> Iterator[None]:
    """Run each kind of strangers in a process of its own."""
    processes = []
    try:
        for network, is_silent in ((1, True), (1 + NETWORKS_OF_A_KIND, False)):
            process = os.fork()
            if process == 0:
                be_strangers(network, is_silent)
            processes.append(process)
        time.sleep(3)
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def session() -> subprocess.Popen[str]:
    """Start one of the sessions that load the peer."""
    request = {"id": "x", "probe": "net_pingpong", "params": {"protocol": "udp", "rate": 10}, "slice_s": SESSION_S,
               "sample_s": 1, "warmup_s": 0.0}  # fmt: skip
    command = [str(core_path()), "--die-with-parent", str(os.getpid()), "--peer", f"{HOST}:{PORT}"]
    core = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert core.stdin is not None
    core.stdin.write(json.dumps(request) + "\n")
    core.stdin.flush()
    return core


def lost_of(core: subprocess.Popen[str]) -> tuple[float, int]:
    """Return how many datagrams of a session were lost and how many it sent.

    End the program if the session failed.
    """
    records = [json.loads(line) for line in core.communicate()[0].splitlines()]
    outcome = next(r for r in records if r["type"] == "outcome")
    if outcome["ending"] != "ok":
        raise SystemExit(f"a session ended early: {outcome['reason']}")
    samples = [r for r in records if r["type"] == "sample"]
    lost = sum(s["counters"]["lost"] for s in samples)
    return lost, sum(s["work"]["ops"] for s in samples) + int(lost)


def starts() -> tuple[list[float], float]:
    """Start several tests; return the seconds from request to connection of each, and how many datagrams were lost."""
    times, lost = [], 0.0
    for _ in range(STARTS):
        outcome, samples, _ = measure("net_pingpong", {"protocol": "udp"}, 0.05, start=partial(core_with_peer, PORT))
        times.append(outcome.setup_s)
        lost += sum(sample.counters["lost"] for sample in samples)
    return times, lost


def n_accepted() -> int:
    """Return how many TCP connections this machine has accepted so far."""
    names, values = (
        line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line.startswith("Tcp:")
    )
    return int(dict(zip(names, values, strict=True))["PassiveOpens"])


def described(times_s: list[float]) -> str:
    """Return the median and the maximum in milliseconds."""
    return f"{statistics.median(times_s) * 1e3:.1f} ms (at most {max(times_s) * 1e3:.1f} ms)"


def main() -> None:
    """Print the times to start without and among strangers, the peer's memory, and what was lost."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with ExitStack() as stack:
        peer = subprocess.Popen([*our_server(PORT), "--max-sessions", str(SESSIONS + 1)], stderr=subprocess.DEVNULL)
        stack.callback(peer.kill)
        time.sleep(0.5)
        sessions = [session() for _ in range(SESSIONS)]
        time.sleep(8)
        alone_s, lost = starts()
        with strangers():
            began, accepted = time.monotonic(), n_accepted()
            among_s, lost_among = starts()
            rate = (n_accepted() - accepted) / (time.monotonic() - began)
        peak = resident_bytes(peer.pid, "VmHWM")
        ended = [lost_of(core) for core in sessions]
    print(f"a test starts in {described(alone_s)} with {SESSIONS} sessions, and in {described(among_s)} with "
          f"{2 * STRANGERS_OF_A_KIND} strangers as well, which connect {rate:.0f} times per second")  # fmt: skip
    print(f"the peer used at most {peak / 1e6:.1f} MB; the tests lost {lost + lost_among:.0f} datagrams, the "
          f"sessions {sum(n for n, _ in ended):.0f} of {sum(n for _, n in ended)}")  # fmt: skip


if __name__ == "__main__":
    main()
