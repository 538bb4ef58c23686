"""Outputs of iperf3 are read as the work that was done, or rejected: modes, hosts, servers and short tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nameplate.comparison.run_comparison import compare_runs
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
