"""Export formats of ``nameplate show``: one module each, found by its name.

A module has a function ``export(report)``, which returns the text of the format, or a dictionary from file name to text
for formats of several files. Where readers of the format expect a certain file name, the module has ``file_name(report)
-> str`` as well.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path

from nameplate.errors import UsageError
from nameplate.planning.sweep import nearest
from nameplate.records.model import Report

Export = Callable[[Report], str | dict[str, str]]


def export_names() -> list[str]:
    """Return the values of ``--format`` other than ``table``."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_export(name: str) -> Export:
    """Return the export function of a format.

    Raises:
        UsageError: the format is unknown; the message suggests the nearest one.
    """
    if name not in export_names():
        raise UsageError(f"unknown format '{name}'; {nearest(name, ['table', *export_names()])}")
    export: Export = importlib.import_module(f"{__name__}.{name}").export
    return export


def file_name(name: str, report: Report, run: Path) -> str:
    """Return the file name for a run in a format: the one that the format requires, or the run's name with another
    suffix.
    """
    own = getattr(importlib.import_module(f"{__name__}.{name}"), "file_name", None)
    return str(own(report)) if own else f"{run.stem}.{name}"
