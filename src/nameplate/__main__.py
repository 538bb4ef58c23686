"""Start the command line. Imports only what ends the program in order while the others, a third of a second, go on."""

from __future__ import annotations

import signal
import sys

from nameplate.interruption import leave_at_once


def main() -> None:
    """Run the command line of this process and end it with its exit code."""
    signal.signal(signal.SIGINT, leave_at_once)
    from nameplate.command_line import run  # noqa: PLC0415 (an interrupt is handled by now)
    from nameplate.streams import prepare_standard_streams  # noqa: PLC0415

    prepare_standard_streams()
    code = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


if __name__ == "__main__":
    main()
