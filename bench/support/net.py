"""Support the comparisons over loopback: all clients run on the first CPU, and all servers on the second CPU."""

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
    """Bind this process, and every process that it starts later, to the first CPU. Exit if there is only one CPU."""
    if len(CPUS) < 2:
        sys.exit("this comparison needs two CPUs: one for the clients and one for the servers")
    os.sched_setaffinity(0, {CPUS[0]})


@contextmanager
def servers(*commands: list[str]) -> Iterator[None]:
    """Run the servers with these commands on the second CPU, and kill them at the end of the block."""
    with ExitStack() as stack:
        for command in commands:
            bound = ["taskset", "-c", str(CPUS[1]), *command]
            server = subprocess.Popen(bound, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(server.wait)
            stack.callback(server.kill)
        time.sleep(0.5)
        yield


def our_server(port: int) -> list[str]:
    """Return the command that starts nameplate's peer on a TCP and UDP port."""
    return [str(core_path()), "serve", "--port", str(port)]


def resident_bytes(process: int, field: str = "VmRSS") -> int:
    """Return the resident memory of the process with the ID ``process`` in bytes.

    ``field`` is ``VmRSS`` for the current size, or ``VmHWM`` for the maximum so far. Raises SystemExit if the process
    has ended.
    """
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("the peer has ended")


def core_with_peer(port: int, keep: OnRecord) -> CoreProcess:
    """Start a core that measures against the peer on this port, and return it. ``keep`` receives its records."""
    return CoreProcess(keep, options=["--peer", f"{HOST}:{port}"])


def output(command: list[str]) -> str:
    """Run a reference tool and return its standard output. Raises CalledProcessError if the tool fails."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
