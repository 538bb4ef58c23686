"""Export formats of ``nameplate show``: one module each, found by its name, in which ``-`` is ``_``.

Each module has a function ``export(report)``. It returns the text of the format or, if the format has several files, a
dictionary from file name to text or bytes. If programs that read the format expect a certain file name, the module also
has a function ``file_name(report) -> str``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from nameplate.extras import check_extra
from nameplate.records.result import Report
from nameplate.report.formats.named_formats import check_format, format_module, format_names

Export = Callable[[Report], str | dict[str, str] | dict[str, bytes]]

_PACKAGE = sys.modules[__name__]


def export_names() -> list[str]:
    """Return the names of the export formats in alphabetical order: the values of ``--format`` other than ``table``."""
    return format_names(_PACKAGE)


def find_export(name: str) -> Export:
    """Return the function that exports a report in the format ``name``, one of ``export_names()``.

    The function takes a report and returns the text of the format, or a dictionary from file name to text or bytes if
    the format has several files. It writes nothing. It raises UsageError if the report has no data for the format, such
    as no chart for ``gnuplot``. It does not hide host names; to hide them, pass the report through
    ``report.content.aliases.without_names`` first.

    Raises:
        UsageError: the format is unknown, which includes "table"; the message suggests the nearest name. Also raised if
            the format needs a package that is not installed.
    """
    check_format(name, _PACKAGE)
    try:
        export: Export = format_module(name, _PACKAGE).export
    except ModuleNotFoundError:
        check_extra("report", f"--format {name}")
        raise
    return export


def file_name(name: str, report: Report, run: Path) -> str:
    """Return the file name, without a directory, to which a run is exported by default.

    This is the file name that the format requires or, if it requires none, the name of the run file ``run`` with the
    suffix ``.`` and ``name``: ``mine.csv`` for the format ``csv`` and the run file ``mine.jsonl``. ``name`` is a format
    of ``export_names()`` that has a single file; a format of several files returns their names from ``export``.
    ``report`` is the report to export.

    Raises:
        ModuleNotFoundError: the format is unknown.
        UsageError: the format derives the file name from results that the report does not have.
    """
    name_of_format = getattr(format_module(name, _PACKAGE), "file_name", None)
    return str(name_of_format(report)) if name_of_format else f"{run.stem}.{name}"
