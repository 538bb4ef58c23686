"""Outputs of fio are read as the work that was done, or rejected: sections, groups, intervals and hidden jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nameplate.errors import FileError
from nameplate.records.result import Report
from nameplate.tools.fio_options import overwritten
from nameplate.tools.imported_run import read_imported

GOLDEN = Path(__file__).parents[2] / "golden" / "references"


def jobs_of(report: Report) -> list[dict[str, Any]]:
    """Return the parameters of each job that was read."""
    return [dict(result.summary.params) for result in report.results if result.summary.metric == "bandwidth"]


def edited(path: Path, name: str, **changes: Any) -> Path:
    """Write a recorded output whose first job is changed, with options added to its own, and return its path."""
    document = json.loads((GOLDEN / name).read_text())
    job = document["jobs"][0]
    job["job options"] = {**job["job options"], **changes.pop("options", {})}
    job.update(changes)
    (path / name).write_text(json.dumps(document))
    return path / name


def replaced(path: Path, name: str, *pairs: tuple[str, str]) -> Path:
    """Write a recorded output with other text in it, and return its path."""
    text = (GOLDEN / name).read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (path / name).write_text(text)
    return path / name


def test_options_that_several_global_sections_set_are_not_known(tmp_path: Path) -> None:
    """fio prints the options of all global sections in one object, which therefore has names twice."""
    message = r"job a: options set direct and iodepth several times, .* fio does not print which of them"
    with pytest.raises(FileError, match=message):
        read_imported(GOLDEN / "fio-3.33-globals-twice.json")
    options_of_job = ('"job options" : {\n      },', '"job options" : {"direct": "1", "iodepth": "1"},')
    made = read_imported(replaced(tmp_path, "fio-3.33-globals-twice.json", options_of_job))
    assert [(job["depth"], job["cache"]) for job in jobs_of(made)] == [(1, "direct")]
    opposites = ('"direct" : "0"', '"buffered" : "1"')
    with pytest.raises(FileError, match=message):
        read_imported(replaced(tmp_path, "fio-3.33-globals-twice.json", opposites))


def test_a_job_file_replaces_options_of_the_command_line() -> None:
    (job,) = jobs_of(read_imported(GOLDEN / "fio-3.33-command-line.json"))
    assert (job["library"], job["threads"], job["cache"]) == ("pread", 2, "direct")


def test_global_options_of_another_job_file_contradict_what_was_done() -> None:
    """Of several job files, fio prints the global options of the last one."""
    made = read_imported(GOLDEN / "fio-3.33-two-files.json")
    assert [job["block"] for job in jobs_of(made)] == [1 << 20]
    assert "job rand4k: numjobs=2, but its processes ran for only 1.000 s in 1.001 s" in made.notes[1]


@pytest.mark.parametrize(
    ("levels", "depth", "message"),
    [
        ({"1": 100.0}, "16", "its iodepth is 16, but 100% of its operations had no other in flight"),
        ({"1": 0.1, "8": 0.1, "16": 99.8}, "16", ""),
        ({"1": 0.1, "8": 0.1, "16": 99.8}, "31", ""),
        ({"1": 0.1, "8": 0.1, "16": 99.8}, "8", "its iodepth is 8, but for 100% of its operations more were"),
        ({"1": 6.25, "2": 12.5, "4": 25.0, "8": 50.0, "16": 6.25}, "16", ""),
        ({"1": 55.5, ">=64": 44.4}, "64", "its iodepth is 64, but 56% of its operations had no other in flight"),
        ({"1": 0.0, ">=64": 100.0}, "512", ""),
        ({"1": 50.0, "2": 50.0}, "2", ""),
        ({}, "64", ""),
    ],
)
def test_the_operations_in_flight_agree_with_the_depth(
    tmp_path: Path, levels: dict[str, float], depth: str, message: str
) -> None:
    options = {"ioengine": "libaio", "iodepth": depth}
    path = edited(tmp_path, "fio-3.33.json", options=options, iodepth_level=levels)
    if message:
        with pytest.raises(FileError, match=message):
            read_imported(path)
    else:
        assert jobs_of(read_imported(path))[0]["depth"] == int(depth)
    limited = edited(
        tmp_path, "fio-3.33.json", options={**options, "rate_iops": "100"}, iodepth_level={"1": 99.0, "2": 1.0}
    )
    assert jobs_of(read_imported(limited))[0]["depth"] == int(depth)


def test_times_tell_which_jobs_ran_at_the_same_time(tmp_path: Path) -> None:
    """Versions before 3.39 do not print new_group as a flag; without job_start, elapsed tells how long fio ran."""
    message = "jobs reader, writer: they ran at the same time"
    for name in ("fio-3.33-new-group.json", "fio-3.42-new-group.json"):
        with pytest.raises(FileError, match=message):
            read_imported(GOLDEN / name)
    hidden = ('"new_group" : "",', ""), ('"group_reporting" : "",', ""), ('"fio-3.42"', '"fio-3.36"')
    with pytest.raises(FileError, match=message):
        read_imported(replaced(tmp_path, "fio-3.42-new-group.json", *hidden))
    path = replaced(tmp_path, "fio-3.42-new-group.json", *hidden)
    document = json.loads(path.read_text())
    document["jobs"][1]["job_start"] += 2204
    path.write_text(json.dumps(document))
    assert [job["op"] for job in jobs_of(read_imported(path))] == ["read", "write"]
    longer = ('"elapsed" : 3', '"elapsed" : 5')
    assert len(jobs_of(read_imported(replaced(tmp_path, "fio-3.33-new-group.json", longer)))) == 2


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("fio-3.33-status-numjobs.json", [135940]),
        ("fio-3.33-status-stonewall.json", [72622, 42823]),
        ("fio-3.42-status-stonewall.json", [49331, 26132]),
        ("fio-3.33-status-ramp.json", [55326]),
        ("fio-3.42-status-ramp.json", [58432]),
    ],
)
def test_of_the_states_of_a_run_the_last_one_is_read(name: str, operations: list[int]) -> None:
    """Jobs may wait or have ended, several processes add up their times, and a ramp sets the counts back."""
    made = read_imported(GOLDEN / name)
    values = [result.summary.value for result in made.results if result.summary.metric == "iops"]
    last = (GOLDEN / name).read_text().rpartition('"fio version"')[2]
    assert [f'"total_ios" : {count},' in last for count in operations] == [True] * len(operations)
    assert [f'"iops" : {value:.6f}' in last for value in values] == [True] * len(operations)


def test_runs_that_were_appended_to_a_file_are_rejected(tmp_path: Path) -> None:
    message = "the file has outputs of several runs: put each into a separate file"
    with pytest.raises(FileError, match=message):
        read_imported(GOLDEN / "fio-3.33-appended.json")
    ramp = (GOLDEN / "fio-3.42-status-ramp.json").read_text()
    later = ramp.replace('"timestamp_ms" : 17960165', '"timestamp_ms" : 17960166')
    assert later != ramp
    (tmp_path / "ramps.json").write_text(ramp + later)
    with pytest.raises(FileError, match=message):
        read_imported(tmp_path / "ramps.json")


def test_a_group_of_several_jobs_is_rejected(tmp_path: Path) -> None:
    """group_reporting adds up jobs under the first one's name, with the last one's options, also if one is short."""
    with pytest.raises(FileError, match="job a: group_reporting merged it with other jobs: its name and its options"):
        read_imported(GOLDEN / "fio-3.33-grouped.json")
    added = (
        r"job a: group_reporting merged it with other jobs: its processes ran for 7\.000 s, more than 1 can in 6\.001 s"
    )
    with pytest.raises(FileError, match=added):
        read_imported(GOLDEN / "fio-3.33-grouped-file.json")
    untold = ('"job_runtime" : 7000', '"job_runtime" : 0')
    with pytest.raises(FileError, match="job a: its iodepth is 64, but 47% of its operations had no other"):
        read_imported(replaced(tmp_path, "fio-3.33-grouped-file.json", untold))


@pytest.mark.parametrize("options", [{"directory": "/mnt/b"}, {"filename": "/mnt/b/data"}, {"filename": "/dev/sdb"}])
def test_a_folder_of_jobs_in_other_folders_is_remarked(tmp_path: Path, options: dict[str, str]) -> None:
    """Outputs of jobs on different file systems or devices are no rounds of one run."""
    remark = "results are of outputs with different settings, folders, devices or hosts"
    for number, filename in enumerate(["/mnt/a/data1", "/mnt/a/data2", "/mnt/a/data3"]):
        options_of_number = {"filename": filename, **(options if number == 2 else {})}
        edited(tmp_path, "fio-3.33.json", options=options_of_number).rename(tmp_path / f"{number}.json")
        assert (remark in read_imported(tmp_path).notes) == (number == 2)


@pytest.mark.parametrize(
    ("options", "layouts"),
    [
        ({"filename": "/mnt/test/data"}, ["shared"]),
        ({}, ["file-per-thread"]),
        ({"directory": "/mnt/test"}, ["file-per-thread"]),
        ({"filename_format": "$jobname.$filenum"}, ["shared"]),
        ({"filename_format": "$jobname.$jobnum"}, ["file-per-thread"]),
        ({"numjobs": "1"}, None),
    ],
)
def test_processes_share_a_file_that_has_a_name(
    tmp_path: Path, options: dict[str, str], layouts: list[str] | None
) -> None:
    document = json.loads((GOLDEN / "fio-3.33-grouped-file.json").read_text())
    del document["global options"]["filename"]
    job = document["jobs"][0]
    job["job options"] = {"numjobs": "2", **options}
    job |= {"job_runtime": 6000 * int(job["job options"]["numjobs"]), "iodepth_level": {"1": 100.0}}
    (tmp_path / "f.json").write_text(json.dumps(document))
    assert read_imported(tmp_path / "f.json").results[0].possible.get("layout") == layouts


@pytest.mark.parametrize("name", ["fio-3.33-stats0.json", "fio-3.42-stats0.json"])
def test_a_job_without_statistics_may_have_run_beside_others(name: str) -> None:
    with pytest.raises(FileError, match=r"fio: job number 2 has no statistics \(stats=0\), and may have run at"):
        read_imported(GOLDEN / name)


def test_the_counts_of_a_ramp_are_not_read(tmp_path: Path) -> None:
    """fio drops the counts of ramp_time when it is over; an output that is cut off before that has them."""
    text = (GOLDEN / "fio-3.42-status-ramp.json").read_text()
    first = text[: text.index('{\n  "fio version"', 1)]
    for ramp in ("2", "2s", "2000ms", "0.2h"):
        (tmp_path / "cut.json").write_text(first.replace('"ramp_time" : "2"', f'"ramp_time" : "{ramp}"'))
        with pytest.raises(FileError, match="job x: the job or the output ended during ramp_time"):
            read_imported(tmp_path / "cut.json")
    made = read_imported(replaced(tmp_path, "fio-3.42-status-ramp.json", ('"ramp_time" : "2"', '"ramp_time" : "1"')))
    assert jobs_of(made)


def test_an_output_that_ends_before_its_run_is_remarked(tmp_path: Path) -> None:
    text = (GOLDEN / "fio-3.33-status-stonewall.json").read_text()
    end = text.index('{\n  "fio version"', text.index('"timestamp_ms" : 1796015817548'))
    (tmp_path / "cut.json").write_text(text[:end])
    made = read_imported(tmp_path / "cut.json")
    assert len(jobs_of(made)) == 2
    assert "job a: the work that was left when fio wrote the output" in made.notes[1]
    assert len(read_imported(GOLDEN / "fio-3.33-status-stonewall.json").notes) == 1


def test_a_message_has_the_first_of_many_names(tmp_path: Path) -> None:
    document = json.loads((GOLDEN / "fio-3.33.json").read_text())
    job = document["jobs"][0]
    document["jobs"] = [{**job, "jobname": f"job{number}", "job options": {"rw": "read"}} for number in range(300)]
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(FileError, match="jobs job0, job1, job2, and 297 more: they ran at the same time"):
        read_imported(tmp_path / "m.json")


def test_the_objects_of_an_array_are_read(tmp_path: Path) -> None:
    """jq -s makes an array of the objects of a file."""
    one = json.loads((GOLDEN / "fio-3.33.json").read_text())
    for indent in (None, 2):
        (tmp_path / "a.json").write_text(json.dumps([one], indent=indent) + "\n")
        assert len(read_imported(tmp_path / "a.json").results) == 3
    later = {**one, "timestamp_ms": one["timestamp_ms"] + 60_000}
    (tmp_path / "a.json").write_text(json.dumps([one, later]))
    with pytest.raises(FileError, match="the file has outputs of several runs"):
        read_imported(tmp_path / "a.json")


def test_lines_that_are_no_json_are_named(tmp_path: Path) -> None:
    text = (GOLDEN / "fio-3.33.json").read_text()
    (tmp_path / "t.json").write_text("{ debug\n" * 100 + text)
    with pytest.raises(FileError, match=r"100 lines begin with \{, but no JSON object: remove the text before"):
        read_imported(tmp_path / "t.json")
    (tmp_path / "t.json").write_text("{ debug\n" * 99 + text)
    assert read_imported(tmp_path / "t.json").results


def test_operations_in_flight_at_the_end_of_a_ramp_are_not_counted(tmp_path: Path) -> None:
    """fio counts them when they are issued, and their bytes when they arrive: here 252 of 3,580 operations of 1 MiB."""
    made = read_imported(GOLDEN / "fio-3.33-ramp.json")
    (job,) = jobs_of(made)
    assert (job["block"], job["depth"], job["threads"]) == (1 << 20, 64, 4)
    values = {result.summary.metric: result.summary.value for result in made.results}
    assert values["bandwidth"] == pytest.approx((1 << 20) * (values["iops"] or 0), rel=1e-3)
    without_ramp = ('"ramp_time"', '"startdelay"')
    with pytest.raises(FileError, match="bs=1M, but its operations had 1127975 B on average"):
        read_imported(replaced(tmp_path, "fio-3.33-ramp.json", without_ramp))


@pytest.mark.parametrize(
    "options",
    [
        {"direct": "1", "buffered": "0"},
        {"rwmixread": "60", "rwmixwrite": "40"},
        {"bs": "1M", "blocksize": "1m"},
    ],
)
def test_two_options_with_one_meaning_are_no_contradiction(options: dict[str, str]) -> None:
    assert overwritten([*options.items(), ("iodepth", "4")]) == set()
    assert overwritten([*options.items(), *(("iodepth", depth) for depth in "48")]) == {"iodepth"}


@pytest.mark.parametrize(
    "options",
    [
        {"ioengine": "rbd", "clientname": "admin", "pool": "rbd", "rbdname": "image"},
        {"ioengine": "io_uring_cmd", "cmd_type": "nvme"},
        {"ioengine": "nfs", "nfs_url": "nfs://server/export"},
        {"ioengine": "nbd", "uri": "nbd+unix:///?socket=/run/s"},
    ],
)
def test_engines_need_options_that_name_their_device(tmp_path: Path, options: dict[str, str]) -> None:
    made = read_imported(edited(tmp_path, "fio-3.33.json", options=options))
    assert jobs_of(made)[0]["library"] == options["ioengine"]


def test_a_wrapper_of_an_output_is_named(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text('{"result": ' + (GOLDEN / "fio-3.33.json").read_text() + "}")
    with pytest.raises(FileError, match="its JSON wraps the output of fio"):
        read_imported(tmp_path / "o.json")
