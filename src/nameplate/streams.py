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

    ``failure`` is the first error by which output was lost. It stays None if the reader of a pipe exited (EPIPE), which
    is no failure. After any error, the descriptor leads to ``/dev/null`` and later output is lost silently. The stream
    must have a file descriptor, and is constructed like ``io.TextIOWrapper``.
    """

    failure: OSError | None = None

    def write(self, text: str, /) -> int:
        """Write the text, or drop it if it cannot be written; return the number of its characters in both cases."""
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
    """Return an ASCII replacement of characters that a stream cannot encode, ``?`` if there is none."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return "".join(character if character.isascii() else "?" for character in text), error.end


def prepare_standard_streams() -> None:
    """Replace ``sys.stdout`` and ``sys.stderr`` by a ``StandardStream`` each. Call it once, before the first output.

    A character that the encoding of a stream lacks is written as a similar ASCII character, or as ``?``. Standard
    input, output and error that are closed are opened on ``/dev/null`` first. Otherwise the next file, such as a run
    file, would get the number of the descriptor and receive the output. Messages for a closed standard error are
    dropped, but output for a closed standard output counts as lost.
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
    """Return whether output can still be read: False once the other end of a pipe is closed.

    A stream without a file descriptor, such as StringIO, counts as read. So does a ``StandardStream`` that has already
    dropped output, since it leads to ``/dev/null``; ask before writing. Nothing is written.
    """
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return not any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))


def checked_exit_code(code: int) -> int:
    """Return the exit code of a process that has written its output: ``code``, or 3 if output was lost.

    A verdict that nobody could read is none. Standard output is flushed, and a loss is reported on standard error.
    """
    lost = failure_of(sys.stdout)
    if lost is None:
        return code
    reason = "it is closed" if lost.errno == errno.EBADF else lost.strerror
    print(f"nameplate: cannot write standard output: {reason}", file=sys.stderr)
    return OutputError.exit_code


def failure_of(stream: TextIO) -> OSError | None:
    """Flush the stream, and return the error by which its output was lost.

    The result is None if nothing was lost, if the reader of a pipe exited, or if the stream is not a
    ``StandardStream``. Flushing such another stream may raise OSError.
    """
    stream.flush()
    return stream.failure if isinstance(stream, StandardStream) else None
