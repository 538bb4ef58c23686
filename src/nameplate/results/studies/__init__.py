"""Published studies that a plan reproduces: their tables and charts, with this run's values by the study's definitions.

One module for each study, named after its plan (``cs553_kvm`` for ``cs553-kvm``), with ``make(measured) -> Study``. A
study is compared only with itself: where its definition of a quantity is not nameplate's, the run's value is computed
by the study's definition, and nameplate's own value stands in a line of its own name.
"""

from __future__ import annotations

import importlib
import pkgutil

from nameplate.records.model import Study
from nameplate.results.studies._measured import StudyRun as StudyRun

__all__ = ["Measured", "make_study", "study_names"]


def study_names() -> list[str]:
    """Return the names of the plans that reproduce a study."""
    modules = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return sorted(name.replace("_", "-") for name in modules)


def make_study(measured: StudyRun) -> Study | None:
    """Return the study that a run's plan reproduces; None for any other plan."""
    if measured.plan not in study_names() or not measured.machine:
        return None
    module = importlib.import_module(f"{__name__}.{measured.plan.replace('-', '_')}")
    study: Study = module.make(measured)
    return study
