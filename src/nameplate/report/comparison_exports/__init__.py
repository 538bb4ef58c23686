"""Export formats of ``nameplate compare``: one module each, found by its name.

A module has a function ``export(found, limit)``, which returns the text of the format for a comparison of two runs.
``limit`` is the smallest loss of a capability that counts, as a share; 0 counts all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from nameplate.comparison.run_comparison import RunComparison
from nameplate.report.formats.named_formats import check_format, format_module, format_names

ComparisonExport = Callable[[RunComparison, float], str]

_PACKAGE = sys.modules[__name__]


def comparison_export_names() -> list[str]:
    """Return the names of the export formats in alphabetical order."""
    return format_names(_PACKAGE)


def find_comparison_export(name: str) -> ComparisonExport:
    """Return the function that exports a comparison in a format, one of ``comparison_export_names()``.

    Raises:
        UsageError: the format is unknown; the message suggests the nearest one.
    """
    check_format(name, _PACKAGE)
    export: ComparisonExport = format_module(name, _PACKAGE).export
    return export
