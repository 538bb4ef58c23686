"""Read a percentage of the command line."""

from __future__ import annotations

from nameplate.errors import UsageError

MAX_PERCENT = 50.0


def parse_percent(option: str, text: str) -> float:
    """Return the value of an option such as ``5%`` as a share, above 0 and up to 0.5.

    Raises UsageError for other texts; the message begins with ``option``.
    """
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = 0.0
    if not (text.endswith("%") and 0 < value <= MAX_PERCENT):
        raise UsageError(f"{option} {text}: not a percentage; use one such as 5%, at most {MAX_PERCENT:g}%")
    return value / 100
