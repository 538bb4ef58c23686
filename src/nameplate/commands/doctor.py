"""``nameplate doctor``."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from nameplate.errors import FileError
from nameplate.execution.core_process import CoreProcess, make_request, mpi_libraries
from nameplate.execution.launch import how_to_build
from nameplate.records.model import Experiment, Header, Limits, Outcome, Sample
from nameplate.report.terminal.console import make_console
from nameplate.results.fitness import (
    Finding,
    Grade,
    busy_shares,
    judge_machine,
    judge_others,
    judge_spins,
    judge_steal,
    overall,
)

_STYLES: dict[Grade, str] = {"A": "green", "B": "", "C": "yellow", "D": "red", "F": "bold red"}
_MEANING: dict[Grade, str] = {
    "A": "fit to measure on",
    "B": "figures may differ by a percent or two from run to run",
    "C": "figures may differ by several percent from run to run",
    "D": "figures may differ by ten percent and more from run to run",
    "F": "figures say little as long as this lasts",
}
_SPIN_S = 1.0
_STAT = Path("/proc/stat")


@dataclass(frozen=True)
class Part:
    """Something that nameplate may use: whether it is there, and how to get it."""

    is_there: bool
    what: str
    state: str
    advice: str = ""


def command(*, json: bool = False) -> int:
    """Say whether this machine is fit to measure on, and what is missing. Changes nothing.

    The environment is graded A to F by the worst that was found, each with its cost and with what would mend it.

    Parameters
    ----------
    json
        The findings as JSON.
    """
    headers: list[Header] = []
    measured = _measure(headers)
    findings = [*measured, *judge_machine(headers[0].machine)]
    parts = [_leftovers(), *_mpi(), _lapack(), *_missing(headers[0])]
    if json:
        document = {"grade": overall(findings), "environment": findings, "parts": parts}
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
        return 0
    console = make_console()
    grade = overall(findings)
    console.print(Text(f"{grade}: {_MEANING[grade]}", style=f"bold {_STYLES[grade]}"))
    console.print(_environment(findings))
    console.print(_parts(parts))
    return 0


def _environment(findings: Sequence[Finding]) -> Table:
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    for finding in sorted(findings, key=lambda finding: finding.grade, reverse=True):
        words = [Text(finding.state)]
        words += [Text(f"costs: {finding.cost}", style="dim")] if finding.cost else []
        words += [Text(f"mends: {finding.advice}", style="dim")] if finding.advice else []
        table.add_row(Text(finding.grade, style=_STYLES[finding.grade]), finding.what, Text("\n").join(words))
    return table


def _parts(parts: Sequence[Part]) -> Table:
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    for part in parts:
        mark = Text("there" if part.is_there else "–", style="green" if part.is_there else "dim")
        table.add_row(mark, part.what, part.state, part.advice)
    return table


def _measure(headers: list[Header]) -> list[Finding]:
    """One second of the idle clock, whose bursts are the control loop, and what else happened meanwhile."""
    samples: list[Sample] = []

    def keep(record: Header | Sample | Outcome) -> None:
        if isinstance(record, Header):
            headers.append(record)
        elif isinstance(record, Sample):
            samples.append(record)

    experiment = Experiment(id="quiet", probe="cpu_clock", params={"under": "idle", "threads": 1})
    limits = Limits(budget_s=_SPIN_S, precision=1.0)
    with CoreProcess(keep) as core:
        before = _stat()
        core.measure(make_request(experiment, limits, _SPIN_S), _SPIN_S + 20, keep)
        busy = busy_shares(before, _stat())
        core.close()
    topology = headers[0].machine["topology"]
    return [
        judge_spins([sample.elapsed_s / sample.repetitions for sample in samples]),
        judge_steal(
            sum(sample.disturbed.get("steal_s", 0.0) for sample in samples), sum(sample.elapsed_s for sample in samples)
        ),
        judge_others(busy, topology["threads"] > topology["cores"]),
    ]


def _stat() -> str:
    try:
        return _STAT.read_text()
    except OSError as error:
        raise FileError(f"cannot read {_STAT}, which tells what else runs: {error.strerror}") from None


def _mpi() -> list[Part]:
    """The MPIs that there is a build for, and whether their launchers are there."""
    found = []
    for name, library in mpi_libraries().items():
        if not library:
            found.append(
                Part(False, f"MPI ({name})", "does not start", f"its library is missing: {how_to_build('mpicxx')}")
            )
            continue
        has_launcher = any(shutil.which(launcher) for launcher in (f"mpirun.{name}", "mpirun", "srun"))
        advice = "" if has_launcher else "its mpirun is not in PATH: name it in full, --mpi '/path/mpirun -n 4'"
        found.append(Part(has_launcher, f"MPI ({name})", library, advice))
    build = how_to_build("mpicxx")
    advice = f"mpi_pingpong, mpi_pairs, mpi_stream: apt install libopenmpi-dev openmpi-bin, then {build}"
    return found or [Part(False, "MPI", "not built in", advice)]


def _lapack() -> Part:
    """The library that cpu_linpack would take, as a small system of equations shows."""
    core = CoreProcess(lambda _: None)
    experiment = Experiment(id="lapack", probe="cpu_linpack", params={"n": 100})
    limits = Limits(budget_s=_SPIN_S, precision=1.0, samples=1)
    outcome = core.measure(make_request(experiment, limits, 0.0), _SPIN_S + 20, lambda _: None)
    core.close()
    if outcome.ending == "ok":
        words = [outcome.labels[name] for name in ("blas", "blas_core") if name in outcome.labels]
        return Part(True, "LAPACK", ", core ".join(words))
    return Part(False, "LAPACK", "none that works", f"cpu_linpack: {outcome.reason}")


# What may be built in, and what it brings where it is installed.
_FEATURES = {
    "openmp": "engine=openmp: apt install g++",
    "pmem": "mpi_stream memory=pmem: apt install libpmem-dev",
    "memkind": "mpi_stream memory=memkind: apt install libmemkind-dev (Debian 13 has none)",
}
# What a feature loads when it is wanted, and what needs it.
_LOADED = {
    "pmem": ("libpmem.so.1", "memory=pmem of mpi_stream, which needs an MPI build: apt install libpmem1"),
    "memkind": ("libmemkind.so.0", "memory=memkind of mpi_stream, which needs an MPI build: apt install libmemkind0"),
}


def _missing(header: Header) -> list[Part]:
    """What nameplate could use and does not have here."""
    findings = [
        Part(False, feature, "not built in", f"{advice}, then {how_to_build()}")
        for feature, advice in _FEATURES.items() if feature not in header.features
    ]  # fmt: skip
    findings += [
        Part(False, feature, f"{library} is not installed", advice)
        for feature, (library, advice) in _LOADED.items() if feature in header.features and not _can_be_loaded(library)
    ]  # fmt: skip
    if shutil.which("likwid-bench") is None:
        advice = "a reference to compare rates with: apt install likwid"
        findings.append(Part(False, "likwid-bench", "not installed", advice))
    return findings


def _can_be_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _leftovers() -> Part:
    """Files of a run that was killed in the instant between making a file and taking its name away."""
    found = [path.name for path in Path().glob(".nameplate-*")]
    if not found:
        return Part(True, "leftovers", "no test file was left in this directory")
    advice = "the next disk measurement here removes them"
    return Part(False, "leftovers", f"left by a run that was killed: {', '.join(found)}", advice)
