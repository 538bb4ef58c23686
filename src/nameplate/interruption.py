"""The signals by which somebody asks nameplate to end: Ctrl-C, kill, and a terminal that is closed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from nameplate.errors import Interrupted

Handler = Callable[[int, FrameType | None], object]


def say(words: str) -> None:
    """Write a line to standard error from a signal handler, which may have interrupted a print."""
    with suppress(OSError):
        os.write(2, f"{words}\n".encode())


def leave_at_once(number: int, frame: FrameType | None) -> None:
    """Handle a signal outside of any measurement, where there is nothing to keep or to clean up."""
    say("nameplate: stopped")
    os._exit(Interrupted.exit_code)


@contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """Call ``handler`` for each of the signals meanwhile. One that was ignored, as by nohup, stays ignored."""
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
