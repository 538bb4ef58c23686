"""Keep the key of the network probes' peer out of the environment that every program inherits."""

from __future__ import annotations

import ctypes
import os

KEY_VARIABLE = "NAMEPLATE_KEY"

_hidden: dict[str, str] = {}


def hide_key() -> None:
    """Move ``NAMEPLATE_KEY``, the key of the network probes' peer, from the environment to a private variable.

    Programs that are started later do not inherit the key, and ``/proc/PID/environ`` of this process no longer shows
    it. ``core_environment`` still returns it. The call has no effect if the variable is not set.
    """
    if KEY_VARIABLE not in os.environ:
        return
    # Removing a variable leaves its text in the memory that /proc shows.
    getenv = ctypes.CDLL(None).getenv
    getenv.argtypes, getenv.restype = (ctypes.c_char_p,), ctypes.c_void_p
    address = getenv(KEY_VARIABLE.encode())
    _hidden[KEY_VARIABLE] = os.environ[KEY_VARIABLE]
    if address is not None:
        ctypes.memset(address, 0, len(ctypes.string_at(address)))
    del os.environ[KEY_VARIABLE]


def core_environment() -> dict[str, str]:
    """Return the environment variables for nameplate-core: the environment of this process and the hidden key.

    The key (``NAMEPLATE_KEY``) is added only if ``hide_key`` has removed it from the environment.
    """
    return {**os.environ, **_hidden}
