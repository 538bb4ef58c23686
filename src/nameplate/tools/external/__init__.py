"""Adapters for external tools: one file each, found by its name.

A file has ``REFERENCE`` if nameplate can be compared with the tool. It has the functions ``recognises(text)`` and
``read(text)`` if the tool's output can be read like a run: ``recognises`` looks for text that only this tool writes,
and ``read`` returns what the output tells in nameplate's terms or raises Unreadable.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from nameplate.tools.output import ToolOutput
from nameplate.tools.reference_tool import ReferenceTool


@dataclass(frozen=True)
class Importer:
    """A tool whose output can be read like a run, by the name of its module.

    ``recognises`` returns whether a text is such an output. ``read`` returns what it tells, or raises Unreadable or
    FileError.
    """

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[str], ToolOutput]


def _modules() -> Iterator[tuple[str, ModuleType]]:
    for module in pkgutil.iter_modules(__path__):
        yield module.name, importlib.import_module(f"{__name__}.{module.name}")


@cache
def load_references() -> Mapping[str, ReferenceTool]:
    """Return the tools that nameplate can be compared with, by name in alphabetical order."""
    return {name: module.REFERENCE for name, module in _modules() if hasattr(module, "REFERENCE")}


@cache
def load_importers() -> Sequence[Importer]:
    """Return the tools whose output can be read like a run, in the alphabetical order of their names."""
    return [
        Importer(name, module.recognises, module.read) for name, module in _modules() if hasattr(module, "recognises")
    ]


def importers_of(text: str) -> Sequence[Importer]:
    """Return the tools of which a text has outputs; the log of a job may have several, other text has none."""
    return [importer for importer in load_importers() if importer.recognises(text)]
