"""The chart libraries of a report, which are kept in the user's cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import vl_convert

from nameplate.report.html.scripts import Bundle, chart_bundle


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Use an empty cache and return the list of the bundles that were made since."""
    made: list[str] = []

    def make(exports: str) -> str:
        made.append(exports)
        return f"let bundle; {exports}"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", make)
    chart_bundle.cache_clear()
    yield made
    chart_bundle.cache_clear()


def second() -> Bundle:
    chart_bundle.cache_clear()
    return chart_bundle()


def test_it_is_made_once_for_all_processes(made: list[str]) -> None:
    assert chart_bundle() == second()
    assert len(made) == 1


@pytest.mark.parametrize("damage", [b"", b"{}", b"no json", b'{"packed":"AAAA","hash":"x"}'])
def test_a_damaged_one_is_made_again(made: list[str], tmp_path: Path, damage: bytes) -> None:
    complete = chart_bundle()
    (file,) = (tmp_path / "nameplate" / "charts").iterdir()
    file.write_bytes(damage)
    assert second() == complete
    assert len(made) == 2
    assert second() == complete
    assert len(made) == 2


def test_another_script_in_its_place_is_not_used(made: list[str], tmp_path: Path) -> None:
    complete = chart_bundle()
    (file,) = (tmp_path / "nameplate" / "charts").iterdir()
    file.write_bytes(file.read_bytes().replace(b"sha256-", b"sha256-x"))
    assert second() == complete
    assert len(made) == 2


def test_without_a_cache_it_is_made_each_time(made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert chart_bundle() == second()
    assert len(made) == 2
