"""Handle the signals that ask nameplate to stop: Ctrl-C (SIGINT), kill (SIGTERM), a closed terminal (SIGHUP)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from nameplate.errors import Interrupted

Handler = Callable[[int, FrameType | None], object]


def say(message: str) -> None:
    """Write a line to standard error, safely from a signal handler that may have interrupted a print."""
    with suppress(OSError):
        os.write(2, f"{message}\n".encode())


def leave_at_once(number: int, frame: FrameType | None) -> None:
    """Exit at once. This handles a signal outside of measurements, when there is nothing to keep or to clean up."""
    say("nameplate: stopped")
    os._exit(Interrupted.exit_code)


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Call ``handler`` for each signal within the context. A signal that is ignored, as with nohup, stays ignored."""
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
