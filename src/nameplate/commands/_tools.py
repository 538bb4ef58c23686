"""Find and run the reference tools of this machine. Shared by ``run`` and ``versus``."""

from __future__ import annotations

import os
import shutil
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
from nameplate.planning.sweep import nearest
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Plan, ReferenceWork
from nameplate.records.run_record import Reference
from nameplate.tools.external import load_references
from nameplate.tools.paired import DEADLINE_S, Bench, PairedComparison, PairedRow, scratch
from nameplate.tools.process import free_port, identify, loopback_host
from nameplate.tools.reference_tool import LOOPBACK, FoundProgram, ReferenceTool, ToolSetting, ToolWork

# The time of one run of a tool that is not paired with nameplate, and the time to start it and its server.
_SECONDS = 2
_START_S = 0.5


def usual_launch() -> Launch | None:
    """Return a launcher of two ranks by the mpirun on PATH, or None if that or the MPI build of the core is missing.

    For root with Open MPI it has ``--allow-run-as-root``. At most ``mpirun --version`` is run, no ranks are started.
    """
    words = "mpirun -n 2"
    if os.geteuid() == 0 and family_of("mpirun") == "openmpi":
        words = "mpirun --allow-run-as-root -n 2"
    try:
        return launch_with(words)
    except NameplateError:
        return None


class _Job(NamedTuple):
    launch: Launch | None
    ranks: int


def _setting(
    reference: ReferenceTool, found: Mapping[str, FoundProgram], folder: Path, machine: Machine, job: _Job, seconds: int
) -> ToolSetting:
    try:
        host = loopback_host()
        port = free_port(host)
    except ToolFailed:
        host, port = LOOPBACK, 0  # only works with servers need it, which give the reason
    return ToolSetting(
        found=found, folder=folder, host=host, port=port, seconds=seconds,
        cores=int(machine.topology.allowed_cores), beyond_bytes=beyond_caches_bytes(machine), machine=machine,
        launcher=job.launch.launcher if job.launch else (), ranks=job.ranks, params=reference.given,
    )  # fmt: skip


class Search:
    """The work that nameplate and reference tools can both do here, and the reasons why other work is left out.

    - ``folder``: a folder for the tools' files, which exists; each tool has its own folder in it
    - ``launch``: the launcher of MPI tools and probes; None leaves them out
    - ``core``: the description of a core; its machine is that of the comparisons, and its probes and those of the MPI
      core can be compared
    - ``seconds``: the time of one run of a tool, 1 or more; one with a fixed amount of work takes as long as it needs
    - ``probes``: the names of the probes to compare; an empty set means all

    With a launcher, the MPI core is started once to describe itself. If that fails, as on a machine without a network
    interface, ``usual_launch`` counts as no launcher, and any other one raises CoreError.
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
            if self.launch != usual_launch():
                raise
            self.launch = None
            self._job_error = str(error)
            return None

    def _without_job(self, reference: ReferenceTool) -> PairedRow:
        if self._job_error:
            return PairedRow(tool=reference.name, reason=self._job_error)
        return PairedRow(tool=reference.name, reason="no MPI launcher", install="apt install openmpi-bin")

    def all(self, references: Sequence[ReferenceTool]) -> tuple[list[PairedComparison], list[PairedRow]]:
        """Return the possible comparisons, and a row with the reason for each tool or work that cannot be compared.

        Both are in the order of ``references``. Every installed tool is run to print its version; nothing is measured.
        With chosen probes, missing tools and works of other probes have no row. Folders are created for the tools. A
        tool that fails has a row with the error, which is not raised.
        """
        comparisons: list[PairedComparison] = []
        others: list[PairedRow] = []
        for reference in references:
            try:
                found = self._works(reference)
            except NameplateError as error:
                others.append(PairedRow(tool=reference.name, reason=str(error)))
                continue
            comparisons += [item for item in found if isinstance(item, PairedComparison)]
            others += [item for item in found if isinstance(item, PairedRow)]
        return comparisons, others

    def _works(self, reference: ReferenceTool) -> list[PairedComparison | PairedRow]:
        own = self.folder / reference.name
        own.mkdir(exist_ok=True)  # a plan may name a tool twice, with different work
        if reference.is_mpi and self.launch is None:
            return [] if self.probes else [self._without_job(reference)]
        found, doubts = identify(reference, self.launch.launcher if self.launch else (), own)
        if not found:
            reason = "; ".join(doubts) or "not installed"
            return [] if self.probes else [PairedRow(tool=reference.name, reason=reason, install=reference.install)]
        setting = _setting(reference, found, own, self.machine, _Job(self.launch, self._ranks), self.seconds)
        version = next(iter(found.values())).version
        result: list[PairedComparison | PairedRow] = []
        for work in reference.works(setting):
            result += self._of_work(reference, version, work, setting)
        result += [
            PairedRow(tool=reference.name, reason=cannot.reason, version=version, probe=cannot.probe, work=cannot.what)
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
    """Return the tools that a plan names: first those with their default work, then those for which it sets the work.

    A tool that is named several times is returned several times, also if it is not installed. Raises UsageError for an
    unknown tool or parameter, or a value that the tool does not take.
    """
    usual = [_known(name) for name in plan.references]
    return usual + [replace(_known(work.tool), given=_given(_known(work.tool), work)) for work in plan.reference_works]


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
    """Return an estimate of the seconds that the tools take, as far as they are installed, without running them.

    It includes identifying each tool and one run of each of its works. It is 0 if none is on PATH.
    """
    return sum(_takes_s(reference, machine) for reference in references)


def _takes_s(reference: ReferenceTool, machine: Machine) -> float:
    paths = {name: shutil.which(name) for name in reference.programs}
    found = {name: FoundProgram(path, "", "") for name, path in paths.items() if path is not None}
    if not found:
        return 0.0
    try:
        works = reference.works(_setting(reference, found, Path(), machine, _Job(usual_launch(), 2), _SECONDS))
    except Unreadable:
        # The work of such a tool is known only from its output. It runs once to be identified, and once to measure.
        return 2 * reference.identify_s
    each_s = [_SECONDS + _START_S if work.takes_s is None else work.takes_s for work in works]
    return reference.identify_s + sum(each_s)


def reference_values(references: Sequence[ReferenceTool], core: CoreDescription, deadline: float) -> list[Reference]:
    """Run each work of these tools once, and return their values, or records with the reasons why there are none.

    ``core`` is the description of the core of the run. Every tool is stopped at ``deadline``, a time of
    ``time.monotonic`` or infinity, and works that have not begun by then are not run. Identifying the tools comes first
    and does not heed it. Files go to a temporary folder in the current directory, which is removed. Tools that are
    missing or cannot be run have a record without a value. Without ``references`` nothing is done. Raises FileError if
    the folder cannot be created, CoreError if the MPI core cannot be started to describe itself.
    """
    if not references:
        return []
    with scratch(Path.cwd()) as folder:
        search = Search(folder, usual_launch(), core, _SECONDS, frozenset())
        comparisons, others = search.all(references)
        cpus = sorted(os.sched_getaffinity(0))
        bench = Bench(cpus, core.machine, search.launch, _SECONDS, FileDescriptorCache(), lambda _, __: None)
        values = [value for comparison in comparisons for value in _values_of(bench, comparison, deadline)]
    missing = [row for row in others if not row.probe]
    return [*values, *(_record(row, None, _why(row)) for row in missing)]


def _why(row: PairedRow) -> str:
    return f"{row.reason}; install it with: {row.install}" if row.install else row.reason


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
