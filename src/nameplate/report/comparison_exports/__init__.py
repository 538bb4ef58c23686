"""Export formats of ``nameplate compare``: one module each, found by its name.

Each module has a function ``export(comparison, limit)``, which returns the text of the format for a ``RunComparison``.
``limit`` is the share by which a metric must be SLOWER to count as a loss: 0.05 is 5 %, and with 0 every SLOWER metric
counts. Formats that show no losses ignore ``limit``.
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
    """Return the function that exports a comparison in the format ``name``, one of ``comparison_export_names()``.

    The function takes a ``RunComparison`` and the limit of a loss, which is a share (0.05 is 5 %). It returns the text
    of the format and writes nothing.

    Raises:
        UsageError: the format is unknown; the message suggests the nearest name.
    """
    check_format(name, _PACKAGE)
    export: ComparisonExport = format_module(name, _PACKAGE).export
    return export
