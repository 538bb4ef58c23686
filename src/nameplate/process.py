"""Begin and end the process, with an exit code that nameplate chose.

Exit code 1 is a verdict: SLOWER, or a slow node. A library may end the process with the same code, for example OpenBLAS
if it cannot allocate memory, and so does Python after an exception that nobody handles.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import time
from typing import NoReturn

from nameplate.errors import InternalError

_begins: list[float] = []


def begin() -> None:
    """Note the start of the command, and replace the exit code of a library in C that calls ``exit`` by 70.

    Call it once, before other libraries are loaded. From then on the process must end with ``leave``, since the end of
    the interpreter calls ``exit``, too.
    """
    _begins.append(time.monotonic())
    libc = ctypes.CDLL(None)
    # _exit takes the code in the register of the argument, so that no Python code runs at the end. The handlers that
    # libraries register run before this one.
    libc.__cxa_atexit(ctypes.cast(libc._exit, ctypes.c_void_p), ctypes.c_void_p(InternalError.exit_code), None)


def command_began() -> float:
    """Return the start of the command by ``time.monotonic``; without a call of ``begin`` it is now."""
    return _begins[0] if _begins else time.monotonic()


def leave(code: int) -> NoReturn:
    """End the process with an exit code, after the functions registered with ``atexit`` and a flush of the output."""
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
