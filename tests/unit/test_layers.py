"""Imports point in one direction, in both languages."""

from __future__ import annotations

import ast
import re
from collections import Counter
from graphlib import TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A package may import from itself and from the packages before it. Within it, a file may import from its own folder and
# from lower floors: the modules and folders of the lists before its own. "_*" is one folder of all private modules, and
# "*" stands for all modules that are not named.
PACKAGES = {
    "records": [
        ["*"], ["fleet_record", "machine_record", "node_record", "plan_record", "replaceable", "series_events"],
        ["atomic_write", "outputs", "run_record", "study_record"],
        ["distributed_stream_file", "result", "run_writer", "user_cache"],
    ],
    "statistics": [
        ["constants"], ["*"],
        ["benjamini_hochberg", "capability", "change_points", "piecewise_linear", "plateaus", "prediction_interval",
         "saturation", "tolerance_interval", "trends", "verdict"],
        ["memory_levels", "outlier_nodes", "paired_change", "periodic_dips", "pooled_percentile", "sequential_test"],
        ["difference", "loss_tests", "sensitivity", "two_samples"], ["estimate_change", "series_findings"],
    ],
    "probes": [["interface"], ["__init__"], ["shared"], ["*"]],
    "planning": [["*"], ["places", "plan_file", "rated_keys", "request_file"]],
    "results": [
        ["*"], ["measurements"], ["duplicates", "line_round_trips", "metric_rounds", "rounds", "run_file"],
        ["cpu_time", "node_values"], ["judgeable", "summarise"], ["cached_report", "digest"],
    ],
    "execution": [
        ["*"], ["srun"], ["launch"], ["command_timer", "core_process", "slurm"], ["session"], ["curve_refinement"],
        ["measuring"],
    ],
    "comparison": [
        ["*"], ["metric_rows"], ["decisions", "doubts", "longer_runs", "partners", "typical_values"], ["gate"],
        ["best_of_several", "run_comparison", "two_variants"], ["base_runs"],
    ],
    "expectations": [
        ["*"], ["expectation", "machine_type"],
        ["catalogue_ranges", "judging", "references", "site_file"], ["learning"],
    ],
    "tools": [
        ["*"], ["fio_output", "tool_process", "text_table"], ["fio_jobs", "paired"], ["external"], ["imported_run"],
    ],
    "history": [["*"], ["update"], ["changes"]],
    "fleet": [
        ["*"], ["fleet_report", "host_records", "sink"], ["fleet_folder", "received_records", "remote"], ["engines"],
    ],
    "studies": [["published"], ["_*"], ["*"]],
    # The content of a report, its formats, its looks, and its files.
    "report": [
        ["content"], ["formats"], ["terminal", "charts"], ["html"], ["chart_files"], ["exports", "comparison_exports"],
    ],
    "commands": [["_*"], ["*"]],
}  # fmt: skip
# Modules that every package may use, and that use no package.
SHARED = {
    "__init__", "errors", "control_characters", "extras", "hostlist", "interruption", "process", "process_pool",
    "streams", "suggestion", "units",
}  # fmt: skip
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
    "batch",
    "probes",
    "main.cpp",
]
# Headers of a higher layer that a lower layer may include: errors are raised everywhere.
CORE_EXCEPTIONS = {"probe/error.h"}


PYTHON_FILES = sorted((ROOT / "src" / "nameplate").rglob("*.py"))


def python_imports(path: Path) -> set[str]:
    """Return what a file imports from nameplate, with the names: "probes.shared.job.nodes_of"."""
    imports = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "nameplate":
            imports |= {f"{node.module}.{alias.name}".removeprefix("nameplate.") for alias in node.names}
    return {name if name != "__version__" else "__init__" for name in imports}


def package_of(path: Path) -> str:
    """Return the package or top-level module of a file."""
    return path.relative_to(ROOT / "src" / "nameplate").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_imports_follow_the_layers(path: Path) -> None:
    importer = package_of(path)
    used = {name.split(".")[0] for name in python_imports(path)} - {importer}
    if importer in TOP or (
        path.name == "__init__.py" and path.parent.name == "nameplate"
    ):  # which loads nothing itself
        return
    allowed = SHARED.union(takewhile(lambda package: package != importer, PACKAGES) if importer in PACKAGES else [])
    assert used <= allowed, f"{importer} imports {used - allowed}"


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_within_a_package_lead_to_lower_floors(package: str) -> None:
    floors = {folder: number for number, floor in enumerate(PACKAGES[package]) for folder in floor}
    folder = ROOT / "src" / "nameplate" / package
    names = {path.stem for path in folder.iterdir()}

    def folder_of(module: str) -> str:
        return "_*" if "_*" in floors and re.match(r"_[a-z]", module) else module

    def floor_of(module: str) -> int:
        return floors[module] if module in floors else floors["*"]

    upward = []
    for path in folder.rglob("*.py"):
        importer = folder_of(path.relative_to(folder).parts[0].removesuffix(".py"))
        modules = {name.split(".")[1] for name in python_imports(path) if name.startswith(f"{package}.")}
        imported = {folder_of(module if module in names else "__init__") for module in modules} - {importer}
        upward += [f"{path.name} imports {other}" for other in imported if floor_of(importer) <= floor_of(other)]
    assert upward == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    imports = {
        ".".join(path.relative_to(ROOT / "src" / "nameplate").with_suffix("").parts).removesuffix(".__init__"): names
        for path, names in zip(PYTHON_FILES, map(python_imports, PYTHON_FILES), strict=True)
    }
    del imports["__init__"]  # which loads nothing itself
    graph = {
        module: {name if name in imports else name.rpartition(".")[0] for name in names}
        for module, names in imports.items()
    }
    TopologicalSorter(graph).prepare()


def test_every_package_is_in_a_layer() -> None:
    assert {package_of(path) for path in PYTHON_FILES} == {*PACKAGES, *SHARED, *TOP}


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_private_is_imported_from_another_package(path: Path) -> None:
    importer = package_of(path)
    for name in python_imports(path):
        package, *rest = name.split(".")
        private = [part for part in rest if part.startswith("_") and not part.startswith("__")]
        assert package == importer or not private, f"{importer} imports {name}"


# Folders whose modules are named after a command, an option's value, a tool, a plan, or the content that they draw.
SAME_NAMES = {
    "commands",
    "terminal",
    "charts",
    "chart_files",
    "exports",
    "comparison_exports",
    "external",
    "engines",
    "studies",
}


def test_a_file_name_occurs_twice_only_where_the_folder_tells_the_files_apart() -> None:
    counts = Counter(path.stem for path in PYTHON_FILES if path.parent.name not in SAME_NAMES)
    del counts["__init__"]
    assert [name for name, count in counts.items() if count > 1] == []


CORE_FILES = sorted(p for p in (ROOT / "core").rglob("*") if p.suffix in (".h", ".cpp") and "tests" not in p.parts)


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_core_includes_follow_the_layers(path: Path) -> None:
    part = path.relative_to(ROOT / "core").parts[0]
    layer = CORE_ORDER.index(part)
    for included in re.findall(r'#include "([^"]+)"', path.read_text()):
        if included not in CORE_EXCEPTIONS:
            assert CORE_ORDER.index(included.split("/")[0]) <= layer, f"{path.name} includes {included}"


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
    assert [item for item in sorted(named) if not (ROOT / item[1]).exists()] == []
    tests = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    reliability = texts[ROOT / "docs" / "reliability.md"]
    assert set(re.findall(r"\b(test_\w+)(?=`)", reliability)) <= tests
