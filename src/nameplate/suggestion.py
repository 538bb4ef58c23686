"""Suggest a name in place of an unknown one."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable

# The number of first letters that an unknown name must share with a suggestion.
_MIN_SHARED = 3


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name, as the last part of a message, without a full stop.

    The suggestion is ``did you mean 'x'?`` with the most similar name in ``known``, or with the names that begin with
    the same three letters or more, as ``net_stream`` does for ``network``; ``available: a, b`` with all names if none
    is similar.
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    if not close:
        shared = {candidate: _n_shared(name, candidate) for candidate in names}
        longest = max(shared.values(), default=0)
        close = [candidate for candidate in names if shared[candidate] == longest >= _MIN_SHARED]
    if not close:
        return f"available: {', '.join(names)}"
    return f"did you mean {' or '.join(repr(candidate) for candidate in close)}?"


def _n_shared(one: str, other: str) -> int:
    """Return the number of first characters that two names share."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
