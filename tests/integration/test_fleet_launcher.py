"""``nameplate fleet run --launcher``: a command starts one process on each host, in place of ssh."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nameplate.fleet.fleet_folder import FleetFolder
from nameplate.results.run_file import read_header
from recorded_runs import quieted, unpacked

# Starts its program on three hosts, which are names that uname prints.
LAUNCHER = """#!/bin/sh
for host in ${HOSTS:-n1 n2 n3}; do
  HOST=$host PATH="$(dirname "$0"):$PATH" sh "$@" &
done
wait
"""


@dataclass
class Cluster:
    folder: Path
    environment: dict[str, str]

    def stand_in(self, script: str) -> None:
        """Replace the core by a shell script."""
        core = self.folder / "core"
        core.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit 0\n{script}\n')
        core.chmod(0o755)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = ["fleet", "run", "--launcher", str(self.folder / "launcher"), "--in-place", str(self.folder / "core"),
                   "-o", str(self.folder / "fleet"), "--budget", "1s", *arguments]  # fmt: skip
        return self._started(command)

    def _started(self, command: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-m", "nameplate", *command], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env={**os.environ, **self.environment})  # fmt: skip

    def fleet(self, *arguments: str) -> tuple[int, str, str]:
        return ended(self.start(*arguments))

    def resumed(self) -> tuple[int, str, str]:
        return ended(self._started(["fleet", "run", "--resume", str(self.folder / "fleet"), "-q"]))

    def outcomes(self) -> dict[str, str]:
        outcomes = FleetFolder.open(self.folder / "fleet").outcomes
        return {address: outcome.outcome for address, outcome in sorted(outcomes.items())}

    def left(self) -> list[str]:
        """Return what is in the fleet's folder apart from its result."""
        return sorted({path.name for path in (self.folder / "fleet").iterdir()} - {"fleet.hosts", "runs"})


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    output, messages = process.communicate(timeout=120)
    assert "Traceback" not in messages
    return process.returncode, output, messages


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    for name, text in (
        ("launcher", LAUNCHER),
        ("uname", '#!/bin/sh\n[ "$1" = -n ] && echo "$HOST" || /bin/uname "$@"\n'),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "run.jsonl").write_bytes(
        b"".join(line for line in quieted(unpacked("quick")).splitlines(keepends=True) if b'"figures"' not in line[:30])
    )
    cluster = Cluster(tmp_path, {})
    cluster.stand_in(prints_run(tmp_path))
    return cluster


def prints_run(folder: Path) -> str:
    return f'sed "s/\\"hostname\\":\\"[^\\"]*\\"/\\"hostname\\":\\"$HOST\\"/" {folder}/run.jsonl'


def test_each_host_is_a_row_under_its_own_name(cluster: Cluster) -> None:
    cluster.environment["HOSTS"] = "n1 n2 n3 n4"
    code, output, messages = cluster.fleet()
    assert code == 0, messages
    assert output.startswith("None of 4 nodes is slow.")
    assert cluster.outcomes() == {f"n{number}": "measured" for number in range(1, 5)}
    for host in cluster.outcomes():
        _, machine = read_header(cluster.folder / "fleet" / "runs" / f"{host}.jsonl")
        assert machine is not None
        assert machine.hostname == host
    assert cluster.left() == []


def test_only_one_process_of_a_host_measures(cluster: Cluster) -> None:
    cluster.environment["HOSTS"] = "n1 n1 n1 n2"
    log = cluster.folder / "log"
    cluster.stand_in(f'[ "$1" = --machine ] || echo "$HOST" >> {log}\n{prints_run(cluster.folder)}')
    assert cluster.fleet("-q")[0] == 0
    assert sorted(log.read_text().split()) == ["n1", "n2"]


def test_hosts_measure_in_turn(cluster: Cluster) -> None:
    log = cluster.folder / "log"
    cluster.stand_in(
        f'[ "$1" = --machine ] && exit\necho + >> {log}; sleep 1; echo - >> {log}\n{prints_run(cluster.folder)}'
    )
    assert cluster.fleet("--at-once", "1", "-q")[0] == 0
    assert log.read_text().split() == ["+", "-"] * 3


def test_hosts_that_fail_are_rows(cluster: Cluster) -> None:
    cluster.stand_in(f"""case "$HOST" in
n1) [ "$1" = --machine ] || {{ echo "cannot do this" >&2; exit 3; }};;
n2) [ "$1" = --machine ] || kill -9 $$;;
*) {prints_run(cluster.folder)};;
esac""")
    code, output, messages = cluster.fleet("--hosts", "n[1-4]", "-q")
    assert code == 3, messages
    assert cluster.outcomes() == {"n1": "cannot run", "n2": "killed", "n3": "measured", "n4": "unreachable"}
    assert "! left out: n1: cannot run: cannot do this" in output.replace("\n  ", " ")
    # Hosts that failed are measured again.
    cluster.stand_in(prints_run(cluster.folder))
    cluster.environment["HOSTS"] = "n1 n2 n3 n4"
    code, _, messages = cluster.resumed()
    assert code == 0, messages
    assert set(cluster.outcomes().values()) == {"measured"}


def test_a_stop_ends_the_cores_and_keeps_what_they_measured(cluster: Cluster) -> None:
    marks = cluster.folder / "marks"
    marks.mkdir()
    cluster.stand_in(f"""[ "$1" = --machine ] && exit
trap 'touch {marks}/$HOST.stopped; exit 3' TERM
touch {marks}/$HOST.started
sleep 60 & wait""")
    process = cluster.start("-q")
    wait_for(lambda: len([*marks.glob("*.started")]) == 3)
    process.send_signal(signal.SIGINT)
    code, _, messages = ended(process)
    assert code == 3
    assert "stopped; continue with: nameplate fleet run --resume" in messages
    assert len([*marks.glob("*.stopped")]) == 3
    assert cluster.left() == []


def test_processes_of_a_killed_controller_end_with_the_next_one(cluster: Cluster) -> None:
    marks = cluster.folder / "marks"
    marks.mkdir()
    cluster.stand_in(f"""[ "$1" = --machine ] && exit
[ -e {marks}/again ] && {{ sleep 3; {prints_run(cluster.folder)}; exit; }}
trap 'touch {marks}/$HOST.stopped; exit 3' TERM
touch {marks}/$HOST.started
sleep 60 & wait""")
    process = cluster.start("-q")
    wait_for(lambda: len([*marks.glob("*.started")]) == 3)
    process.kill()
    process.communicate()
    (marks / "again").touch()
    code, _, messages = cluster.resumed()
    assert code == 0, messages
    assert set(cluster.outcomes().values()) == {"measured"}
    wait_for(lambda: len([*marks.glob("*.stopped")]) == 3)
    assert cluster.left() == []


def test_a_launcher_that_does_not_start_is_named(cluster: Cluster) -> None:
    code, _, messages = ended(cluster._started(["fleet", "run", "--launcher", "no-such-launcher", "-o", "/nowhere"]))
    assert (code, messages) == (2, "nameplate: --launcher 'no-such-launcher': not found on PATH; give its full path\n")
    code, _, messages = cluster.fleet("--hosts", "n1", "--engine", "srun")
    assert (code, messages) == (2, "nameplate: --launcher and --engine srun: leave out one of them\n")
    (cluster.folder / "launcher").write_text("#!/bin/sh\necho 'no such partition' >&2; exit 1\n")
    code, _, messages = cluster.fleet("--hosts", "n1", "-q")
    assert code == 3
    assert "none of 1 host was measured: unreachable: no such partition; check that" in messages
