"""Recorded outputs of other tools are read as runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nameplate.commands._reading import read_report
from nameplate.comparison.run_comparison import compare_runs
from nameplate.errors import FileError
from nameplate.records.plan_record import Value
from nameplate.records.result import Report
from nameplate.tools.external import load_importers
from nameplate.tools.imported_run import read_imported
from report_samples import report, result, with_summary

GOLDEN = Path(__file__).parents[2] / "golden" / "references"


def values_of(made: Report) -> dict[tuple[str, str], float | None]:
    return {(r.summary.metric, " ".join(f"{k}={v}" for k, v in r.summary.params.items())): r.summary.value
            for r in made.results}  # fmt: skip


def edited(path: Path, name: str, **changes: Any) -> Path:
    """Write the recorded fio output with other options in its only job, and return its path."""
    document = json.loads((GOLDEN / "fio-3.33.json").read_text())
    job = document["jobs"][0]
    job["job options"] = {**job["job options"], **changes.pop("options", {})}
    job.update(changes)
    (path / name).write_text(json.dumps(document, indent=2))
    return path / name


def test_fio(tmp_path: Path) -> None:
    found = values_of(read_imported(GOLDEN / "fio-3.33.json"))
    words = "block=4096 cache=direct depth=1 library=pread op=read pattern=random threads=1"
    job = json.loads((GOLDEN / "fio-3.33.json").read_text())["jobs"][0]["read"]
    assert found == {
        ("bandwidth", words): job["bw_bytes"], ("iops", words): job["iops"],
        ("latency", words): pytest.approx(job["lat_ns"]["mean"] * 1e-9),
    }  # fmt: skip
    other = edited(tmp_path, "o.json", options={"rw": "rw", "bs": "1M", "ioengine": "windowsaio", "direct": "0"})
    assert next(iter(values_of(read_imported(other))))[1] == (
        "block=1048576 depth=1 library=windowsaio op=readwrite:50 pattern=sequential threads=1"
    )


def test_iperf3() -> None:
    assert values_of(read_imported(GOLDEN / "iperf3-tcp-3.12.json")) == {
        ("bandwidth", "block=131072 connections=1 direction=up protocol=tcp"): pytest.approx(
            json.loads((GOLDEN / "iperf3-tcp-3.12.json").read_text())["end"]["sum_received"]["bits_per_second"] / 8
        )
    }
    end = json.loads((GOLDEN / "iperf3-udp-3.12.json").read_text())["end"]["sum"]
    ((name, value),) = values_of(read_imported(GOLDEN / "iperf3-udp-3.12.json")).items()
    assert name == ("bandwidth", "block=1024 connections=1 direction=up protocol=udp")
    assert value == pytest.approx(end["bits_per_second"] / 8 * (1 - end["lost_packets"] / end["packets"]))


def test_stream() -> None:
    found = values_of(read_imported(GOLDEN / "stream-5.10.txt"))
    assert found["bandwidth", "op=triad precision=fp64 size=80000000 threads=8"] == pytest.approx(24e7 / 0.039404)
    assert len(found) == 4


def test_osu() -> None:
    found = values_of(read_imported(GOLDEN / "osu_latency-7.5.txt"))
    assert found["latency", "data=unchanged pairs=1 size=8"] == pytest.approx(3.34e-6)
    several = values_of(read_imported(GOLDEN / "osu_multi_lat-5.6.3.txt"))
    assert several["latency", "data=unchanged size=8"] == pytest.approx(0.23e-6)


def test_imb() -> None:
    found = values_of(read_imported(GOLDEN / "imb-pingpong-2021.11.txt"))
    assert found["latency", "data=unchanged pairs=1 size=1048576"] == pytest.approx(120.29e-6)
    assert len(found) == 21  # without the empty message


def test_a_folder_is_read_as_repeats(tmp_path: Path) -> None:
    for number in range(6):
        shutil.copy(GOLDEN / "osu_latency-7.5.txt", tmp_path / f"{number}.txt")
    made = read_imported(tmp_path)
    assert {(r.summary.rounds, len(r.round_values), r.summary.ci is not None) for r in made.results} == {(6, 6, True)}
    shutil.copy(GOLDEN / "fio-3.33.json", tmp_path)
    with pytest.raises(FileError, match="contains outputs of fio and osu; a folder must have outputs of one tool"):
        read_imported(tmp_path)


def test_an_old_result_is_compared_with_a_run() -> None:
    """The run has more parameters than the output names; the only experiment that fits is compared."""
    params: dict[str, Value] = {
        "protocol": "tcp",
        "direction": "up",
        "connections": 1,
        "block": 131072,
        "mode": "plain",
    }
    ours = with_summary(result(params, 4e8, probe="net_stream"), metric="bandwidth", unit="B/s")
    other = with_summary(result({**params, "connections": 2}, 4e8, probe="net_stream"), metric="bandwidth", unit="B/s")
    found = compare_runs(read_imported(GOLDEN / "iperf3-tcp-3.12.json"), report([ours, other]))
    (row,) = found.rows
    assert (row.params, row.verdict) == (dict(sorted(params.items())), "UNSURE")
    assert row.reason == "too few rounds (1): a verdict needs 5"
    assert len(found.only_in_new) == 1
    ambiguous = with_summary(result({**params, "mode": "zerocopy"}, 4e8, probe="net_stream"), metric="bandwidth")
    assert compare_runs(read_imported(GOLDEN / "iperf3-tcp-3.12.json"), report([ours, ambiguous])).rows == []


def test_each_importer_accepts_its_own_outputs_only() -> None:
    texts = {path.name: path.read_text() for path in GOLDEN.iterdir()}
    known = {name: [i.name for i in load_importers() if i.recognises(text)] for name, text in texts.items()}
    assert all(len(importers) <= 1 for importers in known.values())
    assert {importers[0] for importers in known.values() if importers} == {"fio", "imb", "iperf3", "osu", "stream"}


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("stream-5.10.txt", "Solution Validates", "Failed", "did not say that its solution validates"),
        ("stream-5.10.txt", "Triad:", "Trio:", "no lines match"),
        ("osu_latency-7.5.txt", "Latency(us)", "Latency(ns)", "unexpected columns"),
        ("osu_bw-7.5.txt", "", "", "Bandwidth Test: nameplate measures the same only for osu_latency and"),
        ("imb-pingpong-2021.11.txt", "t[usec]", "t[nsec]", "unexpected columns"),
        ("imb-pingpong-2021.11.txt", "# #processes = 2", "# #processes = 4", "not between two processes"),
        ("imb-pingpong-2021.11.txt", "ing PingPong", "ing PingPing", "PingPing: nameplate measures the same only for"),
        ("imb-pingpong-2021.11.txt", "     2.45  ", "     0.00  ", "line 39: "),
        ("fio-3.33.json", '"bw_bytes"', '"bw_b"', "not a possible value"),
        ("iperf3-tcp-3.12.json", '"sum_received"', '"sum_lost"', "no sum_received"),
        ("iperf3-udp-3.12.json", '"packets"', '"packs"', "no datagrams"),
        ("sockperf-3.7.txt", "", "", "neither a run file nor an output of distributed_stream, fio, imb, iperf3, osu,"),
    ],
)  # fmt: skip
def test_broken_outputs_are_rejected(tmp_path: Path, name: str, old: str, new: str, words: str) -> None:
    (tmp_path / name).write_text((GOLDEN / name).read_text().replace(old, new))
    with pytest.raises(FileError, match=words.replace("(", r"\(")) as caught:
        read_report(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_failed_or_empty_jobs_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="job versus failed with error 5"):
        read_imported(edited(tmp_path, "e.json", error=5))
    nothing = {"iops": 0, "bw_bytes": 0, "total_ios": 0}
    with pytest.raises(FileError, match="job versus transferred no bytes"):
        read_imported(edited(tmp_path, "n.json", read=nothing, write=nothing))
    with pytest.raises(FileError, match="rw=trim: nameplate has no such operation"):
        read_imported(edited(tmp_path, "t.json", options={"rw": "trim"}))
    with pytest.raises(FileError, match="bs=huge: not a size"):
        read_imported(edited(tmp_path, "b.json", options={"bs": "huge"}))


@pytest.mark.parametrize(("option", "words"), [
    ({"numjobs": "x"}, "numjobs is 'x', not a whole number"),
    ({"numjobs": "1" * 5000}, "not a whole number of at most 18 digits"),
    ({"iodepth": "-1"}, "iodepth is '-1', not a whole number"),
    ({"bs": "9" * 5000}, "not a whole number of at most 18 digits"),
    ({"bs": "9999999999g"}, "bs=9999999999g: not a size"),
])  # fmt: skip
def test_an_invalid_number_of_fio_is_rejected(tmp_path: Path, option: dict[str, str], words: str) -> None:
    with pytest.raises(FileError, match=words) as caught:
        read_imported(edited(tmp_path, "x.json", options=option))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("name", "old", "new", "words"), [
    ("osu_latency-7.5.txt", "\n8 ", f"\n{'8' * 4301} ", "line 8: the size is '8888"),
    ("osu_latency-7.5.txt", "\n8 ", f"\n{'8' * 4300} ", "line 8: the size is '8888"),
    ("stream-5.10.txt", "counted = ", f"counted = {'9' * 4301}", "the number of threads is '9999"),
    ("stream-5.10.txt", "Array size = ", f"Array size = {'9' * 400}", "no lines match"),
    ("iperf3-tcp-3.12.json", '"num_streams":\t', '"num_streams":\t-', "Expected `int` >= 1"),
])  # fmt: skip
def test_an_invalid_number_of_a_tool_is_rejected(tmp_path: Path, name: str, old: str, new: str, words: str) -> None:
    text = (GOLDEN / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new))
    with pytest.raises(FileError, match=words) as caught:
        read_report(tmp_path / name)
    assert len(str(caught.value)) < 300


def test_a_path_that_is_not_a_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is empty"):
        read_imported(tmp_path)
    with pytest.raises(FileError, match="cannot read"):
        read_report(tmp_path / "none.txt")
