"""Run the command line: find the command, show an error as one line, and return the exit code."""

from __future__ import annotations

import errno
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from cyclopts import App, CycloptsError, Parameter

from nameplate import __version__
from nameplate.commands import register
from nameplate.control_characters import clean_text
from nameplate.errors import FileError, InternalError, Interrupted, NameplateError, UsageError
from nameplate.execution.launch import hide_key
from nameplate.streams import checked_exit_code


def make_app(arguments: Sequence[str] = ()) -> App:
    """Return the cyclopts app of the command line with ``--help``, ``--version`` and its commands.

    It has all commands, or only the one that is the first of ``arguments``.
    """
    app = App(
        name="nameplate",
        help="Measure what a machine and its cluster deliver, and compare it with what they should deliver.",
        version=__version__,
        suppress_keyboard_interrupt=False,  # reported by _run like every other error
        default_parameter=Parameter(negative=()),  # no --no-json, no --empty-rated
        help_format="plaintext",  # Markdown doubles the time that --help takes
    )
    register(app, arguments)
    app.register_install_completion_command()
    return app


def run(arguments: list[str]) -> int:
    """Run one command and return the exit code of the process.

    ``arguments`` are the words after ``nameplate``; without any, the help is shown. Every error is reported as one line
    on standard error, and none is raised. The code is then 2 for a wrong input, 3 for a failure or an interrupt, and 70
    for a defect of nameplate or of a library, also if a library tries to end the process. Otherwise it is the number
    that the command returns, or 0 if it returns none; if standard output could not be written, it is 3. The key of the
    network probes' peer is removed from the environment first.
    """
    hide_key()
    return checked_exit_code(_run(arguments))


def _run(arguments: list[str]) -> int:
    # Only a running command has something to clean up, so only there an interrupt is an exception.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        check_arguments(arguments)
        code = make_app(arguments)(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except KeyboardInterrupt:
        return _report("stopped", Interrupted.exit_code)
    except BaseException as error:  # also SystemExit, and the PanicException of libraries in Rust
        return _report(*_words_of(error))
    finally:
        signal.signal(signal.SIGINT, before)
    return code if isinstance(code, int) else 0


def _words_of(error: BaseException) -> tuple[str, int]:
    """Return the message of an error in one line, and its exit code."""
    match error:
        case CycloptsError():
            return " ".join(str(error).split()), UsageError.exit_code
        case NameplateError():
            return str(error), error.exit_code
        case OSError(filename=filename, strerror=strerror) if filename is not None:
            return f"{filename}: {strerror}", FileError.exit_code
        case FileNotFoundError(filename=None) if not _is_working_directory_there():
            return "the working directory has been deleted: change to another one", UsageError.exit_code
        case MemoryError() | OSError(errno=errno.EAGAIN | errno.ENOMEM | errno.EMFILE | errno.ENFILE):
            return f"out of memory, processes or files: {str(error) or type(error).__name__}", NameplateError.exit_code
        case _:
            return f"internal error, please report it: {_place_of(error)}", InternalError.exit_code


def _is_working_directory_there() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def check_arguments(arguments: Sequence[str]) -> None:
    """Raise UsageError for an argument that is not UTF-8, which neither a report nor a run file could contain.

    The message has the number of the first such argument, counted from 1, and its bytes as escapes.
    """
    for number, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = argument.encode(errors="surrogateescape").decode(errors="backslashreplace")
            raise UsageError(f"argument {number}, '{shown}', is not UTF-8: rename the file or folder") from None


def _report(message: str, code: int) -> int:
    print(f"nameplate: {clean_text(message)}", file=sys.stderr)
    return code


def _place_of(error: BaseException) -> str:
    """Return the type and text of the error, with the innermost line of this package in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(Path(__file__).parent)]
    place = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}{place}"
