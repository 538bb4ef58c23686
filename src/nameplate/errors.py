"""Define the errors that nameplate raises, with the exit code of each.

NameplateError            one line for the user; ``exit_code`` is that of the process
├── InputError        2   the input is wrong
│   ├── UsageError        an invalid name, value or option; the message says what is valid
│   └── FileError         a file that cannot be read or written, with its name and, if known, the line
│       └── ReadError     the system refuses to read the file, which may change although the file does not
├── ToolError         3   a reference tool failed
│   ├── ToolFailed        it cannot be run, crashed, or missed its deadline
│   └── Unreadable        its output is not what its adapter expects
├── CoreError         3   the measuring process failed
│   ├── CoreMissing       it is not installed, or has another version
│   ├── CoreDied          it ended too early, or its output is invalid
│   └── CoreHung          it missed its deadline
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
    """The base class of all errors. Its text is shown to the user unchanged, after ``nameplate: ``.

    ``exit_code`` is the exit code of the process: 3, unless a subclass has another one.
    """

    exit_code = 3


class InputError(NameplateError):
    """The input is wrong; the exit code is 2.

    Line breaks in the message become spaces, so that it is one line. The middle of words of 700 characters and of
    messages of 1600 is left out.
    """

    exit_code = 2

    def __init__(self, message: str) -> None:
        line = _LONG_WORD.sub(r"\1…\2", " ".join(message.splitlines()))
        super().__init__(_LONG_MESSAGE.sub(r"\1…\2", line))


class UsageError(InputError):
    """A name, value or option is invalid. The message says which, and what is valid."""


class FileError(InputError):
    """A file cannot be read or written. The message names the file and, if it is known, the line."""


class ReadError(FileError):
    """The system refuses to read a file, or it is not a regular file. This may change although its content does not."""


class NothingExpected(NameplateError):
    """Nothing is known of the machine that is checked, or of its run, so no area of it can be judged."""

    exit_code = 5


class ToolError(NameplateError):
    """A reference tool failed."""


class ToolFailed(ToolError):
    """A reference tool cannot be run, crashed, or did not end before its deadline."""


class Unreadable(ToolError):
    """The output of a reference tool is not what its adapter expects."""


class CoreError(NameplateError):
    """The measuring process failed. It is raised itself if an experiment of a paired comparison has no value."""


class CoreMissing(CoreError):
    """nameplate-core is not installed, cannot be run, or uses another schema version."""


class CoreDied(CoreError):
    """nameplate-core ended before it had answered, exited with an error, or wrote something that is not a record."""


class CoreHung(CoreError):
    """nameplate-core did not answer before its deadline and was killed."""


class OutputError(NameplateError):
    """Standard output cannot be written, or its reader left before the end of a run."""


class InternalError(NameplateError):
    """A defect of nameplate itself; the exit code is 70."""

    exit_code = 70


class Interrupted(NameplateError):
    """The user stopped the run. The run file keeps the samples that were taken before."""
