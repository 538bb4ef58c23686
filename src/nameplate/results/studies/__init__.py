"""Build the tables and charts of a published study, with the values of a run by the definitions of the study.

Each study has a module named after its plan (``cs553_kvm`` for ``cs553-kvm``), with ``make(measured) -> Study``. If a
study defines a quantity otherwise than nameplate, the value of the run is computed by the study's definition.
nameplate's value is shown in a separate line with its own name.
"""

from __future__ import annotations

import importlib
import pkgutil

from nameplate.records.study_record import Study
from nameplate.results.studies._measured import StudyRun as StudyRun

__all__ = ["StudyRun", "make_study", "study_names"]


def study_names() -> list[str]:
    """Return the names of the plans that reproduce a published study, such as "cs553-kvm", in alphabetical order."""
    modules = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return sorted(name.replace("_", "-") for name in modules)


def make_study(measured: StudyRun) -> Study | None:
    """Return the tables and charts of the study that a run's plan reproduces, or None for any other plan.

    The plan is recognised by its name, ``measured.plan``, which is one of ``study_names()``.
    """
    if measured.plan not in study_names():
        return None
    module = importlib.import_module(f"{__name__}.{measured.plan.replace('-', '_')}")
    study: Study = module.make(measured)
    return study
