"""Compare the conditions of a run with the study's: machine, clock, memory, and the time per experiment."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.planning.budget import shortened_percent
from nameplate.records.study_record import StudyColumn, StudyTable, StudyValue
from nameplate.studies._cells import study_cell
from nameplate.studies._measured import StudyRun
from nameplate.studies._theory import clock_of
from nameplate.studies._units import in_unit
from nameplate.studies.published import Printed


def conditions_table(measured: StudyRun, published: Mapping[str, Printed | str]) -> StudyTable:
    """Return a table that compares the conditions of the run with the conditions of the study.

    The rows are "machine", "guest of" (the hypervisor), "cores", "clock, GHz", "memory, GB" (10⁹ bytes), "disk file,
    GB" if a disk was measured, "nodes × processes" of an MPI job, "rounds", "priority" (of the processes), and "slices
    and series". ``published`` has the study's values by the name of the row; a row without one has None there. In the
    column of the run, "guest of" is "none" if there is no hypervisor and None if that is unknown. The clock is from
    ``clock_of`` and may be None. The last row is "as planned", or the percentage to which the budget shortened slices
    and series.
    """
    machine = measured.machine
    clock = clock_of(measured)
    percent = shortened_percent(measured.notes)
    here: dict[str, StudyValue] = {
        "machine": str(machine.cpu.model or machine.cpu.architecture),
        "guest of": machine.hypervisor or ("none" if machine.is_hypervisor_known else None),
        "cores": float(machine.topology.cores),
        "clock, GHz": in_unit(clock.value, "GHz"),
        "memory, GB": in_unit(machine.memory.total_bytes, "GB"),
    }
    file_bytes = (r.facts["file_bytes"] for r in measured.results if r.summary.probe == "disk_block" and r.facts)
    if (size := next(file_bytes, None)) is not None:
        here["disk file, GB"] = in_unit(size, "GB")
    if machine.job:
        nodes, ranks = len(machine.job.nodes), machine.job.ranks
        here["nodes × processes"] = f"{nodes} × {ranks / nodes:g}"
    here |= {
        "rounds": _rounds(measured),
        "priority": measured.priority,
        "slices and series": f"{percent} % of the plan's" if percent else "as planned",
    }
    return StudyTable(
        title="Conditions", rows=list(here), columns=[StudyColumn("here")], has_ratio=False,
        cells=[[study_cell(value, published.get(name))] for name, value in here.items()],
    )  # fmt: skip


def _rounds(measured: StudyRun) -> str | None:
    """Return how many rounds the experiments have, and of how many if the plan has a number; None without any."""
    rounds = {r.id: r.summary.rounds for r in measured.results if r.kind == "measured" and not r.is_series}
    if not rounds:
        return None
    if measured.rounds is None:
        return f"{min(rounds.values())} to {max(rounds.values())}"
    short = sum(number < measured.rounds for number in rounds.values())
    if not short:
        return f"{measured.rounds}"
    return f"{min(rounds.values())} to {max(rounds.values())} of {measured.rounds}; {short} of {len(rounds)} lack one"
