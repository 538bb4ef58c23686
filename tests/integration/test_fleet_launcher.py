"""``nameplate fleet run --launcher``: a command starts one process on each host, in place of ssh."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from fleet_files import write_fleet
from nameplate.execution.launch import core_path
from nameplate.fleet.engines import launcher
from nameplate.fleet.fleet_folder import FleetFolder
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome
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
    code, _, messages = cluster.resumed()
    assert (code, "another command is measuring this fleet" in messages) == (2, True)
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


def test_a_launcher_may_wait_before_it_starts_anything(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    (cluster.folder / "launcher").write_text(LAUNCHER.replace("#!/bin/sh", "#!/bin/sh\nsleep 3"))
    monkeypatch.setattr(launcher, "_END_S", 0.5)
    sink = Notes(cluster.folder)
    engine = launcher.LauncherEngine(
        command=[str(cluster.folder / "launcher")], exchange=cluster.folder / "exchange", name='"$(uname -n)"',
        installed=str(cluster.folder / "core"), cores={}, arguments=["quick"], sink=sink, deadline_s=60,
    )  # fmt: skip
    engine.measure(["n1", "n2", "n9"])
    assert {end.address: end.outcome for end in sink.ends} == {"n1": "measured", "n2": "measured", "n9": "unreachable"}
    missing = next(end for end in sink.ends if end.address == "n9")
    assert "processes started on n3, which the run does not include" in missing.reason


class Notes:
    """A sink that notes outcomes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ends: list[HostOutcome] = []

    def started(self, address: str, deadline_s: float) -> None:
        pass

    def part(self, address: str) -> Path:
        return self.folder / f"{address}.part"

    def collected(self, address: str, end: CoreEnd) -> None:
        outcome = HostOutcome(address=address, outcome="measured" if self.part(address).read_bytes() else "invalid")
        self.ends.append(outcome)

    def ended(self, outcome: HostOutcome) -> None:
        self.ends.append(outcome)

    def not_removed(self, address: str, reason: str) -> None:
        raise AssertionError(reason)


def test_a_process_whose_controller_is_gone_ends(cluster: Cluster) -> None:
    """Neither one that waits for its turn nor one that measures stays on a host."""
    marks = cluster.folder / "marks"
    marks.mkdir()
    cluster.stand_in(f"""[ "$1" = --machine ] && exit
trap 'touch {marks}/$HOST.stopped; exit 3' TERM
touch {marks}/$HOST.started
sleep 60 & wait""")
    process = cluster.start("-q", "--at-once", "1")
    wait_for(lambda: len([*marks.glob("*.started")]) == 1)
    process.kill()
    process.communicate()
    (exchange,) = (cluster.folder / "fleet").glob(".exchange-*")
    shutil.rmtree(exchange)
    wait_for(lambda: len([*marks.glob("*.stopped")]) == 1)
    wait_for(lambda: not any(str(exchange) in text for text in command_lines()))


def command_lines() -> list[str]:
    texts = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            texts.append(path.read_text(errors="replace"))
    return texts


def test_a_host_of_another_architecture_needs_a_core(cluster: Cluster) -> None:
    uname = '#!/bin/sh\n[ "$1" = -n ] && echo "$HOST" || echo riscv64\n'
    (cluster.folder / "uname").write_text(uname)
    command = [
        "fleet",
        "run",
        "--launcher",
        str(cluster.folder / "launcher"),
        "-o",
        str(cluster.folder / "fleet"),
        "-q",
    ]
    code, _, messages = ended(cluster._started(command))
    assert code == 3
    assert "no core: there is no core for riscv64; give one with --core" in messages


