"""Provide the adapters for external tools: one module per tool, found by its name.

A module has ``REFERENCE`` if nameplate can be compared with the tool. It has the functions ``recognises(text)`` and
``read(text)`` if the tool's output can be read as a run: ``recognises`` searches for text that only this tool writes,
and ``read`` returns the values in the output as nameplate's metrics, or raises Unreadable.
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
    """A tool whose output can be read as a run.

    ``name`` is the name of its module. ``recognises`` returns whether a text contains an output of the tool. ``read``
    returns the values in such a text, or raises Unreadable or FileError.
    """

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[str], ToolOutput]


def _modules() -> Iterator[tuple[str, ModuleType]]:
    for module in pkgutil.iter_modules(__path__):
        yield module.name, importlib.import_module(f"{__name__}.{module.name}")


@cache
def load_references() -> Mapping[str, ReferenceTool]:
    """Return the tools that nameplate can be compared with, by name, in alphabetical order."""
    return {name: module.REFERENCE for name, module in _modules() if hasattr(module, "REFERENCE")}


@cache
def load_importers() -> Sequence[Importer]:
    """Return the tools whose output can be read as a run, in the alphabetical order of their names."""
    return [
        Importer(name, module.recognises, module.read) for name, module in _modules() if hasattr(module, "recognises")
    ]


def importers_of(text: str) -> Sequence[Importer]:
    """Return the tools whose output ``text`` contains, by name: several for some job logs, none for other programs."""
    return [importer for importer in load_importers() if importer.recognises(text)]
