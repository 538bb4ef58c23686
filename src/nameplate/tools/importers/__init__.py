"""Results of other tools, read so that they stand beside runs: one module a tool, found by its name.

Each has ``recognises(text)``, which knows the tool's output by what only it writes, and ``read(text)``, which gives its
figures in our terms, or raises Unreadable rather than guess.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nameplate.errors import Unreadable
from nameplate.records.model import Value


@dataclass(frozen=True)
class Imported:
    """A figure in the SI unit of a probe's metric. ``params`` are those that the tool's output tells."""

    probe: str
    params: Mapping[str, Value]
    metric: str
    value: float


@dataclass(frozen=True)
class Importer:
    """A tool's module, by its name."""

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[str], Sequence[Imported]]


@cache
def load_importers() -> Sequence[Importer]:
    """Every module of this package."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return [Importer(module.__name__.rpartition(".")[2], module.recognises, module.read) for module in modules]


def importer_of(text: str) -> Importer | None:
    """The one that knows this output; None where none does."""
    return next((importer for importer in load_importers() if importer.recognises(text)), None)


def only(values: Sequence[Imported], what: str) -> Sequence[Imported]:
    """Raises Unreadable where there are none."""
    if not values:
        raise Unreadable(f"no {what} in it")
    return values
