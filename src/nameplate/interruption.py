"""Handle the signals that ask nameplate to stop: Ctrl-C (SIGINT), kill (SIGTERM), a closed terminal (SIGHUP)."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from nameplate.errors import Interrupted

Handler = Callable[[int, FrameType | None], object]


def say(message: str) -> None:
    """Write ``message`` and a newline to standard error; a signal handler that interrupted a print may call it.

    The line is dropped if standard error cannot be written.
    """
    with suppress(OSError):
        os.write(2, f"{message}\n".encode())


def leave_at_once(number: int, frame: FrameType | None) -> None:
    """Handle a signal by ending the process at once with exit code 3, after the line ``nameplate: stopped``.

    No ``finally`` block and no exit handler runs. It is for signals outside of measurements, when there is nothing to
    keep or to clean up. The parameters, which Python passes to every handler, are not used.
    """
    say("nameplate: stopped")
    os._exit(Interrupted.exit_code)


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Call ``handler`` for each SIGINT, SIGTERM and SIGHUP within the context, then restore the earlier handlers.

    ``handler`` gets the number of the signal and the interrupted frame, like every Python signal handler. A signal that
    is ignored, as with nohup, stays ignored. ``handler`` may raise an exception, which then leaves the context. The
    context is for the main thread only: ``signal.signal`` raises ValueError in any other.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    for number, usual in before.items():
        if usual is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)


@contextmanager
def deferred() -> Iterator[None]:
    """Hold back SIGINT, SIGTERM and SIGHUP within the context, and let their handlers run at its end.

    A handler that raises an exception then interrupts nothing within the context. In a thread other than the main one
    the context does nothing, since handlers run in the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []
    try:
        with handled(lambda number, _: pending.append(number)):
            yield
    finally:
        for number in pending:
            signal.raise_signal(number)
