"""``nameplate serve``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.errors import CoreMissing, UsageError
from nameplate.execution.launch import core_environment, core_path

_MAX_PORT = 65535
Option = Annotated[str | None, Parameter(show_default=False)]


def command(  # noqa: PLR0913 (the options of the command line)
    *,
    listen: Option = None,
    port: int | None = None,
    key_file: Path | None = None,
    new_key: Path | None = None,
    most_bytes: int | None = None,
    most_seconds: float | None = None,
    most_sessions: int | None = None,
    user: Option = None,
) -> int:
    """Be the peer of another machine's network probes, until Ctrl-C. It is nameplate-core serve that listens.

    Parameters
    ----------
    listen
        The address to listen at; default: this machine only. Any other needs a key.
    port
        TCP and UDP; default: 7477. 0: any free one.
    key_file
        The key that it shares with its clients; default: NAMEPLATE_KEY in the environment.
    new_key
        Write a new key of 256 random bits to this file, and end.
    most_bytes
        That one session may move.
    most_seconds
        That one session may last; default: an hour.
    most_sessions
        At once; default: 64.
    user
        Whose rights are kept when root starts it; default: nobody.
    """
    if port is not None and not 0 <= port <= _MAX_PORT:
        raise UsageError(f"--port {port} is not possible: 0 to {_MAX_PORT}")
    given = {"--listen": listen, "--port": port, "--key-file": key_file, "--new-key": new_key,
             "--most-bytes": most_bytes, "--most-seconds": most_seconds, "--most-sessions": most_sessions,
             "--user": user}  # fmt: skip
    words = [word for option, value in given.items() if value is not None for word in (option, str(value))]
    path = core_path()
    try:
        os.execve(path, [str(path), "serve", *words], core_environment())
    except OSError as error:
        raise CoreMissing(f"{path} could not be run: {error}") from None
