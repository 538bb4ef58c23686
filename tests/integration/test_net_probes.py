"""The network probes and their peer: known results between two hosts, and the messages after failures."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from nameplate.records.result import Summary
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from two_hosts import SERVER, Host, serving, two_hosts

KEY_DIGITS = 64
# Sizes of the headers of Ethernet, of IPv4 with UDP, and of IPv4 with TCP and its timestamps.
ETHERNET, UDP, TCP = 14, 28, 52
MTU = 1500
MTU_PLAN = """
[[experiment]]
probe = "net_pingpong"
slice = "100ms"
protocol = "udp"
payload = "1024..3072+64"
"""
# A link that adds 10,000 bytes to the size of each packet, which cost a third of a millisecond.
DEAR_PACKETS = ["tbf", "rate", "250mbit", "burst", "20kb", "latency", "50ms", "overhead", "10000"]


@pytest.fixture
def key(core_path: Path, tmp_path: Path) -> Path:
    """Create a file with a new key and return its path."""
    file = tmp_path / "key"
    subprocess.run([core_path, "serve", "--new-key", file], check=True)
    assert len(file.read_text().strip()) == KEY_DIGITS
    return file


def ask(command: list[str], *requests: Mapping[str, Any], **more: Any) -> list[dict[str, Any]]:
    text = "".join(json.dumps({"id": str(i), "warmup_s": 0.0, **r}) + "\n" for i, r in enumerate(requests))
    answer = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=True, **more)
    return [json.loads(line) for line in answer.stdout.splitlines()]


def measure(command: list[str], probe: str, sample_s: float = 0.01, samples: int = 2, **params: Any
            ) -> tuple[dict[str, Any], list[dict[str, Any]]]:  # fmt: skip
    records = ask(
        command,
        {"probe": probe, "params": params, "slice_s": 2 * samples * sample_s, "sample_s": sample_s,
         "max_samples": samples},
    )  # fmt: skip
    outcome = next(r for r in records if r["type"] == "outcome")
    return outcome, [r for r in records if r["type"] == "sample"]


def total(samples: list[dict[str, Any]], counter: str) -> float:
    return float(sum(s["counters"][counter] for s in samples))


def rate_of(samples: list[dict[str, Any]]) -> float:
    return float(sum(s["work"]["bytes"] for s in samples) / sum(s["elapsed_s"] for s in samples))


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize("wait", ["block", "spin"])
@pytest.mark.parametrize("payload", ["1", "1KiB", "64KiB"])
def test_round_trips_on_loopback(core_path: Path, protocol: str, wait: str, payload: str) -> None:
    outcome, samples = measure(
        [str(core_path)], "net_pingpong", samples=5, protocol=protocol, wait=wait, payload=payload
    )
    assert outcome["ending"] == "ok", outcome
    assert (outcome["labels"]["peer"], outcome["labels"]["route"], outcome["facts"]["is_local"]) == (
        "own", "this machine", 1,
    )  # fmt: skip
    expected = 65507 if (protocol, payload) == ("udp", "64KiB") else {"1": 1, "1KiB": 1024, "64KiB": 65536}[payload]
    assert outcome["params"]["payload"] == expected
    for sample in samples:
        assert sum(sample["histogram"]["count"]) == sample["work"]["ops"]
        # On a busy machine an answer can be so late that its datagram counts as lost.
        assert sample["work"]["ops"] + (sample["counters"]["lost"] if protocol == "udp" else 0) > 0
        assert sample["work"]["bytes"] == 2 * expected * sample["work"]["ops"]
    assert any(sample["work"]["ops"] for sample in samples)


@pytest.mark.parametrize(
    "params",
    [
        {"protocol": "tcp"},
        {"protocol": "tcp", "direction": "down", "connections": 3},
        {"protocol": "tcp", "direction": "both", "block": "1KiB"},
        {"protocol": "tcp", "mode": "zerocopy"},
        {"protocol": "tcp", "mss": 1000, "window": "256KiB", "congestion": "reno"},
        {"protocol": "udp"},
        {"protocol": "udp", "direction": "down", "mode": "mmsg"},
        {"protocol": "udp", "direction": "both", "mode": "gso", "block": 1000},
        {"protocol": "udp", "mode": "gso", "receive": "plain", "block": 1000},
        {"protocol": "udp", "mode": "zerocopy"},
        {"protocol": "udp", "rate": "20Mbit/s", "connections": 2},
        {"protocol": "udp", "block": 16},
        {"bind": "127.0.0.1"},
    ],
    ids=lambda params: " ".join(f"{k}={v}" for k, v in params.items()),
)
def test_streams_on_loopback(core_path: Path, params: dict[str, Any]) -> None:
    # Threads that wake up late cost a part of a short sample, and on a busy machine of most samples.
    sample_s, n_samples = (0.1, 30) if "rate" in params else (0.01, 2)
    outcome, samples = measure([str(core_path)], "net_stream", sample_s, n_samples, **params)
    assert outcome["ending"] == "ok", outcome
    for sample in samples:
        counters = sample["counters"]
        assert counters["up_bytes"] + counters["down_bytes"] == sample["work"]["bytes"] > 0
        lost = sum(counters[name] for name in ("lost_sender", "lost_queue", "lost_network"))
        assert counters["sent"] == sample["work"]["ops"] + lost
    if params.get("mode") == "zerocopy":
        assert total(samples, "zerocopy_sends") > 0
    if "mss" in params:
        assert outcome["facts"]["segment_bytes"] <= params["mss"]
    if "congestion" in params:
        assert outcome["labels"]["congestion"] == params["congestion"]
    if "rate" in params:
        assert max(rate_of([sample]) for sample in samples) == pytest.approx(20e6 / 8, rel=0.05)


def test_a_paced_round_trip_is_timed_from_its_planned_start(core_path: Path) -> None:
    """A peer that is stopped for a while delays all messages that were planned meanwhile, not one."""
    command = [str(core_path), "serve", "--port", "0"]
    with serving_here(command) as (peer, address):
        request = {"id": "x", "probe": "net_pingpong", "params": {"rate": 1000}, "sample_s": 0.5, "max_samples": 1,
                   "slice_s": 0.5, "warmup_s": 0.0, "repetitions": 500}  # fmt: skip
        with subprocess.Popen([core_path, "--peer", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as core:  # fmt: skip
            assert core.stdin is not None
            core.stdin.write(json.dumps(request) + "\n")
            core.stdin.flush()
            for _ in range(8):
                time.sleep(0.1)
                peer.send_signal(signal.SIGSTOP)
                time.sleep(0.1)
                peer.send_signal(signal.SIGCONT)
            out, _ = core.communicate(timeout=30)
    records = [json.loads(line) for line in out.splitlines()]
    histogram = next(r for r in records if r["type"] == "sample")["histogram"]
    late = sum(n for lower, n in zip(histogram["lower_ns"], histogram["count"], strict=True) if lower > 20e6)
    assert late > 50  # of each stop of 100 ms, about 80 round trips were planned in the first 80 ms


@pytest.fixture
def idle_peer(core_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a peer without a key on a free port of this machine; yield its process and its address."""
    with serving_here([str(core_path), "serve", "--port", "0"]) as actual:
        yield actual


