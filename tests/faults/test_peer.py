"""What strangers, neighbours and shortages can do to `nameplate serve`: little."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

OTHER_USER = 65533
# Its arguments: a port, options, and the user to become, if any.
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
def serving(core: Path, *words: str | Path, **more: Any) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a peer on a free port of this machine; yield its process and its port."""
    with subprocess.Popen([core, "serve", "--port", "0", *words], stderr=subprocess.PIPE, text=True, **more) as peer:
        assert peer.stderr is not None
        try:
            line = peer.stderr.readline()
            assert "listening at" in line, line
            yield peer, int(line.split(",")[0].rpartition(":")[2])
        finally:
            peer.kill()


def outcome_of(core: Path, port: int, probe: str, params: Mapping[str, Any], *words: str | Path) -> dict[str, Any]:
    """Return how one short experiment with that peer ended."""
    request = {"id": "x", "probe": probe, "params": params, "slice_s": 0.05, "sample_s": 0.01, "warmup_s": 0.0}
    answer = subprocess.run([core, "--peer", f"127.0.0.1:{port}", *words], input=json.dumps(request) + "\n",
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
