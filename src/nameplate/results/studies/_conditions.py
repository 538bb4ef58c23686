"""The conditions of a run next to the study's: machine, clock, memory, and what the budget changed."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.planning.budget import shortened_percent
from nameplate.records.study_record import StudyCell, StudyColumn, StudyTable, StudyValue
from nameplate.results.studies._measured import StudyRun
from nameplate.results.studies._theory import clock_of
from nameplate.results.studies._units import in_unit


def conditions_table(measured: StudyRun, published: Mapping[str, StudyValue]) -> StudyTable:
    """Return the table of the machine, its clock, cores and memory, and of the length of slices, here and in the study.

    ``published`` has the document's values by row: "machine", "guest of", "cores", "clock, GHz", "memory, GB" (10⁹
    bytes) and "slices and series". Rows that it lacks have no published value, and its other keys are ignored. Here,
    the row "guest of" is "none" if no hypervisor is detected, None if that is unknown, and the clock, that of
    ``clock_of``, is None if it is not known. The last row says "as planned", or to which share of the plan the budget
    shortened slices and series.
    """
    machine = measured.machine
    clock = clock_of(measured)
    here: dict[str, StudyValue] = {
        "machine": str(machine.cpu.model or machine.cpu.architecture),
        "guest of": machine.hypervisor or ("none" if machine.is_hypervisor_known else None),
        "cores": float(machine.topology.cores),
        "clock, GHz": in_unit(clock.value, "GHz"),
        "memory, GB": in_unit(machine.memory.total_bytes, "GB"),
        "slices and series": _length(measured),
    }
    return StudyTable(
        title="Conditions", rows=list(here), columns=[StudyColumn("here")], has_ratio=False,
        cells=[[StudyCell(value, published.get(name))] for name, value in here.items()],
    )  # fmt: skip


def _length(measured: StudyRun) -> str:
    """Return the share of the planned slices and series that fitted the budget."""
    percent = shortened_percent(measured.notes)
    return f"{percent} % of the plan's" if percent else "as planned"
