"""Imports point in one direction, in both languages."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A package may import from itself and from the packages before it.
PACKAGES = [
    "records", "statistics", "probes", "planning", "results", "execution", "comparison", "expectations", "tools",
    "history", "report",
    "commands",
]  # fmt: skip
# Modules that every package may use, and that use no package.
SHARED = {"__init__", "errors", "control_characters", "hostlist", "interruption", "process", "streams", "units"}
# The modules that start the program may use everything.
TOP = {"__main__", "command_line", "api"}
CORE_ORDER = [
    "kernels",
    "record",
    "machine",
    "probe",
    "measure",
    "workloads",
    "disk",
    "net",
    "cluster",
    "mpi",
    "quick",
    "probes",
    "main.cpp",
]
# Headers of a higher layer that a lower layer may include: errors are raised everywhere.
CORE_EXCEPTIONS = {"probe/error.h"}


PYTHON_FILES = sorted((ROOT / "src" / "nameplate").rglob("*.py"))


REPORT = ROOT / "src" / "nameplate" / "report"
# What is said, its forms, how it looks, and files of it; rooms on the same floor do not import each other.
REPORT_FLOORS = [
    ["content"], ["formats"], ["terminal", "charts"], ["html"], ["chart_files"], ["exports", "comparison_exports"],
]  # fmt: skip
REPORT_FILES = [path for path in PYTHON_FILES if path.is_relative_to(REPORT) and path.parent != REPORT]


def python_imports(path: Path) -> set[str]:
    """Return what a file imports from nameplate, with the names: "probes.shared.job.nodes_of"."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "nameplate":
            found |= {f"{node.module}.{alias.name}".removeprefix("nameplate.") for alias in node.names}
    return {name if name != "__version__" else "__init__" for name in found}


def package_of(path: Path) -> str:
    """Return the package or top-level module of a file."""
    return path.relative_to(ROOT / "src" / "nameplate").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_imports_follow_the_layers(path: Path) -> None:
    own = package_of(path)
    used = {name.split(".")[0] for name in python_imports(path)} - {own}
    if own in TOP or (path.name == "__init__.py" and path.parent.name == "nameplate"):  # which loads nothing itself
        return
    allowed = SHARED | set(PACKAGES[: PACKAGES.index(own)] if own in PACKAGES else [])
    assert used <= allowed, f"{own} imports {used - allowed}"


@pytest.mark.parametrize("path", REPORT_FILES, ids=lambda path: str(path.relative_to(REPORT)))
def test_what_is_said_does_not_know_how_it_looks(path: Path) -> None:
    """Within the package report, a room imports itself and the rooms on lower floors."""
    room = path.relative_to(REPORT).parts[0]
    floor = next(number for number, rooms in enumerate(REPORT_FLOORS) if room in rooms)
    allowed = {room, *(name for rooms in REPORT_FLOORS[:floor] for name in rooms)}
    used = {name.split(".")[1] for name in python_imports(path) if name.startswith("report.")}
    assert used <= allowed, f"{room} imports {used - allowed}"


def test_every_package_is_in_a_layer() -> None:
    assert {package_of(path) for path in PYTHON_FILES} == {*PACKAGES, *SHARED, *TOP}


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_private_is_imported_from_another_package(path: Path) -> None:
    own = package_of(path)
    for name in python_imports(path):
        package, *rest = name.split(".")
        private = [part for part in rest if part.startswith("_") and not part.startswith("__")]
        assert package == own or not private, f"{own} imports {name}"


CORE_FILES = sorted(p for p in (ROOT / "core").rglob("*") if p.suffix in (".h", ".cpp") and "tests" not in p.parts)


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_core_includes_follow_the_layers(path: Path) -> None:
    part = path.relative_to(ROOT / "core").parts[0]
    own = CORE_ORDER.index(part)
    for included in re.findall(r'#include "([^"]+)"', path.read_text()):
        if included not in CORE_EXCEPTIONS:
            assert CORE_ORDER.index(included.split("/")[0]) <= own, f"{path.name} includes {included}"


def test_nothing_is_timed_by_the_time_of_day() -> None:
    """The time of day jumps when it is set; the clocks of SO_RCVTIMEO, epoll and nanosleep do not."""
    for path in CORE_FILES:
        # The date of a run is the only use of it.
        if path.name == "moment.cpp":
            continue
        assert not re.search(r"system_clock|CLOCK_REALTIME|gettimeofday|\btime\(", path.read_text()), path.name


def test_kernels_time_nothing_and_do_no_io() -> None:
    for path in (ROOT / "core" / "kernels").iterdir():
        text = path.read_text()
        assert not re.search(r"#include <(chrono|iostream|fstream|cstdio)>|Clock::|clock_gettime", text), path.name


def test_only_the_vnni_and_amx_kernels_use_x86_intrinsics() -> None:
    users = {path.name for path in (ROOT / "core").rglob("*.*") if "immintrin.h" in path.read_text()}
    assert users == {"vnni.cpp", "amx.cpp"}


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = {}
    for path in PYTHON_FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_every_file_and_test_named_in_the_docs_exists() -> None:
    texts = {path: path.read_text() for path in (ROOT / "docs").rglob("*.md")}
    named = {(path.name, name) for path, text in texts.items() for name in re.findall(r"tests/[\w/]+\.py", text)}
    assert [each for each in sorted(named) if not (ROOT / each[1]).exists()] == []
    tests = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    reliability = texts[ROOT / "docs" / "reliability.md"]
    assert set(re.findall(r"\b(test_\w+)(?=`)", reliability)) <= tests
