"""``nameplate doctor``."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nameplate.fitness import Finding, judge_machine, judge_spins
from nameplate.model import Experiment, Header, Limits, Outcome, Sample
from nameplate.native import CoreProcess, make_request, mpi_libraries

_STYLES = {"good": "green", "note": "yellow", "bad": "red"}
_SPIN_S = 1.0


def command(*, json: bool = False) -> int:
    """Say whether this machine is fit to measure on, and what is missing. Changes nothing.

    Parameters
    ----------
    json
        The findings as JSON.
    """
    headers: list[Header] = []
    findings = [_measure_quiet(headers)]
    findings = judge_machine(headers[0].machine) + findings + [_leftovers()] + _mpi() + [_lapack()]
    findings += _missing(headers[0])
    if json:
        print(msgspec.json.format(msgspec.json.encode(findings), indent=2).decode())
        return 0
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    for finding in findings:
        table.add_row(Text(finding.grade, style=_STYLES[finding.grade]), finding.what, finding.state, finding.advice)
    Console(highlight=False).print(table)
    return 0


def _measure_quiet(headers: list[Header]) -> Finding:
    """One second of the idle clock: its bursts are the control loop."""
    samples: list[Sample] = []

    def keep(record: Header | Sample | Outcome) -> None:
        if isinstance(record, Header):
            headers.append(record)
        elif isinstance(record, Sample):
            samples.append(record)

    core = CoreProcess(keep)
    experiment = Experiment(id="quiet", probe="cpu_clock", params={"under": "idle", "threads": 1})
    limits = Limits(budget_s=_SPIN_S, precision=1.0)
    core.measure(make_request(experiment, limits, _SPIN_S), _SPIN_S + 20, keep)
    core.close()
    steal_s = sum(sample.disturbed.get("steal_s", 0.0) for sample in samples)
    return judge_spins([sample.elapsed_s / sample.repetitions for sample in samples], steal_s)


def _mpi() -> list[Finding]:
    """The MPIs that there is a build for, and whether their launchers are there."""
    found = []
    for name, library in mpi_libraries().items():
        has_launcher = any(shutil.which(launcher) for launcher in (f"mpirun.{name}", "mpirun", "srun"))
        advice = "" if has_launcher else "its mpirun is not in PATH: name it in full, --mpi '/path/mpirun -n 4'"
        found.append(Finding("good" if has_launcher else "note", f"MPI ({name})", library, advice))
    advice = "the mpi probes: apt install libopenmpi-dev openmpi-bin, then script/bootstrap"
    return found or [Finding("note", "MPI", "not built in", advice)]


def _lapack() -> Finding:
    """The library that cpu_linpack would take, as a small system of equations shows."""
    core = CoreProcess(lambda _: None)
    experiment = Experiment(id="lapack", probe="cpu_linpack", params={"n": 100})
    limits = Limits(budget_s=_SPIN_S, precision=1.0, samples=1)
    outcome = core.measure(make_request(experiment, limits, 0.0), _SPIN_S + 20, lambda _: None)
    core.close()
    if outcome.ending == "ok":
        words = [outcome.labels[name] for name in ("blas", "blas_core") if name in outcome.labels]
        return Finding("good", "LAPACK", ", core ".join(words))
    return Finding("note", "LAPACK", "none that works", f"cpu_linpack: {outcome.reason}")


# What may be built in, and what it brings where it is installed.
_FEATURES = {
    "openmp": "engine=openmp: apt install g++",
    "pmem": "mpi_stream memory=pmem: apt install libpmem-dev",
    "memkind": "mpi_stream memory=memkind: apt install libmemkind-dev (Debian 13 has none)",
}


def _missing(header: Header) -> list[Finding]:
    """What nameplate could use and does not have here."""
    findings = [
        Finding("note", feature, "not built in", f"{advice}, then script/bootstrap")
        for feature, advice in _FEATURES.items() if feature not in header.features
    ]  # fmt: skip
    if shutil.which("likwid-bench") is None:
        advice = "a reference to compare rates with: script/bootstrap bench"
        findings.append(Finding("note", "likwid-bench", "not installed", advice))
    return findings


def _leftovers() -> Finding:
    """Files of a run that was killed in the instant between making a file and taking its name away."""
    found = [path.name for path in Path().glob(".nameplate-*")]
    if not found:
        return Finding("good", "leftovers", "no test file was left in this directory")
    advice = "the next disk measurement here removes them"
    return Finding("note", "leftovers", f"left by a run that was killed: {', '.join(found)}", advice)
