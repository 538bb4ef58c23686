"""Excerpts of a program's messages."""

from __future__ import annotations

import pytest

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
