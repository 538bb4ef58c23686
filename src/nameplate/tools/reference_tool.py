"""Describe a reference tool: how to identify it, which of its runs do the same work, and how to read its values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Value

Take = Literal["sustained", "best", "worst"]
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class ToolProgram:
    """An installed program of a reference tool.

    - ``path``: the path from PATH; absolute unless PATH has a relative directory
    - ``version``: the version that the program printed
    - ``text``: everything that the program printed with its version: standard output, standard error and its output
      file
    """

    path: str
    version: str
    text: str


@dataclass(frozen=True)
class ToolSetting:
    """The conditions of a comparison, from which an adapter builds its commands.

    - ``programs``: the installed programs of the tool, by their names in ``ReferenceTool.programs``
    - ``folder``: the folder for the tool's files, which is removed at the end
    - ``host``, ``port``: the loopback address on which servers listen, and a free TCP port; 0 without a loopback
      address
    - ``seconds``: the duration of one run in seconds
    - ``cores``: the number of physical cores that may be used
    - ``beyond_bytes``: a size in bytes that is larger than every cache
    - ``machine``: the description of this machine
    - ``launcher``: the command-line arguments that start a program as an MPI job, to be put before the program; empty
      without MPI
    - ``ranks``: the number of ranks of that job
    - ``params``: the parsed values of ``ReferenceTool.parameters`` that a plan gives; others are missing
    """

    programs: Mapping[str, ToolProgram]
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
        """Return whether the CPU has the flag, spelled as in /proc/cpuinfo: ``avx512f``."""
        return flag in self.machine.cpu.flags


@dataclass(frozen=True)
class ComparedMetric:
    """A metric that a run of the tool prints, and nameplate's metric of the same work.

    - ``name``: distinguishes the metric from others of the same run, for example ``HPL``; empty if there is only one
    - ``probe``, ``params``, ``metric``: nameplate's probe, its parameters for the same work, and the name of its metric
    - ``read``: returns the value in the metric's SI unit from the tool's output (standard output, or the content of the
      file ``ReferenceTool.output``); raises Unreadable
    - ``take``: nameplate's value that is compared: "sustained" is the work of all samples divided by their time; "best"
      and "worst" are the best and the worst sample after the first one (as in STREAM), or the only sample
    - ``sample_s``: the length of nameplate's samples in seconds; None means that nameplate calibrates it
    - ``differs``: how the work differs, in which case there is a ratio but no verdict; empty if the work is the same
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

    - ``name``: a short description of the work for a table
    - ``command``: the program and its arguments
    - ``metrics``: the metrics that the run prints, in the order in which values are reported
    - ``threads``: the number of CPUs to which nameplate and the tool are bound; 0 means that neither is bound
    - ``server``: a command that runs at the same time and listens on ``ToolSetting.port``; empty without a server. With
      a server, the clients of nameplate and of the tool are bound to the first CPU, and both servers to the second one.
    - ``prepare``: a command that runs in ``ToolSetting.folder`` before each pair; empty for none
    - ``files``: files to write into this folder before each pair, as text by file name. They are written anew each
      time, because other works of the tool may have changed them.
    - ``cached``: the name of a file in this folder that must be completely in the page cache during each run; empty for
      none
    - ``environment``: environment variables to add for ``command``
    - ``takes_s``: the estimated duration in seconds; None means ``ToolSetting.seconds``
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
class NotMeasurable:
    """A work of nameplate that the tool cannot do.

    ``probe`` is nameplate's probe. ``work`` describes the work in a few words, for example ``payload=1``. ``reason``
    says why the tool cannot do it.
    """

    probe: str
    work: str
    reason: str


@dataclass(frozen=True)
class ReferenceTool:
    """A reference tool, with everything that nameplate needs to identify, run and read it.

    - ``name``: the name of the tool, as on the command line of ``nameplate versus``
    - ``programs``: the names of its programs; the tool is installed if at least one is on PATH
    - ``identify``: the arguments with which a program prints its version
    - ``version``: a pattern that is searched in the printed text; its first group is the version
    - ``install``: a command, or a sentence, that says how to install the tool
    - ``works``: returns the runs of the tool that do the same work as nameplate; raises Unreadable or UsageError
    - ``cannot``: works of nameplate that the tool cannot do
    - ``output``: the file in the current directory to which the tool writes its results; empty for standard output
    - ``is_mpi``: whether an MPI launcher starts its programs
    - ``parameters``: the parameters that a plan may set, by name, each with a function that parses the text of the
      value or raises UsageError
    - ``given``: the parsed values that a plan sets
    - ``identify_s``: the usual time in seconds that a program takes to print its version, for estimates
    """

    name: str
    programs: Sequence[str]
    identify: Sequence[str]
    version: re.Pattern[str]
    install: str
    works: Callable[[ToolSetting], Sequence[ToolWork]]
    cannot: Sequence[NotMeasurable] = ()
    output: str = ""
    is_mpi: bool = False
    parameters: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    identify_s: float = 0.1
