"""The version is defined in one place, src/nameplate/__init__.py, and every other place agrees with it."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
from pathlib import Path

from nameplate import __version__

ROOT = Path(__file__).parents[2]


def test_the_installed_package_has_the_version() -> None:
    assert importlib.metadata.version("nameplate") == __version__


def test_the_core_has_the_version(core_path: Path) -> None:
    answer = subprocess.run([core_path, "--version"], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == __version__


def test_the_citation_names_the_version() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited
    assert cited[1] == __version__
