"""The test of ReFrame in share/reframe, run by ReFrame's local scheduler."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fleet_files import write_fleet

TEST = Path(__file__).parents[2] / "share" / "reframe" / "nameplate.py"
NAMEPLATE = [sys.executable, "-m", "nameplate"]


def reframe(folder: Path, *settings: str) -> subprocess.CompletedProcess[str]:
    """Run the test in a folder, with settings of its variables."""
    programs = Path(sys.executable).parent
    options = [option for setting in settings for option in ("-S", f"NameplateTest.{setting}")]
    command: list[str | Path] = [programs / "reframe", "--nocolor", "-c", TEST, "-r", "--prefix", folder, *options]
    environment = {**os.environ, "PATH": f"{folder}:{programs}:{os.environ['PATH']}", "HOME": str(folder)}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, env=environment, cwd=folder
    )


@pytest.fixture
def quiet_machine(tmp_path: Path) -> Path:
    """Return a folder with a program ``nameplate``, whose run is a recorded one that nothing disturbed."""
    (tmp_path / "runs").mkdir()
    recorded, *_ = write_fleet(tmp_path / "runs", ["n1", "n2", "n3", "n4"], rounds=6)
    program = tmp_path / "nameplate"
    program.write_text(f'#!/bin/sh\n[ "$1" = run ] && exec cp {recorded} run.jsonl\nexec {" ".join(NAMEPLATE)} "$@"\n')
    program.chmod(0o755)
    return tmp_path


def test_a_node_is_measured_and_its_values_are_performance_variables(tmp_path: Path) -> None:
    plan = tmp_path / "mine.toml"
    plan.write_text('rounds = 1\n[[experiment]]\nprobe = "cpu_flops"\nslice = "20ms"\nthreads = 1\n')
    done = reframe(tmp_path, f"plan={plan}")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^P: cpu_flops_threads_1_rate: [\d.]+ FLOP/s", done.stdout, re.MULTILINE)


def test_the_ranges_of_a_site_file_are_the_references(quiet_machine: Path) -> None:
    site = quiet_machine / "site.toml"
    learn: list[str | Path] = [*NAMEPLATE, "check", "--learn", quiet_machine / "runs", "-o", site, "-q"]
    subprocess.run(learn, check=True, timeout=120)
    done = reframe(quiet_machine, f"site={site}")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^P: cpu_flops_threads_1_rate: [\d.]+ FLOP/s \(r:", done.stdout, re.MULTILINE)
    site.write_text(re.sub(r"^(low|typical|high) = .*", r"\1 = 1e15", site.read_text(), flags=re.MULTILINE))
    done = reframe(quiet_machine, f"site={site}")
    assert done.returncode == 1
    assert "performance error" in done.stdout


def test_a_run_without_values_fails(tmp_path: Path) -> None:
    done = reframe(tmp_path, "plan=no-such-plan")
    assert done.returncode == 1
    assert "sanity error" in done.stdout
