"""The scripts that hosts of a fleet run, and the meaning of their answers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from nameplate.errors import UsageError
from nameplate.fleet.host_outcome import ssh_outcome, start_outcome
from nameplate.fleet.hosts import parse_hosts
from nameplate.fleet.received_records import ReceivedRecords
from nameplate.fleet.remote import COMMAND, SCRIPT_BYTES, RemoteRun

REMOTE = RemoteRun("TOKEN", "id", {os.uname().machine: "0" * 64}, ["quick", "--rounds", "1"])


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "fish", "zsh"])
def test_the_remote_command_reads_the_script_and_leaves_the_rest(shell: str, tmp_path: Path) -> None:
    """sshd passes the command to the user's login shell."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = b'cat; echo "from $0"'.ljust(SCRIPT_BYTES, b"\n")
    done = subprocess.run([shell, "-c", COMMAND], input=script + b"the rest\n", capture_output=True, check=True,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})  # fmt: skip
    assert done.stdout == b"the rest\nfrom sh\n"


def test_a_host_without_the_core_says_what_it_needs(tmp_path: Path) -> None:
    script = REMOTE.start("host")
    assert len(script) == SCRIPT_BYTES
    done = subprocess.run(["sh", "-c", COMMAND], input=script, capture_output=True, text=False, check=True,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})  # fmt: skip
    assert done.stdout.decode().split()[:3] == ["TOKEN", "need", os.uname().machine]
    assert list(tmp_path.iterdir()) == []


def test_a_core_that_arrives_incomplete_is_not_kept(tmp_path: Path) -> None:
    done = subprocess.run(["sh", "-c", COMMAND], input=REMOTE.start("host", 1000) + b"too short", capture_output=True,
                          check=True, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})  # fmt: skip
    assert done.stdout.decode().strip().startswith("TOKEN failed transfer ")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("has_gzip", [False, True])
def test_records_arrive_complete_with_and_without_gzip_on_the_host(tmp_path: Path, has_gzip: bool) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "dd", "cat", "head", "tail", "rm", "readlink", "base64", *(["gzip"] if has_gzip else [])):
        path = shutil.which(name)
        assert path
        (programs / name).symlink_to(path)
    script = REMOTE.collect(f"{tmp_path}")
    work = Path("/var/tmp/nameplate-" + script.split(b"id=")[1][:16].decode())
    work.mkdir()
    records = b"".join(b'{"number":%d}\n' % number for number in range(5000))
    (work / "records").write_bytes(records)
    (work / "exit").write_text("0\n")
    done = subprocess.run(["sh", "-c", COMMAND], input=script + b"TOKEN\n", capture_output=True, check=True,
                          env={"PATH": str(programs), "HOME": str(tmp_path)})  # fmt: skip
    assert not work.exists()
    kind = b"TOKEN records gzip" if has_gzip else b"TOKEN records"
    lines = done.stdout.split(b"\n")
    received = ReceivedRecords("web1", tmp_path / "part", has_gzip)
    for line in lines[lines.index(kind) + 1 : lines.index(b"TOKEN end")]:
        received.add(line)
    received.close()
    assert received.problem is None
    assert (tmp_path / "part").read_bytes() == records


def test_two_addresses_of_one_machine_have_folders_of_their_own() -> None:
    assert REMOTE.start("a") != REMOTE.start("b")
    assert REMOTE.start("a").split(b"id=")[1][:16] == REMOTE.collect("a").split(b"id=")[1][:16]


@pytest.mark.parametrize(
    ("messages", "outcome", "reason", "may_pass"),
    [
        ("ssh: connect to host a port 22: Connection refused\n", "unreachable", "Connection refused", True),
        ("kex_exchange_identification: Connection closed by remote host\n", "unreachable", "closed", True),
        ("a: Permission denied (publickey).\n", "refused", "Permission denied", False),
        ("Host key verification failed.\n", "unknown host key", "Host key verification failed.", False),
        ("ssh: Could not resolve hostname a: Name or service not known\n", "unreachable", "resolve", False),
        ("", "unreachable", "ssh ended without a message", True),
    ],
)
def test_messages_of_ssh_have_an_outcome(messages: str, outcome: str, reason: str, may_pass: bool) -> None:
    actual, retry = ssh_outcome("a", messages)
    assert (actual.outcome, retry) == (outcome, may_pass)
    assert reason in actual.reason
    assert actual.advice


def test_a_path_with_spaces_is_named() -> None:
    outcome = start_outcome("a", "missing /opt/my tools/nameplate-core")
    assert (outcome.outcome, outcome.reason) == (
        "no core", "/opt/my tools/nameplate-core is not a program that can be run",
    )  # fmt: skip
    assert start_outcome("a", "core /x/core error: no libudev").reason == "/x/core cannot be run: error: no libudev"


def test_an_unknown_answer_is_no_run() -> None:
    assert start_outcome("a", "who knows").outcome == "invalid"


def test_hosts_are_node_sets_or_a_file(tmp_path: Path) -> None:
    assert parse_hosts("web[08-10],db") == ["db", "web08", "web09", "web10"]
    file = tmp_path / "hosts"
    file.write_text("web[1-2] # the first rack\n\nroot@10.0.0.1 fe80::1\nweb2\n")
    assert parse_hosts(str(file)) == ["fe80::1", "root@10.0.0.1", "web1", "web2"]


@pytest.mark.parametrize("text", ["", "-oProxyCommand=x", "a b", "a;b", "$(id)", "web[1-"])
def test_names_that_ssh_could_misread_are_rejected(text: str) -> None:
    with pytest.raises(UsageError, match="--hosts"):
        parse_hosts(text)
