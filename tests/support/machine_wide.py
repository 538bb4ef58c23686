"""Name what a test creates outside its temporary folder."""

from __future__ import annotations

import secrets


def unused_name(prefix: str) -> str:
    """Return ``prefix`` with a random ending, for what the whole machine sees: control groups, hosts, folders.

    Two checkouts may run their tests at the same time, and in different PID namespaces their processes share numbers.
    """
    return f"{prefix}-{secrets.token_hex(4)}"
