"""Begin and end the process, with an exit code that nameplate chose.

Exit code 1 is a verdict: SLOWER, or a slow node. A library may end the process with the same code, for example OpenBLAS
if it cannot allocate memory, and so does Python after an exception that nobody handles.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import time
from typing import NoReturn

from nameplate.errors import InternalError

_begins: list[float] = []
_PR_SET_PDEATHSIG = 1


def register_start() -> None:
    """Record the start time of the command, and make the process exit with code 70 if a library in C calls ``exit``.

    Call it once, before other libraries are loaded. From then on the process must end with ``leave``: at the normal end
    of the interpreter, Python itself calls ``exit``, so the exit code would be 70.
    """
    _begins.append(time.monotonic())
    libc = ctypes.CDLL(None)
    # _exit takes the code in the register of the argument, so that no Python code runs at the end. The handlers that
    # libraries register run before this one.
    libc.__cxa_atexit(ctypes.cast(libc._exit, ctypes.c_void_p), ctypes.c_void_p(InternalError.exit_code), None)


def end_with(parent: int) -> None:
    """End this process when the thread that started it ends, even by SIGKILL (prctl(2), PR_SET_PDEATHSIG).

    ``parent`` is the process ID of the parent; if it has ended before, this process ends at once. Systems other than
    Linux cannot do this: there, the call has no effect.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def command_began() -> float:
    """Return the value of ``time.monotonic()``, in seconds, when ``register_start`` was called.

    If it was not called, the result is the current value.
    """
    return _begins[0] if _begins else time.monotonic()


def leave(code: int) -> NoReturn:
    """End the process with the exit code ``code``, after the ``atexit`` functions and a flush of the standard streams.

    The process ends even if one of these functions raises an exception.
    """
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
