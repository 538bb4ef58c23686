"""Export formats of ``nameplate show``: one module each, found by its name, in which ``-`` is ``_``.

A module has a function ``export(report)``, which returns the text of the format, or for formats of several files a
dictionary from file name to text or bytes. Where readers of the format expect a certain file name, the module has
``file_name(report) -> str`` as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from nameplate.records.result import Report
from nameplate.report.formats.named_formats import check_format, format_module, format_names
from nameplate.report.formats.optional_packages import check_report_packages

Export = Callable[[Report], str | dict[str, str] | dict[str, bytes]]

_PACKAGE = sys.modules[__name__]


def export_names() -> list[str]:
    """Return the names of the export formats in alphabetical order: the values of ``--format`` other than ``table``."""
    return format_names(_PACKAGE)


def find_export(name: str) -> Export:
    """Return the function that exports a report in the format ``name``, one of ``export_names()``.

    The function takes a report and returns the text of the format, or a dictionary from file name to text if the format
    has several files. It writes nothing. It raises UsageError if the report lacks what the format needs. It does not
    hide host names, so pass the report through ``report.aliases.without_names`` before.

    Raises:
        UsageError: the format is unknown, which includes "table"; the message suggests the nearest one. Or it needs a
            package that is not installed.
    """
    check_format(name, _PACKAGE)
    try:
        export: Export = format_module(name, _PACKAGE).export
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
    own = getattr(format_module(name, _PACKAGE), "file_name", None)
    return str(own(report)) if own else f"{run.stem}.{name}"
