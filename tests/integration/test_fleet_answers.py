"""Answers of hosts that are damaged, endless or late, from a program that stands in for ssh."""

from __future__ import annotations

import base64
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nameplate.fleet.fleet_folder import FLEET_FILE, FleetFolder
from recorded_runs import quieted, unpacked

# Answers a script that starts or collects with what the folder ANSWERS has for it, and notes the receipt.
SSH = r"""#!/bin/bash
IFS= read -r -N 6000 script
[[ $script =~ token=([0-9a-f]+) ]]; token=${BASH_REMATCH[1]}
case $script in *'say running'*) kind=collect ;; *) kind=start ;; esac
sed "s/TOKEN/$token/" "$ANSWERS/$kind"
read -r receipt
echo "$receipt" >>"$ANSWERS/receipts"
"""


class Hosts:
    """A fleet of hosts that give the same answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fleet_folder = folder / "fleet"
        (folder / "bin").mkdir()
        (folder / "bin/ssh").write_text(SSH)
        (folder / "bin/ssh").chmod(0o755)

    def answer(self, kind: str, *lines: bytes) -> None:
        (self.folder / kind).write_bytes(b"\n".join([*lines, b""]))

    def fleet(self, *arguments: str) -> tuple[int, str]:
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "ANSWERS": str(self.folder)}
        done = subprocess.run([sys.executable, "-m", "nameplate", "fleet", "run", *arguments, "-q"], env=environment,
                              capture_output=True, text=True, check=False, timeout=120)  # fmt: skip
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    def receipts(self) -> list[str]:
        return (self.folder / "receipts").read_text().splitlines()


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    hosts = Hosts(tmp_path)
    hosts.answer("start", b"TOKEN started")
    return hosts


def compressed(records: bytes) -> bytes:
    return base64.b64encode(gzip.compress(records))


def test_records_that_arrived_damaged_stay_on_the_host_until_they_are_collected(hosts: Hosts) -> None:
    """Its gzip may have been killed."""
    records = b"".join(line for line in quieted(unpacked("quick")).splitlines(keepends=True)
                       if b'"figures"' not in line[:30])  # fmt: skip
    complete = compressed(records)
    hosts.answer("collect", b"TOKEN exit 0", b"TOKEN records gzip", complete[: len(complete) // 8 * 4], b"TOKEN end")
    code, messages = hosts.fleet("--hosts", "web1", "-o", str(hosts.fleet_folder), "--budget", "1s")
    assert code == 3
    assert (
        "invalid: its records cannot be decompressed: the end is missing; collect them again with --resume" in messages
    )
    assert hosts.receipts() == ["", ""]
    hosts.answer("collect", b"TOKEN exit 0", b"TOKEN records gzip", complete, b"TOKEN end")
    hosts.fleet("--resume", str(hosts.fleet_folder))
    folder = FleetFolder.open(hosts.fleet_folder)
    assert folder.outcomes["web1"].outcome == "measured"
    assert hosts.receipts()[2:] == ["", folder.start.token]


def test_an_endless_answer_does_not_fill_the_file_of_the_fleet(hosts: Hosts) -> None:
    hosts.answer("start", b"TOKEN failed core /core " + b"x" * 3_000_000)
    assert hosts.fleet("--hosts", "web1", "-o", str(hosts.fleet_folder))[0] == 3
    assert (hosts.fleet_folder / FLEET_FILE).stat().st_size < 10_000


def test_answers_after_the_end_change_nothing(hosts: Hosts) -> None:
    hosts.answer("collect", b"TOKEN exit 0", b"TOKEN records", b'{"type":"nonsense"}', b"TOKEN end", b"TOKEN records",
                 b'{"type":"other"}', b"TOKEN end", b"TOKEN ready")  # fmt: skip
    hosts.fleet("--hosts", "web1", "-o", str(hosts.fleet_folder), "--budget", "1s")
    assert (hosts.fleet_folder / "runs/web1.part").read_bytes() == b'{"type":"nonsense"}\n'
