"""Everything that nameplate raises on purpose.

NameplateError            one clear line for the user; ``exit_code`` is the process's
├── InputError        2   what was given
│   ├── UsageError        a name, value or option that is not possible, with what would be right
│   └── FileError         a file that cannot be read or written, with its name and, where it has one, the line
│       └── ReadError     the system does not let it be read, which may change while the file stays the same
├── ToolError         3   another tool
│   ├── ToolFailed        cannot be run, crashed, or did not end before its deadline
│   └── Unreadable        said something else than its adapter expects
├── CoreError         3   the measuring process
│   ├── CoreMissing       is not installed or is of another version
│   ├── CoreDied          ended in the middle of an experiment
│   └── CoreHung          did not answer before its deadline
├── OutputError       3   standard output could not be written, or its reader left before the end of a run
├── InternalError    70   a defect of nameplate's own
└── Interrupted       3   stopped by the user; what was measured is kept
"""


class NameplateError(Exception):
    """The base of all of them: its text is shown as it stands."""

    exit_code = 3


class InputError(NameplateError):
    """Something is wrong with what was given: one line, even where it quotes text of several."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


class UsageError(InputError):
    """A name, value or option that is not possible."""


class FileError(InputError):
    """A file that cannot be read or written."""


class ReadError(FileError):
    """A file that the system does not let be read. This may change while the file itself stays the same."""


class ToolError(NameplateError):
    """Something is wrong with a tool that nameplate is put beside."""


class ToolFailed(ToolError):
    """It cannot be run, crashed, or did not end before its deadline."""


class Unreadable(ToolError):
    """Its output is not what its adapter expects."""


class CoreError(NameplateError):
    """Something is wrong with the measuring process."""


class CoreMissing(CoreError):
    """nameplate-core is not installed, or speaks another schema."""


class CoreDied(CoreError):
    """nameplate-core ended in the middle of an experiment."""


class CoreHung(CoreError):
    """nameplate-core did not answer before its deadline and was killed."""


class OutputError(NameplateError):
    """Standard output could not be written, or its reader left before the end of a run."""


class InternalError(NameplateError):
    """A defect of nameplate's own."""

    exit_code = 70


class Interrupted(NameplateError):
    """The user stopped the run."""
