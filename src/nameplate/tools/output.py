"""Read the output of external tools: numbers, JSON, and values as nameplate's metrics.

Output in an unexpected form raises Unreadable; nothing is guessed.
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
# The key of a value, unique within an output: the probe, the metric, and the parameters in the order of their names.
Key: TypeAlias = tuple[str, str, tuple[tuple[str, Value], ...]]
# The quotient of two values within these limits is finite.
MIN_VALUE, MAX_VALUE = 1e-50, 1e50
MAX_DIGITS = 18
MAX_REASONS = 3
_DECODER = json.JSONDecoder()
_OBJECT_START = re.compile(r"(?:\A\s*|^)\{", re.MULTILINE)
_NOT_A_NUMBER = re.compile(r"(:\s*)[-+]?(?:nan|inf|NaN|Infinity)(?=\s*[,}])")
# An object that does not end is parsed up to the end of the text, so limit the number of attempts.
_MAX_FAILED = 100


@dataclass(frozen=True)
class Imported:
    """A value that a tool printed, as a value of one of nameplate's metrics.

    - ``probe``, ``metric``: the names of nameplate's probe and metric
    - ``params``: the probe's parameters that the output determines; others are missing
    - ``value``: the value in the metric's SI base unit
    - ``possible``: the values that a missing parameter may have had, if the output excludes others; () means that the
      work does not have this parameter
    - ``restriction``: why the value is below what the machine delivers, for example a requested rate; otherwise empty
    - ``rounding``: the rounding error of the printed number as a share (see ``rounding_of``); 0 for numbers with many
      digits
    - ``location``: the folder or hosts that the work used, if the output names them and they are not parameters;
      otherwise empty
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
        """Return (probe, metric, parameters), with the parameters as (name, value) pairs sorted by name."""
        return self.probe, self.metric, tuple(sorted(self.params.items()))


@dataclass(frozen=True)
class ToolOutput:
    """The content of one output of a tool.

    - ``version``: the tool's version, or "" if the output has none
    - ``values``: the values, each with a different ``key``
    - ``skipped``: a sentence with the reason for each part of the output that is not read
    - ``is_dated``: whether the output has the time of the run, so that an equal output must be a copy
    """

    version: str
    values: Sequence[Imported]
    skipped: Sequence[str] = ()
    is_dated: bool = False


def tool_output(
    version: str, values: Sequence[Imported], tool: str, skipped: Sequence[str] = (), *, is_dated: bool = False
) -> ToolOutput:
    """Return a ToolOutput of ``values``, except values whose key occurs more than once.

    One output is one round, so a repeated value is ambiguous; ``skipped`` of the result then has a sentence about it,
    after the sentences of the argument ``skipped``. ``tool`` names the expected parts of an output in an error message,
    in the plural, for example "jobs". ``version`` and ``is_dated`` are copied to the result.

    Raises:
        Unreadable: no value is left; the message gives the reasons.
    """
    counts = Counter(value.key for value in values)
    single = [value for value in values if counts[value.key] == 1]
    repeated = [value for value in values if counts[value.key] > 1]
    reasons = [*skipped, *([_repeated(repeated)] if repeated else [])]
    if not single:
        raise Unreadable("; ".join(shortened(reasons)) or f"no {tool} in the output")
    return ToolOutput(version, single, reasons, is_dated)


def _repeated(values: Sequence[Imported]) -> str:
    first = values[0]
    params = " ".join(f"{name}={value}" for name, value in first.params.items())
    return (
        f"the output has {first.metric} with {params} more than once: one output is one round, so put each run into a "
        "separate file"
    )


def shortened(reasons: Sequence[object]) -> Sequence[str]:
    """Return the first three reasons as text, followed by "and N more" if there are more."""
    more = [f"and {len(reasons) - MAX_REASONS} more"] if len(reasons) > MAX_REASONS else []
    return [*map(str, reasons[:MAX_REASONS]), *more]


