"""Measure how long a test takes to start and how much memory the peer uses under 10,000 unauthenticated connections.

Half of the strangers send nothing, the others up to 200 random bytes. All keep their end of the connection open.
"""

from __future__ import annotations

import os
import random
import resource
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from net import HOST, core_with_peer, our_server, resident_bytes
from pairs import measure

STRANGERS = 10_000
PORT = 7603


def strangers(stack: ExitStack) -> None:
    """Open the connections one after the other, as fast as the peer accepts them."""
    for number in range(STRANGERS):
        connection = stack.enter_context(socket.create_connection((HOST, PORT)))
        if number % 2:
            connection.sendall(random.randbytes(number % 200 + 1))


def start_s() -> float:
    """Run a short test and return the seconds from its request until it is connected."""
    outcome, _, _ = measure("net_pingpong", {"protocol": "udp"}, 0.05, start=partial(core_with_peer, PORT))
    return outcome.setup_s


def main() -> None:
    """Print the start times before, with and during the strangers' connections, and the peer's memory."""
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
            peak = resident_bytes(peer.pid)
            writer = os.fork()
            if writer == 0:  # keeps connecting while the tests below start
                stack.pop_all().close()
                with ExitStack() as more:
                    strangers(more)
                os._exit(0)
            during_s = [start_s() for _ in range(5)]
            os.waitpid(writer, 0)
            peak = max(peak, resident_bytes(peer.pid))
        finally:
            peer.kill()
    print(
        f"{STRANGERS} strangers connected in {took_s:.2f} s; "
        f"memory of the peer: {before / 1e6:.1f} MB before, {peak / 1e6:.1f} MB after"
    )
    print(
        f"a test starts in {before_s * 1e3:.1f} ms without strangers, in at most {max(among_s) * 1e3:.1f} ms with "
        f"them, and in at most {max(during_s) * 1e3:.1f} ms while more of them connect"
    )


if __name__ == "__main__":
    main()
