"""Read a percentage of the command line."""

from __future__ import annotations

from nameplate.errors import UsageError

MAX_PERCENT = 50.0


def parse_percent(option: str, text: str) -> float:
    """Return the value of an option such as ``5%`` as a share: 0.05. It must be above 0 and at most 50 %.

    ``option`` is the name of the option, such as ``--detect``. Raises UsageError for any other ``text``; the message
    begins with ``option``.
    """
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = 0.0
    if not (text.endswith("%") and 0 < value <= MAX_PERCENT):
        raise UsageError(f"{option} {text}: not a percentage; use one such as 5%, above 0 and up to {MAX_PERCENT:g}%")
    return value / 100
