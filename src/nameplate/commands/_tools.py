"""Find and run the reference tools of this machine, for the commands ``run`` and ``versus``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from nameplate.errors import CoreError, NameplateError, ToolError, ToolFailed, Unreadable, UsageError
from nameplate.execution.core_process import CoreDescription, describe_core
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import Launch, family_of, launch_with
from nameplate.planning.plan_file import PlanText
from nameplate.planning.stand_ins import beyond_caches_bytes
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Plan, ReferenceWork
from nameplate.records.run_record import Reference
from nameplate.suggestion import nearest
from nameplate.tools.external import load_references
from nameplate.tools.paired import DEADLINE_S, Bench, PairedComparison, PairedRow, scratch
from nameplate.tools.reference_tool import LOOPBACK, ReferenceTool, ToolProgram, ToolSetting, ToolWork
from nameplate.tools.tool_process import free_port, identify, loopback_host, path_of_program

# The time of one run of a tool that is not paired with nameplate, and the time to start it and its server.
_SECONDS = 2
_START_S = 0.5


def default_launch() -> Launch | None:
    """Return a launcher of two ranks with the mpirun on PATH; None without mpirun, or without an MPI build of the core.

    For root with Open MPI, the launcher has ``--allow-run-as-root``. At most ``mpirun --version`` is run; no ranks are
    started.
    """
    text = "mpirun -n 2"
    if os.geteuid() == 0 and family_of("mpirun") == "openmpi":
        text = "mpirun --allow-run-as-root -n 2"
    try:
        return launch_with(text)
    except NameplateError:
        return None


class _Job(NamedTuple):
    launch: Launch | None
    ranks: int


def _setting(
    reference: ReferenceTool,
    programs: Mapping[str, ToolProgram],
    folder: Path,
    machine: Machine,
    job: _Job,
    seconds: int,
) -> ToolSetting:
    try:
        host = loopback_host()
        port = free_port(host)
    except ToolFailed:
        host, port = LOOPBACK, 0  # only work with a server needs a port, and fails with the reason
    return ToolSetting(
        programs=programs, folder=folder, host=host, port=port, seconds=seconds,
        cores=int(machine.topology.allowed_cores), beyond_bytes=beyond_caches_bytes(machine), machine=machine,
        launcher=job.launch.launcher if job.launch else (), ranks=job.ranks, params=reference.given,
    )  # fmt: skip


class Search:
    """A search for work that nameplate and a reference tool can both do on this machine.

    - ``folder``: an existing folder, in which each tool gets a folder for its files
    - ``launch``: the launcher of MPI tools and MPI probes; None leaves them out
    - ``core``: the description of a core. Its machine is the machine of the comparisons; its probes, and the probes of
      the MPI core, can be compared
    - ``seconds``: the time of one run of a tool in seconds, 1 or more; a tool with a fixed amount of work takes as long
      as it needs
    - ``probes``: the names of the probes to compare; an empty set means all

    With a launcher, the MPI core is started once to describe itself. It cannot start on some machines, for example
    without a network interface. MPI tools and probes are then left out if the launcher is ``default_launch``; any other
    launcher raises CoreError.
    """

    def __init__(
        self, folder: Path, launch: Launch | None, core: CoreDescription, seconds: int, probes: frozenset[str]
    ) -> None:
        self.folder, self.launch, self.machine = folder, launch, core.machine
        self.seconds, self.probes = seconds, probes
        self._job_error = ""
        job = self._job()
        self._known = {*core.probes, *(job.probes if job else ())}
        self._ranks = job.machine.job.ranks if job and job.machine.job else 1

    def _job(self) -> CoreDescription | None:
        if self.launch is None:
            return None
        try:
            return describe_core(self.launch)
        except CoreError as error:
            if self.launch != default_launch():
                raise
            self.launch = None
            self._job_error = str(error)
            return None

    def all(self, references: Sequence[ReferenceTool]) -> tuple[list[PairedComparison], list[PairedRow]]:
        """Return the possible comparisons, and a row with the reason for each tool or work that cannot be compared.

        Both lists are in the order of ``references``, the tools. Every installed tool is run to print its version;
        nothing is measured. Each tool gets a folder in ``folder``. If probes were chosen, tools that are missing and
        work of other probes have no row. If a tool fails, its row has the error; nothing is raised.
        """
        comparisons: list[PairedComparison] = []
        rest: list[PairedRow] = []
        for reference in references:
            try:
                measured = self._works(reference)
            except NameplateError as error:
                rest.append(PairedRow(tool=reference.name, reason=str(error)))
                continue
            comparisons += [item for item in measured if isinstance(item, PairedComparison)]
            rest += [item for item in measured if isinstance(item, PairedRow)]
        return comparisons, rest

    def _works(self, reference: ReferenceTool) -> list[PairedComparison | PairedRow]:
        folder = self.folder / reference.name
        folder.mkdir(exist_ok=True)  # a plan may name a tool twice, with different work
        if reference.is_mpi and self.launch is None:
            reason, install = self._job_error, ""
            if not reason:
                reason, install = "no MPI launcher", "apt install openmpi-bin"
            return [] if self.probes else [PairedRow(tool=reference.name, reason=reason, install=install)]
        programs, doubts = identify(reference, self.launch.launcher if self.launch else (), folder)
        if not programs:
            reason = "; ".join(doubts) or "not installed"
            return [] if self.probes else [PairedRow(tool=reference.name, reason=reason, install=reference.install)]
        setting = _setting(reference, programs, folder, self.machine, _Job(self.launch, self._ranks), self.seconds)
        version = next(iter(programs.values())).version
        result: list[PairedComparison | PairedRow] = []
        for work in reference.works(setting):
            result += self._of_work(reference, version, work, setting)
        result += [
            PairedRow(tool=reference.name, reason=cannot.reason, version=version, probe=cannot.probe, work=cannot.work)
            for cannot in reference.cannot
            if not self.probes or cannot.probe in self.probes
        ]
        return result

    def _of_work(
        self, reference: ReferenceTool, version: str, work: ToolWork, setting: ToolSetting
    ) -> Iterator[PairedComparison | PairedRow]:
        metrics = [compared for compared in work.metrics if not self.probes or compared.probe in self.probes]
        for compared in metrics:
            if compared.probe not in self._known:
                reason = f"nameplate was built without {compared.probe}"
                yield PairedRow(
                    tool=reference.name, reason=reason, version=version, probe=compared.probe, work=compared.name
                )
        known = [compared for compared in metrics if compared.probe in self._known]
        if known:
            yield PairedComparison(reference, version, replace(work, metrics=known), setting)


def asked_references(plan: PlanText | Plan) -> list[ReferenceTool]:
    """Return the reference tools that a plan asks for, whether or not they are installed.

    The tools with their default work (``references``) come first, then the tools for which the plan sets the work
    (``reference_works``). A tool that is named several times is returned several times.

    Raises:
        UsageError: a tool or one of its parameters is unknown, or the tool does not take the value of a parameter.
    """
    references = [_known(name) for name in plan.references]
    return references + [
        replace(_known(work.tool), given=_given(_known(work.tool), work)) for work in plan.reference_works
    ]


def _known(name: str) -> ReferenceTool:
    if name not in load_references():
        raise UsageError(f"references: unknown tool '{name}': {nearest(name, load_references())}")
    return load_references()[name]


def _given(reference: ReferenceTool, work: ReferenceWork) -> dict[str, Any]:
    for key in work.params:
        if key not in reference.parameters:
            known = ", ".join(reference.parameters) or "nothing"
            raise UsageError(f"reference {work.tool}: unknown parameter '{key}'; it takes {known}")
    try:
        return {key: reference.parameters[key](text) for key, text in work.params.items()}
    except UsageError as error:
        raise UsageError(f"reference {work.tool}: {error}") from None


def references_take_s(references: Sequence[ReferenceTool], machine: Machine) -> float:
    """Return an estimate of the time in seconds that the tools take, without running them.

    The time covers the identification of each tool and one run of each of its works. Tools that are not on PATH take no
    time; if none is on PATH, the result is 0. ``machine`` determines the amount of work.
    """
    return sum(_takes_s(reference, machine) for reference in references)


def _takes_s(reference: ReferenceTool, machine: Machine) -> float:
    paths = {name: path_of_program(name) for name in reference.programs}
    programs = {name: ToolProgram(path, "", "") for name, path in paths.items() if path is not None}
    if not programs:
        return 0.0
    try:
        works = reference.works(_setting(reference, programs, Path(), machine, _Job(default_launch(), 2), _SECONDS))
    except Unreadable:
        # The work of such a tool is known only from its output. It runs once to be identified, and once to measure.
        return 2 * reference.identify_s
    times_s = [_SECONDS + _START_S if work.takes_s is None else work.takes_s for work in works]
    return reference.identify_s + sum(times_s)


def reference_values(references: Sequence[ReferenceTool], core: CoreDescription, deadline: float) -> list[Reference]:
    """Run each work of the tools once, and return their values, or records without a value that have the reason.

    ``core`` is the description of the run's core. ``deadline`` is a time of ``time.monotonic``, or infinity: at that
    time a running tool is stopped, and works that have not begun are not run. The tools are identified first, whatever
    the deadline. Tools that are missing or cannot be run have a record without a value. Files go to a temporary folder
    in the current directory, which is removed at the end. The result is empty without ``references``.

    Raises:
        FileError: the folder cannot be created.
        CoreError: the MPI core cannot be started to describe itself.
    """
    if not references:
        return []
    with scratch(Path.cwd()) as folder:
        search = Search(folder, default_launch(), core, _SECONDS, frozenset())
        comparisons, rest = search.all(references)
        cpus = sorted(os.sched_getaffinity(0))
        bench = Bench(cpus, core.machine, search.launch, _SECONDS, FileDescriptorCache(), lambda _, __: None)
        values = [value for comparison in comparisons for value in _values_of(bench, comparison, deadline)]
    for row in rest:
        if not row.probe:
            why = f"{row.reason}; install it with: {row.install}" if row.install else row.reason
            values.append(_record(row, None, why))
    return values


def _values_of(bench: Bench, comparison: PairedComparison, deadline: float) -> list[Reference]:
    left_s = deadline - monotonic()
    try:
        if left_s <= 0:
            raise ToolFailed("not run, because the budget was spent")
        values: Sequence[float | None] = bench.theirs_alone(comparison, min(left_s, DEADLINE_S))
        reason = ""
    except ToolError as error:
        values, reason = [None] * len(comparison.work.metrics), str(error)
    return [_record(row, value, reason) for row, value in zip(comparison.rows(), values, strict=True)]


def _record(row: PairedRow, value: float | None, reason: str) -> Reference:
    return Reference(
        tool=row.tool, version=row.version, command=row.command, work=row.work, metric=row.metric, unit=row.unit,
        value=value, reason=reason,
    )  # fmt: skip
