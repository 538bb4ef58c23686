"""The formats of ``nameplate show``: one module each, found by its name, with ``export(report) -> str``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from nameplate.errors import UsageError
from nameplate.model import Report
from nameplate.sweep import nearest

Export = Callable[[Report], str]


def export_names() -> list[str]:
    """What may follow ``--format``, beside ``table``."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def find_export(name: str) -> Export:
    """Raises UsageError with the nearest right spelling."""
    if name not in export_names():
        raise UsageError(f"unknown format '{name}': {nearest(name, ['table', *export_names()])}")
    export: Export = importlib.import_module(f"{__name__}.{name}").export
    return export
