"""The subcommands. Each module of this package is one, and has a function ``command`` that runs it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Sequence

from cyclopts import App


def register(app: App, arguments: Sequence[str]) -> None:
    """Add the commands to ``app``: the function ``command`` of each module here whose name has no leading underscore.

    A command has the name of its module. If the first of ``arguments`` is a command, only its module is imported and
    added, since some take long to import. The line breaks within a paragraph of the functions' docstrings are removed
    for good, since the help would keep them.
    """
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
    for name in [*arguments[:1]] if arguments and arguments[0] in names else names:
        command = importlib.import_module(f"{__name__}.{name}").command
        # --help would keep the line breaks of the source.
        command.__doc__ = "\n".join(_unwrapped(inspect.getdoc(command) or ""))
        app.command(command, name=name)


def _unwrapped(docstring: str) -> Iterator[str]:
    """Yield the lines of a docstring, with each paragraph and each description of a parameter in one line."""
    text, heading, parameters = docstring.partition("\n\nParameters\n")
    yield "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    description = ""
    for line in f"{heading}{parameters}".splitlines():
        if line.startswith(" "):
            description += f" {line.strip()}" if description else line
            continue
        if description:
            yield description
        description = ""
        yield line
    if description:
        yield description
