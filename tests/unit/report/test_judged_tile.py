"""The tile of the report that compares a machine with its expected ranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judging import judge
from nameplate.records.result import Report
from nameplate.report.content.judgement import MachineJudgement, labels_of
from nameplate.report.html.document import write_html
from nameplate.results.judgeable import judgeable
from report_samples import of_disk, report, result

HOST = "node17"
SECRET = "/home/alice/secret/node17"


def named_report() -> tuple[Report, MachineJudgement]:
    """Return a report with a host name and a home directory in an id, and a judgement by a site of the host's name."""
    one = of_disk(50e9, file=SECRET)
    made = report([one, of_disk(50e9, file="/tmp/other")], host=HOST)
    expected = ExpectedRange(
        experiment=one.id, metric=one.summary.metric, kind="typical", unit=one.summary.unit, low=1.0, typical=1.0,
        high=2.0, machines=9,
    )  # fmt: skip
    expectation = Expectation(
        kind="site", machine=f"a machine like {HOST}", provisional=False, ranges=[expected],
        origins=[f"{HOST}.toml, 1 machine"], peers=["the median of 1 machine of this class"],
    )  # fmt: skip
    return made, MachineJudgement(judge(judgeable(made), [expected]), expectation)


def tile_of(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("<h3>Is this what it should be?</h3>")[2].partition("<h3>")[0]


def test_names_of_hosts_and_users_are_hidden(tmp_path: Path) -> None:
    made, judgement = named_report()
    write_html([made], tmp_path / "r.html", judgements=[judgement])
    tile = tile_of(tmp_path / "r.html")
    assert '<th scope="row">DISK file=~/secret/machine 1</th>' in tile
    assert "expected: machine 1.toml, 1 machine" in tile
    assert "machine: a machine like machine 1" in tile
    assert HOST not in tile
    assert "/home" not in tile


def test_names_stay_if_they_are_asked_for(tmp_path: Path) -> None:
    made, judgement = named_report()
    write_html([made], tmp_path / "r.html", identify=True, judgements=[judgement])
    tile = tile_of(tmp_path / "r.html")
    assert f'<th scope="row">DISK file={SECRET}</th>' in tile
    assert f"expected: {HOST}.toml, 1 machine" in tile


def test_each_report_has_its_own_tile_or_none(tmp_path: Path) -> None:
    made, judgement = named_report()
    other = report([result({"threads": 1})], host="b")
    write_html([other, made], tmp_path / "r.html", judgements=[None, judgement])
    first, second = (tmp_path / "r.html").read_text(encoding="utf-8").split('<section class="run"')[1:]
    assert "Is this what it should be?" not in first
    assert "Is this what it should be?" in second
    with pytest.raises(ValueError, match="shorter"):
        write_html([other, made], tmp_path / "r.html", judgements=[judgement])


def test_a_run_that_says_nothing_about_its_machine_is_not_judged(tmp_path: Path) -> None:
    made, judgement = named_report()
    why = "it is incomplete"
    refused = MachineJudgement([], judgement.expectation, why)
    write_html([made], tmp_path / "r.html", judgements=[refused])
    assert "<b>Not judged: it is incomplete.</b>" in tile_of(tmp_path / "r.html")


def test_a_single_experiment_is_named_by_its_metric_and_not_by_its_probe() -> None:
    one = result({"size": 1 << 27}, probe="memory_latency")
    assert labels_of(report([one])) == {(one.id, one.summary.metric): "rate, 128MiB"}
