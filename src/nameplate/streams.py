"""Standard output and error whose readers may go away, whose disks may be full, and that may be limited to ASCII.

A message that cannot be written never ends the program that writes it. What is lost is remembered, and the exit code
says so at the end.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import select
import sys
from typing import TextIO

# For streams that cannot encode them; one character each, so that tables stay aligned.
_PLAIN = str.maketrans({"±": "~", "×": "x", "–": "-", "…": "~", "µ": "u", "²": "2", "³": "3", "·": "-", "→": ">"})
_ERROR_HANDLER = "nameplate.plain"


class StandardStream(io.TextIOWrapper):
    """A text stream that drops what it can no longer write. ``failure`` is the reason, except that a reader left."""

    failure: OSError | None = None

    def write(self, text: str, /) -> int:
        """Write, or drop the text."""
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Hand what was written to the system, or drop it."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Write to nowhere from now on, also what is still buffered here and what programs write that inherit it."""
        if error.errno != errno.EPIPE and self.failure is None:
            self.failure = error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def _as_plain_text(error: UnicodeError) -> tuple[str, int]:
    """Return the nearest plain characters of what a stream cannot encode, ``?`` where there is none."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return "".join(character if character.isascii() else "?" for character in text), error.end


def prepare_standard_streams() -> None:
    """Make the standard streams safe to use: open, and of the kind above.

    A closed descriptor is opened on ``/dev/null`` first: otherwise the next file, such as a run file, would take its
    number and receive what is printed.
    """
    codecs.register_error(_ERROR_HANDLER, _as_plain_text)
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = _prepared(sys.stdout, 1)
    sys.stderr = _prepared(sys.stderr, 2)


def _prepared(stream: TextIO | None, number: int) -> StandardStream:
    # Python has no stream where the descriptor was closed.
    encoding = "utf-8" if stream is None else stream.encoding
    is_interactive = os.isatty(number) or number == 2
    buffer = os.fdopen(number, "wb", closefd=False)
    return StandardStream(buffer, encoding, _ERROR_HANDLER, line_buffering=is_interactive)


def has_reader(stream: TextIO) -> bool:
    """Return whether somebody can still read what is written: False once the other end of a pipe is closed."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return not any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))


def failure_of(stream: TextIO) -> OSError | None:
    """Return why output was lost, or None where none was lost or its reader left."""
    stream.flush()
    return stream.failure if isinstance(stream, StandardStream) else None
