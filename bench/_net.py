"""What the comparisons over loopback share: clients on the first CPU, servers on the second, theirs and ours."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nameplate.execution.core_process import CoreProcess, OnRecord
from nameplate.execution.launch import core_path

CPUS = sorted(os.sched_getaffinity(0))
HOST = "127.0.0.1"


def bind_clients() -> None:
    """Everything that this program starts from here on shares the first CPU."""
    if len(CPUS) < 2:
        sys.exit("two CPUs are needed: one for the clients, one for the servers")
    os.sched_setaffinity(0, {CPUS[0]})


@contextmanager
def servers(*commands: list[str]) -> Iterator[None]:
    """Servers on the second CPU, ended afterwards."""
    with ExitStack() as stack:
        for command in commands:
            bound = ["taskset", "-c", str(CPUS[1]), *command]
            server = subprocess.Popen(bound, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(server.wait)
            stack.callback(server.kill)
        time.sleep(0.5)
        yield


def our_server(port: int) -> list[str]:
    """The peer's command."""
    return [str(core_path()), "serve", "--port", str(port)]


def resident_bytes(process: int, field: str = "VmRSS") -> int:
    """Return the peer's memory, now or with ``VmHWM`` at most so far."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("the peer has ended")


def core_with_peer(port: int, keep: OnRecord) -> CoreProcess:
    """A core that measures with that peer."""
    return CoreProcess(keep, options=["--peer", f"{HOST}:{port}"])


def output(command: list[str]) -> str:
    """What a reference tool prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
