"""Find the modules of a package of export formats by the names of the formats, in which ``-`` is ``_``."""

from __future__ import annotations

import ast
import difflib
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

from nameplate.errors import UsageError
from nameplate.suggestion import nearest


def format_names(package: ModuleType) -> list[str]:
    """Return the names of the formats in alphabetical order, one for each module of ``package``.

    ``package`` contains one module per format, as ``nameplate.report.exports`` does.
    """
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(package.__path__))


def check_format(name: str, package: ModuleType) -> None:
    """Check that ``package``, which has one module per format, has a format with this name.

    Raises:
        UsageError: the package has no such format, which includes "table"; the message suggests the nearest name.
    """
    names = format_names(package)
    if name not in names:
        is_spreadsheet = "csv" in names and bool(difflib.get_close_matches(name.lower(), ["excel", "xlsx", "xls"]))
        hint = "spreadsheets read csv" if is_spreadsheet else nearest(name, {"table", *names} - {name})
        raise UsageError(f"unknown format '{name}'; {hint}")


def format_module(name: str, package: ModuleType) -> ModuleType:
    """Return the module of the format ``name`` in ``package``, importing it if necessary.

    Raises:
        ModuleNotFoundError: the package has no such format, or a package that the module needs is not installed.
    """
    return importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}")


def format_content(name: str, package: ModuleType) -> str:
    """Return a description of the format ``name``: the first paragraph of its module's docstring, in one line.

    The module is read from ``package`` but not imported, since it may need packages that are not installed. The text is
    "" if the module has no docstring.

    Raises:
        FileNotFoundError: the package has no such format.
    """
    source = (Path(package.__path__[0]) / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
    return " ".join((ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0].split())
