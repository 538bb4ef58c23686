"""Implement ``nameplate serve``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.errors import CoreMissing, UsageError
from nameplate.execution.launch import core_path
from nameplate.execution.peer_key import core_environment

GROUP = "Measure"

_MAX_PORT = 65535
Option = Annotated[str | None, Parameter(show_default=False)]


def command(  # noqa: PLR0913 (the options of the command line)
    *,
    listen: Option = None,
    port: int | None = None,
    key_file: Path | None = None,
    new_key: Path | None = None,
    max_bytes: int | None = None,
    max_seconds: float | None = None,
    max_sessions: int | None = None,
    user: Option = None,
    json: bool = False,
) -> int:
    """Serve as the peer of another machine's network probes until Ctrl-C.

    The command replaces itself with nameplate-core serve and keeps the process ID.

    Parameters
    ----------
    listen
        The address to listen on. Default: localhost. Any other address needs a key.
    port
        The TCP and UDP port; 0 chooses a free one. Default: 7477.
    key_file
        A file with the key that peer and clients share. Default: the key itself is taken from the
        environment variable NAMEPLATE_KEY.
    new_key
        Write a new key of 256 random bits to this file, and exit.
    max_bytes
        The maximum number of bytes that one session may transfer. Default: 1 PiB.
    max_seconds
        The maximum duration of one session in seconds. Default: 3600.
    max_sessions
        The maximum number of sessions at a time. Default: 64.
    user
        The user to switch to if root starts the peer. Default: nobody.
    json
        Print the addresses as JSON on standard output when the peer listens, instead of a message.
    """
    if port is not None and not 0 <= port <= _MAX_PORT:
        raise UsageError(f"--port {port}: not a port; use 0 to {_MAX_PORT}")
    given = {"--listen": listen, "--port": port, "--key-file": key_file, "--new-key": new_key,
             "--max-bytes": max_bytes, "--max-seconds": max_seconds, "--max-sessions": max_sessions,
             "--user": user}  # fmt: skip
    arguments = [word for option, value in given.items() if value is not None for word in (option, str(value))]
    arguments += ["--json"] if json else []
    path = core_path()
    try:
        os.execve(path, [str(path), "serve", *arguments], core_environment())
    except OSError as error:
        raise CoreMissing(f"cannot run {path}: {error.strerror}") from None
