"""Describe a reference tool: how it is identified, which of its runs do the same work, how its values are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value

Take = Literal["sustained", "best"]
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class FoundProgram:
    """A program on PATH that identified itself.

    ``text`` is everything that it printed then: standard output, standard error and its output file. ``path`` is
    absolute unless PATH has a relative directory.
    """

    path: str
    version: str
    text: str


@dataclass(frozen=True)
class ToolSetting:
    """The conditions of a comparison, which an adapter's commands depend on.

    - ``found``: the tool's programs that are installed, by their names in ``ReferenceTool.programs``
    - ``folder``: a folder for files, which is removed at the end; ``host``, ``port``: the loopback
      address at which servers listen, and a free port of it
    - ``seconds``: the time of one run; ``cores``: the number of physical cores that may be used
    - ``beyond_bytes``: a size that no cache holds
    - ``launcher``: the words before a program that start it as an MPI job with ``ranks`` ranks; empty without MPI
    - ``params``: the values that a plan gives for the tool's parameters by name, already parsed; parameters that it
      does not give are missing
    """

    found: Mapping[str, FoundProgram]
    folder: Path
    host: str
    port: int
    seconds: int
    cores: int
    beyond_bytes: int
    machine: Machine
    launcher: tuple[str, ...]
    ranks: int
    params: Mapping[str, Any] = field(default_factory=dict)

    def has(self, flag: str) -> bool:
        """Return whether the CPU lists the flag, spelled as in /proc/cpuinfo, such as ``avx512f``."""
        return flag in self.machine.cpu.flags


@dataclass(frozen=True)
class ComparedMetric:
    """A metric that a run of the tool prints, and nameplate's metric of the same work.

    - ``name``: what distinguishes it from other metrics of the same run, such as ``HPL``; empty for an only metric
    - ``probe``, ``params``, ``metric``: nameplate's probe, its parameters for the same work, and the name of its metric
    - ``read``: returns the number in the metric's SI unit from the tool's output, which is its standard output or the
      content of ``ReferenceTool.output``; raises Unreadable
    - ``take``: the value of nameplate's samples that is compared: "sustained" is all work divided by all time, "best"
      the best sample after the first (as in STREAM), or the only sample
    - ``sample_s``: the length of nameplate's samples in seconds; None means that it is calibrated
    - ``differs``: why the work is not exactly the same; the row then has a ratio and no verdict. It is empty if the
      work is the same
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

    - ``name``: the work in a few words, for a table; ``command``: the program and its arguments
    - ``metrics``: what the run prints, in the order in which values are reported
    - ``threads``: both programs are bound to this number of CPUs; 0 means that they are not bound
    - ``server``: a command that runs meanwhile and listens on the setting's port. Both clients then have the first CPU,
      both servers the second. Empty without a server
    - ``prepare``: a command that runs before each pair in the same folder, or empty; ``files``: the text of files
      written there before, by name. Other works of the tool may have changed what they leave
    - ``cached``: the name of a file there that the page cache must have as a whole during each run; empty for none
    - ``environment``: variables that are added for ``command``
    - ``takes_s``: an estimate of its time; None means the setting's seconds
    """

    name: str
    command: Sequence[str]
    metrics: Sequence[ComparedMetric]
    threads: int = 0
    server: Sequence[str] = ()
    prepare: Sequence[str] = ()
    cached: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    takes_s: float | None = None


@dataclass(frozen=True)
class Cannot:
    """A work of nameplate that the tool cannot do.

    ``what`` is the work in a few words, such as ``payload=1`` of the probe, and ``reason`` why the tool cannot do it.
    """

    probe: str
    what: str
    reason: str


@dataclass(frozen=True)
class ReferenceTool:
    """A reference tool.

    - ``programs``: the names that it may have on PATH; one of them is enough
    - ``identify``: arguments that make a program print its version; ``version``: a pattern that is searched in
      everything that it prints, with the version as its first group
    - ``install``: how to install it, as the command or in words
    - ``works``: returns the runs of the tool that nameplate has the same work for; raises Unreadable or UsageError
    - ``cannot``: works of nameplate that the tool cannot do
    - ``output``: the file in the current folder with the results; empty means standard output
    - ``is_mpi``: whether an MPI launcher starts its programs
    - ``parameters``: what a plan may say about its work by name, each with the function that parses its text or raises
      UsageError; ``given``: the parsed values that a plan gives
    - ``identify_s``: how long it takes to print its version
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
