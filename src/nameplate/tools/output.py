"""Read what external tools print: numbers, JSON, and values in nameplate's terms.

A changed output raises Unreadable; nothing is guessed.
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
# Quotients of two values stay finite.
MIN_FIGURE, MAX_FIGURE = 1e-50, 1e50
MAX_DIGITS = 18


@dataclass(frozen=True)
class Imported:
    """A figure in the SI unit of a probe's metric. ``params`` are those that the tool's output tells."""

    probe: str
    params: Mapping[str, Value]
    metric: str
    value: float


def only(values: Sequence[Imported], what: str) -> Sequence[Imported]:
    """Raises Unreadable where there are none."""
    if not values:
        raise Unreadable(f"no {what} in it")
    return values


def number(text: str, pattern: str, factor: float = 1.0) -> float:
    """The number that the pattern's only group matches, in the only place where it does, times ``factor``.

    ``^`` and ``$`` are a line's. Raises Unreadable where there is none, more than one, or what cannot be a figure.
    """
    matches = re.findall(pattern, text, re.MULTILINE)
    if len(matches) != 1:
        raise Unreadable(f"{len(matches) or 'no'} lines that match {pattern}")
    return positive(matches[0], factor)


def positive(text: str | float, factor: float = 1.0) -> float:
    """A figure. Raises Unreadable for anything that is not a finite number above zero."""
    try:
        value = float(text) * factor
    except ValueError:
        raise Unreadable(f"'{text!s:.40}' is no number") from None
    if not MIN_FIGURE <= value <= MAX_FIGURE:
        raise Unreadable(f"{text!s:.40} cannot be a figure")
    return value


def whole(text: str, what: str) -> int:
    """Return a whole number that a tool's output has for ``what``. Raises Unreadable."""
    if not (text.isdecimal() and len(text) <= MAX_DIGITS):
        raise Unreadable(f"{what} is '{text:.40}', not a whole number of at most {MAX_DIGITS} digits")
    return int(text)


def decoded(text: str, type_: type[T]) -> T:
    """JSON of the expected shape, which may follow a line of warnings. Raises Unreadable."""
    begin = text.find("{")
    try:
        return msgspec.json.decode(text[max(begin, 0) :], type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"not the JSON that was expected: {error}") from None
