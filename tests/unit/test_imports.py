"""Imports point one way, in both languages."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A module may import from those named before it, never from those after it.
PYTHON_ORDER = [
    "__init__", "errors", "control_characters", "interruption", "streams", "child_process", "inputs", "model",
    "units", "hostlist", "sweep", "stats", "plateaus", "fit", "bootstrap", "segments", "saturation",
    "false_discovery", "trends", "files", "outputs", "compare", "slow_nodes", "distributed_stream",
    "machine_record", "rated", "fitness", "records", "probes", "results", "record_checks", "store", "keeper",
    "srun", "launch", "native", "planning", "plan", "slurm", "execution", "measure", "curves", "node_figures",
    "events", "statistics", "explain", "summarise", "figures",
    "run_comparison", "self_test", "history_index", "history", "history_view", "recheck", "references", "importers",
    "imported_run", "tools", "versus", "report", "commands", "command_line", "__main__",
]  # fmt: skip
CORE_ORDER = ["kernels", "record", "machine", "probe", "measure", "disk", "net", "cluster", "mpi", "probes", "main.cpp"]
# Headers of a higher part that a lower one may see: errors are raised everywhere.
CORE_EXCEPTIONS = {"probe/error.h"}


def python_imports(path: Path) -> set[str]:
    """The top-level modules of nameplate that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "nameplate":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return {name if name != "__version__" else "__init__" for name in found}


PYTHON_FILES = sorted((ROOT / "src" / "nameplate").rglob("*.py"))


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_imports_point_one_way(path: Path) -> None:
    part = path.relative_to(ROOT / "src" / "nameplate").parts[0].removesuffix(".py")
    own = PYTHON_ORDER.index(part)
    for imported in python_imports(path):
        assert imported == part or PYTHON_ORDER.index(imported) < own, f"{part} imports {imported}"


CORE_FILES = sorted(p for p in (ROOT / "core").rglob("*") if p.suffix in (".h", ".cpp") and "tests" not in p.parts)


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_core_includes_point_one_way(path: Path) -> None:
    part = path.relative_to(ROOT / "core").parts[0]
    own = CORE_ORDER.index(part)
    for included in re.findall(r'#include "([^"]+)"', path.read_text()):
        if included not in CORE_EXCEPTIONS:
            assert CORE_ORDER.index(included.split("/")[0]) <= own, f"{path.name} includes {included}"


def test_nothing_is_timed_by_a_clock_that_somebody_can_set() -> None:
    """Of the day, which jumps; what the kernel waits by (SO_RCVTIMEO, epoll, nanosleep) does not."""
    for path in CORE_FILES:
        assert not re.search(r"system_clock|CLOCK_REALTIME|gettimeofday|\btime\(", path.read_text()), path.name


def test_kernels_time_nothing_and_do_no_io() -> None:
    for path in (ROOT / "core" / "kernels").iterdir():
        text = path.read_text()
        assert not re.search(r"#include <(chrono|iostream|fstream|cstdio)>|Clock::|clock_gettime", text), path.name


def test_only_the_vnni_and_amx_kernels_use_x86_intrinsics() -> None:
    users = {path.name for path in (ROOT / "core").rglob("*.*") if "immintrin.h" in path.read_text()}
    assert users == {"vnni.cpp", "amx.cpp"}
