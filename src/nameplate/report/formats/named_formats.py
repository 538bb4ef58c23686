"""Find the modules of a package of export formats by the names of the formats, in which ``-`` is ``_``."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from nameplate.errors import UsageError
from nameplate.planning.sweep import nearest


def format_names(package: ModuleType) -> list[str]:
    """Return the names of the formats of a package in alphabetical order, one for each of its modules."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(package.__path__))


def check_format(name: str, package: ModuleType) -> None:
    """Check that a package has a format with this name.

    Raises:
        UsageError: the format is unknown, which includes "table"; the message suggests the nearest one.
    """
    names = format_names(package)
    if name not in names:
        raise UsageError(f"unknown format '{name}'; {nearest(name, ['table', *names])}")


def format_module(name: str, package: ModuleType) -> ModuleType:
    """Return the module of a format, and import it before if need be.

    Raises:
        ModuleNotFoundError: the package has no such format, or a package that the module needs is not installed.
    """
    return importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}")
