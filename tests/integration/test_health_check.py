"""The programs of docs/howto/health-check.md: drained by a real Slurm, and called by NHC."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from recorded_runs import quieted
from slurm_here import slurm_here

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "health-check.md"
DEADLINE_S = 120.0


def block(language: str, holding: str) -> str:
    """Return the code block of the page in a language that has some text."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (actual,) = [item for item in blocks if holding in item]
    return str(actual)


# Wide, so that a busy machine fulfils it.
RANGE = """
[[class.range]]
experiment = "cpu_flops threads=1"
metric = "rate"
kind = "typical"
unit = "FLOP/s"
low = 1e3
typical = 1e6
high = 1e12
machines = 12
"""


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with site.toml, which this machine fulfils, and put a nameplate on PATH that measures if busy.

    It has the time that six rounds take on a busy machine, and not the five seconds of --fast.
    """
    message = ("run", "cpu_flops", "threads=1", "--rounds", "6", "--samples", "12", "--quiet", "-o", "x.jsonl")
    run = tmp_path / "x.jsonl"
    for arguments in (message, ("check", "--learn", "x.jsonl", "-o", "site.toml")):
        subprocess.run([sys.executable, "-m", "nameplate", *arguments], cwd=tmp_path, check=True)
        run.write_bytes(quieted(run.read_bytes()))
    site = tmp_path / "site.toml"
    site.write_text(site.read_text() + RANGE)
    program = tmp_path / "bin" / "nameplate"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/bash\n[[ " $* " == *" --fast "* ]] || exit 9\n'
        f'exec {sys.executable} -m nameplate "${{@/#--fast/--even-if-busy}}"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("NAMEPLATE_SITE", str(site))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "bin"))
    return tmp_path


def demand(site: Path, times: float) -> None:
    """Multiply the expected values of a site file."""
    names = "low|typical|high"
    site.write_text(re.sub(rf"({names}) = (\S+)", lambda m: f"{m[1]} = {float(m[2]) * times}", site.read_text()))


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "bin").iterdir())


def test_slurm_drains_a_slow_node_and_only_that(node: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    script = node / "health-check"
    script.write_text(block("bash", "scontrol update").replace("timeout 30", f"timeout {DEADLINE_S:.0f}"))
    with slurm_here(tmp_path_factory.mktemp("slurm")) as configuration:
        environment = {**os.environ, "SLURM_CONF": str(configuration)}

        def checked() -> str:
            subprocess.run(["bash", str(script)], env=environment, timeout=DEADLINE_S, check=True)
            printed = subprocess.run(
                ["scontrol", "show", "node"], env=environment, capture_output=True, text=True, check=True
            )
            return printed.stdout

        assert "DRAIN" not in checked()
        demand(node / "site.toml", 1e9)
        drained = checked()
    assert re.search(r"State=\S*DRAIN", drained)
    assert re.search(r"Reason=nameplate: BELOW: CPU rate, 1 thread .*, expected .* \w?FLOP/s", drained)
    assert left_in(node) == ["nameplate"]


def test_nhc_dies_for_a_slow_node_and_only_then(node: Path) -> None:
    script = node / "nameplate.nhc"
    stub = 'die() { echo "died with $1: $2"; exit $1; }\n'
    script.write_text(f"{stub}{block('bash', 'check_nameplate')}\ncheck_nameplate\necho healthy\n")

    def said() -> str:
        return subprocess.run(
            ["bash", str(script)], capture_output=True, text=True, timeout=DEADLINE_S, check=False
        ).stdout

    assert said() == "healthy\n"
    demand(node / "site.toml", 1e9)
    assert said().startswith("died with 1: nameplate: BELOW: CPU rate, 1 thread")
    assert left_in(node) == ["nameplate"]
