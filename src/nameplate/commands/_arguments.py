"""What is checked of the command line before any command sees it."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.errors import UsageError


def check_arguments(arguments: Sequence[str]) -> None:
    """Raise UsageError for an argument that is not UTF-8: neither a report nor a run file could name it."""
    for number, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = argument.encode(errors="surrogateescape").decode(errors="backslashreplace")
            raise UsageError(f"argument {number}, '{shown}', is not UTF-8: rename what it names") from None
