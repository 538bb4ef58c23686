"""``nameplate fleet run`` over a real sshd: loopback addresses are hosts with their own home."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nameplate.execution.core_process import describe_core
from nameplate.execution.launch import core_path
from nameplate.fleet.fleet_folder import FleetFolder
from nameplate.fleet.fleet_plan import HostRequests
from nameplate.fleet.host_outcome import HostOutcome
from nameplate.results.run_file import read_header, read_run
from private_sshd import ADDRESSES, private_sshd, sshd_path
from recorded_runs import quieted, unpacked

pytestmark = pytest.mark.skipif(sshd_path() is None, reason="needs sshd, which script/bootstrap test unpacks")

NO_EXEC, FULL, NO_KEY, REFUSED = ADDRESSES[8:12]


@dataclass
class Lab:
    """The hosts of a private sshd, with a program ``core`` that prints a recorded run in place of nameplate-core.

    ``prints_run`` is the shell command that prints the run.
    """

    folder: Path
    programs: Path
    core: Path
    prints_run: str
    environment: dict[str, str] = field(default_factory=dict)

    def stand_in(self, script: str) -> None:
        """Replace the core by a shell script."""
        self.core.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit 0\n{script}\n')
        self.core.chmod(0o755)

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        environment = {**os.environ, **self.environment, "PATH": f"{self.programs}:{os.environ['PATH']}"}
        return subprocess.Popen([sys.executable, "-m", "nameplate", "fleet", "run", *map(str, arguments)], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)  # fmt: skip

    def fleet(self, *arguments: str | Path) -> tuple[int, str, str]:
        process = self.start(*arguments)
        output, messages = process.communicate(timeout=240)
        assert "Traceback" not in messages
        return process.returncode, output, messages

    def left(self) -> list[str]:
        """Return the paths that nameplate left on the hosts."""
        homes = [str(path) for path in (self.folder / "homes").glob("*/.cache/nameplate/*")]
        return homes + [str(path) for base in ("/var/tmp", "/tmp") for path in Path(base).glob("nameplate-" + "?" * 16)]


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("sshd")
    mounts = {NO_EXEC: "noexec", FULL: "size=64k"} if os.geteuid() == 0 else {}
    with private_sshd(folder, mounts, profile="echo 'Welcome! 100 % of this banner is noise.'") as programs:
        hosts = (folder / "known_hosts").read_text().splitlines(keepends=True)
        (folder / "known_hosts").write_text("".join(line for line in hosts if f"[{NO_KEY}]" not in line))
        yield folder, programs


@pytest.fixture
def lab(sshd: tuple[Path, Path], tmp_path: Path) -> Lab:
    run = tmp_path / "run.jsonl"
    run.write_bytes(b"".join(line for line in quieted(unpacked("quick")).splitlines(keepends=True)
                             if b'"figures"' not in line[:30]))  # fmt: skip
    # Each address reports its own name.
    prints_run = f"""sed "s/\\"hostname\\":\\"[^\\"]*\\"/\\"hostname\\":\\"h${{HOME##*.}}\\"/" {run}"""
    lab = Lab(*sshd, tmp_path / "core", prints_run)
    lab.stand_in(prints_run)
    return lab


def outcomes(folder: Path) -> dict[str, HostOutcome]:
    return FleetFolder.open(folder).outcomes


def test_the_core_is_sent_run_and_removed(lab: Lab, tmp_path: Path) -> None:
    """The real core, on two hosts that are one machine; whether other programs disturb it is not tested."""
    hosts, folder = ADDRESSES[:2], tmp_path / "fleet"
    code, _, messages = lab.fleet("--hosts", ",".join(hosts), "-o", folder, "--rounds", "1", "--at-once", "1", "-q")
    assert code in (0, 3), messages
    assert {end.outcome for end in outcomes(folder).values()} <= {"measured", "busy"}
    assert all((folder / end.file).exists() for end in outcomes(folder).values())
    digest = hashlib.sha256(core_path().read_bytes()).hexdigest()
    assert [Path(path).name for path in lab.left()] == [f"core-{digest}"] * 2
    # Hosts that were busy are measured again.
    lab.fleet("--resume", folder, "--remove", "-q")
    assert lab.left() == []


def test_a_probe_is_measured_by_a_request_file_for_each_machine(lab: Lab, tmp_path: Path) -> None:
    """The real core."""
    folder = tmp_path / "fleet"
    code, _, messages = lab.fleet("cpu_flops", "threads=1", "--hosts", ",".join(ADDRESSES[:2]), "-o", folder,
                                  "--in-place", core_path(), "--rounds", "2", "--at-once", "1", "-q")  # fmt: skip
    assert code in (0, 3), messages
    runs = [read_run(folder / end.file) for end in outcomes(folder).values()]
    assert [run.run.plan.name for run in runs] == ["cpu_flops"] * 2
    assert [len(run.measurements) for run in runs] == [2, 2]
    assert runs[0].run.seed == runs[1].run.seed
    assert lab.left() == []


def test_a_plan_file_that_changes_is_measured_as_it_was(lab: Lab, tmp_path: Path) -> None:
    folder, plan = tmp_path / "fleet", tmp_path / "mine.toml"
    text = 'rounds = 1\n[[experiment]]\nprobe = "disk_block"\nsize = "{beyond_memory}"\n'
    plan.write_text(text)
    # The host has no core, so nothing is measured.
    code, _, messages = lab.fleet(plan, "dir=/scratch", "--hosts", ADDRESSES[0], "-o", folder, "--in-place", "/none")
    assert (code, "no core" in messages) == (3, True)
    plan.write_text("")
    stored = FleetFolder.open(folder).start.plan
    assert stored is not None
    core = describe_core()
    request = json.loads(HostRequests(stored, core.probes).request(core.machine).text)
    assert request["plan"]["name"] == "mine"
    (experiment,) = request["plan"]["experiments"]
    assert experiment["params"] == {"size": 1280 << 20, "file": "/scratch"}


@pytest.mark.parametrize("machine", ["", "{}", "nonsense", '{"type":"machine","hostname":3}'])
def test_a_host_that_does_not_describe_its_machine_cannot_run(lab: Lab, tmp_path: Path, machine: str) -> None:
    lab.stand_in(f"echo '{machine}'")
    folder = tmp_path / "fleet"
    code, _, _ = lab.fleet("cpu_flops", "--hosts", ADDRESSES[0], "-o", folder, "--in-place", lab.core, "-q")
    assert code == 3
    assert outcomes(folder)[ADDRESSES[0]].outcome == "cannot run"
    assert lab.left() == []


def test_one_host_of_a_group_measures_at_a_time(lab: Lab, tmp_path: Path) -> None:
    """Two racks of two hosts, of which each notes when it measures."""
    log = tmp_path / "log"
    lab.stand_in(f'echo "$HOME +" >> {log}; sleep 1; echo "$HOME -" >> {log}; {lab.prints_run}')
    (tmp_path / "groups.conf").write_text(f"[Main]\ndefault: rack\nautodir: {tmp_path}\n")
    (tmp_path / "rack.yaml").write_text(
        f"rack:\n  left: '{ADDRESSES[0]},{ADDRESSES[1]}'\n  right: '{ADDRESSES[2]},{ADDRESSES[3]}'\n"
    )
    options: list[str | Path] = ["--hosts", ",".join(ADDRESSES[:4]), "--in-place", lab.core, "--budget", "1s", "-q"]
    lab.environment["CLUSTERSHELL_CFGDIR"] = str(tmp_path)
    code, _, messages = lab.fleet(*options, "--per-rack", "-o", tmp_path / "fleet")
    assert code == 0, messages
    active: set[int] = set()
    together = []
    for line in log.read_text().splitlines():
        home, sign = line.rsplit(" ", 1)
        number = int(home.rpartition(".")[2])
        active = active | {number} if sign == "+" else active - {number}
        together.append(frozenset(active))
    assert not {frozenset({1, 2}), frozenset({3, 4})} & set(together)
    assert any(len(hosts) == 2 for hosts in together)
    code, _, messages = lab.fleet(*options, "--per-group", "moon", "-o", tmp_path / "other")
    assert (code, messages.startswith("nameplate: --per-group moon: ")) == (2, True)
    (tmp_path / "groups.conf").write_text("[Main]\ndefault: %(no_such_value)s\n")
    code, _, messages = lab.fleet("--hosts", "@left", "-o", tmp_path / "third")
    assert (code, messages.startswith("nameplate: --hosts @left: ")) == (2, True)


def test_each_host_has_its_run_under_the_name_by_which_it_was_reached(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    hosts = "127.0.77.[1-8]"
    code, output, messages = lab.fleet("--hosts", hosts, "-o", folder, "--in-place", lab.core, "--budget", "1s")
    assert code == 0, messages
    assert output.startswith("None of 8 nodes is slow.")
    assert messages.splitlines()[-1] == "8 hosts: 8 measured, 0 running, 0 failed"
    files = [folder / "runs" / f"{address}.jsonl" for address in ADDRESSES[:8]]
    machines = [machine for _, machine in map(read_header, files) if machine]
    assert [machine.hostname for machine in machines] == [f"h{number}" for number in range(1, 9)]
    assert all('"figures"' in path.read_text().splitlines()[-1] for path in files)
    assert lab.left() == []
    listed = subprocess.run([sys.executable, "-m", "nameplate", "nodes", folder, "--json"], capture_output=True,
                            text=True, check=False)  # fmt: skip
    assert json.loads(listed.stdout)["names"] == ADDRESSES[:8]


def test_hosts_that_cannot_be_measured_are_rows_with_advice(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    (tmp_path / "hosts").write_text(f"{ADDRESSES[0]}\n{NO_KEY} # not in known_hosts\nno-such-host.invalid\n")
    code, output, messages = lab.fleet("--hosts", tmp_path / "hosts", "-o", folder, "--in-place", lab.core,
                                       "--budget", "1s", "-q")  # fmt: skip
    assert code == 3, messages
    actual = outcomes(folder)
    assert actual[ADDRESSES[0]].outcome == "measured"
    assert actual[NO_KEY].outcome == "unknown host key"
    assert actual["no-such-host.invalid"].outcome == "unreachable"
    assert f"! left out: {NO_KEY}: unknown host key: Host key verification failed." in output
    assert f"2 hosts failed; to measure them again: nameplate fleet run --resume {folder}" in output


def test_a_missing_or_broken_core_is_named(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "missing"
    code, _, messages = lab.fleet("--hosts", ADDRESSES[0], "-o", folder, "--in-place", "/no/core", "-q")
    assert code == 3
    assert "none of 1 host was measured: no core: /no/core is not a program that can be run" in messages
    for script, outcome, reason in (
        ("echo 'cannot do this' >&2; exit 3", "cannot run", "cannot do this"),
        ("kill -9 $$", "killed", ""),
        ('echo \'{"type":"nonsense"}\'', "invalid", "line 1 is not a nameplate record: this is not a run file"),
    ):
        lab.stand_in(script)
        folder = tmp_path / outcome.replace(" ", "-")
        code, _, messages = lab.fleet("--hosts", ADDRESSES[0], "-o", folder, "--in-place", lab.core, "--budget", "1s")
        assert code == 3
        actual = outcomes(folder)[ADDRESSES[0]]
        assert actual.outcome == outcome
        assert reason in actual.reason
    assert lab.left() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount the homes of the hosts")
def test_a_home_without_space_or_execution_is_named(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    code, _, messages = lab.fleet("--hosts", f"{NO_EXEC},{FULL}", "-o", folder, "-q")
    assert code == 3, messages
    actual = outcomes(folder)
    assert (actual[FULL].outcome, actual[FULL].advice) == ("no space", "free some space there")
    assert actual[NO_EXEC].outcome == "cannot run"
    assert "Permission denied" in actual[NO_EXEC].reason
    assert lab.left() == []


def test_ctrl_c_ends_the_cores_and_resume_measures_them_again(lab: Lab, tmp_path: Path) -> None:
    folder, marker = tmp_path / "fleet", tmp_path / "is-running"
    lab.stand_in(f"trap 'echo ended >> {marker}; exit 0' TERM; echo begun >> {marker}; sleep 60 & wait")
    process = lab.start("--hosts", ",".join(ADDRESSES[:3]), "-o", folder, "--in-place", lab.core)
    deadline = time.monotonic() + 60
    while not marker.exists() or marker.read_text().count("begun") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 3
    assert f"stopped; continue with: nameplate fleet run --resume {folder}" in messages
    assert marker.read_text().count("ended") == 3
    assert lab.left() == []


def test_a_killed_controller_loses_nothing(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    script = lab.core.read_text()
    lab.core.write_text(script.replace("sed ", "sleep 6; sed ", 1))
    hosts = ",".join(ADDRESSES[:3])
    process = lab.start("--hosts", hosts, "-o", folder, "--in-place", lab.core, "--budget", "5s", "-q")
    deadline = time.monotonic() + 60
    while not (folder / "fleet.hosts").exists() or len(FleetFolder.open(folder).running) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.kill()
    process.communicate()
    lab.stand_in("exit 3")  # nothing is measured again
    code, _, messages = lab.fleet("--resume", folder, "-q")
    assert code == 0, messages
    assert {outcome.outcome for outcome in outcomes(folder).values()} == {"measured"}
    assert lab.left() == []


def test_a_core_that_was_killed_is_no_run_that_counts(lab: Lab, tmp_path: Path) -> None:
    """Its records so far are a run file, but not a machine of the ranking."""
    folder = tmp_path / "fleet"
    lab.stand_in(f"head -n 40 {tmp_path}/run.jsonl; kill -KILL $$")
    code, _, messages = lab.fleet("--hosts", ADDRESSES[0], "-o", folder, "--in-place", lab.core, "--budget", "1s")
    assert code == 3
    actual = outcomes(folder)[ADDRESSES[0]]
    assert (actual.outcome, actual.file) == ("killed", f"runs/{ADDRESSES[0]}.jsonl")
    assert "none of 1 host was measured: killed: " in messages


def test_a_line_that_was_cut_off_is_repaired(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    lab.fleet("--hosts", "no-such-host.invalid", "-o", folder, "--in-place", lab.core, "-q")
    with (folder / "fleet.hosts").open("ab") as file:
        file.write(b'{"type":"started","addr')
    code, _, messages = lab.fleet("--resume", folder, "-q")
    assert (code, "is not a record" in messages) == (3, False)
    assert FleetFolder.open(folder).outcomes["no-such-host.invalid"].outcome == "unreachable"


def test_a_hostile_host_neither_writes_elsewhere_nor_reports_for_another(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "fleet"
    lab.stand_in("""case $HOME in
*.1) printf '{"type":"run","round":0,"schema":1,"plan":"../../../x"}\\n\\033]0;title\\007\\n' ;;
*.2) yes '{"type":"sample"}' | head -c 80000000 ;;
*) exit 1 ;;
esac""")
    code, _, messages = lab.fleet("--hosts", ",".join(ADDRESSES[:2]), "-o", folder, "--in-place", lab.core,
                                  "--budget", "1s", "-q")  # fmt: skip
    assert code == 3
    assert "\033" not in messages
    assert all(outcome.outcome != "measured" for outcome in outcomes(folder).values())
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert total < 65 << 20
    assert not any(path.suffix == ".jsonl" for path in (folder / "runs").iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give --hosts, --engine srun, --engine kubernetes or --launcher, or --resume FOLDER"),
        (["--hosts", "a", "--resume", "x"], "or --resume FOLDER to continue a fleet"),
        (["no_such_probe", "--hosts", "a"], "unknown plan or probe 'no_such_probe'"),
        (["cpu_flops", "threads=x", "--hosts", "a"], "threads: "),
        (["fast", "dir=here", "--hosts", "a"], "dir=here: not an absolute path; the hosts need one"),
        (["quick", "--fast", "cpu_flops", "--hosts", "a"], "--fast measures the plan fast"),
        (["--per-rack", "--per-group", "x", "--hosts", "a"], "--per-rack is --per-group rack"),
        (["--remove", "--launcher", "env"], "--remove: only ssh leaves the core on hosts"),
        (["--hosts", "web[1-"], "--hosts web[1-: "),
        (["--hosts=-oProxyCommand=id"], "'-oProxyCommand=id' is not the name of a host"),
        (["--hosts", "a;b"], "'a;b' is not the name of a host"),
        (["--resume", "x", "--budget", "5s"], "--resume continues with the options of the first command"),
        (["--hosts", ",".join(f"rack{number}-node-with-a-long-name" for number in range(40)) + ",a;b"], "'a;b' is not"),
        (["--hosts", "a", "--at-once", "0"], "--at-once 0: not a number of hosts"),
        (["--hosts", "a", "--budget", "x"], "'x' is not a duration"),
        (["--hosts", "a", "--core", "/etc/passwd"], "--core /etc/passwd: not a program for x86_64 or aarch64"),
        (["--resume", "/no/folder"], "cannot read /no/folder/fleet.hosts"),
    ],
)
def test_bad_options_have_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "nameplate", "fleet", "run", *arguments], capture_output=True,
                          text=True, check=False, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
