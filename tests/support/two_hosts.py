"""Simulate two hosts on this machine: two network namespaces connected by a veth pair."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from machine_wide import unused_name

SERVER, CLIENT = "10.99.7.1", "10.99.7.2"


@dataclass(frozen=True)
class Host:
    """One of the two hosts: a network namespace."""

    name: str

    def command(self, *arguments: str | Path) -> list[str]:
        """Return the command that runs ``arguments`` on this host."""
        return ["ip", "netns", "exec", self.name, *map(str, arguments)]

    def run(self, *arguments: str | Path) -> None:
        """Run a system command on this host.

        Raises:
            CalledProcessError: the command fails.
        """
        subprocess.run(self.command(*arguments), check=True, capture_output=True)


@contextmanager
def two_hosts(mtu: int = 1500, rate: str = "") -> Iterator[tuple[Host, Host]]:
    """Yield server and client, which send at no more than ``rate`` (tbf); skip the test without network namespaces."""
    names = [unused_name("nameplate-server"), unused_name("nameplate-client")]
    made: list[str] = []
    try:
        for name in names:
            try:
                subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
            except (FileNotFoundError, subprocess.CalledProcessError) as error:
                pytest.skip(f"network namespaces are not available: {getattr(error, 'stderr', error)!r}")
            made.append(name)
        cable = ["ip", "link", "add", "eth0", "mtu", str(mtu), "netns", names[0], "type", "veth"]
        subprocess.run([*cable, "peer", "name", "eth0", "mtu", str(mtu), "netns", names[1]], check=True)
        for name, address in zip(names, (SERVER, CLIENT), strict=True):
            host = Host(name)
            host.run("ip", "address", "add", f"{address}/24", "dev", "eth0")
            host.run("ip", "link", "set", "lo", "up")
            host.run("ip", "link", "set", "eth0", "up")
            if rate:
                host.run("tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "32kb",
                         "latency", "50ms")  # fmt: skip
        yield Host(names[0]), Host(names[1])
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "delete", name], check=True)


@contextmanager
def serving(command: list[str], ready: str = "listening") -> Iterator[subprocess.Popen[str]]:
    """Start a peer, wait until it prints ``ready``, yield it and end it afterwards."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as peer:
        try:
            assert peer.stderr is not None
            line = peer.stderr.readline()
            assert ready in line, line
            yield peer
        finally:
            if peer.poll() is None:
                peer.terminate()
            deadline = time.monotonic() + 60
            while peer.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            assert peer.returncode in (0, -9)
