"""The subcommands. Each module without a leading underscore is a subcommand, which its function ``command`` runs."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from cyclopts import App, Group

from nameplate.commands._docstrings import reflowed

# The headings of the list of commands in their order. Each command's module names one of them as ``GROUP``.
_GROUPS = ("Measure", "Read results", "This machine and nameplate")
_GROUP = re.compile(r'^GROUP = "(.*)"$', re.MULTILINE)


def command_names() -> list[str]:
    """Return the names of all commands in alphabetical order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def register(app: App, arguments: Sequence[str] | None) -> None:
    """Add the commands to ``app``: the function ``command`` of each module here whose name has no leading underscore.

    A command has the name of its module. ``arguments`` are the command-line arguments. Only the modules of commands
    that they name are imported, since some take long to import; None imports all of them. If the first argument is a
    command, only this command is added. A command that is not imported has its summary for the list of commands, but no
    parameters.

    Raises ValueError if a module names none of ``_GROUPS`` as its ``GROUP``.
    """
    names = command_names()
    if arguments and arguments[0] in names:
        app.command(_imported(arguments[0]), name=arguments[0])
        return
    groups = {title: Group(title, sort_key=index) for index, title in enumerate(_GROUPS)}
    for name in names:
        group = groups[_group(name)]
        if arguments is None or name in arguments:
            app.command(_imported(name), name=name, group=group)
        else:
            app.command(App(name=name, help=_summary(name), group=group))


def _imported(name: str) -> Callable[..., int]:
    command: Callable[..., int] = importlib.import_module(f"{__name__}.{name}").command
    return reflowed(command)


def _group(name: str) -> str:
    """Return the heading of a command from the text of its module, which is not run."""
    match = _GROUP.search(Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8"))
    if match is None or match[1] not in _GROUPS:
        raise ValueError(f"commands/{name}.py: set GROUP to one of {', '.join(map(repr, _GROUPS))}")
    return match[1]


def _summary(name: str) -> str:
    """Return the first paragraph of a command's docstring from the compiled code of its module, which is not run."""
    code = SourceFileLoader(name, str(Path(__file__).with_name(f"{name}.py"))).get_code(name)
    functions = [const for const in code.co_consts if isinstance(const, CodeType)] if code else []
    # The first constant of a function with a docstring is the docstring.
    consts = next(function.co_consts for function in functions if function.co_name == "command")
    return " ".join(consts[0].partition("\n\n")[0].split()) if isinstance(consts[0], str) else ""
