"""Read the output of external tools: numbers, JSON, and values in nameplate's terms.

Output that has changed raises Unreadable; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value

T = TypeVar("T")
# Within these limits, quotients of two values are finite.
MIN_VALUE, MAX_VALUE = 1e-50, 1e50
MAX_DIGITS = 18


@dataclass(frozen=True)
class Imported:
    """A value from a tool's output, as a value of nameplate's metric with the name ``metric``.

    ``value`` is in the metric's SI base unit. ``params`` are the probe's parameters that the output tells; others are
    missing.
    """

    probe: str
    params: Mapping[str, Value]
    metric: str
    value: float


def only(values: Sequence[Imported], what: str) -> Sequence[Imported]:
    """Return the values unchanged; ``what`` says in a message what they are, in the plural.

    Raises:
        Unreadable: there are none.
    """
    if not values:
        raise Unreadable(f"no {what} in the output")
    return values


def number(text: str, pattern: str, factor: float = 1.0) -> float:
    """Return the number in the pattern's only group, times ``factor``.

    ``text`` is the tool's whole output. ``pattern`` is a regular expression, in which ``^`` and ``$`` match at every
    line. The group may match whatever ``positive`` reads.

    Raises:
        Unreadable: the pattern does not match exactly once, the group is not a number, or the product is not between
            1e-50 and 1e50.
    """
    matches = re.findall(pattern, text, re.MULTILINE)
    if len(matches) != 1:
        raise Unreadable(f"{len(matches) or 'no'} lines match {pattern}")
    return positive(matches[0], factor)


def positive(text: str | float, factor: float = 1.0) -> float:
    """Return a number above 0, which may be written as text, times ``factor``.

    The text is as for ``float``: a decimal point, an exponent and surrounding space are accepted.

    Raises:
        Unreadable: the text is not a number, or the product is not between 1e-50 and 1e50 (as for 0, NaN and infinity).
    """
    try:
        value = float(text) * factor
    except ValueError:
        raise Unreadable(f"'{text!s:.40}': not a number") from None
    if not MIN_VALUE <= value <= MAX_VALUE:
        raise Unreadable(f"{text!s:.40}: not a possible value")
    return value


def whole(text: str, what: str) -> int:
    """Return the whole number, 0 or more, that ``text`` consists of; ``what`` names the quantity in a message.

    Raises:
        Unreadable: the text is empty, has anything but digits (such as a sign or a space), or more than 18 of them.
    """
    if not (text.isdecimal() and len(text) <= MAX_DIGITS):
        raise Unreadable(f"{what} is '{text:.40}', not a whole number of at most {MAX_DIGITS} digits")
    return int(text)


def sizes_and_times(text: str, row: re.Pattern[str]) -> Iterator[tuple[int, float]]:
    """Yield the size in bytes and the time in seconds of each line of a text whose beginning matches ``row``.

    The groups of ``row`` are the size, as for ``whole``, and the time in microseconds, as for ``positive``.

    Raises:
        Unreadable: a size or a time is not a possible value; the message has the number of the line.
    """
    for line_number, line in enumerate(text.splitlines(), start=1):
        match = row.match(line)
        if match is None:
            continue
        try:
            yield whole(match[1], "the size"), positive(match[2], 1e-6)
        except Unreadable as error:
            raise Unreadable(f"line {line_number}: {error}") from None


def decoded(text: str, type_: type[T]) -> T:
    """Return the JSON object in a text, decoded as the type ``type_`` (msgspec).

    Lines of warnings may precede the object, unless they contain a brace. Only white space may follow it.

    Raises:
        Unreadable: the text has no such JSON, or the object does not fit the type.
    """
    begin = text.find("{")
    try:
        return msgspec.json.decode(text[max(begin, 0) :], type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"unexpected JSON: {error}") from None
