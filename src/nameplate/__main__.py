"""The command line: finds the command, shows an error as one line, gives the exit code."""

from __future__ import annotations

import os
import sys

from cyclopts import App, CycloptsError

from nameplate import __version__
from nameplate.commands import register_all
from nameplate.errors import Interrupted, NameplateError, UsageError


def make_app() -> App:
    """The command line with all its commands."""
    app = App(
        name="nameplate",
        help="Measures what a machine really delivers, beside what its nameplate promises.",
        version=__version__,
        suppress_keyboard_interrupt=False,  # told as every other end is
        help_format="plaintext",  # Markdown would double the time that --help takes
    )
    register_all(app)
    app.register_install_completion_command()
    return app


def run(arguments: list[str]) -> int:
    """Runs one command and gives its exit code."""
    try:
        code = make_app()(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        print(f"nameplate: {error}", file=sys.stderr)
        return UsageError.exit_code
    except NameplateError as error:
        print(f"nameplate: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("nameplate: stopped", file=sys.stderr)
        return Interrupted.exit_code
    except BrokenPipeError:
        # The reader of our output has had enough (`nameplate list | head`); Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0


def main() -> None:
    """The entry point of the script ``nameplate``."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
