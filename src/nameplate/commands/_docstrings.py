"""Reflow docstrings for ``--help``, which would keep the line breaks of the source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TypeVar

Documented = TypeVar("Documented", bound=Callable[..., object])


def reflowed(documented: Documented) -> Documented:
    """Remove the line breaks within each paragraph and each description of a parameter from a docstring.

    ``documented`` is a function or a class. Its docstring is changed in place, and it is returned.
    """
    documented.__doc__ = "\n".join(_unwrapped(inspect.getdoc(documented) or ""))
    return documented


def _unwrapped(docstring: str) -> Iterator[str]:
    """Yield the lines of a docstring, with each paragraph and each description of a parameter in one line."""
    text, heading, parameters = docstring.partition("\n\nParameters\n")
    yield "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    description = ""
    for line in f"{heading}{parameters}".splitlines():
        if line.startswith(" "):
            description += f" {line.strip()}" if description else line
            continue
        if description:
            yield description
        description = ""
        yield line
    if description:
        yield description
