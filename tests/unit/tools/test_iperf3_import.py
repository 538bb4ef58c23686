"""Outputs of iperf3 are read as the work that was done, or rejected: modes, hosts, servers and short tests."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from nameplate.comparison.run_comparison import compare_runs
from nameplate.errors import FileError
from nameplate.records.plan_record import Value
from nameplate.tools.imported_run import read_imported
from report_samples import report, result, with_summary

GOLDEN = Path(__file__).parents[2] / "golden" / "references"


def document_of(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())


@pytest.mark.parametrize(
    ("name", "params", "is_compared"),
    [
        ("iperf3-udp-3.12.json", {"mode": "plain", "receive": "plain"}, True),
        ("iperf3-udp-3.12.json", {"mode": "gso", "receive": "gro"}, False),
        ("iperf3-udp-3.22.json", {"mode": "mmsg", "receive": "mmsg"}, False),
        ("iperf3-udp-3.22.json", {"mode": "plain", "receive": "gro"}, False),
        ("iperf3-tcp-3.12.json", {"mode": "plain", "receive": "plain"}, True),
        ("iperf3-tcp-3.12.json", {"mode": "zerocopy", "receive": "plain"}, True),
        ("iperf3-tcp-3.12.json", {"mode": "mmsg", "receive": "plain"}, False),
    ],
)
def test_datagrams_have_a_call_each(name: str, params: dict[str, Value], is_compared: bool) -> None:
    """A run that passes 64 datagrams in one call is other work than iperf3's."""
    imported = read_imported(GOLDEN / name)
    summary = imported.results[0].summary
    measured = result({**summary.params, **params}, probe="net_stream")
    measured = with_summary(measured, metric=summary.metric, unit=summary.unit)
    assert bool(compare_runs(report([measured]), imported).rows) == is_compared


@pytest.mark.parametrize("side", ["local_host", "remote_host"])
def test_a_folder_of_tests_between_other_hosts_is_remarked(tmp_path: Path, side: str) -> None:
    """Outputs between different hosts are no rounds of one run."""
    remark = "results are of outputs with different settings, folders, devices or hosts"
    for number, address in enumerate(["10.0.0.1", "10.0.0.1", "10.0.0.2"]):
        document = document_of("iperf3-tcp-3.12.json")
        document["start"]["connected"][0][side] = address
        document["title"] = str(number)
        (tmp_path / f"{number}.json").write_text(json.dumps(document))
        assert (remark in read_imported(tmp_path).notes) == (number == 2)


@pytest.mark.parametrize(
    "name", ["iperf3-server-3.12.json", "iperf3-server-3.22.json", "iperf3-server-stream-3.22.json"]
)
def test_a_server_that_was_ended_after_its_test(tmp_path: Path, name: str) -> None:
    """A server is ended with Ctrl-C: it reports that within its last output, or in one more."""
    text = (GOLDEN / name).read_text()
    bits = re.search(r'"sum_received":\s*\{[^}]*"bits_per_second":\s*([\d.]+)', text)
    assert bits
    (bandwidth,) = read_imported(GOLDEN / name).results
    assert bandwidth.summary.value == pytest.approx(float(bits[1]) / 8)
    (tmp_path / name).write_text(re.sub(r'"duration":(\s*)1,', r'"duration":\g<1>10,', text))
    if name != "iperf3-server-3.22.json":  # its test has an output of its own
        with pytest.raises(FileError, match="iperf3 failed: interrupt - the server has terminated"):
            read_imported(tmp_path / name)


@pytest.mark.parametrize(
    ("asked", "is_complete"),
    [
        ({"duration": 0, "bytes": 1 << 20}, True), ({"duration": 0, "bytes": 1 << 50}, False),
        ({"duration": 0, "blocks": 8}, True), ({"duration": 0, "blocks": 1 << 40}, False), ({"duration": 0}, False),
    ],
)  # fmt: skip
def test_a_server_that_was_ended_during_its_test(tmp_path: Path, asked: dict[str, int], is_complete: bool) -> None:
    document = document_of("iperf3-server-3.12.json")
    document["start"]["test_start"] |= asked
    (tmp_path / "s.json").write_text(json.dumps(document))
    if is_complete:
        assert read_imported(tmp_path / "s.json").results
    else:
        with pytest.raises(FileError, match="iperf3 failed: interrupt - the server has terminated"):
            read_imported(tmp_path / "s.json")


def test_a_server_that_was_ended_without_a_test(tmp_path: Path) -> None:
    text = (GOLDEN / "iperf3-server-3.22.json").read_text()
    (tmp_path / "s.json").write_text(text[text.index("\n{") + 1 :])
    with pytest.raises(FileError, match="iperf3 failed: interrupt - the server has terminated by signal"):
        read_imported(tmp_path / "s.json")


def test_a_test_that_was_too_short(tmp_path: Path) -> None:
    """The sender's rate of one datagram says nothing, above all if another rate was asked for."""
    with pytest.raises(FileError, match="no data arrived"):
        read_imported(GOLDEN / "iperf3-udp-one-datagram-3.12.json")
    document = document_of("iperf3-udp-one-datagram-3.12.json")
    document["end"]["sum_received"]["bits_per_second"] = 5140078431.37255
    (tmp_path / "u.json").write_text(json.dumps(document))
    with pytest.raises(FileError, match=r"5\.14e\+09 bit/s arrived, far more than the given --bitrate"):
        read_imported(tmp_path / "u.json")
    document["end"]["sum_received"]["bits_per_second"] = 2000000
    (tmp_path / "u.json").write_text(json.dumps(document))
    assert read_imported(tmp_path / "u.json").results[0].summary.params["rate"] == 1048576


@pytest.mark.parametrize(("version", "is_doubtful"), [("3.12", False), ("3.16", True), ("3.22", True)])
@pytest.mark.parametrize("asked", [{"bytes": 1000}, {"blocks": 10}])
def test_a_number_of_bytes_ends_with_an_interval_since_there_are_threads(
    tmp_path: Path, version: str, is_doubtful: bool, asked: dict[str, int]
) -> None:
    document = document_of("iperf3-tcp-3.12.json")
    document["start"]["version"] = f"iperf {version}"
    document["start"]["test_start"].update(asked)
    (tmp_path / "o.json").write_text(json.dumps(document))
    (made,) = read_imported(tmp_path / "o.json").results
    assert ("may end later than its last byte" in made.restriction) == is_doubtful
