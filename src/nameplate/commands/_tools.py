"""What commands share that run reference tools: which works can be done here, and one run of each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nameplate.errors import NameplateError, ToolError, UsageError
from nameplate.keeper import Keeper
from nameplate.launch import Launch, family_of, launch_with
from nameplate.model import Reference as Said
from nameplate.native import describe, read_machine
from nameplate.plan import beyond_caches_bytes
from nameplate.references import Reference, Setting, Work, load_references
from nameplate.sweep import nearest
from nameplate.tools import free_port, identify
from nameplate.versus import Bench, Comparison, Row, scratch

# How long each runs where only its own figure is wanted.
_SECONDS = 2


def usual_launch() -> Launch | None:
    """Two ranks by the mpirun that is there, if there is one and an MPI build."""
    words = "mpirun -n 2"
    if os.geteuid() == 0 and family_of("mpirun") == "openmpi":
        words = "mpirun --allow-run-as-root -n 2"
    try:
        return launch_with(words)
    except NameplateError:
        return None


class Search:
    """Which works can be compared here, and why others cannot."""

    def __init__(
        self, folder: Path, launch: Launch | None, machine: Mapping[str, Any], seconds: int, probes: frozenset[str]
    ) -> None:
        self.folder, self.launch, self.machine, self.seconds, self.probes = folder, launch, machine, seconds, probes
        self._known = {*describe(), *(describe(launch) if launch else ())}
        job = read_machine(launch=launch)["job"] if launch else None
        self._ranks = int(job["ranks"]) if job else 1

    def all(self, references: Sequence[Reference]) -> tuple[list[Comparison], list[Row]]:
        """The comparisons, and a row for what there is none of."""
        comparisons: list[Comparison] = []
        others: list[Row] = []
        for reference in references:
            try:
                found = self._works(reference)
            except NameplateError as error:
                others.append(Row(tool=reference.name, reason=str(error)))
                continue
            comparisons += [item for item in found if isinstance(item, Comparison)]
            others += [item for item in found if isinstance(item, Row)]
        return comparisons, others

    def _works(self, reference: Reference) -> list[Comparison | Row]:
        own = self.folder / reference.name
        own.mkdir()
        if reference.is_mpi and self.launch is None:
            return (
                []
                if self.probes
                else [Row(tool=reference.name, reason="no MPI launcher", install="apt install openmpi-bin")]
            )
        found, doubts = identify(reference, self.launch.launcher if self.launch else (), own)
        if not found:
            reason = "; ".join(doubts) or "not installed"
            return [] if self.probes else [Row(tool=reference.name, reason=reason, install=reference.install)]
        setting = Setting(
            found=found, folder=own, port=free_port(), seconds=self.seconds,
            cores=int(self.machine["topology"]["allowed_cores"]), beyond_bytes=beyond_caches_bytes(self.machine),
            machine=self.machine, launcher=self.launch.launcher if self.launch else (), ranks=self._ranks,
        )  # fmt: skip
        version = next(iter(found.values())).version
        result: list[Comparison | Row] = []
        for work in reference.works(setting):
            result += self._of_work(reference, version, work, setting)
        result += [
            Row(tool=reference.name, reason=cannot.reason, version=version, probe=cannot.probe, work=cannot.what)
            for cannot in reference.cannot
            if not self.probes or cannot.probe in self.probes
        ]
        return result

    def _of_work(self, reference: Reference, version: str, work: Work, setting: Setting) -> Iterator[Comparison | Row]:
        figures = [figure for figure in work.figures if not self.probes or figure.probe in self.probes]
        for figure in figures:
            if figure.probe not in self._known:
                reason = f"this nameplate has no {figure.probe}"
                yield Row(tool=reference.name, reason=reason, version=version, probe=figure.probe, work=figure.name)
        known = [figure for figure in figures if figure.probe in self._known]
        if known:
            yield Comparison(reference, version, replace(work, figures=known), setting)


def check_references(names: Sequence[str]) -> None:
    """Raises UsageError for a tool that there is no adapter for."""
    for name in names:
        if name not in load_references():
            raise UsageError(f"unknown tool '{name}' among references: {nearest(name, load_references())}")


def reference_figures(names: Sequence[str], machine: Mapping[str, Any]) -> list[Said]:
    """What each of these tools says of this machine, from one run of each of its works; or why it says nothing."""
    if not names:
        return []
    with scratch(Path.cwd()) as folder:
        search = Search(folder, usual_launch(), machine, _SECONDS, frozenset())
        comparisons, others = search.all([load_references()[name] for name in names])
        bench = Bench(sorted(os.sched_getaffinity(0)), machine, search.launch, _SECONDS, Keeper(), lambda _, __: None)
        figures = [figure for comparison in comparisons for figure in _said(bench, comparison)]
    missing = [row for row in others if not row.probe]
    return [*figures, *(_record(row, None, _why(row)) for row in missing)]


def _why(row: Row) -> str:
    return f"{row.reason}; to get it: {row.install}" if row.install else row.reason


def _said(bench: Bench, comparison: Comparison) -> list[Said]:
    try:
        values: Sequence[float | None] = bench.theirs_alone(comparison)
        reason = ""
    except ToolError as error:
        values, reason = [None] * len(comparison.work.figures), str(error)
    return [_record(row, value, reason) for row, value in zip(comparison.rows(), values, strict=True)]


def _record(row: Row, value: float | None, reason: str) -> Said:
    return Said(
        tool=row.tool, version=row.version, command=row.command, work=row.work, metric=row.metric, unit=row.unit,
        value=value, reason=reason,
    )  # fmt: skip
