"""The peer under 10,000 half-open or malformed connections: how long a legitimate test takes to start, and its memory.

Half of the strangers say nothing, the others up to 200 random bytes; all keep their end open.
"""

from __future__ import annotations

import os
import random
import resource
import socket
import subprocess
import time
from contextlib import ExitStack
from functools import partial

from _net import HOST, core_with_peer, our_server, resident_bytes
from _pairs import measure

STRANGERS = 10_000
PORT = 7603


def strangers(stack: ExitStack) -> None:
    """All of them, one after the other as fast as they are let in."""
    for number in range(STRANGERS):
        connection = stack.enter_context(socket.create_connection((HOST, PORT)))
        if number % 2:
            connection.sendall(random.randbytes(number % 200 + 1))


def start_s() -> float:
    """From the request until everything is connected."""
    outcome, _, _ = measure("net_pingpong", {"protocol": "udp"}, 0.05, start=partial(core_with_peer, PORT))
    return outcome.setup_s


def main() -> None:
    """Prints the times to start before, among and after the strangers, and the peer's memory."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    with subprocess.Popen(our_server(PORT), stderr=subprocess.DEVNULL) as peer, ExitStack() as stack:
        try:
            time.sleep(0.5)
            before_s, before = start_s(), resident_bytes(peer.pid)
            began = time.monotonic()
            strangers(stack)
            took_s = time.monotonic() - began
            among_s = [start_s() for _ in range(5)]
            most = resident_bytes(peer.pid)
            writer = os.fork()
            if writer == 0:  # strangers without a pause, while a test starts
                stack.pop_all().close()
                with ExitStack() as more:
                    strangers(more)
                os._exit(0)
            during_s = [start_s() for _ in range(5)]
            os.waitpid(writer, 0)
            most = max(most, resident_bytes(peer.pid))
        finally:
            peer.kill()
    print(f"{STRANGERS} strangers in {took_s:.2f} s; peer's memory {before / 1e6:.1f} MB, then {most / 1e6:.1f} MB")
    print(f"a test starts in {before_s * 1e3:.1f} ms; among them {max(among_s) * 1e3:.1f} ms at most; while they come "
          f"{max(during_s) * 1e3:.1f} ms at most")  # fmt: skip


if __name__ == "__main__":
    main()
