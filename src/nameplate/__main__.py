"""Start the command line.

The other imports take a quarter of a second, so that an interrupt is handled before them, and ``--version`` needs none.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from nameplate import __version__
from nameplate.errors import InternalError
from nameplate.interruption import leave_at_once, say
from nameplate.process import begin, leave

_MIN_COLUMNS = 20


def _check_columns() -> None:
    """Remove an impossible COLUMNS, with which libraries that print help print nothing, or never end."""
    columns = os.environ.get("COLUMNS", "")
    if not (columns.isdecimal() and len(columns) <= 4 and int(columns) >= _MIN_COLUMNS):
        os.environ.pop("COLUMNS", None)


def main() -> NoReturn:
    """Run the command line of this process with ``sys.argv[1:]`` and exit with its exit code. It does not return.

    From here on Ctrl-C ends the process with exit code 3, unless the command handles it. Standard output and error are
    replaced by ``prepare_standard_streams``, and an unusable ``COLUMNS`` is removed from the environment. The exit code
    is 70 if nameplate or a library cannot be loaded, or ends the process itself.
    """
    signal.signal(signal.SIGINT, leave_at_once)
    code = InternalError.exit_code
    try:
        begin()
        code = _run()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except BaseException as error:  # the command line reports all others
        say(f"nameplate: cannot be started: {type(error).__name__}: {' '.join(str(error).split())}")
    finally:
        leave(code)


def _run() -> int:
    """Run the command line and return its exit code."""
    from nameplate.streams import checked_exit_code, prepare_standard_streams  # noqa: PLC0415 (interrupts are handled)

    prepare_standard_streams()
    _check_columns()
    if sys.argv[1:] == ["--version"]:
        print(__version__)
        return checked_exit_code(0)
    from nameplate.command_line import run  # noqa: PLC0415 (takes a quarter of a second)

    return run(sys.argv[1:])


if __name__ == "__main__":
    main()
