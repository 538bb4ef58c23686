"""The width of output follows the terminal and COLUMNS; a file or a pipe has lines of 100 characters."""

from __future__ import annotations

import pytest

from nameplate.report.terminal.console import make_console


@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize(("columns", "width"), [(None, 100), ("60", 60), ("0", 20), ("wide", 100), ("200", 200)])
@pytest.mark.parametrize("stderr", [False, True])
def test_the_width_without_a_terminal(
    columns: str | None, width: int, stderr: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert make_console(stderr).width == width
