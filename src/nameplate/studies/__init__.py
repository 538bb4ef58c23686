"""Build the tables and charts of a published study, with the values of a run by the definitions of the study.

Each study has a module named after its plan (``cs553_kvm`` for ``cs553-kvm``), with ``make(measured) -> Study``. If the
definition of a quantity in a study differs from nameplate's, the value of the run is computed by the study's
definition, and nameplate's value is shown in a separate line with its own name.
"""

from __future__ import annotations

import importlib
import pkgutil

from msgspec.structs import replace

from nameplate.records.result import Report
from nameplate.records.study_record import Study, StudyCell
from nameplate.studies._measured import StudyRun as StudyRun

__all__ = ["StudyRun", "make_study", "study_names", "with_study"]


def study_names() -> list[str]:
    """Return the names of the plans that reproduce a published study, such as "cs553-kvm", in alphabetical order."""
    modules = (module for module in pkgutil.iter_modules(__path__) if not module.ispkg)
    return sorted(module.name.replace("_", "-") for module in modules if not module.name.startswith("_"))


def with_study(report: Report) -> Report:
    """Return a summarised run together with the tables and charts of the study that its plan reproduces.

    ``report`` is returned unchanged if it already has a study, and if its machine is unknown or emulated. For a plan
    that reproduces no study, the study is None. Call this function before ``with_references``: a study compares with
    the reference values of the run itself.
    """
    machine = report.machine
    if report.study or machine is None or machine.emulator:
        return report
    run = report.run
    study = make_study(StudyRun(
        plan=run.plan.name, results=report.results, machine=machine,
        series=frozenset(experiment.id for experiment in run.plan.experiments if experiment.interval_s),
        rated=run.rated, references=report.references, notes=run.plan.notes, rounds=run.plan.limits.rounds,
        priority=run.priority,
    ))  # fmt: skip
    return replace(report, study=study)


def make_study(measured: StudyRun) -> Study | None:
    """Return the tables and charts of the study that a run's plan reproduces; None for any other plan.

    ``measured.plan`` is the name of the plan, one of ``study_names()`` if it reproduces a study.
    """
    if measured.plan not in study_names():
        return None
    module = importlib.import_module(f"{__name__}.{measured.plan.replace('-', '_')}")
    study: Study = module.make(measured)
    return study if measured.rounds is None else _with_missing_rounds(study, measured.rounds)


def _with_missing_rounds(study: Study, planned: int) -> Study:
    """Return the study with a remark on every value that lacks a round."""

    def remarked(cell: StudyCell) -> StudyCell:
        if cell.rounds is None or cell.rounds >= planned:
            return cell
        return replace(cell, remarks=[*cell.remarks, f"{cell.rounds} of {planned} rounds"])

    tables = [replace(table, cells=[[*map(remarked, row)] for row in table.cells]) for table in study.tables]
    return replace(study, tables=tables)
