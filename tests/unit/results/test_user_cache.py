"""The user's cache is below a home directory, or nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from nameplate.errors import FileError
from nameplate.records.user_cache import cache_folder


@pytest.mark.parametrize("home", ["missing", "file", "../relative", "relative"])
def test_a_home_that_is_no_directory_is_not_created(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "relative").mkdir()
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", home if "relative" in home else str(tmp_path / home))
    with pytest.raises(FileError, match="cannot use a cache: HOME is "):
        cache_folder("history")


def test_the_cache_is_below_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder("history") == tmp_path / ".cache" / "nameplate" / "history"
