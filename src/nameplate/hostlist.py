"""Read and write Slurm's host lists, such as ``node[001-003,007],login1``. Pure functions."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence

from nameplate.errors import UsageError

# The limit of Slurm (MAX_RANGE).
MAX_HOSTS = 1 << 16
# The longest host name on any system.
_MAX_NAME = 255
_MAX_QUOTED = 80
_DIGITS = "0123456789"
_RANGE = re.compile(r"([0-9]{1,255})(?:-([0-9]{1,255}))?")
_ITEM = re.compile(r"(?:[^\[\],]|\[[^\[\]]*\])+")
_PART = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")


def compress(names: Sequence[str]) -> str:
    """Return the Slurm host list of some host names, such as ``node[001-003,007],login1``; "" if there are no names.

    Consecutive names that differ only in a number at their end share brackets, and ascending consecutive numbers with
    the same zero padding become a range. The order of ``names`` is kept; names are neither sorted nor checked.
    ``expand`` reverses this function, unless a name is empty or contains a comma or a bracket, or the names exceed the
    limits of ``expand``.
    """
    items = []
    for prefix, group in itertools.groupby(names, key=_prefix):
        members = list(group)
        if prefix is None or len(members) == 1:
            items += members
        else:
            items.append(f"{prefix}[{','.join(_ranges([name.removeprefix(prefix) for name in members]))}]")
    return ",".join(items)


def expand(text: str) -> list[str]:
    """Return the host names of a Slurm host list such as ``node[001-003,007],login1``, in its order; [] for "".

    A name may have several brackets at any position; the numbers in the last brackets vary fastest. Numbers are padded
    with zeros to the width of the first number of their range. A space counts as part of a name. A name that occurs
    twice is returned twice. The time is proportional to the length of the list and of its names.

    Raises:
        UsageError: the text is not a host list (for example, it has an empty name, empty brackets or a descending
            range), has more than ``MAX_HOSTS`` (65,536) names, or has a name of more than 255 characters.
    """
    items = _ITEM.findall(text)
    if ",".join(items) != text:
        raise UsageError(f"'{_quoted(text)}' is not a list of hosts: write it like node[001-003,007],login1")
    hosts = list(itertools.islice(itertools.chain.from_iterable(map(_names, items)), MAX_HOSTS + 1))
    if len(hosts) > MAX_HOSTS:
        raise _too_many(text)
    return hosts


def _quoted(text: str) -> str:
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"


def _too_many(text: str) -> UsageError:
    return UsageError(f"'{_quoted(text)}' has more than {MAX_HOSTS} hosts: split the list")


def _prefix(name: str) -> str | None:
    prefix = name.rstrip(_DIGITS)
    return prefix if 0 < len(name) - len(prefix) <= _MAX_NAME else None


def _ranges(numbers: Sequence[str]) -> Iterator[str]:
    """Yield each run of consecutive numbers with the same zero padding as ``first-last``, or as a single number."""
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != str(int(last) + 1).zfill(len(first)):
            yield first if first == last else f"{first}-{last}"
            first = number
        last = number
    yield first if first == last else f"{first}-{last}"


def _names(item: str) -> Iterator[str]:
    parts = [_numbers(part[1]) if part[2] is None else [part[2]] for part in _PART.finditer(item)]
    if math.prod(map(len, parts)) > MAX_HOSTS:
        raise _too_many(item)
    if sum(len(max(part, key=len)) for part in parts) > _MAX_NAME:
        raise UsageError(f"'{_quoted(item)}' has a name of more than {_MAX_NAME} characters: shorten it")
    return map("".join, itertools.product(*parts))


def _numbers(ranges: str) -> list[str]:
    numbers: list[str] = []
    for text in ranges.split(","):
        match = _RANGE.fullmatch(text)
        first, last = (match[1], match[2] or match[1]) if match else ("1", "0")
        if not 0 <= int(last) - int(first) < MAX_HOSTS:
            raise UsageError(
                f"'{_quoted(text)}' is not a range of hosts: write it like 001-003, with at most {MAX_HOSTS} hosts"
            )
        if len(numbers) > MAX_HOSTS:
            raise _too_many(ranges)
        numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return numbers
