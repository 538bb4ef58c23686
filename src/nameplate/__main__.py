"""Start the command line.

The handler of Ctrl-C is installed before the modules of the commands are imported, which takes a tenth of a second or
more. ``--version`` does not import them.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from nameplate import __version__
from nameplate.errors import InternalError
from nameplate.interruption import leave_at_once, say
from nameplate.process import leave, register_start

_MIN_COLUMNS = 20


def _check_columns() -> None:
    """Remove an invalid COLUMNS from the environment: the library that prints the help would hang or print nothing."""
    columns = os.environ.get("COLUMNS", "")
    if not (columns.isdecimal() and len(columns) <= 4 and int(columns) >= _MIN_COLUMNS):
        os.environ.pop("COLUMNS", None)


def main() -> NoReturn:
    """Run the command line of this process with ``sys.argv[1:]``, and exit with the command's exit code.

    This function does not return. Unless the command handles Ctrl-C, Ctrl-C ends the process with exit code 3. Standard
    output and standard error are replaced by ``prepare_standard_streams``, and an invalid ``COLUMNS`` is removed from
    the environment. The exit code is 70 if nameplate or a library cannot be loaded, or if a library ends the process.
    """
    signal.signal(signal.SIGINT, leave_at_once)
    code = InternalError.exit_code
    try:
        register_start()
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
    from nameplate.command_line import run  # noqa: PLC0415 (takes a tenth of a second)

    return run(sys.argv[1:])


if __name__ == "__main__":
    main()
