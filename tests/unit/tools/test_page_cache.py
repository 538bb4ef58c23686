"""A tool's file is in the page cache, or the comparison says that it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nameplate.errors import ToolFailed
from nameplate.tools import page_cache
from nameplate.tools.page_cache import cached_share, check_cached, warm


@pytest.fixture
def evicted(tmp_path: Path) -> Path:
    """Return a file of 4 MiB that the page cache has nothing of, as after direct writes."""
    path = tmp_path / "fio.data"
    path.write_bytes(b"x" * (4 << 20))
    file = os.open(path, os.O_RDWR)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)
    if cached_share(path) != 0:
        pytest.skip("this file system keeps its files in memory")
    return path


def test_a_file_is_brought_into_the_page_cache(evicted: Path) -> None:
    with pytest.raises(ToolFailed, match=r"^0 % of fio\.data are in the page cache after its run, but all of it must"):
        check_cached(evicted, "after")
    warm(evicted)
    assert cached_share(evicted) == 1
    check_cached(evicted, "after")


def test_a_file_that_does_not_stay_in_the_page_cache_is_named(evicted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "cached_share", lambda _: 0.25)
    with pytest.raises(ToolFailed, match=r"^25 % of fio\.data are in the page cache before its run"):
        warm(evicted)
    monkeypatch.setattr(page_cache, "cached_share", lambda _: None)
    with pytest.raises(ToolFailed, match=r"does not show whether fio\.data is in the page cache"):
        warm(evicted)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert cached_share(tmp_path / "none") is None
    with pytest.raises(ToolFailed, match="cannot read none: No such file or directory"):
        warm(tmp_path / "none")