class serving_here:  # noqa: N801 (used as a function)
    """Runs a peer on this machine; yields its process and its address."""

    def __init__(self, command: list[str]) -> None:
        self.command = command

    def __enter__(self) -> tuple[subprocess.Popen[str], str]:
        self.peer = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        assert self.peer.stderr is not None
        line = self.peer.stderr.readline()
        assert "listening at" in line, line
        return self.peer, line.split("listening at ")[1].split(",")[0]

    def __exit__(self, *_: object) -> None:
        self.peer.kill()
        self.peer.communicate()


def test_a_peer_announces_itself_as_json(core_path: Path) -> None:
    with subprocess.Popen([str(core_path), "serve", "--port", "0", "--json"], stdout=subprocess.PIPE) as peer:
        assert peer.stdout is not None
        reported = json.loads(peer.stdout.readline())
        peer.terminate()
    (address,) = reported["listening"]
    assert (address.rpartition(":")[0], reported["has_key"]) == ("127.0.0.1", False)
    assert int(address.rpartition(":")[2]) > 0


def failed(command: list[str], probe: str = "net_pingpong", **params: Any) -> str:
    outcome, samples = measure(command, probe, **params)
    assert outcome["ending"] in ("failed", "skipped")
    assert samples == []
    return str(outcome["reason"])


