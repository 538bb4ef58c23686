"""The subcommands: one module each, found by its name; its function ``command`` is what runs."""

from __future__ import annotations

import importlib
import pkgutil

from cyclopts import App


def register_all(app: App) -> None:
    """Adds every command to ``app``."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            app.command(importlib.import_module(f"{__name__}.{module.name}").command, name=module.name)
