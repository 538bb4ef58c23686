"""Recorded outputs of other tools are read as runs."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from comparable_results import of
from nameplate.commands._reading import read_report
from nameplate.comparison.run_comparison import compare_runs
from nameplate.errors import FileError
from nameplate.records.plan_record import Value
from nameplate.records.result import Report
from nameplate.tools.external import load_importers
from nameplate.tools.imported_run import read_imported
from report_samples import result, with_summary

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
    actual = values_of(read_imported(GOLDEN / "fio-3.33.json"))
    message = "block=4096 cache=direct depth=1 library=pread op=read pattern=random threads=1"
    job = json.loads((GOLDEN / "fio-3.33.json").read_text())["jobs"][0]["read"]
    assert actual == {
        ("bandwidth", message): job["bw_bytes"], ("iops", message): job["iops"],
        ("latency", message): pytest.approx(job["lat_ns"]["mean"] * 1e-9),
    }  # fmt: skip
    other = edited(tmp_path, "o.json", options={"rw": "read", "ioengine": "windowsaio", "direct": "0"})
    assert next(iter(values_of(read_imported(other))))[1] == (
        "block=4096 depth=1 library=windowsaio op=read pattern=sequential threads=1"
    )


def of_jobs(path: Path, *changes: dict[str, Any], **document_changes: Any) -> Report:
    """Return what is read from the recorded fio output with several jobs, each with changed entries and options."""
    document = json.loads((GOLDEN / "fio-3.33.json").read_text()) | document_changes
    job = document["jobs"][0]
    document["jobs"] = [
        {**job, "elapsed": 9, **change, "job options": {**job["job options"], **change.get("job options", {})}}
        for change in changes
    ]
    (path / "jobs.json").write_text(json.dumps(document, indent=2))
    return read_imported(path / "jobs.json")


def test_the_processes_of_a_fio_job_are_one_round() -> None:
    """Without group_reporting, fio prints each process as a job: bandwidths add up, latencies are averaged."""
    made = read_imported(GOLDEN / "fio-3.39-numjobs.json")
    jobs = [job["read"] for job in json.loads((GOLDEN / "fio-3.39-numjobs.json").read_text())["jobs"]]
    message = "block=65536 depth=1 library=pread op=read pattern=random threads=4"
    operations = sum(job["total_ios"] for job in jobs)
    assert len(jobs) == 4
    assert values_of(made) == {
        ("bandwidth", message): sum(job["bw_bytes"] for job in jobs),
        ("iops", message): pytest.approx(sum(job["iops"] for job in jobs)),
        ("latency", message): pytest.approx(
            sum(job["lat_ns"]["mean"] * job["total_ios"] for job in jobs) / operations * 1e-9
        ),
    }
    assert {result.summary.rounds for result in made.results} == {1}
    assert [(item.tool, item.version) for item in made.imported] == [("fio", "3.39")]
    digest = hashlib.sha256((GOLDEN / "fio-3.39-numjobs.json").read_bytes()).hexdigest()
    assert made.imported[0].sha256 == digest


def test_the_number_of_processes_is_told_or_left_out(tmp_path: Path) -> None:
    """Versions differ in what they print of a global section: the times of the processes tell if there was one."""

    def threads(*changes: dict[str, Any]) -> set[Value | None]:
        return {result.summary.params.get("threads") for result in of_jobs(tmp_path, *changes).results}

    runtime = json.loads((GOLDEN / "fio-3.33.json").read_text())["jobs"][0]["read"]["runtime"]
    assert threads({"job_runtime": 0}) == {None}
    assert threads({"job_runtime": runtime}) == {1}
    for ratio, expected in ((4, None), (1, 1)):
        made = of_jobs(tmp_path, {"job_runtime": ratio * runtime}, **{"fio version": "fio-3.3"})
        assert {result.summary.params.get("threads") for result in made.results} == {expected}
    with pytest.raises(FileError, match=r"its processes ran for 4\.\d+ s, more than 1 can in 1\.\d+ s"):
        threads({"job_runtime": 4 * runtime})
    with pytest.raises(FileError, match=r"its processes ran for 9\.\d+ s, more than 8 can in 1\.\d+ s"):
        threads({"job_runtime": 9 * runtime, "job options": {"numjobs": "8", "ramp_time": "1"}})
    with pytest.raises(FileError, match="its name and its options are those of different jobs"):
        threads({"job_runtime": 0, "job options": {"name": "other"}})
    assert threads({"job_runtime": 4 * runtime, "job options": {"numjobs": "4"}}) == {4}
    assert threads({"job_runtime": 0, "job options": {"numjobs": "4"}}) == {4}
    assert threads({}, {}, {}) == {3}
    with pytest.raises(FileError, match="the output has 2 of its 4 processes"):
        threads({"job options": {"numjobs": "4"}}, {"job options": {"numjobs": "4"}})
    with pytest.raises(FileError, match=r"its processes ran for 6\.\d+ s, more than 2 can in 1\.\d+ s"):
        threads({"job_runtime": 6 * runtime, "job options": {"numjobs": "2", "group_reporting": ""}})


def test_jobs_that_ran_at_the_same_time_are_not_read(tmp_path: Path) -> None:
    beside = {"jobname": "b", "job options": {"bs": "8192"}}
    with pytest.raises(FileError, match="jobs versus, b: they ran at the same time; use --stonewall"):
        of_jobs(tmp_path, {}, beside)
    with pytest.raises(FileError, match="they ran at the same time"):
        of_jobs(tmp_path, {}, {**beside, "groupid": 1, "job options": {"bs": "8192", "new_group": ""}})
    after = {"jobname": "b", "groupid": 1, "job options": {"rw": "trim", "stonewall": ""}}
    made = of_jobs(tmp_path, {}, after)
    assert len(made.results) == 3
    assert made.notes[1:] == ["not read: jobs.json: job b: rw=trim: nameplate has no such operation"]
    second = {"jobname": "again", "groupid": 2, "job options": {"name": "again", "stonewall": ""}}
    with pytest.raises(FileError, match=r"has bandwidth with .* more than once: one output is one round"):
        of_jobs(tmp_path, {}, second)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bssplit", "4k/10:64k/50:32k/40"), ("bsrange", "1k-4k"), ("blocksize_range", "1k-4k"), ("bs_unaligned", ""),
        ("rw", "read:8k"), ("rw", "randread:8"), ("percentage_random", "50"), ("random_distribution", "zipf:1.2"),
        ("thinktime", "1000"), ("ioengine", "null"), ("ioengine", "net"), ("nrfiles", "8"),
        ("verify", "crc32c"), ("zonemode", "zbd"), ("atomic", "1"), ("an_option_of_tomorrow", "7"),
        ("buffer_pattern", "0"), ("verify_pattern", "0"), ("ioscheduler", "none"),
        ("iodepth_batch", "8"), ("ioengine", "external:/x.so"),
        ("bs", "8k"), ("bs", "4kib"), ("rw", "randwrite"), ("buffer_compress_percentage", "50"),
    ],
)  # fmt: skip
def test_options_that_change_the_work_are_rejected(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(FileError, match=f"fio: job versus: {name}"):
        read_imported(edited(tmp_path, "o.json", options={name: value}))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"direct": "0", "buffered": "0"}, {"cache": "direct"}),
        ({"buffered": "1"}, {"cache": None}),
        ({"iodepth": "32"}, {"depth": 1}),
        ({"ioengine": "libaio", "iodepth": "32"}, {"depth": 32, "library": "libaio"}),
        ({"bs": "4k,64k,8k"}, {"block": 4096}),
        ({"bs": "4ki"}, {"block": 4096}),
        ({"bs": "0x1000"}, {"block": 4096}),
        ({"numjobs": "0x1"}, {"threads": 1}),
        ({"iodepth": "0x4"}, {"depth": 1}),
        ({"ioengine": "libaio", "iodepth": "0x20"}, {"depth": 32}),
        ({"kb_base": "1000", "bs": "4kib"}, {"block": 4096}),
        ({"fsync": "1"}, {"sync": None}),
        ({"thinktime": "0", "verify": "0", "percentage_random": "100"}, {"op": "read"}),
    ],
)
def test_options_of_fio_become_parameters(tmp_path: Path, options: dict[str, str], expected: dict[str, Value]) -> None:
    levels = {"32": 100.0} if "libaio" in options.values() else {"1": 100.0}
    made = read_imported(edited(tmp_path, "o.json", options=options, iodepth_level=levels))
    params = made.results[0].summary.params
    assert {name: params.get(name) for name in expected} == expected


def written(tmp_path: Path, options: dict[str, str]) -> Report:
    """Return what is read from the recorded output of a reading job as that of a writing one."""
    job = json.loads((GOLDEN / "fio-3.33.json").read_text())["jobs"][0]
    return read_imported(
        edited(tmp_path, "w.json", options={"rw": "randwrite", **options}, read=job["write"], write=job["read"])
    )


@pytest.mark.parametrize(
    ("options", "sync", "has_latency"),
    [
        ({}, "none", True),
        ({"fsync": "0", "sync": "none"}, "none", True),
        ({"fsync": "1"}, "each", False),
        ({"fdatasync": "1"}, "each", False),
        ({"sync": "1"}, "each", True),
        ({"sync": "dsync"}, "each", True),
        ({"end_fsync": "1"}, "end", False),
    ],
)
def test_when_writes_become_durable(tmp_path: Path, options: dict[str, str], sync: str, has_latency: bool) -> None:
    """fio's latency of a write does not include an fsync that follows it; nameplate's does."""
    made = written(tmp_path, options)
    assert {result.summary.params["sync"] for result in made.results} == {sync}
    assert ("latency" in {result.summary.metric for result in made.results}) == has_latency
    with pytest.raises(FileError, match="disk_block cannot do fsync=32"):
        written(tmp_path, {"fsync": "32"})


def test_a_rate_that_was_asked_for_is_marked(tmp_path: Path) -> None:
    made = read_imported(edited(tmp_path, "r.json", options={"rate_iops": "100"}))
    assert {result.restriction for result in made.results} == {"rate_iops=100 limited it"}
    assert [result.summary.metric for result in made.results] == ["bandwidth", "iops"]
    assert "rate_iops=100 limited it: the value does not show what the machine can do" in made.notes


def test_mixed_jobs_of_fio() -> None:
    mixed = values_of(read_imported(GOLDEN / "fio-3.41-unified.json"))
    assert mixed["iops", "block=4096 depth=1 library=pread op=readwrite:50 pattern=random sync=none threads=1"] == (
        pytest.approx(11789.210789)
    )
    without = values_of(read_imported(GOLDEN / "fio-3.41-gtod-reduce.json"))
    job = json.loads((GOLDEN / "fio-3.41-gtod-reduce.json").read_text())["jobs"][0]
    message = "block=4096 cache=direct depth=64 library=libaio op=readwrite:75 pattern=random sync=none threads=1"
    assert without == {
        ("bandwidth", message): job["read"]["bw_bytes"] + job["write"]["bw_bytes"],
        ("iops", message): pytest.approx(job["read"]["iops"] + job["write"]["iops"]),
    }
    trimmed = read_imported(GOLDEN / "fio-3.41-trim.json")
    assert len(trimmed.results) == 6
    assert trimmed.notes[1:] == ["not read: fio-3.41-trim.json: job t: rw=trim: nameplate has no such operation"]


def test_a_mix_that_the_operations_contradict_is_rejected(tmp_path: Path) -> None:
    path = GOLDEN / "fio-3.41-gtod-reduce.json"
    text = path.read_text().replace('"rwmixread" : "75"', '"rwmixread" : "30"')
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(FileError, match="rw=randrw with 30 % of reads, but of 61182 operations 45892 were reads"):
        read_imported(tmp_path / "m.json")
    (tmp_path / "m.json").write_text(text.replace('"rwmixread" : "30"', '"rwmixwrite" : "25"'))
    assert {result.summary.params["op"] for result in read_imported(tmp_path / "m.json").results} == {"readwrite:75"}


def test_several_objects_of_fio_are_one_run_or_rejected(tmp_path: Path) -> None:
    """--status-interval prints an object now and then, of which the last is read; two runs are not one round."""
    made = read_imported(GOLDEN / "fio-3.41-status-interval.json")
    last = (GOLDEN / "fio-3.41-status-interval.json").read_text().rpartition('"io_bytes" : 2885746688')
    assert last[1]
    assert made.results[0].summary.value == float(re.findall(r'"bw_bytes" : (\d+)', last[2])[0])
    one = (GOLDEN / "fio-3.33.json").read_text()
    other = one.replace('"timestamp_ms" : 1795375332013', '"timestamp_ms" : 1795375392013')
    assert one != other
    (tmp_path / "two.json").write_text(one + other)
    with pytest.raises(FileError, match="the file has outputs of several runs: put each into a separate file"):
        read_imported(tmp_path / "two.json")


def test_other_text_around_the_object_is_ignored(tmp_path: Path) -> None:
    expected = values_of(read_imported(GOLDEN / "fio-3.33.json"))
    text = (GOLDEN / "fio-3.33.json").read_text()
    for before, after in (
        ("", "fio: terminating on signal 2\n"),
        ("note: {unset}\n{\n", ""),
        ("", "\nversus: (groupid=0, jobs=1): err= 0\n"),
    ):
        (tmp_path / "t.json").write_text(before + text + after)
        assert values_of(read_imported(tmp_path / "t.json")) == expected
    (tmp_path / "t.json").write_text("versus: (groupid=0, jobs=1): err= 0: pid=7\n")
    with pytest.raises(FileError, match="this is fio's normal output; run fio with --output-format=json"):
        read_imported(tmp_path / "t.json")


def test_a_job_that_cannot_be_decoded_ran_beside_others(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="jobs versus, number 2: they ran at the same time"):
        of_jobs(tmp_path, {}, {"jobname": "b", "read": {"bw_bytes": "fast"}})


def test_several_files_of_a_fio_job_are_other_work(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="filename=/dev/sda:/dev/sdb: it used several files, folders or devices"):
        read_imported(edited(tmp_path, "o.json", options={"filename": "/dev/sda:/dev/sdb"}))
    with pytest.raises(FileError, match="directory=/mnt/a:/mnt/b: it used several files, folders or devices"):
        read_imported(edited(tmp_path, "o.json", options={"directory": "/mnt/a:/mnt/b"}))
    assert read_imported(edited(tmp_path, "o.json", options={"filename": r"C\:\data"})).results


def test_escaped_control_characters_do_not_reach_a_report(tmp_path: Path) -> None:
    text = (GOLDEN / "fio-3.33.json").read_text().replace('"jobname" : "versus"', r'"jobname" : "v\u001b[31m"')
    (tmp_path / "e.json").write_text(text.replace('"error" : 0', '"error" : 5') + "\nfio: end\n")
    with pytest.raises(FileError) as caught:
        read_imported(tmp_path / "e.json")
    assert "\x1b" not in str(caught.value)


def test_a_job_that_cannot_be_decoded_does_not_discard_others(tmp_path: Path) -> None:
    broken = {"jobname": "b", "groupid": 1, "read": {"bw_bytes": "fast"}}
    made = of_jobs(tmp_path, {}, broken)
    assert len(made.results) == 3
    assert made.notes[1:] == ["not read: jobs.json: job number 2: its JSON has an unexpected value of read.bw_bytes"]


def test_a_file_that_cannot_be_read_does_not_discard_the_others_of_its_folder(tmp_path: Path) -> None:
    for number in range(6):
        edited(tmp_path, f"{number}.json", eta=number)
    edited(tmp_path, "6.json", error=5)
    (tmp_path / "job.fio").write_text("[job]\nrw=read\n")
    made = read_imported(tmp_path)
    assert {result.summary.rounds for result in made.results} == {6}
    assert len(made.imported) == 6
    assert any("6.json: fio: job versus: failed with error 5" in note for note in made.notes)
    assert any("job.fio is neither a run file nor an output of" in note for note in made.notes)


def test_outputs_of_two_tools_in_one_file_are_rejected(tmp_path: Path) -> None:
    texts = [(GOLDEN / name).read_text() for name in ("osu_latency-7.5.txt", "imb-pingpong-2021.11.txt")]
    (tmp_path / "log.txt").write_text("".join(texts))
    with pytest.raises(FileError, match="contains outputs of imb and osu: put each into a separate file"):
        read_imported(tmp_path / "log.txt")


def test_iperf3() -> None:
    assert values_of(read_imported(GOLDEN / "iperf3-tcp-3.12.json")) == {
        ("bandwidth", "block=131072 connections=1 direction=up protocol=tcp"): pytest.approx(
            json.loads((GOLDEN / "iperf3-tcp-3.12.json").read_text())["end"]["sum_received"]["bits_per_second"] / 8
        )
    }
    end = json.loads((GOLDEN / "iperf3-udp-3.12.json").read_text())["end"]["sum_received"]
    ((name, value),) = values_of(read_imported(GOLDEN / "iperf3-udp-3.12.json")).items()
    assert name == ("bandwidth", "block=1024 connections=1 direction=up mode=plain protocol=udp receive=plain")
    assert value == pytest.approx(end["bits_per_second"] / 8)


@pytest.mark.parametrize(
    ("name", "direction", "protocol"),
    [
        ("iperf3-udp-3.22.json", "up", "udp"),
        ("iperf3-udp-reverse-3.12.json", "down", "udp"),
        ("iperf3-stream-3.22.json", "up", "tcp"),
    ],
)
def test_iperf3_reads_what_the_receiver_counted(name: str, direction: str, protocol: str) -> None:
    text = (GOLDEN / name).read_text()
    bits = re.search(r'"sum_received":\s*\{[^}]*"bits_per_second":\s*([\d.]+)', text)
    assert bits
    ((key, value),) = values_of(read_imported(GOLDEN / name)).items()
    assert f"direction={direction}" in key[1]
    assert f"protocol={protocol}" in key[1]
    assert value == pytest.approx(float(bits[1]) / 8)


def test_iperf3_without_the_received_sum_leaves_out_lost_datagrams(tmp_path: Path) -> None:
    document = json.loads((GOLDEN / "iperf3-udp-3.12.json").read_text())
    del document["end"]["sum_received"]
    for lost, share in ((25, 0.75), (-3, 1.0)):
        document["end"]["sum"] |= {"bits_per_second": 8e9, "lost_packets": lost, "packets": 100}
        (tmp_path / "u.json").write_text(json.dumps(document))
        assert next(iter(values_of(read_imported(tmp_path / "u.json")).values())) == pytest.approx(1e9 * share)


@pytest.mark.parametrize(
    ("version", "directory", "rate", "restriction"),
    [
        ("3.22", "test", 100_000_000, ""), ("3.9", "start", 100_000_000, ""), ("3.9", "", None, ""),
        ("3.1.3", "", None, "--bitrate (by default 1 Mbit/s), which this version does not print, may have limited it"),
    ],
)  # fmt: skip
def test_each_version_of_iperf3_prints_the_rate_of_udp_elsewhere(
    tmp_path: Path, version: str, directory: str, rate: int | None, restriction: str
) -> None:
    text = (GOLDEN / "iperf3-udp-3.12.json").read_text().replace("iperf 3.12", f"iperf {version}")
    document = json.loads(text)
    start = document["start"]
    for settings in (start, start["test_start"]):
        settings.pop("target_bitrate", None)
    if directory:
        (start if directory == "start" else start["test_start"])["target_bitrate"] = rate
    (tmp_path / "u.json").write_text(json.dumps(document))
    (made,) = read_imported(tmp_path / "u.json").results
    assert made.summary.params.get("rate") == rate
    assert made.restriction == restriction


def test_iperf3_with_a_file_measures_a_disk_as_well(tmp_path: Path) -> None:
    document = json.loads((GOLDEN / "iperf3-tcp-3.12.json").read_text())
    document["end"]["streams"][0]["diskfile"] = {"sent": 1, "size": 2, "percent": 50, "filename": "/data"}
    (tmp_path / "f.json").write_text(json.dumps(document))
    with pytest.raises(FileError, match="--file: a disk was read or written as well"):
        read_imported(tmp_path / "f.json")


def test_iperf3_that_was_limited_to_a_rate_is_marked(tmp_path: Path) -> None:
    document = json.loads((GOLDEN / "iperf3-tcp-3.12.json").read_text())
    document["start"]["test_start"]["target_bitrate"] = 5_000_000_000
    (tmp_path / "t.json").write_text(json.dumps(document))
    made = read_imported(tmp_path / "t.json")
    assert [r.restriction for r in made.results] == ["--bitrate or --fq-rate limited it"]
    assert any("limited it" in note for note in made.notes)
    document = json.loads((GOLDEN / "iperf3-udp-3.12.json").read_text())
    document["start"]["test_start"]["target_bitrate"] = 5_000_000_000
    (tmp_path / "u.json").write_text(json.dumps(document))
    assert " rate=5000000000 " in next(iter(values_of(read_imported(tmp_path / "u.json"))))[1]


def test_stream() -> None:
    actual = values_of(read_imported(GOLDEN / "stream-5.10.txt"))
    assert actual["bandwidth", "op=triad precision=fp64 size=80000000 threads=8"] == pytest.approx(24e7 / 0.039404)
    assert len(actual) == 4


def test_stream_in_fortran() -> None:
    actual = values_of(read_imported(GOLDEN / "stream-5.6.txt"))
    assert actual["bandwidth", "op=triad precision=fp64 size=160000000 threads=1"] == pytest.approx(48e7 / 0.031371)
    assert len(actual) == 4


def test_the_threads_of_stream_in_fortran(tmp_path: Path) -> None:
    line = " Printing one line per active thread....\n"
    text = (GOLDEN / "stream-5.6.txt").read_text().replace(line, f" Number of Threads =            4\n{line * 4}")
    _, made = notes_of(tmp_path, text)
    assert {result.summary.params["threads"] for result in made.results} == {4}


def test_stream_does_not_tell_integers_from_floats() -> None:
    """The output of -DSTREAM_TYPE=int differs in nothing from that of float."""
    made = read_imported(GOLDEN / "stream-5.10-int.txt")
    assert {("precision" in result.summary.params) for result in made.results} == {False}
    assert [result.possible for result in made.results] == [{"precision": ["fp32"]}] * 4


def test_stream_5_9_and_other_encodings(tmp_path: Path) -> None:
    text = (
        (GOLDEN / "stream-5.10.txt").read_text().replace("5.10", "5.9")
        .replace("bytes per array element.", "bytes per DOUBLE PRECISION word.")
        .replace(" (elements)", "").replace("Number of Threads counted = 8\n", "")
    )  # fmt: skip
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        (tmp_path / "s.txt").write_text(text, encoding=encoding)
        made = read_imported(tmp_path / "s.txt")
        assert values_of(made)["bandwidth", "op=triad precision=fp64 size=80000000 threads=8"] == pytest.approx(
            24e7 / 0.039404
        )
        assert made.imported[0].version == "5.9"
    (tmp_path / "s.txt").write_text(text * 2)
    with pytest.raises(FileError, match="more than once: one output is one round, so put each run into a separate"):
        read_imported(tmp_path / "s.txt")
    (tmp_path / "s.txt").write_text(text.replace("Array size = 10000000", "Array size = 20000000"))
    with pytest.raises(FileError, match="its best rate does not follow from the array size and the minimum time"):
        read_imported(tmp_path / "s.txt")


def test_a_loop_over_the_threads_of_stream(tmp_path: Path) -> None:
    text = (GOLDEN / "stream-5.10.txt").read_text()
    one, two = (re.sub(r"(Number of Threads.*=\s+)\d+", rf"\g<1>{threads}", text) for threads in (1, 2))
    notes, made = notes_of(tmp_path, f"threads 1\n{one}\nthreads 2\n{two}\n4096\n")
    assert [(r.summary.params["op"], r.summary.params["threads"]) for r in made.results] == [
        (op, threads) for threads in (1, 2) for op in ("copy", "scale", "add", "triad")
    ]
    assert notes == []
    notes, rest = notes_of(tmp_path, f"{one}\n{two.replace('Triad:', 'Quartet:')}")
    assert {result.summary.params["threads"] for result in rest.results} == {1}
    assert notes == [
        "not read: o.txt: run 2: the output has no line 'Triad:' with four numbers, but must have exactly one"
    ]


def test_osu() -> None:
    actual = values_of(read_imported(GOLDEN / "osu_latency-7.5.txt"))
    assert actual["latency", "data=unchanged pairs=1 size=8"] == pytest.approx(3.34e-6)
    several = values_of(read_imported(GOLDEN / "osu_multi_lat-5.6.3.txt"))
    assert several["latency", "data=unchanged size=8"] == pytest.approx(0.23e-6)


def test_imb() -> None:
    actual = values_of(read_imported(GOLDEN / "imb-pingpong-2021.11.txt"))
    assert actual["latency", "data=unchanged pairs=1 size=1048576"] == pytest.approx(120.29e-6)
    assert len(actual) == 21  # without the empty message


LATENCY = "\n# OSU MPI Latency Test v7.4\n# Datatype: {}.\n# Size       Avg Latency(us)\n"


def osu_row(size: int, cell: object) -> str:
    return f"{size:<10}{cell:>18}\n"


def notes_of(path: Path, text: str) -> tuple[list[str], Report]:
    (path / "o.txt").write_text(text)
    made = read_imported(path / "o.txt")
    return made.notes[1:], made


def test_osu_in_the_log_of_a_job(tmp_path: Path) -> None:
    """Numbers of the log, other tests and other datatypes are not rows; a warning may stand between rows."""
    log = (
        "2 nodes, start 14\n2026 11 29 job begins\n" + LATENCY.format("MPI_CHAR") + osu_row(1, "1.70")
        + "[node1:77] warning: no high-speed network\n" + osu_row(8, "1.72") + "3 12.5 seconds elapsed\n16 2\n"
        + LATENCY.format("MPI_INT") + osu_row(8, "9.99")
        + "\n# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n" + osu_row(8, "38.90")
    )  # fmt: skip
    for prefix in ("", "[1,0]<stdout>:", "0: "):
        notes, made = notes_of(tmp_path, "".join(f"{prefix}{line}\n" for line in log.splitlines()))
        assert values_of(made) == {
            ("latency", "data=unchanged pairs=1 size=1"): pytest.approx(1.70e-6),
            ("latency", "data=unchanged pairs=1 size=8"): pytest.approx(1.72e-6),
        }
        assert any("messages of MPI_INT; only those of MPI_CHAR are read" in note for note in notes)
        assert any("OSU MPI Bandwidth Test v7.4" in note for note in notes)


@pytest.mark.parametrize("cell", ["nan", "-1.00", "inf", "0.00"])
def test_an_impossible_row_is_named(tmp_path: Path, cell: str) -> None:
    notes, made = notes_of(tmp_path, LATENCY.format("MPI_CHAR") + osu_row(1, "1.70") + osu_row(8, cell))
    assert len(made.results) == 1
    assert notes == [f"not read: o.txt: line 6: {cell}: not a valid value"]


def test_a_row_that_failed_its_validation_is_named(tmp_path: Path) -> None:
    heading = LATENCY.format("MPI_CHAR").replace("us)\n", "us)        Validation\n")
    rows = "1                       3.00              Pass\n4                       2.98              Fail\n"
    notes, made = notes_of(tmp_path, heading + rows)
    assert [r.summary.params["size"] for r in made.results] == [1]
    assert notes == ["not read: o.txt: line 6: the messages of 4 B failed their validation"]


def test_a_result_that_occurs_twice_is_not_read(tmp_path: Path) -> None:
    run = LATENCY.format("MPI_CHAR") + osu_row(8, "1.72")
    with pytest.raises(FileError, match=r"osu: the output has latency with size=8 .* more than once"):
        notes_of(tmp_path, run + run)
    notes, made = notes_of(tmp_path, run + osu_row(16, "1.80") + run)
    assert [r.summary.params["size"] for r in made.results] == [16]
    assert any("more than once" in note for note in notes)


def test_buffers_on_a_gpu_are_other_work(tmp_path: Path) -> None:
    text = LATENCY.format("MPI_CHAR").replace("OSU MPI ", "OSU MPI-CUDA ") + osu_row(8, "1.72")
    with pytest.raises(FileError, match="does not name the memory of its buffers, which may be that of a GPU"):
        notes_of(tmp_path, text)
    for send, receive in (("DEVICE (D)", "DEVICE (D)"), ("HOST (H)", "MANAGED (MH)")):
        buffers = f"# Send Buffer on {send} and Receive Buffer on {receive}\n# Data"
        with pytest.raises(FileError, match=r"OSU MPI-CUDA Latency Test v7\.4 \(line 2\): .* memory of a GPU"):
            notes_of(tmp_path, text.replace("# Data", buffers))


def test_buffers_on_the_host_of_a_gpu_are_read(tmp_path: Path) -> None:
    text = LATENCY.format("MPI_CHAR").replace("OSU MPI ", "OSU MPI-CUDA ") + osu_row(8, "1.72")
    buffers = "# Send Buffer on HOST (H) and Receive Buffer on HOST (H)\n# Data"
    _, made = notes_of(tmp_path, text.replace("# Data", buffers))
    assert values_of(made) == {("latency", "data=unchanged pairs=1 size=8"): pytest.approx(1.72e-6)}


@pytest.mark.parametrize(
    "version", ["(R) MPI Benchmarks 4.0 Update 1", "(R) MPI Benchmarks 2018", "(R) MPI Benchmarks 2019 Update 6"]
)
def test_imb_of_other_versions_and_with_other_benchmarks(tmp_path: Path, version: str) -> None:
    text = (GOLDEN / "imb-pingpong-2021.11.txt").read_text().replace("(R) MPI Benchmarks 2021.11", version)
    text = text.replace("Intel(R)", "Intel (R)") if "4.0" in version else text
    other = (
        text[text.index("#-----", text.index("List of")) :].replace("PingPong", "PingPing").replace("120.29", "999.99")
    )
    notes, made = notes_of(tmp_path, text + other)
    assert values_of(made)["latency", "data=unchanged pairs=1 size=1048576"] == pytest.approx(120.29e-6)
    assert made.imported[0].version == version.removeprefix("(R) MPI Benchmarks ")
    assert notes == ["not read: o.txt: PingPing: only PingPong measures the same as mpi_pingpong"]


def test_a_size_that_imb_gave_up_is_named(tmp_path: Path) -> None:
    text = (GOLDEN / "imb-pingpong-2021.11.txt").read_text()
    row = next(line for line in text.splitlines() if line.split()[:1] == ["1048576"])
    notes, made = notes_of(tmp_path, text.replace(row, f"{row}\n     16777216 out-of-mem.; needed X=   1.250 GB"))
    assert len(made.results) == 21
    assert notes[0].endswith(": 16777216 B: out-of-mem")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "# MPI_Datatype                   :   MPI_BYTE",
            "# MPI_Datatype                   :   MPI_FLOAT",
            "it sends MPI_FLOAT",
        ),
        ("# IMB-MPI1 ", "# ./imb.x \n# -off_cache 32,64 ", "-off_cache sends data that is not in the cache"),
        ("# IMB-MPI1 ", "# IMB-MPI1 -contig_type resize_vec ", "-contig_type sends data that is not contiguous"),
        ("# IMB-MPI1 ", "# IMB-MPI1 -load a.yaml ", "-load takes options from a file that the output does not show"),
        ("# Calling sequence was:", "#", "no line 'Calling sequence was:', which has the options"),
        ("MPI-1 part", "MPI-1 part (GPU)", "sends from the memory of a GPU"),
    ],
)
def test_imb_with_other_messages_is_rejected(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (GOLDEN / "imb-pingpong-2021.11.txt").read_text()
    assert re.search(re.escape(old), text)
    with pytest.raises(FileError, match=re.escape(message)):
        notes_of(tmp_path, text.replace(old, new))


def test_options_of_imb_are_read_with_sizes_of_the_user_as_well(tmp_path: Path) -> None:
    """IMB prints another line below the command if -msglen or -msgsize give the sizes."""
    path = GOLDEN / "imb-pingpong-2021.11-off-cache.txt"
    assert "# Message lengths were user defined" in path.read_text()
    with pytest.raises(FileError, match="-off_cache sends data that is not in the cache"):
        read_imported(path)
    _, made = notes_of(tmp_path, path.read_text().replace("-off_cache 32,64", ""))
    assert len(made.results) == 3


def test_a_run_of_imb_with_changed_work_does_not_discard_another(tmp_path: Path) -> None:
    other = (GOLDEN / "imb-pingpong-2021.11-off-cache.txt").read_text().replace("65536 ", "99999 ")
    notes, made = notes_of(tmp_path, other + (GOLDEN / "imb-pingpong-2021.11.txt").read_text())
    assert len(made.results) == 21
    assert notes[0].startswith("not read: o.txt: line 2: -off_cache sends data")
    p2p = other.replace("MPI-1 part", "IMB-P2P part").replace("-off_cache", "")
    notes, made = notes_of(tmp_path, (GOLDEN / "imb-pingpong-2021.11.txt").read_text() + p2p)
    assert len(made.results) == 21
    assert "only IMB-MPI1 measures the same as mpi_pingpong" in notes[0]


def test_a_long_log_of_imb_is_read_in_linear_time(tmp_path: Path) -> None:
    run = (GOLDEN / "imb-pingpong-2021.11-off-cache.txt").read_text().replace("-off_cache 32,64", "")
    began = time.process_time()
    with pytest.raises(FileError, match="more than once"):
        notes_of(tmp_path, run * 2000)
    assert time.process_time() - began < 5


def test_derived_datatypes_of_osu_are_not_read() -> None:
    with pytest.raises(FileError, match=r"line 4: messages of a derived datatype \(column 'Transmit Size'\)"):
        read_imported(GOLDEN / "osu_latency-7.4-derived.txt")


@pytest.mark.parametrize(
    ("columns", "is_read"),
    [("        Validation", True), ("   P5 Tail Lat(us)  P99 Tail Lat(us)", True), ("     Bandwidth (MB/s)", False)],
)
def test_further_columns_of_osu_must_be_known(tmp_path: Path, columns: str, is_read: bool) -> None:
    text = LATENCY.format("MPI_CHAR").replace("(us)\n", f"(us){columns}\n")
    text += osu_row(8, "1.70" + "     2.00" * len(columns.strip().split("  ")))
    if is_read:
        assert len(notes_of(tmp_path, text)[1].results) == 1
    else:
        with pytest.raises(FileError, match=r"line 4: unexpected columns: 'Bandwidth \(MB/s\)'"):
            notes_of(tmp_path, text)


@pytest.mark.parametrize(
    "heading",
    [
        "# OMB Python MPI Latency Test\n# Size (B)      Latency (us)\n",
        "# OSU Latency Test\n# Size [B]\t\tLatency [us]\n",
        "# OMB-Py MPI Latency Test v1.0\n# Size       Latency (us)\n", "# MPI Latency Test\n# Size [B]  Latency [us]\n",
        "# Size       Latency (ns)\n",
    ],
)  # fmt: skip
def test_a_table_of_another_library_does_not_discard_a_good_one(tmp_path: Path, heading: str) -> None:
    text = LATENCY.format("MPI_CHAR") + osu_row(1, "1.70") + osu_row(8, "1.72")
    notes, made = notes_of(tmp_path, text + heading + osu_row(1, "2.50") + osu_row(8, "2.50") + osu_row(16, "2.5"))
    assert {name: value for (_, name), value in values_of(made).items()} == {
        "data=unchanged pairs=1 size=1": pytest.approx(1.70e-6),
        "data=unchanged pairs=1 size=8": pytest.approx(1.72e-6),
    }
    assert len(notes) == 1


def test_many_tables_of_a_test_are_read_in_linear_time(tmp_path: Path) -> None:
    began = time.process_time()
    with pytest.raises(FileError, match="more than once"):
        notes_of(tmp_path, LATENCY.format("MPI_CHAR") + ("# Size       Latency (us)\n" + osu_row(8, "1.72")) * 20_000)
    assert time.process_time() - began < 5


def test_rows_with_other_output_in_them_are_named(tmp_path: Path) -> None:
    rows = osu_row(1, "1.70") + "8                       1.26srun: warning\n" + osu_row(16, "1.80")
    notes, made = notes_of(tmp_path, LATENCY.format("MPI_CHAR") + rows)
    assert [r.summary.params["size"] for r in made.results] == [1, 16]
    assert notes == ["not read: o.txt: line 6 looks like a row, but does not fit into the table"]


@pytest.mark.parametrize(
    "row", ["1                       0.50[1701234567.123456] [node01:1234 :0] ucp_worker.c UCX", "1  ", "1", "1     -"]
)
def test_damaged_rows_are_named_wherever_they_are(tmp_path: Path, row: str) -> None:
    rows = "".join(osu_row(size, f"{size / 10:.2f}") for size in (2, 4, 8, 16))
    notes, made = notes_of(tmp_path, f"{LATENCY.format('MPI_CHAR')}{row}\n{rows}")
    assert [r.summary.params["size"] for r in made.results] == [2, 4, 8, 16]
    assert notes == ["not read: o.txt: line 5 looks like a row, but does not fit into the table"]
    notes, made = notes_of(tmp_path, f"{LATENCY.format('MPI_CHAR')}{rows}{row.replace('1', '64', 1)}")
    assert len(made.results) == 4
    assert notes == ["not read: o.txt: line 9 looks like a row, but does not fit into the table"]


def test_numbers_below_a_table_are_no_rows_of_it(tmp_path: Path) -> None:
    """The output of a job after its benchmark, such as nproc and date, causes no note; a cut row does."""
    notes, made = notes_of(tmp_path, LATENCY.format("MPI_CHAR") + osu_row(8, "1.72") + "done\n4096\n1764482400\n")
    assert ([result.summary.params["size"] for result in made.results], notes) == ([8], [])
    notes, _ = notes_of(tmp_path, LATENCY.format("MPI_CHAR") + osu_row(8, "1.72") + "16  \n")
    assert notes == ["not read: o.txt: line 6 looks like a row, but does not fit into the table"]


def test_a_type_of_data_that_is_named_far_above_the_table(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="messages of MPI_INT"):
        notes_of(tmp_path, LATENCY.format("MPI_INT").replace("# Size", "\n# Size") + osu_row(8, "1.72"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("uses 8 bytes", "uses 16 bytes", "its elements have 16 bytes"),
        ("0.019513     0.019418     0.019651", "0.000005     0.000005     0.000006", "the times have too few digits"),
    ],
)
def test_stream_that_cannot_be_compared_is_rejected(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "s.txt").write_text((GOLDEN / "stream-5.10.txt").read_text().replace(old, new))
    with pytest.raises(FileError, match=message):
        read_imported(tmp_path / "s.txt")


def test_imb_that_checks_the_data_is_never_judged(tmp_path: Path) -> None:
    """The check is inside the loop whose time is measured: 574 µs for 64 KiB that take 7 µs without it."""
    path = GOLDEN / "imb-pingpong-2021.11-check.txt"
    made = read_imported(path)
    assert {result.restriction for result in made.results} == {"the check of the data (-DCHECK) is in the time"}
    assert any("(-DCHECK) is in the time: the value does not show what" in note for note in made.notes)
    text = re.sub(r"^( +8 .*)0\.00$", r"\g<1>1.00", path.read_text(), flags=re.MULTILINE)
    notes, rest = notes_of(tmp_path, text)
    sizes = [{result.summary.params["size"] for result in report.results} for report in (made, rest)]
    assert sizes[0] - sizes[1] == {8}
    assert any("the messages of 8 B have defects" in note for note in notes)
    for row in compare_runs(made, made).rows:
        assert row.verdict == "UNSURE"
        assert "the check of the data (-DCHECK) is in the time in the base" in row.reason


def test_a_folder_is_read_as_repeats(tmp_path: Path) -> None:
    text = (GOLDEN / "osu_latency-7.5.txt").read_text()
    for number in range(6):
        (tmp_path / f"{number}.txt").write_text(f"{text}job {number}\n")
    made = read_imported(tmp_path)
    assert {(r.summary.rounds, len(r.round_values), r.summary.ci is not None) for r in made.results} == {(6, 6, True)}


def test_a_copy_of_an_output_with_the_time_of_its_run_is_no_further_round(tmp_path: Path) -> None:
    text = (GOLDEN / "imb-pingpong-2021.11.txt").read_text()
    (tmp_path / "0.txt").write_text(text)
    (tmp_path / "crlf.txt").write_bytes(text.replace("\n", "\r\n").encode())
    (tmp_path / "utf16.txt").write_text(text, encoding="utf-16")
    (tmp_path / "spaces.txt").write_text(text.replace("\n", "  \n") + "\n")
    made = read_imported(tmp_path)
    assert {result.summary.rounds for result in made.results} == {1}
    assert any("crlf.txt is the same output as 0.txt, not a further round" in note for note in made.notes)


def test_equal_outputs_without_a_time_are_rounds(tmp_path: Path) -> None:
    """OSU prints two decimals and no time of its own: nine equal rounds outweigh another one."""
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text(LATENCY.format("MPI_CHAR") + osu_row(8, "0.14"))
    (tmp_path / "9.txt").write_text(LATENCY.format("MPI_CHAR") + osu_row(8, "0.29"))
    made = read_imported(tmp_path)
    (result,) = made.results
    assert result.summary.value == pytest.approx(0.14e-6)
    assert result.summary.rounds == 10
    assert any(
        note
        == "1.txt is equal to 0.txt, 2.txt is equal to 0.txt, 3.txt is equal to 0.txt, and 5 more: if a file is only "
        "a copy of another, remove the copy"
        for note in made.notes
    )
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
    actual = compare_runs(read_imported(GOLDEN / "iperf3-tcp-3.12.json"), of(ours, other))
    (row,) = actual.rows
    assert (row.params, row.verdict) == (dict(sorted(params.items())), "UNSURE")
    assert row.reason == "too few rounds (1): a verdict needs 5"
    assert len(actual.only_in_new) == 1
    ambiguous = with_summary(result({**params, "mode": "zerocopy"}, 4e8, probe="net_stream"), metric="bandwidth")
    assert compare_runs(read_imported(GOLDEN / "iperf3-tcp-3.12.json"), of(ours, ambiguous)).rows == []


def fio_rounds(path: Path, **options: str) -> Report:
    """Return six rounds of the recorded fio job with changed options."""
    path.mkdir()
    for number in range(6):
        edited(path, f"{number}.json", options=options, eta=number)
    return read_imported(path)


def disk_run(**params: Value) -> Report:
    """Return a run of the work of the recorded fio job by nameplate, with other parameters."""
    ours: dict[str, Value] = {
        "op": "read", "pattern": "random", "block": 4096, "threads": 1, "library": "pread", "depth": 1,
        "cache": "direct", "sync": "none", "file": "/data", **params,
    }  # fmt: skip
    made = with_summary(result(ours, 6e7, probe="disk_block"), metric="bandwidth", unit="B/s", rounds=6)
    return of(msgspec.structs.replace(made, source="device", labels={"device": "vda"}, round_values=[6e7] * 6))


def test_what_a_tool_did_not_record_is_unknown_and_not_different(tmp_path: Path) -> None:
    actual = compare_runs(disk_run(), fio_rounds(tmp_path / "fio"))
    (row,) = actual.rows
    assert row.verdict in ("SAME", "UNSURE")
    assert "served by" not in row.reason
    assert "vda" not in row.reason
    assert actual.settings == []
    assert actual.unchecked == ["file=", "sync=", "what served the bytes", "the machine and its settings"]


@pytest.mark.parametrize(
    ("options", "params", "is_compared"),
    [
        ({"direct": "0"}, {"cache": "direct"}, False),
        ({"direct": "0"}, {"cache": "warm"}, True),
        ({"direct": "0", "invalidate": "1"}, {"cache": "cold"}, True),
        ({"direct": "0", "invalidate": "1"}, {"cache": "as-is"}, True),
        ({"direct": "0", "invalidate": "0"}, {"cache": "cold"}, False),
        ({"direct": "0", "invalidate": "0"}, {"cache": "as-is"}, True),
        ({"direct": "0", "pre_read": "1"}, {"cache": "warm"}, True),
        ({"direct": "0", "pre_read": ""}, {"cache": "cold"}, False),
        ({"direct": "0", "pre_read": "1"}, {"cache": "as-is"}, False),
        ({}, {"cache": "warm"}, False),
        ({}, {"rate": 1000}, False),
        ({}, {"read_device": "/dev/vda"}, False),
        ({"filename": "/dev/vda"}, {}, False),
    ],
)
def test_what_an_output_excludes_is_not_compared(
    tmp_path: Path, options: dict[str, str], params: dict[str, Value], is_compared: bool
) -> None:
    actual = compare_runs(disk_run(**params), fio_rounds(tmp_path / "fio", **options))
    assert bool(actual.rows) == is_compared


def test_a_job_whose_number_of_processes_is_unknown_is_never_judged(tmp_path: Path) -> None:
    unknown = of_jobs(tmp_path, {"job_runtime": 0})
    for sides in ((disk_run(), unknown), (unknown, unknown)):
        rows = compare_runs(*sides).rows
        assert {(row.verdict, row.reason.partition("report ")[2]) for row in rows} == {
            ("INCOMPARABLE", "threads, without which the value is not defined")
        }


def test_the_number_of_pairs_of_osu_multi_lat_is_unknown() -> None:
    several = read_imported(GOLDEN / "osu_multi_lat-5.6.3.txt")
    rows = compare_runs(several, several).rows
    assert {(row.verdict, row.reason) for row in rows} == {
        ("INCOMPARABLE", "the base does not report pairs, without which the value is not defined")
    }


def test_a_rate_that_was_asked_for_decides_nothing(tmp_path: Path) -> None:
    (row,) = compare_runs(disk_run(), fio_rounds(tmp_path / "fio", rate="1m")).rows
    assert row.verdict == "UNSURE"
    assert row.reason.startswith("rate=1m limited it in the new run")


def test_each_importer_accepts_its_own_outputs_only() -> None:
    texts = {path.name: path.read_text() for path in GOLDEN.iterdir()}
    known = {name: [i.name for i in load_importers() if i.recognises(text)] for name, text in texts.items()}
    assert all(len(importers) <= 1 for importers in known.values())
    assert {importers[0] for importers in known.values() if importers} == {"fio", "imb", "iperf3", "osu", "stream"}


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("stream-5.10.txt", "Solution Validates", "Failed", "did not print 'Solution Validates'"),
        ("stream-5.10.txt", "Triad:", "Trio:", "no line 'Triad:' with four numbers"),
        ("stream-5.10.txt", "bytes per array element", "bytes", "no line 'This system uses … bytes'"),
        ("osu_latency-7.5.txt", "Latency(us)", "Latency(ns)", "unexpected columns"),
        ("osu_bw-7.5.txt", "", "", "v7.5 (line 3): only osu_latency and osu_multi_lat measure"),
        ("imb-pingpong-2021.11.txt", "t[usec]", "t[nsec]", "unexpected columns"),
        ("imb-pingpong-2021.11.txt", "# #processes = 2", "# #processes = 4", "not between two processes"),
        ("imb-pingpong-2021.11.txt", "ing PingPong", "ing PingPing", "PingPing: only PingPong measures the same as"),
        ("fio-3.33.json", '"disk_util"', '"disk_util', "the output is cut off"),
        ("fio-3.33.json", '"fio-3.33"', '"fio-2.16"', "output of fio-2.16 is not supported; use fio 3.0"),
        ("fio-3.33-terse.txt", "", "", "this is fio's terse output; run fio with --output-format=json"),
        ("fio-3.33-client.json", "", "", "output of fio --client, which adds up machines, is not read"),
        ("iperf3-bidir-3.9.json", "", "", "--bidir: the output has two bandwidths; measure each direction alone"),
        ("iperf3-bidir-3.12.json", "", "", "--bidir: the output has two bandwidths; measure each direction alone"),
        ("iperf3-interrupted-3.12.json", "", "", "iperf3 failed: interrupt - the client has terminated"),
        ("iperf3-stream-3.22.json", '"event":"end"', '"event":"ended"', "the test does not end: the output is cut off"),
        ("iperf3-tcp-3.12.json", '"TCP"', '"SCTP"', "protocol SCTP: nameplate measures TCP and UDP"),
        ("iperf3-tcp-3.12.json", '"sum_received"', '"sum_lost"', "no sum_received"),
        ("sockperf-3.7.txt", "", "",
         f"neither a run file nor an output of {', '.join(importer.name for importer in load_importers())}"),
    ],
)  # fmt: skip
def test_broken_outputs_are_rejected(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    (tmp_path / name).write_text((GOLDEN / name).read_text().replace(old, new))
    with pytest.raises(FileError, match=re.escape(message)) as caught:
        read_report(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_failed_or_empty_jobs_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="job versus: failed with error 5"):
        read_imported(edited(tmp_path, "e.json", error=5))
    nothing = {"iops": 0, "bw_bytes": 0, "total_ios": 0}
    with pytest.raises(FileError, match="job versus: transferred no bytes"):
        read_imported(edited(tmp_path, "n.json", read=nothing, write=nothing))
    with pytest.raises(FileError, match="rw=trim: nameplate has no such operation"):
        read_imported(edited(tmp_path, "t.json", options={"rw": "trim"}))
    with pytest.raises(FileError, match="bs=huge: not a size"):
        read_imported(edited(tmp_path, "b.json", options={"bs": "huge"}))


@pytest.mark.parametrize(("option", "message"), [
    ({"numjobs": "x"}, "numjobs is 'x', not a whole number"),
    ({"numjobs": "1" * 5000}, "not a whole number of at most 18 digits"),
    ({"iodepth": "-1"}, "iodepth is '-1', not a whole number"),
    ({"bs": "9" * 5000}, "not a whole number of at most 18 digits"),
    ({"bs": "9999999999g"}, "bs=9999999999g: not a size"),
])  # fmt: skip
def test_an_invalid_number_of_fio_is_rejected(tmp_path: Path, option: dict[str, str], message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read_imported(edited(tmp_path, "x.json", options=option))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("name", "old", "new", "message"), [
    ("stream-5.10.txt", "counted = ", f"counted = {'9' * 4301}", "the number of threads is '9999"),
    ("stream-5.10.txt", "Array size = ", f"Array size = {'9' * 400}", "no line 'Array size = …' in the expected form"),
    ("iperf3-tcp-3.12.json", '"num_streams":\t', '"num_streams":\t-', "value of start.test_start.num_streams"),
])  # fmt: skip
def test_an_invalid_number_of_a_tool_is_rejected(tmp_path: Path, name: str, old: str, new: str, message: str) -> None:
    text = (GOLDEN / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new))
    with pytest.raises(FileError, match=message) as caught:
        read_report(tmp_path / name)
    assert len(str(caught.value)) < 300


def test_a_path_that_is_not_a_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is empty"):
        read_imported(tmp_path)
    with pytest.raises(FileError, match="cannot read"):
        read_report(tmp_path / "none.txt")
