"""The package's metadata: the version, defined in one place, and what pip learns from them."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

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


@pytest.mark.parametrize(
    ("recipe", "pattern"),
    [
        ("debian/changelog", r"^nameplate \((.+)\)"),
        ("rpm/nameplate.spec", r"^Version: *(.+)$"),
        ("spack/nameplate_core/package.py", r"^    version\(\"(.+)\"\)$"),
        ("conda-forge/recipe.yaml", r"^  version: ([0-9.]+)$"),
        (f"easybuild/nameplate-{__version__}-foss-2025b.eb", r"^version = '(.+)'$"),
    ],
)
def test_a_recipe_has_the_version(recipe: str, pattern: str) -> None:
    assert re.findall(pattern, (ROOT / "packaging" / recipe).read_text(), re.MULTILINE)[0] == __version__


@pytest.mark.parametrize("recipe", ["conda-forge/recipe.yaml", f"easybuild/nameplate-{__version__}-foss-2025b.eb"])
def test_a_recipe_with_python_wants_what_pip_wants(recipe: str) -> None:
    text = (ROOT / "packaging" / recipe).read_text()
    bundled = {"numpy": "SciPy-bundle", "scipy": "SciPy-bundle"} if recipe.startswith("easybuild") else {}
    for item in map(Requirement, importlib.metadata.requires("nameplate") or []):
        if is_required(item, "3.13", ""):
            assert re.search(rf"\b{bundled.get(item.name, item.name)}\b", text), item


def test_a_python_that_is_too_old_wants_no_other_package() -> None:
    # Else pip would fail at the first of them, with a thousand versions in its message, and never name the Python.
    expected = [Requirement(item) for item in importlib.metadata.requires("nameplate") or []]
    for extra in ("", "report", "catalogue"):
        assert [item.name for item in expected if is_required(item, "3.11", extra)], extra
        assert not [item.name for item in expected if is_required(item, "3.9", extra)], extra


def is_required(requirement: Requirement, python_version: str, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"python_version": python_version, "extra": extra})
