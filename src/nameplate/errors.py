"""Define the errors that nameplate raises, with the exit code of each.

NameplateError            one line for the user; ``exit_code`` is that of the process
├── InputError        2   the input is wrong
│   ├── UsageError        an invalid name, value or option; the message says what is valid
│   └── FileError         a file that cannot be read or written, with its name and, if known, the line
│       └── ReadError     the system refuses to read the file; a later attempt may succeed with the same content
├── ToolError         3   a reference tool failed
│   ├── ToolFailed        it cannot be run, crashed, or missed its deadline
│   └── Unreadable        its output is not what its adapter expects
├── CoreError         3   the measuring process failed
│   ├── CoreMissing       it is not installed, or has another version
│   ├── CoreDied          it ended too early, or its output is invalid
│   └── CoreHung          it missed its deadline
├── CommandFailed     3   a program of the user ended with another exit code than 0
├── NotJudged         3   the run does not show what its machine delivers
├── NothingExpected   5   nothing is known of the machine that is checked
├── OutputError       3   standard output cannot be written, or its reader left before the end of a run
├── InternalError    70   a defect of nameplate itself
└── Interrupted       3   stopped by the user; samples taken before are kept
"""

import re

# A message quotes text of files, which may be one word or line of any length.
_LONG_WORD = re.compile(r"(\S{300})\S{300,}(\S{100})")
_LONG_MESSAGE = re.compile(r"(.{1000}).{300,}(.{300})", re.DOTALL)


class NameplateError(Exception):
    """The base class of all errors of nameplate. Its text is shown to the user unchanged, after ``nameplate: ``.

    ``exit_code`` is the exit code of the process: 3, unless a subclass has another one.
    """

    exit_code = 3


class InputError(NameplateError):
    """The base class of errors in the input; the exit code is 2.

    Line breaks in ``message`` become spaces. The middle of a word of 700 characters or more, and of a message of 1600
    characters or more, is replaced by an ellipsis.
    """

    exit_code = 2

    def __init__(self, message: str) -> None:
        line = _LONG_WORD.sub(r"\1…\2", " ".join(message.splitlines()))
        super().__init__(_LONG_MESSAGE.sub(r"\1…\2", line))


class UsageError(InputError):
    """A name, value or option is invalid. The message has the offending value and says what is valid."""


class FileError(InputError):
    """A file cannot be read or written. The message names the file and, if it is known, the line."""


class ReadError(FileError):
    """A file does not exist, is not a regular file, or the system refuses to read it.

    Reading may succeed later although the content of the file has not changed, for example after a change of
    permissions.
    """


class CommandFailed(NameplateError):
    """A program that the user wants to be timed ended with another exit code than 0."""


class NotJudged(NameplateError):
    """A run does not show what its machine delivers, since a CPU quota or other programs slowed it down."""


class NothingExpected(NameplateError):
    """No expected range or reference value is known for the machine or run that is checked, so no area can be judged.

    The exit code is 5.
    """

    exit_code = 5


class ToolError(NameplateError):
    """A reference tool failed."""


class ToolFailed(ToolError):
    """A reference tool cannot be run, crashed, or did not end before its deadline."""


class Unreadable(ToolError):
    """The output of a reference tool does not have the format that nameplate's adapter for this tool reads."""


class CoreError(NameplateError):
    """nameplate-core failed, or an experiment of a paired comparison has no value."""


class CoreMissing(CoreError):
    """nameplate-core is not installed, cannot be run, or uses another version of the record schema."""


class CoreDied(CoreError):
    """nameplate-core ended before it had answered a request, exited with an error, or wrote an invalid record."""


class CoreHung(CoreError):
    """nameplate-core did not answer before its deadline and was killed."""


class OutputError(NameplateError):
    """Standard output cannot be written, or its reader left before the end of a run."""


class InternalError(NameplateError):
    """A defect of nameplate itself; the exit code is 70."""

    exit_code = 70


class Interrupted(NameplateError):
    """The user stopped the run. The run file keeps the samples that were taken before."""
