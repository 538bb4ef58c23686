"""Make standard output and error robust against readers that exit, full disks, and encodings limited to ASCII.

A message that cannot be written does not end the program. The loss is recorded and changes the exit code at the end.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import select
import sys
from typing import TextIO

from nameplate.errors import OutputError

# Replacements for streams that cannot encode a character; one character each, so that tables stay aligned.
_PLAIN = str.maketrans({"±": "~", "×": "x", "–": "-", "…": "~", "µ": "u", "²": "2", "³": "3", "·": "-", "→": ">"})
_ERROR_HANDLER = "nameplate.plain"


class StandardStream(io.TextIOWrapper):
    """A text stream that drops output which cannot be written, instead of raising OSError.

    The constructor takes the arguments of ``io.TextIOWrapper``; the buffer must have a file descriptor. ``failure`` is
    the first error by which output was lost, or None. It stays None if the reader of a pipe exited (EPIPE), which is
    not a failure. After any error, the descriptor is redirected to ``/dev/null``, so that later output is lost
    silently.
    """

    failure: OSError | None = None

    def write(self, text: str, /) -> int:
        """Write the text, or drop it if it cannot be written. Return the number of its characters in both cases."""
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Write the buffered text, or drop it if it cannot be written."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Redirect the descriptor to /dev/null, for buffered output and for child processes that inherit it, too."""
        if error.errno != errno.EPIPE and self.failure is None:
            self.failure = error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def _as_plain_text(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error: return the ASCII replacement of the characters, and the position at which to go on.

    Characters without a replacement in ``_PLAIN`` become ``?``. An error that is not a UnicodeEncodeError is raised
    again.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return "".join(character if character.isascii() else "?" for character in text), error.end


def prepare_standard_streams() -> None:
    """Replace ``sys.stdout`` and ``sys.stderr`` by a ``StandardStream`` each. Call it once, before the first output.

    A character that the encoding of a stream lacks is written as a similar ASCII character, or as ``?``. File
    descriptors 0, 1 and 2 that are closed are opened on ``/dev/null`` first: otherwise the next file, such as a run
    file, would get the number of a standard stream and receive its output. Messages for a closed standard error are
    dropped, but output for a closed standard output counts as lost (``checked_exit_code``).
    """
    codecs.register_error(_ERROR_HANDLER, _as_plain_text)
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    sys.stdout = _prepared(sys.stdout, 1)
    sys.stderr = _prepared(sys.stderr, 2)


def _prepared(stream: TextIO | None, number: int) -> StandardStream:
    # Python sets the stream to None if its descriptor was closed at the start.
    encoding = "utf-8" if stream is None else stream.encoding
    is_interactive = os.isatty(number) or number == 2
    buffer = os.fdopen(number, "wb", closefd=False)
    return StandardStream(buffer, encoding, _ERROR_HANDLER, line_buffering=is_interactive)


def has_reader(stream: TextIO) -> bool:
    """Return whether output to a stream can still be read: False once the other end of its pipe is closed.

    Nothing is written. The result is True for a stream without a file descriptor, such as StringIO. It is also True for
    a ``StandardStream`` that has already dropped output, since its descriptor is ``/dev/null``, so call it before
    writing.
    """
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return not any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))


def checked_exit_code(code: int) -> int:
    """Flush standard output, and return ``code``, or 3 if output was lost.

    A lost output is reported on standard error. The exit code then is 3 even if ``code`` is a verdict, since nobody
    could read its explanation.
    """
    lost = failure_of(sys.stdout)
    if lost is None:
        return code
    reason = "it is closed" if lost.errno == errno.EBADF else lost.strerror
    print(f"nameplate: cannot write standard output: {reason}", file=sys.stderr)
    return OutputError.exit_code


def failure_of(stream: TextIO) -> OSError | None:
    """Flush a stream, and return the error by which its output was lost; None if nothing was lost.

    It is also None if the reader of a pipe exited, or if the stream is not a ``StandardStream``.

    Raises:
        OSError: a stream that is not a ``StandardStream`` cannot be flushed.
    """
    stream.flush()
    return stream.failure if isinstance(stream, StandardStream) else None
