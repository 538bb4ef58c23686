"""Read the output of external tools: numbers, JSON, and values in nameplate's terms.

Output that has changed raises Unreadable; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.model import Value

T = TypeVar("T")
# Within these limits, quotients of two values are finite.
MIN_VALUE, MAX_VALUE = 1e-50, 1e50
MAX_DIGITS = 18


@dataclass(frozen=True)
class Imported:
    """A value in the SI unit of a probe's metric. ``params`` are the parameters that the tool's output tells."""

    probe: str
    params: Mapping[str, Value]
    metric: str
    value: float


def only(values: Sequence[Imported], what: str) -> Sequence[Imported]:
    """Return the values.

    Raises:
        Unreadable: there are none.
    """
    if not values:
        raise Unreadable(f"no {what} in the output")
    return values


def number(text: str, pattern: str, factor: float = 1.0) -> float:
    """Return the number in the pattern's only group, times ``factor``. ``^`` and ``$`` match at every line.

    Raises:
        Unreadable: the pattern does not match exactly once, or the number is not positive and finite.
    """
    matches = re.findall(pattern, text, re.MULTILINE)
    if len(matches) != 1:
        raise Unreadable(f"{len(matches) or 'no'} lines match {pattern}")
    return positive(matches[0], factor)


def positive(text: str | float, factor: float = 1.0) -> float:
    """Return a positive, finite number, times ``factor``.

    Raises:
        Unreadable: the text is anything else.
    """
    try:
        value = float(text) * factor
    except ValueError:
        raise Unreadable(f"'{text!s:.40}': not a number") from None
    if not MIN_VALUE <= value <= MAX_VALUE:
        raise Unreadable(f"{text!s:.40}: not a possible value")
    return value


def whole(text: str, what: str) -> int:
    """Return a whole number that a tool's output has for ``what``.

    Raises:
        Unreadable: the text is anything else.
    """
    if not (text.isdecimal() and len(text) <= MAX_DIGITS):
        raise Unreadable(f"{what} is '{text:.40}', not a whole number of at most {MAX_DIGITS} digits")
    return int(text)


def decoded(text: str, type_: type[T]) -> T:
    """Return decoded JSON of the given type; lines of warnings may precede it.

    Raises:
        Unreadable: the text has no such JSON.
    """
    begin = text.find("{")
    try:
        return msgspec.json.decode(text[max(begin, 0) :], type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"unexpected JSON: {error}") from None
