"""A reference tool: how it is identified, which of its runs do the same work as ours, how their values are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nameplate.records.model import Value

Take = Literal["sustained", "best"]
LOOPBACK = "127.0.0.1"


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
