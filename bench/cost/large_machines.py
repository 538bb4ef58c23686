"""Plan quick and full for recorded machines of many cores: do six rounds fit the budget?

    bench/cost/large_machines.py [HWLOC_SOURCE]     default: only the machines of tests/machines

HWLOC_SOURCE is the unpacked source package of Debian, which has the machines ``MACHINES`` (apt-get source hwloc).
Nothing is measured: nameplate-core describes each machine from the files in which Linux did (``--root``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "tests" / "support"))

import recorded_machine  # noqa: E402 (it is in the folder of the tests)
from nameplate.execution.launch import core_path  # noqa: E402 (the line above must come first)

NAMEPLATE = Path(sys.executable).with_name("nameplate")
LARGE = "epyc-2s"
# Machines with many cores or nodes from hwloc's tests.
MACHINES = ("256ppc-8n8s4t", "256ia64-64n2s2c", "128ia64-17n4s2c", "128arm-2pa2n8cluster4co", "96em64t-4n4d3ca2co")
PLANS = ("quick", "full")
_ROUNDS = re.compile(r"6 rounds take about (\d+) s; the run ends after (\d+) s")
_EXPERIMENTS = re.compile(r"(\d+) experiments")


def roots(source: Path | None, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name of each machine, and a folder with the files that describe it."""
    recorded_machine.unpack(LARGE, folder / LARGE)
    yield LARGE, folder / LARGE
    for name in MACHINES if source else ():
        (archive,) = (source or folder).rglob(f"{name}.tar.bz2")
        subprocess.run(["tar", "xf", archive, "-C", folder], check=True)
        yield name, folder / name


def planned(plan: str, root: Path, folder: Path) -> str:
    """Return the times of six rounds and of a run, and the number of experiments, as a line of words."""
    core = folder / "core"
    core.write_text(f'#!/bin/sh\nexec "{core_path()}" --root "{root}" "$@"\n')
    core.chmod(0o755)
    start_s = time.monotonic()
    printed = subprocess.run([NAMEPLATE, "run", plan, "--dry-run"], cwd=folder, check=True, capture_output=True,
                           text=True, env={**os.environ, "NAMEPLATE_CORE": str(core)}).stdout  # fmt: skip
    took_s = time.monotonic() - start_s
    rounds, experiments = _ROUNDS.search(printed), _EXPERIMENTS.search(printed)
    if rounds is None or experiments is None:
        raise SystemExit(
            f"{root.name}: nameplate run {plan} --dry-run does not say how long six rounds take:\n{printed}"
        )
    verdict = "fit" if int(rounds[1]) <= int(rounds[2]) else "DO NOT FIT"
    return f"{plan} {experiments[1]} experiments, {rounds[1]} of {rounds[2]} s: {verdict} (planned in {took_s:.1f} s)"


def main() -> None:
    """Print a line for each machine and plan."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for machine, root in roots(source, folder):
            for plan in PLANS:
                print(f"  {machine:26} {planned(plan, root, folder)}", flush=True)


if __name__ == "__main__":
    main()