def test_impossible_parameters_are_rejected_with_a_reason(core_path: Path) -> None:
    command = [str(core_path)]
    assert "the maximum of a datagram is 65507 bytes" in failed(command, protocol="udp", payload="65537")
    assert "only udp has modes" in failed(command, "net_stream", protocol="tcp", mode="gso")
    assert "only udp has a rate" in failed(command, "net_stream", protocol="tcp", rate="1Mbit/s")
    assert "number and time, 16 bytes" in failed(command, "net_stream", protocol="udp", block=8)
    assert "tcp_allowed_congestion_control" in failed(command, "net_stream", protocol="tcp", congestion="nonesuch")
    assert "Cannot assign requested address" in failed(command, bind="192.0.2.77")
    assert "not possible; use a rate such as 100Mbit/s" in failed(command, "net_stream", protocol="udp", rate="5parsec")


def test_a_missing_or_wrong_peer_is_reported(core_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        pid = os.fork()
        if pid == 0:
            while True:
                connection, _ = other.accept()
                connection.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n" * 4)
        try:
            assert "does not come from a nameplate peer" in failed([str(core_path), "--peer", f"127.0.0.1:{port}"])
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    reason = failed([str(core_path), "--peer", f"127.0.0.1:{port}"])
    assert "Connection refused" in reason
    assert "nameplate serve" in reason
    assert "no-such-host.invalid" in failed([str(core_path), "--peer", "no-such-host.invalid"])


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_ipv4_and_ipv6_both_work(core_path: Path, host: str) -> None:
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        pytest.skip(f"{host}: {error}")
    with serving_here([str(core_path), "serve", "--listen", host, "--port", "0"]) as (_, address):
        for protocol in ("tcp", "udp"):
            outcome, _ = measure([str(core_path), "--peer", address], "net_pingpong", protocol=protocol)
            assert outcome["ending"] == "ok", outcome


def test_only_the_right_key_is_accepted(core_path: Path, key: Path, tmp_path: Path) -> None:
    command = [str(core_path), "serve", "--port", "0", "--key-file", str(key)]
    with serving_here(command) as (_, address):
        peer = [str(core_path), "--peer", address]
        assert measure([*peer, "--key-file", str(key)], "net_pingpong", protocol="udp")[0]["ending"] == "ok"
        assert "requires a key" in failed(peer)
        other = tmp_path / "other"
        subprocess.run([core_path, "serve", "--new-key", other], check=True)
        assert failed([*peer, "--key-file", str(other)]) == "the peer has another key"
        in_environment = {**os.environ, "NAMEPLATE_KEY": key.read_text()}
        records = ask(peer, {"probe": "net_pingpong", "params": {}, "slice_s": 0.01}, env=in_environment)
        assert next(r for r in records if r["type"] == "outcome")["ending"] == "ok"


def test_listening_beyond_loopback_needs_a_key_and_a_busy_port_is_named(core_path: Path, key: Path) -> None:
    def complaint(*arguments: str) -> str:
        answer = subprocess.run(
            [core_path, "serve", *arguments], capture_output=True, text=True, timeout=60, check=False
        )
        assert answer.returncode == 2
        return answer.stderr

    assert "a key is needed" in complaint("--listen", "0.0.0.0")
    key.chmod(0o644)
    assert f"chmod 600 {key}" in complaint("--key-file", str(key))
    assert "File exists" in complaint("--new-key", str(key))
    assert "no-such-host.invalid" in complaint("--listen", "no-such-host.invalid")
    with serving_here([str(core_path), "serve", "--port", "0"]) as (_, address):
        assert "Address already in use" in complaint("--port", address.split(":")[1])


def test_an_invalid_peer_is_rejected_before_measuring(tmp_path: Path, key: Path) -> None:
    def complaint(*arguments: str) -> str:
        command = [sys.executable, "-m", "nameplate", "run", "net_pingpong", "-o", "x.jsonl", *arguments]
        answer = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert answer.returncode == 2
        assert not (tmp_path / "x.jsonl").exists()
        return answer.stderr

    assert "--peer [::1: not a HOST" in complaint("--peer", "[::1")
    assert "cannot read" in complaint("--peer", "127.0.0.1", "--key-file", "nowhere")
    assert "--key-file needs the peer" in complaint("--key-file", str(key))
    key.write_text("secret")
    message = complaint("--peer", "127.0.0.1", "--key-file", str(key))
    assert "contains no key" in message
    assert "secret" not in message


def test_a_peer_started_by_root_drops_its_privileges(core_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root has rights to give away")
    with serving_here([str(core_path), "serve", "--port", "0"]) as (peer, _):
        status = Path(f"/proc/{peer.pid}/status").read_text()
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert set(fields["Uid"].split()) == {"65534"}
        assert int(fields["CapEff"], 16) == 0
        assert fields["NoNewPrivs"] == "1"
    answer = subprocess.run([core_path, "serve", "--port", "0", "--user", "nobody-of-that-name"], capture_output=True,
                            text=True, timeout=60, check=False)  # fmt: skip
    assert "there is no user 'nobody-of-that-name'" in answer.stderr


def threads_of(peer: subprocess.Popen[str]) -> int:
    return len(list(Path(f"/proc/{peer.pid}/task").iterdir()))


def descriptors_of(peer: subprocess.Popen[str]) -> int:
    return len(list(Path(f"/proc/{peer.pid}/fd").iterdir()))


def wait_for_threads(peer: subprocess.Popen[str], n_threads: int) -> None:
    deadline = time.monotonic() + 30
    while threads_of(peer) < n_threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads_of(peer) == n_threads


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize("probe", ["net_pingpong", "net_stream"])
def test_a_killed_client_leaves_no_resources_at_the_peer(
    core_path: Path, idle_peer: tuple[subprocess.Popen[str], str], protocol: str, probe: str
) -> None:
    peer, address = idle_peer
    before = descriptors_of(peer)
    for _ in range(3):
        core = subprocess.Popen(
            [core_path, "--peer", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert core.stdin is not None
        assert core.stdout is not None
        params = {"protocol": protocol, "connections": 4}
        request = {"id": "x", "probe": probe, "params": params, "slice_s": 60, "sample_s": 1}
        core.stdin.write(json.dumps(request) + "\n")
        core.stdin.flush()
        core.stdout.readline()
        wait_for_threads(peer, 6)  # the listener, the session and its connections
        time.sleep(0.1)
        core.kill()
        core.communicate()
        deadline = time.monotonic() + 60
        while (threads_of(peer) > 1 or descriptors_of(peer) > before) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (threads_of(peer), descriptors_of(peer)) == (1, before)
    assert measure([str(core_path), "--peer", address], probe, protocol=protocol)[0]["ending"] == "ok"


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize(("probe", "direction"), [("net_pingpong", ""), ("net_stream", "up"), ("net_stream", "down")])
def test_a_killed_peer_fails_its_experiments_only(core_path: Path, protocol: str, probe: str, direction: str) -> None:
    command = [str(core_path), "serve", "--port", "0"]
    with serving_here(command) as (peer, address):
        core = subprocess.Popen(
            [core_path, "--peer", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert core.stdin is not None
        params = {"protocol": protocol, **({"direction": direction} if direction else {})}
        killed = {"id": "killed", "probe": probe, "params": params, "slice_s": 60, "sample_s": 0.1}
        core.stdin.write(json.dumps(killed) + "\n")
        core.stdin.flush()
        wait_for_threads(peer, 3)  # the listener, the session and its connection
        time.sleep(0.5)
        peer.kill()
        peer.wait()
        absent = {"id": "absent", "probe": probe, "params": params, "slice_s": 0.1}
        other = {"id": "other", "probe": "null", "params": {}, "slice_s": 0.01}
        out, _ = core.communicate(json.dumps(absent) + "\n" + json.dumps(other) + "\n", timeout=60)
    outcomes = {r["id"]: r for r in map(json.loads, out.splitlines()) if r["type"] == "outcome"}
    assert outcomes["killed"]["ending"] == "failed"
    assert "the peer has disconnected" in outcomes["killed"]["reason"], outcomes["killed"]
    assert "no peer answers" in outcomes["absent"]["reason"]
    assert outcomes["other"]["ending"] == "ok"


def test_a_sender_that_waits_for_a_distant_start_ends_with_its_client(
    core_path: Path, idle_peer: tuple[subprocess.Popen[str], str]
) -> None:
    peer, address = idle_peer
    params = {"protocol": "udp", "direction": "down", "rate": "1"}
    request = {"id": "x", "probe": "net_stream", "params": params, "slice_s": 60}
    core = subprocess.Popen([core_path, "--peer", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert core.stdin is not None
    core.stdin.write(json.dumps(request) + "\n")
    core.stdin.flush()
    wait_for_threads(peer, 3)
    time.sleep(0.5)
    core.kill()
    core.communicate()
    deadline = time.monotonic() + 60
    while threads_of(peer) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threads_of(peer) == 1


def test_a_session_ends_at_its_time_limit(core_path: Path) -> None:
    with serving_here([str(core_path), "serve", "--port", "0", "--max-seconds", "6"]) as (_, address):
        records = ask([str(core_path), "--peer", address],
                      {"probe": "net_pingpong", "params": {}, "slice_s": 30, "sample_s": 0.02})  # fmt: skip
    outcome = next(r for r in records if r["type"] == "outcome")
    assert (outcome["ending"], outcome["reason"]) == ("failed", "the peer allows 6 s per session")
    assert any(r["type"] == "sample" for r in records)


def test_two_clients_at_once_are_both_served_and_flagged(
    core_path: Path, idle_peer: tuple[subprocess.Popen[str], str]
) -> None:
    _, address = idle_peer
    # Long enough for both to start on a busy machine.
    request = json.dumps({"id": "x", "probe": "net_pingpong", "params": {}, "slice_s": 3, "sample_s": 0.1}) + "\n"
    cores = [
        subprocess.Popen([core_path, "--peer", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for core in cores:
        assert core.stdin is not None
        core.stdin.write(request)
        core.stdin.flush()
    for core in cores:
        out, _ = core.communicate(timeout=60)
        records = [json.loads(line) for line in out.splitlines()]
        assert next(r for r in records if r["type"] == "outcome")["ending"] == "ok"
        assert any(r["counters"]["other_sessions"] == 1 for r in records if r["type"] == "sample")


def test_strangers_do_not_delay_a_test(core_path: Path, idle_peer: tuple[subprocess.Popen[str], str]) -> None:
    peer, address = idle_peer
    host, port = address.split(":")
    silent = [socket.create_connection((host, int(port))) for _ in range(900)]
    for i, connection in enumerate(silent):
        if i % 3:
            connection.sendall(os.urandom(i % 200))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(0.5)
        for size in range(0, 1000, 10):
            datagrams.sendto(os.urandom(size), (host, int(port)))
        assert measure([str(core_path), "--peer", address], "net_pingpong", protocol="udp")[0]["ending"] == "ok"
        with pytest.raises(TimeoutError):
            datagrams.recv(1)
    assert peer.poll() is None
    for connection in silent:
        connection.close()


def between(hosts: tuple[Host, Host], core: Path, key: Path) -> tuple[list[str], list[str]]:
    """Return the command of a peer on one host, and that of a core on the other host which uses it."""
    server, client = hosts
    serve = server.command(core, "serve", "--listen", SERVER, "--key-file", key)
    return serve, client.command(core, "--peer", SERVER, "--key-file", key)


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "headers"), [("tcp", TCP), ("udp", UDP)])
@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_link_of_100_mbit_reaches_its_rate_less_the_headers(
    core_path: Path, key: Path, protocol: str, headers: int, direction: str
) -> None:
    with two_hosts(rate="100mbit") as hosts:
        serve, command = between(hosts, core_path, key)
        with serving(serve):
            params = {"rate": "110Mbit/s"} if protocol == "udp" else {}
            outcome, samples = measure(command, "net_stream", 1.0, 3, protocol=protocol, direction=direction, **params)
    assert outcome["ending"] == "ok", outcome
    assert outcome["labels"]["route"] == "direct"
    assert (outcome["facts"]["interface_mtu_bytes"], outcome["facts"]["is_local"]) == (MTU, 0)
    payload = MTU - headers
    # A sender that waits for a busy CPU leaves the link idle.
    best = max(rate_of([sample]) for sample in samples)
    assert best == pytest.approx(100e6 / 8 * payload / (MTU + ETHERNET), rel=0.015)


def test_datagrams_dropped_by_the_network_are_counted_there(core_path: Path, key: Path) -> None:
    with two_hosts() as hosts:
        serve, command = between(hosts, core_path, key)
        hosts[0].run("nft", "add table ip loss")
        hosts[0].run("nft", "add chain ip loss in { type filter hook prerouting priority 0 ; }")
        hosts[0].run("nft", "add rule ip loss in udp length > 1000 numgen inc mod 10 == 0 drop")
        with serving(serve):
            outcome, samples = measure(command, "net_stream", 0.5, 5, protocol="udp", rate="20Mbit/s")
    assert outcome["ending"] == "ok", outcome
    # Datagrams that a busy CPU delivers after the end of a sample count as lost, too.
    lost = [total([sample], "lost_network") / total([sample], "sent") for sample in samples]
    assert min(lost) == pytest.approx(0.1, abs=0.01)
    # A receiver that waits for a busy CPU may lose datagrams in its queue, which are not lost in the network.
    assert total(samples, "lost_sender") == total(samples, "duplicates") == 0


def detected_mtu(hosts: Sequence[Host], plan: Path, key: Path, rounds: int) -> list[Summary]:
    run = plan.with_name(f"{rounds}.jsonl")
    arguments: list[str | Path] = [
        sys.executable,
        "-m",
        "nameplate",
        "run",
        plan,
        "--rounds",
        str(rounds),
        "--peer",
        SERVER,
    ]
    subprocess.run(hosts[1].command(*arguments, "--key-file", key, "--quiet", "-o", run), check=True)
    return [r.summary for r in summarise(read_run(run)).results if r.summary.metric == "mtu"]


@pytest.mark.slow
def test_the_mtu_is_found_from_the_times_of_round_trips(core_path: Path, key: Path, tmp_path: Path) -> None:
    plan = tmp_path / "mtu.toml"
    plan.write_text(MTU_PLAN)
    with two_hosts(mtu=MTU) as hosts:
        for host in hosts:
            host.run("tc", "qdisc", "add", "dev", "eth0", "root", *DEAR_PACKETS)
        serve, _ = between(hosts, core_path, key)
        with serving(serve):
            # Disturbances by other programs may hide the MTU in a few rounds.
            tries = (detected_mtu(hosts, plan, key, rounds) for rounds in (4, 8, 16))
            actual = next((mtu for mtu in tries if mtu), [])
    assert len(actual) == 1
    low, high = actual[0].ci or (0, 0)
    assert low <= MTU <= high
    assert high - low <= 0.1 * MTU
