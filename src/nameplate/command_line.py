"""Run the command line: find the command, show an error as one line, and return the exit code."""

from __future__ import annotations

import errno
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from cyclopts import App, CycloptsError, Group, Parameter, UnknownCommandError

from nameplate import __version__
from nameplate.commands import command_names, register
from nameplate.control_characters import clean_text
from nameplate.errors import FileError, InternalError, Interrupted, NameplateError, UsageError
from nameplate.execution.peer_key import hide_key
from nameplate.streams import checked_exit_code

_INSTALL_COMPLETION = "--install-completion"
_HELP = """Measure what a machine and its cluster deliver, and compare it with what they should deliver.

nameplate run: measure this machine within a minute

nameplate check: judge whether it is what it should be

nameplate compare OLD.jsonl NEW.jsonl: see whether it changed
"""
_OPTIONS = Group("Options", sort_key=9)
# The option that "--" stands for in a command.
_SEPARATORS = {"compare": "--new", "ab": "--commands"}


def make_app(arguments: Sequence[str] | None = None) -> App:
    """Return the cyclopts app of the command line, with ``--help``, ``--version`` and its commands.

    ``arguments`` are the command-line arguments after ``nameplate``: to save time, the app can run or describe only the
    commands that occur in them. None stands for all commands.
    """
    app = App(
        name="nameplate",
        help=_HELP,
        version=__version__,
        suppress_keyboard_interrupt=False,  # reported by _run like every other error
        default_parameter=Parameter(negative=()),  # no --no-json, no --empty-rated
        help_format="plaintext",  # Markdown doubles the time that --help takes
    )
    # A shell completes the options of all commands.
    register(app, None if arguments is None or _INSTALL_COMPLETION in arguments else arguments)
    # The import of the completion takes longer than some commands.
    if not arguments or arguments[0].startswith("-"):
        app.register_install_completion_command(name=_INSTALL_COMPLETION, group=_OPTIONS)
    for option in ("--help", "--version"):
        app[option].group = (_OPTIONS,)
    return app


def run(arguments: list[str]) -> int:
    """Run one command, and return the exit code of the process.

    ``arguments`` are the command-line arguments after ``nameplate``; if there are none, the help is shown. The result
    is the number that the command returns, or 0 if the command returns none. No exception leaves this function: an
    error is reported as one line on standard error, and the result is then 2 for invalid input, 3 for a failure, an
    interrupt or output that could not be written, 5 if nothing is known of the machine to check, and 70 for a defect of
    nameplate or of a library, even if the library tries to end the process. The key that the network probes share with
    their peer is removed from the environment first.
    """
    hide_key()
    return checked_exit_code(_run(arguments))


def _run(arguments: list[str]) -> int:
    # Only a running command has resources to clean up, so only here Ctrl-C raises an exception.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        check_arguments(arguments)
        arguments = with_options(arguments)
        code = make_app(arguments)(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except KeyboardInterrupt:
        return _report("stopped", Interrupted.exit_code)
    except BaseException as error:  # also SystemExit, and the PanicException of libraries in Rust
        return _report(*_message_of(error))
    finally:
        signal.signal(signal.SIGINT, before)
    return code if isinstance(code, int) else 0


def with_options(arguments: Sequence[str]) -> list[str]:
    """Return command-line arguments in which "--" is replaced by the option that it stands for in the command."""
    separator = _SEPARATORS.get(arguments[0], "--") if arguments else "--"
    return [separator if argument == "--" else argument for argument in arguments]


def _message_of(error: BaseException) -> tuple[str, int]:
    """Return the message of an error in one line, and its exit code."""
    match error:
        case CycloptsError():
            return _usage_message(error), UsageError.exit_code
        case NameplateError():
            return str(error), error.exit_code
        case OSError(filename=filename, strerror=strerror) if filename is not None:
            return f"{filename}: {strerror}", FileError.exit_code
        case FileNotFoundError(filename=None) if not _is_working_directory_there():
            return "the working directory has been deleted: change to another one", UsageError.exit_code
        case MemoryError() | OSError(errno=errno.EAGAIN | errno.ENOMEM | errno.EMFILE | errno.ENFILE):
            return f"out of memory, processes or files: {str(error) or type(error).__name__}", NameplateError.exit_code
        case _:
            return f"internal error, please report it: {_location_of(error)}", InternalError.exit_code


def _usage_message(error: CycloptsError) -> str:
    if isinstance(error, UnknownCommandError) and error.unused_tokens:
        from nameplate.suggestion import nearest  # noqa: PLC0415 (only an unknown command needs it)

        token = error.unused_tokens[0]
        return f"unknown command '{token}'; {nearest(token, [*command_names(), '--help', '--version'])}"
    return " ".join(str(error).split())


def _is_working_directory_there() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def check_arguments(arguments: Sequence[str]) -> None:
    """Check that all command-line arguments are UTF-8: a report or a run file cannot contain other text.

    Raises:
        UsageError: an argument is not UTF-8. The message has the number of the first such argument, counted from 1, and
            the argument with the invalid bytes as escapes.
    """
    for number, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            printable = argument.encode(errors="surrogateescape").decode(errors="backslashreplace")
            raise UsageError(f"argument {number}, '{printable}', is not UTF-8: rename the file or folder") from None


def _report(message: str, code: int) -> int:
    print(f"nameplate: {clean_text(message)}", file=sys.stderr)
    return code


def _location_of(error: BaseException) -> str:
    """Return the type and message of an error, and the innermost file and line of this package in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    frames_of_nameplate = [frame for frame in frames if Path(frame.filename).is_relative_to(Path(__file__).parent)]
    location = (
        f" ({Path(frames_of_nameplate[-1].filename).name}, line {frames_of_nameplate[-1].lineno})"
        if frames_of_nameplate
        else ""
    )
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}{location}"
