"""End the process with an exit code that nameplate chose, and with no other one that has a meaning.

Exit code 1 is a verdict: SLOWER, or a slow node. A library may end the process with the same code, for example OpenBLAS
if it cannot allocate memory, and so does Python after an exception that nobody handles.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from typing import NoReturn

from nameplate.errors import InternalError


def forbid_exit_by_libraries() -> None:
    """Replace the exit code of a library in C that calls ``exit`` by 70. Call it once, before other libraries load.

    From here on the process must end with ``leave``, since the end of the interpreter calls ``exit``, too.
    """
    libc = ctypes.CDLL(None)
    # _exit takes the code in the register of the argument, so that no Python code runs at the end. The handlers that
    # libraries register run before this one.
    libc.__cxa_atexit(ctypes.cast(libc._exit, ctypes.c_void_p), ctypes.c_void_p(InternalError.exit_code), None)


def leave(code: int) -> NoReturn:
    """End the process with an exit code, after the functions registered with ``atexit`` and a flush of the output."""
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
