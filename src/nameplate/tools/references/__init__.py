"""The tools that nameplate is put beside: one module per tool, found by its name; its ``REFERENCE`` says all of it.

An adapter says how the tool is known for what it is, which of its runs do the same work as which of our experiments,
and how its figure is read. What it does not recognise it must not guess: a changed output is ``Unreadable``.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from nameplate.errors import Unreadable
from nameplate.records.model import Value

T = TypeVar("T")
Take = Literal["sustained", "best"]
LOOPBACK = "127.0.0.1"
# Quotients of two figures stay finite.
MIN_FIGURE, MAX_FIGURE = 1e-50, 1e50
MAX_DIGITS = 18


@dataclass(frozen=True)
class FoundProgram:
    """A program that was found on PATH and said itself what it is; ``text`` is all that it said."""

    path: str
    version: str
    text: str


@dataclass(frozen=True)
class ToolSetting:
    """What an adapter's commands depend on.

    - ``found``: by name those of the tool's programs that are there
    - ``folder``: for files, empty at first and removed in the end; ``port``: a free one
    - ``seconds``: of one run; ``cores``: that may be used; ``beyond_bytes``: a size that no cache holds
    - ``launcher``: the words before a program that start it as an MPI job of ``ranks`` ranks
    - ``params``: values of the tool's parameters that a plan gives
    """

    found: Mapping[str, FoundProgram]
    folder: Path
    port: int
    seconds: int
    cores: int
    beyond_bytes: int
    machine: Mapping[str, Any]
    launcher: tuple[str, ...]
    ranks: int
    params: Mapping[str, Any] = field(default_factory=dict)

    def has(self, flag: str) -> bool:
        """Whether the CPU lists it."""
        return flag in self.machine["cpu"]["flags"]


@dataclass(frozen=True)
class ComparedMetric:
    """One figure that a run of the tool prints, and ours of the same work.

    - ``read``: the tool's output as a number in the metric's SI unit; raises Unreadable
    - ``take``: what of our samples stands beside it: all work over all time, or the best sample after the
      first (STREAM)
    - ``differs``: why the two do not do quite the same; there is a ratio then, and no verdict
    """

    name: str
    probe: str
    params: Mapping[str, Value]
    metric: str
    read: Callable[[str], float]
    take: Take = "sustained"
    sample_s: float | None = None
    differs: str = ""


@dataclass(frozen=True)
class ToolWork:
    """One run of the tool.

    - ``threads``: both are bound to so many CPUs; 0: to none
    - ``server``: runs meanwhile, and listens on the setting's port; the clients have the first CPU then,
      servers, theirs and ours, the second
    - ``prepare``: run once before the first run, in the same folder; ``files``: written there, by name
    - ``takes_s``: an estimate of its time; None: the setting's seconds
    """

    name: str
    command: Sequence[str]
    figures: Sequence[ComparedMetric]
    threads: int = 0
    server: Sequence[str] = ()
    prepare: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    takes_s: float | None = None


@dataclass(frozen=True)
class Cannot:
    """Work of ours that the tool has no way to do."""

    probe: str
    what: str
    reason: str


@dataclass(frozen=True)
class ReferenceTool:
    """A tool.

    - ``programs``: the names that it may have on PATH, of which one is enough
    - ``identify``: what follows a program's name to make it say what it is; ``version``: finds that, with the
      version as its group
    - ``output``: the file in the present folder that its figures are read from; empty: standard output
    - ``is_mpi``: its programs are started by an MPI launcher
    - ``install``: how to get it
    - ``parameters``: what a plan may say about its work, each with the function that reads its text; ``given``: the
      values that a plan does give
    - ``identify_s``: how long it takes to say what it is
    """

    name: str
    programs: Sequence[str]
    identify: Sequence[str]
    version: re.Pattern[str]
    install: str
    works: Callable[[ToolSetting], Sequence[ToolWork]]
    cannot: Sequence[Cannot] = ()
    output: str = ""
    is_mpi: bool = False
    parameters: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    identify_s: float = 0.1


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


@cache
def load_references() -> Mapping[str, ReferenceTool]:
    """Every module of this package, by the tool's name."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    return {name: importlib.import_module(f"{__name__}.{name}").REFERENCE for name in names}
