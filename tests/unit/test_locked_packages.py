"""Scripts install packages in the versions and with the hashes of packaging/locked."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tracked_files import ROOT, tracked_files

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LOCKED = ROOT / "packaging" / "locked"
PACKAGE = re.compile(r"^([^\s#].*?) \\\n((?: .*\n)+)", re.M)
HASHES = re.compile(r"(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+")
FETCHES = re.compile(r"\bpip (?:install|download|wheel)\b|\bpipx run\b|\bpip_install ")
PLATFORMS = [(version, machine) for version in ("3.10", "3.11", "3.12", "3.13") for machine in ("x86_64", "aarch64")]


def pyproject(folder: str = ".") -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text())


def groups() -> dict[str, list[str]]:
    """Return what each group of packaging/locked asks for; the packages of run may be left out in the others."""
    project = pyproject()["project"]
    optional: Mapping[str, list[str]] = project["optional-dependencies"]
    builds = [line for folder in (".", "catalogue") for line in pyproject(folder)["build-system"]["requires"]]
    return {**optional, "run": project["dependencies"], "build": [*builds, "editables"]}


def locked(group: str) -> Iterator[tuple[Requirement, str]]:
    for requirement, hashes in PACKAGE.findall((LOCKED / f"{group}.txt").read_text()):
        yield Requirement(requirement), hashes


@pytest.mark.parametrize(("version", "machine"), PLATFORMS)
def test_the_locked_versions_satisfy_what_is_asked_for(version: str, machine: str) -> None:
    environment: dict[str, str] = {
        "python_version": version, "python_full_version": f"{version}.9", "sys_platform": "linux",
        "platform_machine": machine, "platform_python_implementation": "CPython",
    }  # fmt: skip
    for group, lines in groups().items():
        if group == "catalogue":  # its package comes from this repository
            continue
        names = dict.fromkeys(("run", group)) if group != "axe" else ("axe",)
        pins = [pin for name in names for pin, _ in locked(name) if not pin.marker or pin.marker.evaluate(environment)]
        versions = {canonicalize_name(pin.name): str(pin.specifier) for pin in pins}
        for asked in map(Requirement, lines):
            if not asked.marker or asked.marker.evaluate(environment):
                pinned = versions.get(canonicalize_name(asked.name), "")
                assert pinned.startswith("=="), f"{group}: no version of {asked}: run script/lock"
                assert asked.specifier.contains(pinned[2:]), f"{group}: {pinned} is not {asked}: run script/lock"


@pytest.mark.parametrize("group", ["run", "report", "parquet", "dataframe"])
def test_what_the_packages_of_a_user_ask_for_is_locked_too(group: str) -> None:
    """An image and a wheelhouse have no other packages, and pip installs none that has no hash."""
    pins = {
        canonicalize_name(pin.name)
        for name in {"run", group}
        for pin, _ in locked(name)
        if not pin.marker or pin.marker.evaluate()
    }
    for name in sorted(pins):
        for asked in map(Requirement, metadata.requires(name) or ()):
            if not asked.marker or asked.marker.evaluate({"extra": ""}):
                assert canonicalize_name(asked.name) in pins, f"{name} asks for {asked}, which {group} lacks"


def test_each_group_is_locked_and_each_version_has_hashes() -> None:
    assert {path.stem for path in LOCKED.iterdir()} == set(groups()) - {"catalogue"}
    for group in set(groups()) - {"catalogue"}:
        text = (LOCKED / f"{group}.txt").read_text()
        packages = list(locked(group))
        assert len(re.findall(r"^[^\s#]", text, re.M)) == len(packages) > 0
        assert all(HASHES.fullmatch(hashes) for _, hashes in packages)


def test_nothing_is_installed_without_a_hash() -> None:
    for name in tracked_files("script", ".github/workflows", "action.yml", "packaging/container"):
        for line in (ROOT / name).read_text().replace("\\\n", " ").splitlines():
            if FETCHES.search(line) and not line.lstrip().startswith(("#", "pip_install()")):
                # A package of this repository is built with the locked packages, or is a wheel that was built before.
                is_of_project = (
                    "--no-build-isolation" in line
                    or "--no-index" in line
                    or 'pip_install --force-reinstall "$wheel"' in line
                )
                assert "--require-hashes" in line or is_of_project, f"{name}: {line}"


def test_debians_packages_in_the_image_have_versions() -> None:
    lines = (ROOT / "packaging" / "container" / "packages").read_text().splitlines()
    assert all(re.fullmatch(r"[a-z0-9.+-]+=\S+", line) for line in lines)
    rootfs = (ROOT / "packaging" / "container" / "rootfs").read_text()
    (asked,) = re.findall(r"^packages=(.*)$", rootfs, re.M)
    assert set(asked.split(",")) <= {line.partition("=")[0] for line in lines}
