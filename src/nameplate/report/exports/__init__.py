"""The formats of ``nameplate show``: one module each, found by its name, with ``export(report)``, which gives its text,
or of a format of several files their texts by their names.

Where readers of a format expect its files under a certain name, the module has ``file_name(report) -> str`` as well.
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
    """What may follow ``--format``, beside ``table``."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_export(name: str) -> Export:
    """Raises UsageError with the nearest right spelling."""
    if name not in export_names():
        raise UsageError(f"unknown format '{name}': {nearest(name, ['table', *export_names()])}")
    export: Export = importlib.import_module(f"{__name__}.{name}").export
    return export


def file_name(name: str, report: Report, run: Path) -> str:
    """The name of a run's file in a format: the format's own, or the run's with the format as its ending."""
    own = getattr(importlib.import_module(f"{__name__}.{name}"), "file_name", None)
    return str(own(report)) if own else f"{run.stem}.{name}"
