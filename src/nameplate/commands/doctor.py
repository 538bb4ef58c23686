"""Implement ``nameplate doctor``."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from nameplate.commands._reading import read_report
from nameplate.errors import CoreDied, CoreHung
from nameplate.execution.busy_cpus import read_cpu_times
from nameplate.execution.core_process import CoreProcess, make_request, mpi_libraries
from nameplate.execution.launch import how_to_build
from nameplate.probes import ResolvedExperiment, load_probes
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Limits, Value
from nameplate.records.replaceable import is_work_folder
from nameplate.records.result import Report
from nameplate.records.run_record import Header, Outcome, Sample
from nameplate.report.content.comparability import LoadedClock, clock_under_load, conditions
from nameplate.report.terminal.doctor import print_comparability, print_fitness
from nameplate.results.fitness import (
    Finding,
    KnownGrade,
    Part,
    busy_shares,
    judge_machine,
    judge_other_load,
    judge_spins,
    judge_steal,
    overall,
    rank,
)
from nameplate.statistics.capability import capability
from nameplate.statistics.stats import median

GROUP = "This machine and nameplate"

_SPIN_S = 1.0
_TOO_POOR, _NOT_COMPARABLE = 1, 5


def command(
    *,
    at_least: Annotated[KnownGrade | None, Parameter(show_default=False)] = None,
    against: Annotated[Path | None, Parameter(show_default=False)] = None,
    json: bool = False,
) -> int:
    """Check whether this machine is fit to measure on, and which optional parts are missing.

    The grade, from A (fit) to F, is that of the worst finding. A finding has the grade "?", between C and D, if the
    system does not show what it is about. Each finding is printed with its cost for measurements and its remedy.
    Nothing on the machine is changed.

    Parameters
    ----------
    at_least
        End with exit code 1 if the grade is worse than this one, for scripts and CI. "?" is worse than C.
    against
        Say whether this machine is comparable with the machine of a run (.jsonl or .html): both must have the same
        processor and clocks under load within 3 % of each other, the trust in the run must be at least medium, and no
        other program may run now. End with exit code 5 if it is not comparable.
    json
        Print the findings as JSON.
    """
    base = read_report(against) if against else None
    headers: list[Header] = []
    measured = _measure(headers)
    findings = [*measured, *judge_machine(headers[0].machine)]
    parts = [_leftovers(), *_mpi(), _lapack(), *_missing(headers[0])]
    grade = overall(findings)
    compared = conditions(base, headers[0].machine, _clock_like(base, headers[0].machine), measured) if base else []
    if json:
        document = {"grade": grade, "environment": findings, "parts": parts, "comparable": compared}
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        print_fitness(grade, findings, parts)
        if compared:
            print_comparability(compared, str(against))
    if at_least is not None and rank(grade) > rank(at_least):
        return _TOO_POOR
    return 0 if all(condition.is_met for condition in compared) else _NOT_COMPARABLE


def _clock_like(base: Report, machine: Machine) -> LoadedClock:
    """Measure the clock of this machine for a second, under the same load as ``base``, an earlier run."""
    result = clock_under_load(base)
    if result is None:
        return LoadedClock(None, None)
    params = {name: value for name, value in result.summary.params.items() if name in ("under", "threads")}
    with CoreProcess(lambda _: None) as core:
        outcome, samples = _sample_clock(core, params)
        core.close()
    if not samples:
        return LoadedClock(None, None, outcome.reason)
    resolved = ResolvedExperiment(outcome.params, outcome.facts, machine)
    frequency = load_probes()["cpu_clock"].metrics[0]
    values = [frequency.value(resolved, sample) for sample in samples]
    estimate = capability([values], higher_is_better=True)
    return LoadedClock(estimate.value if estimate else None, median(values), "" if estimate else "too few samples")


def _sample_clock(core: CoreProcess, params: dict[str, Value]) -> tuple[Outcome, list[Sample]]:
    """Measure cpu_clock with these parameters for a second, and return the outcome and the samples."""
    samples: list[Sample] = []

    def keep(record: Header | Sample | Outcome) -> None:
        if isinstance(record, Sample):
            samples.append(record)

    experiment = Experiment(id="clock", probe="cpu_clock", params=params)
    limits = Limits(budget_s=_SPIN_S, precision=1.0)
    return core.measure(make_request(experiment, limits, _SPIN_S), _SPIN_S + 20, keep), samples


def _measure(headers: list[Header]) -> list[Finding]:
    """Return findings from one second of the idle clock, whose bursts serve as the control loop.

    They cover the variation of the bursts, steal time, and the load of other processes. The record that the core sends
    first, with its machine, is appended to ``headers``.
    """

    def keep(record: Header | Sample | Outcome) -> None:
        if isinstance(record, Header):
            headers.append(record)

    with CoreProcess(keep) as core:
        before = read_cpu_times()
        _, samples = _sample_clock(core, {"under": "idle", "threads": 1})
        busy = busy_shares(before, read_cpu_times())
        core.close()
    topology = headers[0].machine.topology
    stolen_s = [sample.disturbed.get("steal_s") for sample in samples]
    steal_s = sum(filter(None, stolen_s)) if busy and None not in stolen_s else None
    return [
        judge_spins([sample.elapsed_s / sample.repetitions for sample in samples]),
        judge_steal(steal_s, sum(sample.elapsed_s for sample in samples), topology.threads),
        judge_other_load(busy, topology.threads > topology.cores),
    ]


def _mpi() -> list[Part]:
    """Return a part for each MPI library that the core was built for, with whether its launcher is installed."""
    parts = []
    for name, library in mpi_libraries().items():
        if not library:
            parts.append(
                Part(False, f"MPI ({name})", "does not start", f"its library is missing: {how_to_build('mpicxx')}")
            )
            continue
        has_launcher = any(shutil.which(launcher) for launcher in (f"mpirun.{name}", "mpirun", "srun"))
        advice = "" if has_launcher else "its mpirun is not on PATH: give its full path, --mpi '/path/mpirun -n 4'"
        parts.append(Part(has_launcher, f"MPI ({name})", library, advice))
    build = how_to_build("mpicxx")
    advice = f"mpi_pingpong, mpi_pairs, mpi_stream: apt install libopenmpi-dev openmpi-bin, then {build}"
    return parts or [Part(False, "MPI", "not built in", advice)]


def _lapack() -> Part:
    """Return the LAPACK that cpu_linpack uses, found by solving a small system of equations."""
    experiment = Experiment(id="lapack", probe="cpu_linpack", params={"n": 100})
    limits = Limits(budget_s=_SPIN_S, precision=1.0, samples=1)
    try:
        with CoreProcess(lambda _: None) as core:
            outcome = core.measure(make_request(experiment, limits, 0.0), _SPIN_S + 20, lambda _: None)
    except (CoreDied, CoreHung) as error:  # a library may take the CPU for another one
        return Part(False, "LAPACK", "no working library", f"cpu_linpack: {error}")
    if outcome.ending == "ok":
        names = [outcome.labels[name] for name in ("blas", "blas_core") if name in outcome.labels]
        return Part(True, "LAPACK", ", core ".join(names))
    return Part(False, "LAPACK", "no working library", f"cpu_linpack: {outcome.reason}")


# Optional features of the build: what each provides, and how to get it.
_FEATURES = {
    "openmp": "engine=openmp: apt install g++",
    "pmem": "mpi_stream memory=pmem: apt install libpmem-dev",
    "memkind": "mpi_stream memory=memkind: apt install libmemkind-dev (Debian 13 has none)",
}
# The library that a feature loads at run time, and the parameter that needs it.
_LOADED = {
    "pmem": ("libpmem.so.1", "memory=pmem of mpi_stream, which needs an MPI build: apt install libpmem1"),
    "memkind": ("libmemkind.so.0", "memory=memkind of mpi_stream, which needs an MPI build: apt install libmemkind0"),
}


def _missing(header: Header) -> list[Part]:
    """Return the optional parts that are missing on this machine."""
    findings = [
        Part(False, feature, "not built in", f"{advice}, then {how_to_build()}")
        for feature, advice in _FEATURES.items() if feature not in header.features
    ]  # fmt: skip
    findings += [
        Part(False, feature, f"{library} is not installed", advice)
        for feature, (library, advice) in _LOADED.items() if feature in header.features and not _can_be_loaded(library)
    ]  # fmt: skip
    if shutil.which("likwid-bench") is None:
        advice = "reference tool for rates: apt install likwid"
        findings.append(Part(False, "likwid-bench", "not installed", advice))
    return findings


def _can_be_loaded(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _leftovers() -> Part:
    """Return a part on the test files and work folders in this directory that killed runs did not remove."""
    files = Path().glob(".nameplate-test-file-*")
    folders = filter(is_work_folder, Path().glob(".nameplate-versus-*"))
    names = [path.name for path in (*files, *folders)]
    if not names:
        return Part(True, "leftovers", "no test files in this directory")
    advice = "the next disk measurement in this directory removes test files, the next nameplate versus work folders"
    return Part(False, "leftovers", f"left by a run that was killed: {', '.join(names)}", advice)
