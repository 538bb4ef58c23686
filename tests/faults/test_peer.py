"""Strangers, other users and exhausted resources cannot disturb `nameplate serve`."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

OTHER_USER = 65533
# Arguments: a port, options, and the user to become, if any.
BIND = """
import os, socket, sys
if sys.argv[3]:
    os.setgroups([])
    os.setuid(int(sys.argv[3]))
neighbour = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for option in sys.argv[2].split():
    neighbour.setsockopt(socket.SOL_SOCKET, getattr(socket, option), 1)
neighbour.bind(("127.0.0.1", int(sys.argv[1])))
"""


@contextmanager
def serving(
    core: Path, *arguments: str | Path, before: Sequence[str] = (), **more: Any
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a peer on a free port with the command ``before``; yield its process and its port."""
    command = [*before, core, "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **more) as peer:
        assert peer.stderr is not None
        try:
            line = peer.stderr.readline()
            assert "listening at" in line, line
            yield peer, int(line.split(",")[0].rpartition(":")[2])
        finally:
            peer.kill()


def outcome_of(core: Path, port: int, probe: str, params: Mapping[str, Any], *arguments: str | Path) -> dict[str, Any]:
    """Run one short experiment against that peer and return its outcome."""
    request = {"id": "x", "probe": probe, "params": params, "slice_s": 0.05, "sample_s": 0.01, "warmup_s": 0.0}
    answer = subprocess.run([core, "--peer", f"127.0.0.1:{port}", *arguments], input=json.dumps(request) + "\n",
                            capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
    return next(r for r in map(json.loads, answer.stdout.splitlines()) if r["type"] == "outcome")


@pytest.mark.parametrize("options", ["", "SO_REUSEADDR", "SO_REUSEPORT", "SO_REUSEADDR SO_REUSEPORT"])
def test_another_user_cannot_share_the_udp_port(core_path: Path, options: str) -> None:
    if "SO_REUSEPORT" in options and os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    user = str(OTHER_USER) if os.geteuid() == 0 else ""
    with serving(core_path) as (_, port):
        neighbour = subprocess.run([sys.executable, "-c", BIND, str(port), options, user], capture_output=True,
                                   text=True, check=False)  # fmt: skip
        assert "Address already in use" in neighbour.stderr
        assert outcome_of(core_path, port, "net_pingpong", {"protocol": "udp"})["ending"] == "ok"


@pytest.fixture
def key(core_path: Path, tmp_path: Path) -> Path:
    """Create a file with a new key and return its path."""
    file = tmp_path / "key"
    subprocess.run([core_path, "serve", "--new-key", file], check=True)
    return file


def memory_of(process: int) -> bytes:
    """Return the writable memory of a process: its heap, its stacks and its variables."""
    actual = b""
    with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            start, end, flags = re.match(r"(\w+)-(\w+) (\S+)", line).groups()  # type: ignore[union-attr]
            if flags.startswith("rw"):
                memory.seek(int(start, 16))
                actual += memory.read(int(end, 16) - int(start, 16))
    return actual


@pytest.mark.parametrize("source", ["file", "environment"])
def test_one_copy_of_a_key_remains_in_memory(core_path: Path, key: Path, source: str) -> None:
    digits = key.read_text().strip()
    arguments = ["--key-file", str(key)] if source == "file" else []
    variables = os.environ if source == "file" else {**os.environ, "NAMEPLATE_KEY": digits}
    with serving(core_path, *arguments, env=variables) as (peer, port):
        assert outcome_of(core_path, port, "net_pingpong", {}, "--key-file", key)["ending"] == "ok"
        memory = memory_of(peer.pid)
    copies = {"digits": memory.count(digits.encode()), "bytes": memory.count(bytes.fromhex(digits))}
    assert copies == {"digits": 0, "bytes": 1}


def listening_child_of(process: int) -> int:
    """Wait until the process starts a child that opens a socket, and return that child."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for status in Path("/proc").glob("[0-9]*/status"):
            with suppress(OSError):  # the child may end meanwhile
                child = int(status.parent.name)
                if f"PPid:\t{process}\n" in status.read_text() and "socket:" in str(open_files(child)):
                    return child
    pytest.fail("no process was started")


def open_files(process: int) -> set[str]:
    """Return the open files of a process, without its standard streams."""
    names = set()
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor may be closed meanwhile
            if int(link.name) > 2:
                names.add(str(link.readlink()))
    return names


def shared_files(core: int, peer: int) -> set[str]:
    """Return the files that both processes have open after the core has read the peer's port from a shared pipe."""
    deadline = time.monotonic() + 10
    while True:
        shared = {name for name in open_files(core) & open_files(peer) if not name.startswith("anon_inode:")}
        if not shared or time.monotonic() > deadline:
            return shared
        time.sleep(0.01)


def test_a_peer_started_by_the_core_inherits_neither_keys_nor_files(core_path: Path, key: Path) -> None:
    variables = {**os.environ, "NAMEPLATE_KEY": key.read_text().strip()}
    request = {"id": "x", "probe": "net_pingpong", "params": {}, "slice_s": 60}
    command = [str(core_path), "--die-with-parent", str(os.getpid())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables
    ) as core:  # fmt: skip
        try:
            assert core.stdin is not None
            core.stdin.write(json.dumps(request) + "\n")
            core.stdin.flush()
            peer = listening_child_of(core.pid)
            inherited = shared_files(core.pid, peer)
            environments = [Path(f"/proc/{process}/environ").read_bytes() for process in (core.pid, peer)]
        finally:
            core.kill()
    assert inherited == set()
    assert [bool(re.search(rb"NAMEPLATE_KEY=[0-9a-f]", text)) for text in environments] == [False, False]


# The user and groups of the reader; owner, group and mode of the file; and whether the key is accepted.
@pytest.mark.parametrize(
    ("reader", "groups", "owner", "mode", "is_accepted"),
    [
        (OTHER_USER, [], (0, 0), 0o440, False),  # not readable without an access control list
        (OTHER_USER, [4000], (0, 4000), 0o440, True),  # Kubernetes with fsGroup sets this owner and mode
        (OTHER_USER, [4000], (OTHER_USER, 4000), 0o440, False),
        (OTHER_USER, [4000], (0, 4000), 0o460, False),
        (OTHER_USER, [4000], (0, 4000), 0o444, False),
        (0, [], (0, 0), 0o440, True),
    ],
)
def test_a_key_file_may_be_readable_by_a_group_chosen_by_root(  # noqa: PLR0913, PLR0917 (one of each kind)
    core_path: Path, key: Path, reader: int, groups: list[int], owner: tuple[int, int], mode: int, is_accepted: bool
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # the other user cannot read files below tmp_path
        core, file = shutil.copy(core_path, folder), shutil.copy(key, folder)
        os.chown(file, *owner)
        Path(file).chmod(mode)
        peer = subprocess.Popen([core, "serve", "--port", "0", "--key-file", file], stderr=subprocess.PIPE, text=True,
                                user=reader, group=reader, extra_groups=groups)  # fmt: skip
        assert peer.stderr is not None
        line = peer.stderr.readline()
        peer.kill()
        peer.communicate()
    assert ("for clients with the key" in line) is is_accepted, line


def test_only_the_core_inherits_the_key_from_nameplate(core_path: Path, key: Path, tmp_path: Path) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_text('#!/bin/sh\necho "${NAMEPLATE_KEY-none}" > "$0.key"\nexit 1\n')
    launcher.chmod(0o755)
    variables = {**os.environ, "NAMEPLATE_KEY": key.read_text().strip()}
    run = [sys.executable, "-m", "nameplate", "run", "net_pingpong", "--rounds", "1", "--samples", "1", "--quiet"]
    with serving(core_path, "--key-file", str(key)) as (_, port):
        command = [*run, "--peer", f"127.0.0.1:{port}", "-o", str(tmp_path / "own.jsonl"), "payload=1", "protocol=tcp"]
        assert subprocess.run(command, env=variables, check=False).returncode == 0
    # nameplate asks a launcher for its version before it starts a core.
    subprocess.run([*run, "--mpi", launcher, "--dry-run"], env=variables, capture_output=True, check=False)
    assert launcher.with_name("mpirun.key").read_text() == "none\n"


def test_the_environment_of_nameplate_does_not_show_the_key(core_path: Path, key: Path, tmp_path: Path) -> None:
    text = key.read_text().strip()
    run = [sys.executable, "-m", "nameplate", "run", "null", "--time", "60s", "-o", str(tmp_path / "x.jsonl")]
    with subprocess.Popen(run, env={**os.environ, "NAMEPLATE_KEY": text}, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as process:  # fmt: skip
        while not (tmp_path / "x.jsonl").exists():
            assert process.poll() is None
            time.sleep(0.01)
        printed = Path(f"/proc/{process.pid}/environ").read_bytes()
        process.kill()
    assert b"PATH=" in printed
    assert text.encode() not in printed


@pytest.mark.parametrize("has_peer", [False, True])
def test_the_environment_of_quick_does_not_show_the_key(core_path: Path, key: Path, has_peer: bool) -> None:
    """The processes that it starts get the key only if they need it for the peer, and remove it."""
    text = key.read_text().strip()
    with serving(core_path, "--key-file", str(key)) as (_, port):
        options = ["--peer", f"127.0.0.1:{port}"] if has_peer else []
        command = [str(core_path), *options, "quick", "--rounds", "1"]
        with subprocess.Popen(command, env={**os.environ, "NAMEPLATE_KEY": text}, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:  # fmt: skip
            assert process.stdout is not None
            # The header of the first process that measures, so that this one has started.
            assert b'"run"' in process.stdout.readline()
            assert b'"header"' in process.stdout.readline()
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            printed = {name: Path(f"/proc/{name}/environ").read_bytes() for name in [str(process.pid), *children]}
            process.kill()
    assert len(printed) > 1
    assert b"PATH=" in printed[str(process.pid)]
    assert [name for name, content in printed.items() if text.encode() in content] == []


def in_a_namespace(before: str) -> list[str]:
    """Return the start of a command that runs in a network namespace of its own, which a line of shell prepares."""
    return ["unshare", "--net", "sh", "-c", f'{before}; exec "$@"', "sh"]


IPV6_ONLY = "ip link set lo up && ip addr del 127.0.0.1/8 dev lo"
PINGPONG = {"id": "x", "probe": "net_pingpong", "slice_s": 0.05, "sample_s": 0.01, "warmup_s": 0.0}


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_without_ipv4_the_own_peer_listens_at_ipv6(core_path: Path, protocol: str) -> None:
    request = json.dumps({**PINGPONG, "params": {"protocol": protocol, "payload": 64}})
    answer = subprocess.run([*in_a_namespace(IPV6_ONLY), core_path], input=request + "\n", capture_output=True,
                            text=True, check=True, timeout=60)  # fmt: skip
    outcome = next(r for r in map(json.loads, answer.stdout.splitlines()) if r["type"] == "outcome")
    assert (outcome["ending"], outcome["facts"]["is_local"]) == ("ok", 1), outcome


def test_a_machine_without_loopback_addresses_says_why_there_is_no_peer(core_path: Path) -> None:
    request = json.dumps({**PINGPONG, "params": {"protocol": "tcp", "payload": 64}})
    answer = subprocess.run([*in_a_namespace(":"), core_path], input=request + "\n", capture_output=True, text=True,
                            check=True, timeout=60)  # fmt: skip
    outcome = next(r for r in map(json.loads, answer.stdout.splitlines()) if r["type"] == "outcome")
    assert outcome["ending"] == "failed"
    assert outcome["reason"].startswith(
        "this machine has no loopback address (cannot reach 127.0.0.1: Network is unreachable, cannot bind [::1]: "
    )


def test_without_ipv4_serve_listens_at_ipv6_by_default(core_path: Path) -> None:
    with serving(core_path, before=in_a_namespace(IPV6_ONLY)) as (peer, port):
        assert peer.poll() is None
        assert port > 0


@pytest.mark.parametrize("before", [":", IPV6_ONLY])
def test_serve_gives_the_reason_if_it_cannot_listen(core_path: Path, before: str) -> None:
    arguments = ["serve", "--port", "0", *(["--listen", "127.0.0.1"] if before == IPV6_ONLY else [])]
    answer = subprocess.run([*in_a_namespace(before), core_path, *arguments], capture_output=True, text=True,
                            check=False, timeout=60)  # fmt: skip
    assert answer.returncode == 2
    assert len(answer.stderr.splitlines()) == 1
    assert "127.0.0.1" in answer.stderr
    assert ("Cannot assign requested address" if before == IPV6_ONLY else "Network is unreachable") in answer.stderr


def stranger(port: int, host: str = "127.0.0.1") -> socket.socket:
    """Connect from this address and send nothing."""
    return socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(host, 0))


def is_open(connection: socket.socket) -> bool:
    """Return whether the peer has left the connection open."""
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


# The peer closes a connection that has sent nothing for this time.
HANDSHAKE_S = 3.0


def who_stays(port: int, wait_s: float) -> tuple[bool, bool, bool] | None:
    """Return whether three strangers stay connected when 1,200 of one network connect.

    They are the oldest and the newest of these 1,200, and an older one of another network. Return None if connecting
    took so long that the peer closed the first connections for their silence, or if it has displaced none yet.
    """
    with ExitStack() as stack:
        began = time.monotonic()
        quiet = stack.enter_context(stranger(port, "127.0.1.1"))
        # More connections than the peer keeps, spread evenly over the addresses of one network.
        busy = [stack.enter_context(stranger(port, f"127.0.2.{i % 8 + 1}")) for i in range(1200)]
        while is_open(busy[0]) and time.monotonic() - began < wait_s:
            time.sleep(0.01)
        actual = is_open(busy[0]), is_open(busy[-1]), is_open(quiet)
        # As long as the oldest is connected, the peer has displaced none.
        return actual if not actual[0] and time.monotonic() - began < HANDSHAKE_S else None


def test_strangers_of_one_network_do_not_displace_those_of_another(core_path: Path) -> None:
    with serving(core_path) as (_, port):
        tries = (who_stays(port, HANDSHAKE_S - 0.2) for _ in range(20))
        assert next((outcome for outcome in tries if outcome is not None), None) == (False, True, True)
        assert outcome_of(core_path, port, "net_pingpong", {"protocol": "udp"})["ending"] == "ok"


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_peer_without_descriptors_neither_spins_nor_starves(core_path: Path) -> None:
    # The test cannot change the limits of another user's process.
    with serving(core_path, "--user", "root") as (peer, port):
        limits = resource.prlimit(peer.pid, resource.RLIMIT_NOFILE)
        n_open = len(list(Path(f"/proc/{peer.pid}/fd").iterdir()))
        resource.prlimit(peer.pid, resource.RLIMIT_NOFILE, (n_open, limits[1]))
        with stranger(port) as waiting:
            used_s = -cpu_seconds(peer.pid)
            time.sleep(1)
            used_s += cpu_seconds(peer.pid)
            assert is_open(waiting)
            resource.prlimit(peer.pid, resource.RLIMIT_NOFILE, limits)
            assert outcome_of(core_path, port, "net_pingpong", {})["ending"] == "ok"
            waiting.setblocking(True)
            waiting.sendall(b"x" * 64)
            assert waiting.recv(1) == b""  # a client that waited is served too
    assert used_s < 0.2


def test_a_peer_with_few_descriptors_serves_the_sessions_that_fit(core_path: Path) -> None:
    with serving(core_path, before=["prlimit", "--nofile=64:64"]) as (_, port), ExitStack() as stack:
        for i in range(60):
            stack.enter_context(stranger(port, f"127.0.{i}.1"))
        outcome = outcome_of(core_path, port, "net_pingpong", {"connections": 8})
        assert outcome["ending"] == "ok", outcome["reason"]
        outcome = outcome_of(core_path, port, "net_pingpong", {"connections": 40})
        assert outcome["ending"] == "skipped"
        assert "the peer has 32 sockets" in outcome["reason"]
