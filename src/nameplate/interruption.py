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
    """Write a message and a newline directly to standard error (file descriptor 2), without Python's buffer.

    A signal handler may call it while the main program prints. The message is dropped if standard error cannot be
    written.
    """
    with suppress(OSError):
        os.write(2, f"{message}\n".encode())


def leave_at_once(number: int, frame: FrameType | None) -> None:
    """Handle a signal: print ``nameplate: stopped`` and end the process with exit code 3.

    No ``finally`` block and no exit handler runs, so install it only while nothing needs to be saved or cleaned up, for
    example while nameplate starts. ``number`` and ``frame``, which Python passes to every signal handler, are not used.
    """
    say("nameplate: stopped")
    os._exit(Interrupted.exit_code)


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Call a handler for each SIGINT, SIGTERM and SIGHUP within the context, then restore the earlier handlers.

    ``handler`` is called with the number of the signal and the interrupted frame, like every Python signal handler. An
    exception that it raises leaves the context. A signal that is already ignored, as SIGHUP is with nohup, stays
    ignored.

    Raises:
        ValueError: the context is entered in a thread other than the main thread.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    for number, earlier in before.items():
        if earlier is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextmanager
def deferred() -> Iterator[None]:
    """Defer SIGINT, SIGTERM and SIGHUP within the context; they are raised again at its end, in the order of arrival.

    Use it around code that an exception of a signal handler must not interrupt. In a thread other than the main thread
    the context does nothing, since Python runs handlers in the main thread only.
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