def test_a_launcher_that_does_not_start_is_named(cluster: Cluster) -> None:
    code, _, messages = ended(cluster._started(["fleet", "run", "--launcher", "no-such-launcher", "-o", "/nowhere"]))
    assert (code, messages) == (2, "nameplate: --launcher 'no-such-launcher': not found on PATH; give its full path\n")
    code, _, messages = cluster.fleet("--hosts", "n1", "--engine", "srun")
    assert (code, messages) == (2, "nameplate: --launcher and --engine srun: leave out one of them\n")
    (cluster.folder / "launcher").write_text("#!/bin/sh\necho 'no such partition' >&2; exit 1\n")
    code, _, messages = cluster.fleet("--hosts", "n1", "-q")
    assert code == 3
    assert "none of 1 host was measured: unreachable: no such partition; check that" in messages


def prints_run_of_host(folder: Path) -> str:
    return f"cat {folder}/$HOST.jsonl"


@pytest.fixture
def slow_cluster(cluster: Cluster) -> Cluster:
    """Return a cluster of eight hosts, whose n3 computes slower."""
    hosts = [f"n{number}" for number in range(1, 9)]
    for path in write_fleet(cluster.folder, hosts, {"n3": ("cpu_flops", 1.3)}, rounds=6):
        path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if '"figures"' not in line))
    cluster.environment["HOSTS"] = " ".join(hosts)
    cluster.stand_in(prints_run_of_host(cluster.folder))
    return cluster


def test_a_slow_host_is_rechecked_next_to_healthy_ones(slow_cluster: Cluster) -> None:
    folder = slow_cluster.folder
    code, output, messages = slow_cluster.fleet("-q")
    assert code == 1, messages
    assert output.startswith("Slow: n3 (1 of 8)")
    # The machine of a host makes no difference to the plan of a recheck.
    machine = subprocess.run([core_path(), "--machine"], capture_output=True, text=True, check=True).stdout
    (folder / "machine.json").write_text(machine)
    slow_cluster.stand_in(f'[ "$1" = --machine ] && exec cat {folder}/machine.json\n{prints_run_of_host(folder)}')
    code, output, messages = ended(slow_cluster._started(["fleet", "recheck", str(folder / "fleet"), "-q"]))
    assert code == 1, messages
    assert "persistent" in output
    second = FleetFolder.open(folder / "fleet-recheck")
    assert second.start.at_once == 1
    # Each metric has three healthy hosts, nearest to its median.
    assert 4 <= len(second.outcomes) < 8
    assert set(second.outcomes) == set(second.start.hosts)
    assert second.outcomes["n3"].outcome == "measured"
    # A second measurement in which the host is as fast as others.
    for path in write_fleet(folder, ["n3"], rounds=6):
        path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if '"figures"' not in line))
    command = ["fleet", "recheck", str(folder / "fleet"), "-o", str(folder / "third"), "-q"]
    code, output, messages = ended(slow_cluster._started(command))
    assert code == 0, messages
    assert "contended" in output


def test_hosts_are_judged_by_the_ranges_that_healthy_ones_taught(slow_cluster: Cluster) -> None:
    site = slow_cluster.folder / "site.toml"
    start = ["--launcher", str(slow_cluster.folder / "launcher"), "--in-place", str(slow_cluster.folder / "core")]
    slow_cluster.environment["HOSTS"] = "n1 n2 n4 n5 n6 n7 n8"
    learn = ["fleet", "check", *start, "--learn", str(site), "-o", str(slow_cluster.folder / "healthy"), "-q"]
    code, output, messages = ended(slow_cluster._started(learn))
    assert code == 0, messages
    assert output.startswith(f"wrote {site}: 1 class of 7 machines")
    slow_cluster.environment["HOSTS"] = "n2 n3"
    check = ["fleet", "check", *start, "--expect", str(site), "-o", str(slow_cluster.folder / "judged"), "-q"]
    code, output, messages = ended(slow_cluster._started(check))
    assert code == 1, messages
    assert "n3" in output
    assert "BELOW" in output
    wrong = ["fleet", "run", *start, "--expect", str(site)]
    assert ended(slow_cluster._started(wrong))[0] == 2
