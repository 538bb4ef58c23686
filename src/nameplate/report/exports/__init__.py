"""Export formats of ``nameplate show``: one module each, found by its name, in which ``-`` is ``_``.

A module has a function ``export(report)``, which returns the text of the format, or for formats of several files a
dictionary from file name to text or bytes. Where readers of the format expect a certain file name, the module has
``file_name(report) -> str`` as well.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path

from nameplate.errors import UsageError
from nameplate.planning.sweep import nearest
from nameplate.records.result import Report
from nameplate.report.optional_packages import check_report_packages

Export = Callable[[Report], str | dict[str, str] | dict[str, bytes]]


def export_names() -> list[str]:
    """Return the names of the export formats in alphabetical order: the values of ``--format`` other than ``table``."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def find_export(name: str) -> Export:
    """Return the function that exports a report in the format ``name``, one of ``export_names()``.

    The function takes a report and returns the text of the format, or a dictionary from file name to text if the format
    has several files. It writes nothing. It raises UsageError if the report lacks what the format needs. It does not
    hide host names, so pass the report through ``report.aliases.without_names`` before.

    Raises:
        UsageError: the format is unknown, which includes "table"; the message suggests the nearest one. Or it needs a
            package that is not installed.
    """
    if name not in export_names():
        raise UsageError(f"unknown format '{name}'; {nearest(name, ['table', *export_names()])}")
    try:
        export: Export = importlib.import_module(_module_of(name)).export
    except ModuleNotFoundError:
        check_report_packages(f"--format {name}")
        raise
    return export


def file_name(name: str, report: Report, run: Path) -> str:
    """Return the file name, without a directory, to which a run is exported by default.

    It is the name that the format requires, or else the name of the run file ``run`` with the suffix ``.name``:
    ``mine.csv`` for ``mine.jsonl``. ``name`` is one of ``export_names()`` whose export is a single text; formats of
    several files name their files themselves. ``report`` is the report that is exported.

    Raises:
        ModuleNotFoundError: the format is unknown.
        UsageError: the format derives the file name from results that the report does not have.
    """
    own = getattr(importlib.import_module(_module_of(name)), "file_name", None)
    return str(own(report)) if own else f"{run.stem}.{name}"


def _module_of(name: str) -> str:
    return f"{__name__}.{name.replace('-', '_')}"