def number(text: str, pattern: str, line: str, factor: float = 1.0) -> float:
    """Return the number that the only group of ``pattern`` matches, multiplied by ``factor``.

    ``text`` is the tool's whole output. ``pattern`` is a regular expression, in which ``^`` and ``$`` match at every
    line; its group must match a text that ``positive`` accepts. ``line`` describes the line in an error message, for
    example ``line 'Triad:'``.

    Raises:
        Unreadable: the pattern does not match exactly once, the group is not a number, or the product is not between
            1e-50 and 1e50.
    """
    matches = re.findall(pattern, text, re.MULTILINE)
    if len(matches) != 1:
        raise Unreadable(f"the output has {f'{len(matches)} times a' if matches else 'no'} {line} in the expected form")
    return positive(matches[0], factor)


def positive(text: str | float, factor: float = 1.0) -> float:
    """Return a number above 0, given as number or text, multiplied by ``factor``.

    Text has the form that ``float`` accepts: a decimal point, an exponent and surrounding spaces are allowed.

    Raises:
        Unreadable: the text is not a number, or the product is not between 1e-50 and 1e50 (0, NaN and infinity
            included).
    """
    try:
        value = float(text) * factor
    except ValueError:
        raise Unreadable(f"'{text!s:.40}': not a number") from None
    if not MIN_VALUE <= value <= MAX_VALUE:
        raise Unreadable(f"{text!s:.40}: not a valid value")
    return value


def rounding_of(text: str) -> float:
    """Return half a unit of the last printed digit of a number, as a share of the number (at most 0.5).

    ``text`` is the number as printed, above 0. For "0.14" the result is 0.005 / 0.14.
    """
    number = Decimal(text)
    step = Decimal(1).scaleb(int(number.as_tuple().exponent))
    return float(step / number / 2)


def integer(text: str, name: str) -> int:
    """Return ``text`` as an integer of 0 or more. ``name`` names the quantity in an error message.

    Raises:
        Unreadable: the text is empty, has characters other than digits (a sign or a space, for example), or more than
            18 digits.
    """
    if not (text.isdecimal() and len(text) <= MAX_DIGITS):
        raise Unreadable(f"{name} is '{text:.40}', not a whole number of at most {MAX_DIGITS} digits")
    return int(text)


def decoded(text: str, type_: type[T]) -> T:
    """Return the only JSON object in ``text``, decoded by msgspec as the type ``type_``.

    Raises:
        Unreadable: ``json_objects`` does not find exactly one object, or the object does not fit the type.
    """
    objects = json_objects(text)
    if len(objects) != 1:
        raise Unreadable(f"{len(objects)} outputs in one file: put each into a separate file")
    return decoded_object(objects[0], type_)


def decoded_object(text: str | msgspec.Raw, type_: type[T]) -> T:
    """Return the JSON object ``text``, decoded by msgspec as the type ``type_``.

    Raises:
        Unreadable: the object does not fit the type, or is nested too deeply.
    """
    try:
        return msgspec.json.decode(text, type=type_)
    except RecursionError:
        raise Unreadable("its JSON is nested too deeply") from None
    except msgspec.DecodeError as error:
        path = re.search(r"at `\$\.?(.+)`$", str(error))
        raise Unreadable(f"its JSON has an unexpected value{f' of {path[1]}' if path else ''}") from None


def json_objects(text: str) -> list[str]:
    """Return the text of each JSON object that starts at the beginning of a line, in order; other text is ignored.

    If the whole text is a JSON array, the result is its objects instead. Numbers written as ``nan`` or ``inf``, as some
    tools do, become null.

    Raises:
        Unreadable: there is no complete object.
    """
    text = _NOT_A_NUMBER.sub(r"\1null", text)
    if text.lstrip().startswith("[") and (elements := _elements(text)):
        return elements
    objects, position, failed = [], 0, 0
    while failed < _MAX_FAILED and (match := _OBJECT_START.search(text, position)):
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
    """Return the objects of a JSON array, or an empty list if the text is not an array."""
    try:
        elements = msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return []
    return [_cleaned(bytes(element).decode()) for element in elements if bytes(element).startswith(b"{")]


def _cleaned(text: str) -> str:
    # Escapes of control characters would become such characters when they are decoded.
    return clean_json(text.encode()).decode()
