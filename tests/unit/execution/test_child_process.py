"""Excerpts of a program's messages, and programs whose start is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

import pytest

from nameplate.execution import child_process
from nameplate.execution.child_process import Excerpt


@pytest.mark.parametrize("size", [1, 4096, 8191, 8192])
def test_a_text_that_fits_is_kept_whole(size: int) -> None:
    excerpt = Excerpt()
    excerpt.add(b"x" * size)
    assert excerpt.text() == "x" * size


def test_a_longer_text_keeps_its_beginning_and_its_end() -> None:
    excerpt = Excerpt()
    for part in (b"a" * 4096, b"b", b"c" * 4096):
        excerpt.add(part)
    assert excerpt.text() == "a" * 4096 + "\n...\n" + "c" * 4096


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" one\n  two\tthree ", "one two three"),
        ("a launcher failed without reason", "... without reason"),
        ("x" * 40, "... " + "x" * 16),
    ],
)
def test_the_end_of_a_long_text_begins_with_a_whole_word(text: str, line: str) -> None:
    assert child_process.end_of_text(text, 20) == line


def test_a_program_whose_start_is_interrupted_does_not_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(real(*arguments, **options))
        os.kill(os.getpid(), signal.SIGINT)
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    # A test command in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            child_process.start(["sleep", "600"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert started[0].returncode == -signal.SIGKILL
