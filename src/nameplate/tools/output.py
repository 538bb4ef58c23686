"""Read the output of external tools: numbers, JSON, and values in nameplate's terms.

Output that has changed raises Unreadable; nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias, TypeVar

import msgspec

from nameplate.control_characters import clean_json
from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value

T = TypeVar("T")
# What no two values of one output may share: the probe, the metric, and the parameters in the order of their names.
Key: TypeAlias = tuple[str, str, tuple[tuple[str, Value], ...]]
# Within these limits, quotients of two values are finite.
MIN_VALUE, MAX_VALUE = 1e-50, 1e50
MAX_DIGITS = 18
MAX_REASONS = 3
_DECODER = json.JSONDecoder()
_BEGINNING = re.compile(r"(?:\A\s*|^)\{", re.MULTILINE)
_NOT_A_NUMBER = re.compile(r"(:\s*)[-+]?(?:nan|inf|NaN|Infinity)(?=\s*[,}])")
# Objects that do not end are looked through once for each beginning.
_MAX_FAILED = 100


@dataclass(frozen=True)
class Imported:
    """A value from a tool's output, as a value of nameplate's metric with the name ``metric``.

    ``value`` is in the metric's SI base unit. ``params`` are the probe's parameters that the output tells; others are
    missing. ``possible`` has the values that a missing parameter may have had, if the output excludes others; () means
    that the work did not have the parameter at all. ``restriction`` says what kept the value below what the machine
    delivers, such as a rate that was asked for, and is empty otherwise. ``rounding`` is that of the printed number that
    the value is, or is computed from (``rounding_of``); 0 for numbers with many digits. ``location`` is the folder or
    the hosts that the work used, as far as the output names them, and no parameter.
    """

    probe: str
    params: Mapping[str, Value]
    metric: str
    value: float
    possible: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    restriction: str = ""
    rounding: float = 0.0
    location: str = ""

    @property
    def key(self) -> Key:
        """Return the probe, the metric and the parameters."""
        return self.probe, self.metric, tuple(sorted(self.params.items()))


@dataclass(frozen=True)
class ToolOutput:
    """One output of a tool as it was read: the tool's version, "" if it has none, and values with distinct keys.

    ``skipped`` has a sentence for each part of the output that is not read, with the reason. ``is_dated`` says that the
    output has the time of its run, so that an equal one is a copy.
    """

    version: str
    values: Sequence[Imported]
    skipped: Sequence[str] = ()
    is_dated: bool = False


def tool_output(
    version: str, values: Sequence[Imported], what: str, skipped: Sequence[str] = (), *, is_dated: bool = False
) -> ToolOutput:
    """Return an output without the values whose key occurs more than once, which ``skipped`` then names.

    One output is one round, and which of several values belongs to it is not known. ``what`` says in a message what the
    values are, in the plural. ``is_dated`` is that of the result.

    Raises:
        Unreadable: no value is left; the message has the reasons.
    """
    counts = Counter(value.key for value in values)
    single = [value for value in values if counts[value.key] == 1]
    repeated = [value for value in values if counts[value.key] > 1]
    reasons = [*skipped, *([_repeated(repeated)] if repeated else [])]
    if not single:
        raise Unreadable("; ".join(shortened(reasons)) or f"no {what} in the output")
    return ToolOutput(version, single, reasons, is_dated)


def _repeated(values: Sequence[Imported]) -> str:
    first = values[0]
    params = " ".join(f"{name}={value}" for name, value in first.params.items())
    return (
        f"the output has {first.metric} with {params} more than once: one output is one round, so put each run into a "
        "file of its own"
    )


def shortened(reasons: Sequence[object]) -> Sequence[str]:
    """Return the first three reasons as text, with the number of those left out."""
    more = [f"and {len(reasons) - MAX_REASONS} more"] if len(reasons) > MAX_REASONS else []
    return [*map(str, reasons[:MAX_REASONS]), *more]


def number(text: str, pattern: str, line: str, factor: float = 1.0) -> float:
    """Return the number in the pattern's only group, times ``factor``.

    ``text`` is the tool's whole output. ``pattern`` is a regular expression, in which ``^`` and ``$`` match at every
    line. The group may match whatever ``positive`` reads. ``line`` describes the line in a message, such as
    ``line 'Triad:'``.

    Raises:
        Unreadable: the pattern does not match exactly once, the group is not a number, or the product is not between
            1e-50 and 1e50.
    """
    matches = re.findall(pattern, text, re.MULTILINE)
    if len(matches) != 1:
        raise Unreadable(f"the output has {f'{len(matches)} times a' if matches else 'no'} {line} in the form expected")
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


def rounding_of(text: str) -> float:
    """Return half a step of a number's last printed digit, as a share of the number.

    ``text`` is a number that ``positive`` returns. Of "0.14" the share is 0.005 / 0.14; it is at most 0.5.
    """
    number = Decimal(text)
    step = Decimal(1).scaleb(int(number.as_tuple().exponent))
    return float(step / number / 2)


def whole(text: str, what: str) -> int:
    """Return the whole number, 0 or more, that ``text`` consists of; ``what`` names the quantity in a message.

    Raises:
        Unreadable: the text is empty, has anything but digits (such as a sign or a space), or more than 18 of them.
    """
    if not (text.isdecimal() and len(text) <= MAX_DIGITS):
        raise Unreadable(f"{what} is '{text:.40}', not a whole number of at most {MAX_DIGITS} digits")
    return int(text)


def decoded(text: str, type_: type[T]) -> T:
    """Return the only JSON object in a text, decoded as the type ``type_`` (msgspec).

    Raises:
        Unreadable: ``json_objects`` does not find exactly one, or the object does not fit the type.
    """
    objects = json_objects(text)
    if len(objects) != 1:
        raise Unreadable(f"{len(objects)} outputs in one file: put each into a file of its own")
    return decoded_object(objects[0], type_)


def decoded_object(text: str | msgspec.Raw, type_: type[T]) -> T:
    """Return a JSON object decoded as the type ``type_`` (msgspec).

    Raises:
        Unreadable: the object does not fit the type.
    """
    try:
        return msgspec.json.decode(text, type=type_)
    except RecursionError:
        raise Unreadable("its JSON is nested too deeply") from None
    except msgspec.DecodeError as error:
        path = re.search(r"at `\$\.?(.+)`$", str(error))
        raise Unreadable(f"its JSON has an unexpected value{f' of {path[1]}' if path else ''}") from None


def json_objects(text: str) -> list[str]:
    """Return the text of every JSON object that begins at the start of a line, in order; other text is ignored.

    If all of the text is an array, they are its objects.

    Tools print warnings, their normal output and several objects around the one that is sought. A number that is
    written as ``nan`` or ``inf``, as some versions do, becomes null.

    Raises:
        Unreadable: there is no complete object.
    """
    text = _NOT_A_NUMBER.sub(r"\1null", text)
    if text.lstrip().startswith("[") and (elements := _elements(text)):
        return elements
    objects, position, failed = [], 0, 0
    while failed < _MAX_FAILED and (match := _BEGINNING.search(text, position)):
        try:
            _, end = _DECODER.raw_decode(text, match.end() - 1)
        except (ValueError, RecursionError):
            failed, position = failed + 1, match.end()
            continue
        objects.append(_cleaned(text[match.end() - 1 : end]))
        position = end
    if not objects and failed == _MAX_FAILED:
        raise Unreadable(f"{failed} lines begin with {{, but no JSON object: remove the text before the output")
    if not objects:
        raise Unreadable("no complete JSON object: the output is cut off, or not in the form of JSON")
    return objects


def _elements(text: str) -> list[str]:
    """Return the objects of the array that a text consists of, none if it is not an array."""
    try:
        elements = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return []
    return [_cleaned(bytes(element).decode()) for element in elements if bytes(element).startswith(b"{")]


def _cleaned(text: str) -> str:
    # Escapes of control characters would become such characters when they are decoded.
    return clean_json(text.encode()).decode()
