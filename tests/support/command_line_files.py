"""Generate the man page and the shell completions below share/ from the same definitions as --help.

``python tests/support/command_line_files.py`` writes them; tests/unit/commands/test_command_line_files.py fails when
they are out of date.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from cyclopts import App
from cyclopts.argument import Argument

from nameplate import __version__
from nameplate.command_line import make_app

Shell = Literal["bash", "zsh", "fish"]

ROOT = Path(__file__).parents[2]
MAN_PAGE = ROOT / "share" / "man" / "man1" / "nameplate.1"
# Where each shell looks below a prefix. The file for zsh has the name of its function, which cyclopts chooses.
COMPLETIONS: dict[Shell, Path] = {
    "bash": ROOT / "share" / "bash-completion" / "completions" / "nameplate",
    "zsh": ROOT / "share" / "zsh" / "site-functions" / "_cyclopts_nameplate",
    "fish": ROOT / "share" / "fish" / "vendor_completions.d" / "nameplate.fish",
}


def man_page(app: App) -> str:
    """Return the man page nameplate(1) in the man macros of roff."""
    names = [name for name in app if not name.startswith("-")]
    lines = [
        f'.TH NAMEPLATE 1 "" "nameplate {__version__}" "User Commands"',
        ".SH NAME", f"nameplate \\- {_plain(app.help.rstrip('.'))}",
        ".SH SYNOPSIS", ".B nameplate", ".I COMMAND", "[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
        ".SH COMMANDS", *(line for name in names for line in _command(name, app[name])),
        ".SH EXIT STATUS", *_exit_codes(),
        ".SH SEE ALSO", "The documentation of the probes and formats lies in the directory docs of the source.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def completion(app: App, shell: Shell) -> str:
    """Return the script with which a shell completes nameplate's commands and options."""
    return app.generate_completion(shell=shell)


def _command(name: str, app: App) -> Iterator[str]:
    yield f".SS nameplate {name}"
    paragraphs, _, _ = inspect.cleandoc(app.help).partition("\n\nParameters\n---")
    yield from "\n.PP\n".join(_plain(paragraph) for paragraph in paragraphs.split("\n\n")).split("\n")
    for argument in app.assemble_argument_collection(parse_docstring=True).filter_by(show=True):
        yield from _argument(argument)


def _argument(argument: Argument) -> Iterator[str]:
    # Not --no-json, which only undoes --json.
    names = [_plain(name) for name in argument.names if name not in argument.negatives]
    if argument.index is not None:
        heading = f"\\fI{names[0]}\\fR"
    else:
        value = "" if argument.hint is bool else f" \\fI{argument.field_info.name.upper()}\\fR"
        heading = ", ".join(f"\\fB{name}\\fR" for name in names) + value
    default = argument.field_info.default
    has_default = isinstance(default, str) and default and argument.parameter.show_default is not False
    said = argument.parameter.help or ""
    yield from (".TP", heading, _plain(f"{said} Default: {default}." if has_default else said))


def _exit_codes() -> Iterator[str]:
    """Yield the exit codes as README.md lists them."""
    actual = re.search(r"^Exit codes: (.+?)\n\n", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert actual, "README.md lists no exit codes"
    for code, meaning in re.findall(r"(\d+) ([^;.]+)", actual[1].replace("\n", " ")):
        yield from (".TP", f".B {code}", _plain(meaning.replace("`", "")))


def _plain(text: str) -> str:
    """Return the text in one line, with roff's special characters and those outside ASCII escaped."""
    text = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"``(.+?)``", r"\\fB\1\\fR", text)
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text


def main() -> None:
    """Write all files."""
    app = make_app()
    for path, text in [(MAN_PAGE, man_page(app)), *((path, completion(app, sh)) for sh, path in COMPLETIONS.items())]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
