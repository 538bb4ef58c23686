"""Export formats of ``nameplate compare``: one module each, found by its name.

A module has a function ``export(found, limit)``, which returns the text of the format for a comparison of two runs.
``limit`` is the smallest loss of a capability that counts, as a share; 0 counts all.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from nameplate.comparison.run_comparison import RunComparison
from nameplate.errors import UsageError
from nameplate.planning.sweep import nearest

ComparisonExport = Callable[[RunComparison, float], str]


def comparison_export_names() -> list[str]:
    """Return the names of the export formats in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_comparison_export(name: str) -> ComparisonExport:
    """Return the function that exports a comparison in a format, one of ``comparison_export_names()``.

    Raises:
        UsageError: the format is unknown; the message has the most similar names.
    """
    if name not in comparison_export_names():
        raise UsageError(f"unknown format '{name}'; {nearest(name, ['table', *comparison_export_names()])}")
    export: ComparisonExport = importlib.import_module(f"{__name__}.{name}").export
    return export
