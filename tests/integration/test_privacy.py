"""Exported data do not identify the user or the machine: a real run on a named host, in a home directory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pyarrow import parquet

from machine_wide import unused_name
from nameplate.report.exports import export_names
from nameplate.report.html.embed import read_embedded

# Another checkout may run its tests at the same time, and the user has a folder in /home.
HOST, USER = "rack7-node42", unused_name("jane-doe")
NAMEPLATE = str(Path(sys.executable).with_name("nameplate"))
SEVERAL_FILES = ("github-action-benchmark", "gnuplot", "parquet")


def on_that_host(home: Path, *arguments: str) -> str:
    """Run a nameplate command in that user's home directory on a host of that name, and return its output."""
    named = ["unshare", "--uts", "sh", "-c", f'hostname {HOST} && exec "$@"', "sh", NAMEPLATE, *arguments]
    environment = {"HOME": str(home), "USER": USER, "LOGNAME": USER, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    ended = subprocess.run(named, cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode in {0, 3}, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Create a home directory with runs of probes that record files and addresses, and with their report."""
    directory = Path("/home") / USER
    directory.mkdir(parents=True)
    few = ["--rounds", "1", "--samples", "2", "--time", "2ms", "--quiet"]
    on_that_host(
        directory, "run", "disk_block", f"file={directory}", "size=1MiB", "block=4KiB", *few, "-o", "disk.jsonl"
    )
    on_that_host(
        directory, "run", "disk_block", f"file={directory}/none/x", "size=1MiB", "block=4KiB", *few, "-o", "bad.jsonl"
    )
    on_that_host(directory, "run", "net_pingpong", *few, "-o", "net.jsonl")
    on_that_host(directory, "report", "disk.jsonl", "bad.jsonl", "net.jsonl", "-o", "report.html")
    yield directory
    subprocess.run(["rm", "-rf", str(directory)], check=True)


def identifiers() -> set[str]:
    """Return the names, addresses and serial numbers of this machine and that user."""
    names_to_hide = {HOST, USER}
    names = ("/etc/machine-id", "/proc/sys/kernel/random/boot_id", "/var/lib/dbus/machine-id")
    names_to_hide |= {path.read_text().strip() for path in map(Path, names) if path.exists()}
    names_to_hide |= {path.read_text().strip() for path in Path("/sys/class/dmi/id").glob("*_serial")}
    names_to_hide |= {path.read_text().strip() for path in Path("/sys/class/net").glob("*/address")}
    listed = subprocess.run(["ip", "-j", "address"], capture_output=True, text=True, check=True).stdout
    names_to_hide |= {address["local"] for link in json.loads(listed) for address in link["addr_info"]}
    return {word for word in names_to_hide if len(word.strip("0:")) > 3}


def test_a_run_file_keeps_the_host_and_the_paths(home: Path) -> None:
    """Without this, the other tests would not prove that anything is hidden."""
    text = (home / "disk.jsonl").read_text()
    assert HOST in text
    assert str(home) in text


def test_a_report_has_no_identifier(home: Path) -> None:
    data = msgspec.json.encode(read_embedded(home / "report.html")).decode()
    page = (home / "report.html").read_text()
    for word in identifiers():
        assert word not in page
        assert word not in data
    assert "machine 1" in data
    assert "~" in data


def content_of(path: Path) -> str:
    """Return a file's content as text; that of a Parquet file, which is compressed, with the names of its columns."""
    return str(parquet.read_table(path).to_pydict()) if path.suffix == ".parquet" else path.read_text()


@pytest.mark.parametrize("name", sorted({*export_names()} - {"study", "xml"}))
def test_an_export_has_no_identifier(home: Path, tmp_path: Path, name: str) -> None:
    """The exports ``xml`` and ``study`` need other runs; their unit tests check them."""
    for run in ("disk.jsonl", "bad.jsonl", "net.jsonl"):
        output = ["-o", str(tmp_path), "--force"] if name in SEVERAL_FILES else []
        if name == "gnuplot" and run == "bad.jsonl":
            continue
        text = on_that_host(home, "show", run, "--format", name, *output)
        text += "".join(map(content_of, tmp_path.iterdir()))
        for word in identifiers():
            assert word not in text


def test_chart_files_have_no_identifier(home: Path, tmp_path: Path) -> None:
    on_that_host(home, "report", "disk.jsonl", "--charts", str(tmp_path))
    drawings = [path.read_text() for path in tmp_path.glob("*/*.svg")]
    assert drawings
    assert not any(word in drawing for word in identifiers() for drawing in drawings)


def test_identify_keeps_the_host_name(home: Path) -> None:
    assert HOST in on_that_host(home, "show", "disk.jsonl", "--format", "json", "--identify")
