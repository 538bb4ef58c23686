"""What travels tells nothing of who and where: a real run on a host with a name, in a home directory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from nameplate.report.exports import export_names
from nameplate.report.html.embed import read_embedded

HOST, USER = "rack7-node42", "jane-doe-77"
NAMEPLATE = str(Path(sys.executable).with_name("nameplate"))


def on_that_host(home: Path, *arguments: str) -> str:
    """Output of a nameplate command in the home directory of that user, on a host of that name."""
    named = ["unshare", "--uts", "sh", "-c", f'hostname {HOST} && exec "$@"', "sh", NAMEPLATE, *arguments]
    environment = {"HOME": str(home), "USER": USER, "LOGNAME": USER, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    ended = subprocess.run(named, cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode in {0, 3}, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """With a run of probes that name files and addresses, and its report."""
    place = Path("/home") / USER
    place.mkdir(parents=True)
    few = ["--rounds", "1", "--samples", "2", "--time", "2ms", "--quiet"]
    on_that_host(place, "run", "disk_block", f"file={place}", "size=1MiB", "block=4KiB", *few, "-o", "disk.jsonl")
    on_that_host(place, "run", "disk_block", f"file={place}/none/x", "size=1MiB", "block=4KiB", *few, "-o", "bad.jsonl")
    on_that_host(place, "run", "net_pingpong", *few, "-o", "net.jsonl")
    on_that_host(place, "report", "disk.jsonl", "bad.jsonl", "net.jsonl", "-o", "report.html")
    yield place
    subprocess.run(["rm", "-rf", str(place)], check=True)


def identifiers() -> set[str]:
    """Of this machine and that user: names, addresses, serial numbers, as far as there are any."""
    found = {HOST, USER}
    names = ("/etc/machine-id", "/proc/sys/kernel/random/boot_id", "/var/lib/dbus/machine-id")
    found |= {path.read_text().strip() for path in map(Path, names) if path.exists()}
    found |= {path.read_text().strip() for path in Path("/sys/class/dmi/id").glob("*_serial")}
    found |= {path.read_text().strip() for path in Path("/sys/class/net").glob("*/address")}
    listed = subprocess.run(["ip", "-j", "address"], capture_output=True, text=True, check=True).stdout
    found |= {address["local"] for link in json.loads(listed) for address in link["addr_info"]}
    return {word for word in found if len(word.strip("0:")) > 3}


def test_a_run_file_keeps_what_was_where(home: Path) -> None:
    """So that the others are known to have hidden something."""
    text = (home / "disk.jsonl").read_text()
    assert HOST in text
    assert str(home) in text


def test_nothing_that_identifies_is_in_a_report(home: Path) -> None:
    data = msgspec.json.encode(read_embedded(home / "report.html")).decode()
    page = (home / "report.html").read_text()
    for word in identifiers():
        assert word not in page
        assert word not in data
    assert "machine 1" in page
    assert "~" in data


@pytest.mark.parametrize("name", sorted({*export_names()} - {"study", "xml"}))
def test_nothing_that_identifies_is_in_an_export(home: Path, tmp_path: Path, name: str) -> None:
    """DistributedStream's form is of runs with several nodes only, a study's of its plan's: see its unit tests."""
    for run in ("disk.jsonl", "bad.jsonl", "net.jsonl"):
        output = ["-o", str(tmp_path)] if name == "gnuplot" else []
        if name == "gnuplot" and run == "bad.jsonl":
            continue
        text = on_that_host(home, "show", run, "--format", name, *output)
        text += "".join(path.read_text() for path in tmp_path.iterdir())
        for word in identifiers():
            assert word not in text


def test_charts_name_nobody(home: Path, tmp_path: Path) -> None:
    on_that_host(home, "report", "disk.jsonl", "--charts", str(tmp_path))
    drawings = [path.read_text() for path in tmp_path.glob("*.svg")]
    assert drawings
    assert not any(word in drawing for word in identifiers() for drawing in drawings)


def test_who_asks_for_it_keeps_the_name(home: Path) -> None:
    assert HOST in on_that_host(home, "show", "disk.jsonl", "--format", "json", "--identify")
