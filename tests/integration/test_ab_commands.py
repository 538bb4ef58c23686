"""``nameplate ab -- 'CMD A' 'CMD B'``: real programs, timed in pairs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

NAMEPLATE = str(Path(sys.executable).with_name("nameplate"))


def ab(
    *arguments: str, folder: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``nameplate ab`` with these arguments, even if this machine is busy."""
    return subprocess.run(
        [NAMEPLATE, "ab", "--even-if-busy", *arguments], capture_output=True, text=True, cwd=folder, check=False,
        env={**os.environ, **(env or {})}, timeout=120,
    )  # fmt: skip


def measured(*arguments: str, folder: Path | None = None) -> dict[str, Any]:
    """Return the JSON document of a comparison that ended with exit code 0."""
    run = ab("--json", *arguments, folder=folder)
    assert run.returncode == 0, run.stderr
    document: dict[str, Any] = json.loads(run.stdout)
    return document


def test_the_shorter_sleep_is_faster_by_the_ratio_of_the_times() -> None:
    document = measured("--", "sleep 0.05", "sleep 0.15")
    assert document["verdict"] == "SLOWER"
    elapsed = document["quantities"][0]
    assert elapsed["ratio"] == pytest.approx(3, rel=0.15)
    assert len(elapsed["a"]) == len(elapsed["b"]) >= 10
    assert min(elapsed["a"]) >= 0.05
    assert document["commands"] == {"a": "sleep 0.05", "b": "sleep 0.15"}
    assert measured("--seed", "7", "--budget", "1s", "--", "true", "true")["seed"] == 7


def test_memory_is_that_of_the_programs() -> None:
    document = measured("--budget", "2s", "--", "true", "dd if=/dev/zero of=/dev/null bs=32M count=1")
    memory = document["quantities"][2]
    assert max(memory["a"]) < 4 << 20
    assert 32 << 20 < min(memory["b"]) <= max(memory["b"]) < 38 << 20


def test_the_exit_code_is_a_verdict_only_if_it_is_asked_for() -> None:
    commands = ("--", "sleep 0.01", "sleep 0.03")
    assert ab(*commands).returncode == 0
    assert ab("--fail-on", "50%", *commands).returncode == 1
    assert ab("--fail-on", "5%", "--", "sleep 0.03", "sleep 0.01").returncode == 0


def test_a_shell_reads_its_text_by_its_own_rules() -> None:
    assert ab("--shell", "--budget", "1s", "--", "true # don't", "true").returncode == 0
    assert ab("--shell", "--", " ", "true").returncode == 2


def test_setup_prepare_and_warm_ups_run_as_often_as_they_should(tmp_path: Path) -> None:
    def log(text: str) -> str:
        return f"echo {text} >> log"

    document = measured(
        "--shell", "--setup", log("setup"), "--prepare", log("pa"), "--prepare", log("pb"), "--warmup", "2",
        "--budget", "3s", "--", log("a"), log("b"), folder=tmp_path,
    )  # fmt: skip
    lines = (tmp_path / "log").read_text().split()
    n_pairs = len(document["quantities"][0]["a"])
    assert lines[0] == "setup"
    assert lines[1:9] == ["pa", "a", "pb", "b"] * 2
    counts = {name: lines.count(name) for name in ("setup", "pa", "a", "pb", "b")}
    assert counts == {"setup": 1, "pa": n_pairs + 2, "a": n_pairs + 2, "pb": n_pairs + 2, "b": n_pairs + 2}
    pairs = [tuple(lines[i : i + 4]) for i in range(9, len(lines), 4)]
    assert set(pairs) == {("pa", "a", "pb", "b"), ("pb", "b", "pa", "a")}, "the order is random"


def test_a_command_that_fails_ends_the_comparison_with_its_message(tmp_path: Path) -> None:
    fails = "sh -c 'echo no such luck >&2; exit 3'"
    run = ab("--", "true", fails)
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr == "nameplate: sh -c 'echo no such luck >&2; exit 3' exited with 3: no such luck\n"
    assert ab("--prepare", "false", "--", "true", "true").stderr == "nameplate: false exited with 1\n"
    assert ab("--ignore-failure", "--budget", "1s", "--", "true", fails).returncode == 0
    chatty = ab("--shell", "--", "seq 2000 >&2", "echo boom >&2; exit 3")
    assert chatty.stderr.endswith("exited with 3: boom\n"), "only what this program said"
    killed = ab("--shell", "--", "kill -KILL $$", "true")
    assert "exited with 137" in killed.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--", "no-such-program", "true"], "cannot run no-such-program: No such file or directory"),
        (["--", "true"], "--commands requires 2"),
        (["--", "true", "true", "true"], "'true': give exactly two commands after --"),
        (["--", "true", "echo 'a"], "'echo 'a': a quote is not closed"),
        (["--", "true", ""], "'' is no command"),
        (["--mpi", "mpirun", "--", "true", "true"], "--mpi is not possible with two programs"),
        (["--setup", "true", "null", "null"], "--setup is not possible with two probes"),
        (["null"], "give two variants of a probe, each in quotes, or after -- two programs"),
        (["--prepare", "a", "--prepare", "b", "--prepare", "c", "--", "true", "true"], "--prepare is given 3 times"),
        (["--fail-on", "5", "--", "true", "true"], "--fail-on 5: not a percentage"),
        (["--warmup", "-1", "--", "true", "true"], "--warmup"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], message: str) -> None:
    run = ab(*arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert message in run.stderr
    assert len(run.stderr.splitlines()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    """The shell starts a process of its own, which the death of the shell alone would not end."""
    marker = f"{tmp_path}/marker"
    process = subprocess.Popen(
        [NAMEPLATE, "ab", "--even-if-busy", "--shell", "--", f"touch {marker}; sleep 987.5; true", "true"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not Path(marker).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    _, messages = process.communicate(timeout=30)
    assert (process.returncode, messages) == (3, "nameplate: stopped\n")
    time.sleep(0.2)
    assert subprocess.run(["pgrep", "-f", "sleep 987.5"], capture_output=True, check=False).returncode == 1


def test_a_killed_nameplate_leaves_no_program(tmp_path: Path) -> None:
    marker = f"{tmp_path}/marker"
    process = subprocess.Popen(
        [NAMEPLATE, "ab", "--even-if-busy", "--", f"sh -c 'touch {marker}; exec sleep 986.5'", "true"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not Path(marker).exists():
        time.sleep(0.05)
    process.kill()
    process.wait()
    time.sleep(0.5)
    assert subprocess.run(["pgrep", "-f", "sleep 986.5"], capture_output=True, check=False).returncode == 1
