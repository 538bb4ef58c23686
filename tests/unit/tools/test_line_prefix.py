"""Outputs are read out of logs in which a launcher or a job system wrote a prefix before each line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nameplate.errors import FileError
from nameplate.records.result import Report
from nameplate.tools.imported_run import read_imported

GOLDEN = Path(__file__).parents[2] / "golden" / "references"
OUTPUTS = ("osu_latency-7.5.txt", "osu_multi_lat-5.6.3.txt", "imb-pingpong-2021.11.txt", "stream-5.10.txt",
           "stream-5.6.txt")  # fmt: skip


def read(path: Path, lines: list[str]) -> Report:
    (path / "log.txt").write_text("".join(f"{line}\n" for line in lines))
    return read_imported(path / "log.txt")


def values(made: Report) -> list[tuple[str, float | None]]:
    return [(result.id, result.summary.value) for result in made.results]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("osu_latency-7.4-tag-output.txt", [0.51, 0.39, 0.38, 0.38, 0.44, 0.44, 0.49]),
        ("osu_latency-7.4-timestamp-output.txt", [0.61, 0.40, 0.40, 0.38, 0.45, 0.46, 0.50]),
    ],
)
def test_lines_that_mpirun_tags_are_read(name: str, expected: list[float]) -> None:
    made = read_imported(GOLDEN / name)
    assert [value for _, value in values(made)] == pytest.approx([time * 1e-6 for time in expected])


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize(
    "prefix",
    [
        "[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-node001.cluster.example.org-3145728@1,0]<stdout>: ", "0: ",
        "[0] ", "[node01:12345] ", "n1 ", "web-1  | ", "\t", "    ",
    ],
)  # fmt: skip
def test_a_prefix_of_all_lines_is_removed(tmp_path: Path, name: str, prefix: str) -> None:
    made = read(tmp_path, [prefix + line for line in (GOLDEN / name).read_text().splitlines()])
    assert values(made) == values(read_imported(GOLDEN / name))
    assert made.notes[1:] == []


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize(
    "form",
    [
        "Mon Nov 30 05:13:{:02d} 2026<stdout>:", "Mon Nov 30 05:13:{:02d} 2026[1,0]<stdout>:", "Nov  3 05:13:{:02d} ",
        "Nov  3 05:13:{:02d} n1 job[77]: ", "2026-11-29T12:00:{:02d} ", "2026-11-29T12:00:{:02d}.1234567Z ",
        "2026-11-29 12:00:{:02d},123 ", "2026/11/29 12:00:{:02d} ", "12:00:{:02d} ", "[12:00:{:02d}] ",
        "n1: 12:00:{:02d} ", "[  12.{:02d}3456] ", "17012345{:02d} ", "17012345{:02d}.123 ", "2026-11-29_12:00:{:02d} ",
        "20261129-1200{:02d} ", "20261129T1200{:02d}Z ", "17012345{:02d}123 ", "29.11.2026 12:00:{:02d} ",
        "11/29/2026, 1:00:{:02d} PM ", "[ 12.{:02d}s] ",
    ],
)  # fmt: skip
def test_the_time_of_each_line_is_removed(tmp_path: Path, name: str, form: str) -> None:
    lines = [form.format(number % 60) + line for number, line in enumerate((GOLDEN / name).read_text().splitlines())]
    assert values(read(tmp_path, lines)) == values(read_imported(GOLDEN / name))


def test_a_size_is_no_year(tmp_path: Path) -> None:
    lines = ["# OSU MPI Latency Test v7.4", "# Size       Avg Latency(us)", "1024                    0.50"]
    assert [
        result.summary.params["size"] for result in read(tmp_path, ["Nov 30 05:13:42 " + i for i in lines]).results
    ] == [1024]


@pytest.mark.parametrize("name", ["osu_latency-7.5.txt", "imb-pingpong-2021.11.txt", "stream-5.10.txt"])
@pytest.mark.parametrize("first", ["n1: ", "[1,0]<stdout>:", ""])
def test_lines_of_two_hosts_are_two_outputs(tmp_path: Path, name: str, first: str) -> None:
    lines = (GOLDEN / name).read_text().splitlines()
    with pytest.raises(FileError, match=r"put (?:each run|each|the output of each) into a separate file"):
        read(tmp_path, [prefix + line for line in lines for prefix in (first, "n2: ")])


def test_two_hosts_with_other_sizes_are_both_read(tmp_path: Path) -> None:
    heading = ["# OSU MPI Latency Test v7.4", "# Size       Avg Latency(us)        Validation"]
    rows = [["1                       0.51              Pass"], ["16                      0.92              Pass"]]
    first, second = ([*heading, *of_host] for of_host in rows)
    lines = [line for pair in zip(first, second, strict=True) for line in (f"n1: {pair[0]}", f"n2: {pair[1]}")]
    assert [result.summary.params["size"] for result in read(tmp_path, lines).results] == [1, 16]


@pytest.mark.parametrize("name", ["osu_latency-7.5.txt", "imb-pingpong-2021.11.txt"])
def test_rows_with_another_prefix_than_the_heading_are_named(tmp_path: Path, name: str) -> None:
    lines = (GOLDEN / name).read_text().splitlines()
    numbers = [number for number, line in enumerate(lines, start=1) if line.split()[:1] in (["4"], ["8"])]
    made = read(tmp_path, [("1: " if n in numbers else "0: ") + line for n, line in enumerate(lines, start=1)])
    assert len(made.results) == len(read_imported(GOLDEN / name).results) - 2
    assert made.notes[1:] == [
        f"not read: log.txt: line {numbers[0]} and 1 more lines: rows with a prefix that no heading has"
    ]


@pytest.mark.parametrize("name", ["osu_latency-7.5.txt", "imb-pingpong-2021.11.txt", "stream-5.10.txt"])
def test_lines_with_numbers_of_their_own_are_rejected(tmp_path: Path, name: str) -> None:
    lines = (GOLDEN / name).read_text().splitlines()
    with pytest.raises(FileError, match=r"prefix that no heading has|another prefix than the line with the vers"):
        read(tmp_path, [f"log:{number}: {line}" for number, line in enumerate(lines)])


def test_the_colours_of_a_wrapper_are_ignored(tmp_path: Path) -> None:
    lines = (GOLDEN / "osu_latency-7.5.txt").read_text().splitlines()
    coloured = [f"\x1b[32m{line}\x1b[0m" for line in lines]
    only_first = [coloured[index] if line.startswith("# OSU") else line for index, line in enumerate(lines)]
    for log in (coloured, only_first):
        assert values(read(tmp_path, log)) == values(read_imported(GOLDEN / "osu_latency-7.5.txt"))


def test_a_heading_within_source_code_is_none(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is neither a run file nor an output of"):
        read(tmp_path, ['    printf("STREAM version $Revision: 5.10 $\\n");', "+ echo '# OSU MPI Latency Test v7.4'"])


def test_many_prefixes_are_rejected_in_linear_time(tmp_path: Path) -> None:
    began = time.process_time()
    with pytest.raises(FileError, match="osu: its lines have more than 100 different prefixes"):
        read(tmp_path, [f"n{number}: # OSU MPI Latency Test v7.4" for number in range(50_000)])
    with pytest.raises(FileError):
        read(tmp_path, ["# OSU MPI Latency " * 200_000])
    assert time.process_time() - began < 5
