"""The size of a test file that should be larger than the memory."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from machines import MACHINE
from nameplate.planning import file_size
from nameplate.planning.file_size import file_beyond_memory
from nameplate.units import size_text

GIB = 1 << 30
BLOCK = 4096
LONG_S = 1e6


def has_free(monkeypatch: pytest.MonkeyPatch, total_gib: int, free_gib: int) -> None:
    """Make the file system report this total and free space."""
    status = SimpleNamespace(f_blocks=total_gib * GIB // BLOCK, f_bavail=free_gib * GIB // BLOCK, f_frsize=BLOCK)
    monkeypatch.setattr(file_size, "os", SimpleNamespace(statvfs=lambda _: status))


def test_the_ratio_of_file_to_memory_is_that_of_the_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    has_free(monkeypatch, 1000, 500)
    assert file_beyond_memory(MACHINE, tmp_path, LONG_S) == (20 * GIB, "")  # 2.5 × 8 GiB


def test_little_free_space_makes_the_file_only_just_larger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    has_free(monkeypatch, 100, 25)
    assert file_beyond_memory(MACHINE, tmp_path, LONG_S) == (10 * GIB, "")


def test_too_little_free_space_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    has_free(monkeypatch, 100, 15)
    size, reason = file_beyond_memory(MACHINE, tmp_path, LONG_S)
    assert size == 1280 << 20
    assert reason == (
        "the disk file has 1280MiB instead of 10GiB, so it is not larger than the memory: the file system has room for "
        "5GiB"
    )


@pytest.mark.parametrize(("mib", "size_mib"), [(4096, 1280), (2048, 1024), (1024, 512), (300, 150), (1, 1)])
def test_the_file_fits_a_small_file_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mib: int, size_mib: int
) -> None:
    blocks = (mib << 20) // BLOCK
    status = SimpleNamespace(f_blocks=blocks, f_bavail=blocks, f_frsize=BLOCK)
    monkeypatch.setattr(file_size, "os", SimpleNamespace(statvfs=lambda _: status))
    size, reason = file_beyond_memory(MACHINE, tmp_path, LONG_S)
    assert size == size_mib << 20
    assert f"the disk file has {size_text(size)} instead of 10GiB" in reason
    assert "0.0" not in reason


def test_too_little_time_is_reported_with_the_time_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    has_free(monkeypatch, 1000, 500)
    size, reason = file_beyond_memory(MACHINE, tmp_path, 300)
    assert size == 1280 << 20
    assert reason.endswith("writing that much needs a budget of 12min or more")


def test_the_size_fits_the_real_file_system(tmp_path: Path) -> None:
    size, _ = file_beyond_memory(MACHINE, tmp_path, LONG_S)
    status = os.statvfs(tmp_path)
    assert size <= max(status.f_bavail * status.f_frsize, 1280 << 20)
