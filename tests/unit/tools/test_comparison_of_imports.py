"""Outputs of other tools are compared as far as their numbers allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from nameplate.comparison.run_comparison import compare_runs
from nameplate.records.result import Report
from nameplate.report.content.trust import trust_in
from nameplate.tools.imported_run import read_imported
from nameplate.tools.output import rounding_of

GOLDEN = Path(__file__).parents[2] / "golden" / "references"
OSU = "# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
IMB = (GOLDEN / "imb-pingpong-2021.11.txt").read_text()
STREAM = (GOLDEN / "stream-5.10.txt").read_text()
ROUNDS = 8


def rounds_of(folder: Path, text: str) -> Report:
    """Return a run whose rounds are outputs that differ only in a line of their job."""
    folder.mkdir()
    for number in range(ROUNDS):
        (folder / f"{number}.txt").write_text(f"{text}\njob {number} ended\n")
    return read_imported(folder)


def osu(time: str) -> str:
    return f"{OSU}1{time:>27}\n"


def imb(time: str) -> str:
    (row,) = (line for line in IMB.splitlines() if line.split()[:1] == ["1"])
    return IMB.replace(row, row.replace(row.split()[2], time))


def stream(time: str) -> str:
    """Return an output with arrays of 104 kB and a triad with these times."""
    text = STREAM.replace(next(line for line in STREAM.splitlines() if line.startswith("Array size")),
                          "Array size = 13000 (elements), Offset = 0 (elements)")  # fmt: skip
    for op, arrays in {"Copy": 2, "Scale": 2, "Add": 3, "Triad": 3}.items():
        row = next(line for line in text.splitlines() if line.startswith(f"{op}:"))
        rate = arrays * 104e3 / float(time) / 1e6
        text = text.replace(row, f"{op}:{rate:18.1f}     {time}     {time}     {time}")
    return text


@pytest.mark.parametrize(
    ("base", "new", "digits"),
    [(osu("0.14"), osu("0.15"), "two"), (osu("9"), osu("10"), "one"), (osu("1.4e-01"), osu("1.5e-01"), "two"),
     (imb("0.14"), imb("0.15"), "two"), (stream("0.000026"), stream("0.000027"), "two")],
)  # fmt: skip
def test_a_step_of_the_last_digit_of_a_tool_is_no_change(tmp_path: Path, base: str, new: str, digits: str) -> None:
    """The unrounded times may be as close as 144.9 ns and 145.1 ns."""
    actual = compare_runs(rounds_of(tmp_path / "base", base), rounds_of(tmp_path / "new", new), 0.05)
    row = actual.rows[0]
    assert row.verdict == "UNSURE"
    assert f"printed with {digits} digit" in row.reason
    assert row.ci is not None
    assert row.ci[0] < 1 < row.ci[1]


def test_equal_numbers_with_two_digits_may_hide_a_change(tmp_path: Path) -> None:
    """135 ns and 144 ns are both printed as 0.14 µs."""
    (row,) = compare_runs(rounds_of(tmp_path / "base", osu("0.14")), rounds_of(tmp_path / "new", osu("0.14"))).rows
    assert row.verdict == "UNSURE"
    assert row.detectable is not None
    assert row.detectable > 0.07


def test_numbers_with_enough_digits_are_judged_as_before(tmp_path: Path) -> None:
    base, same, slower = (rounds_of(tmp_path / time, osu(time)) for time in ("14.02", "14.03", "15.02"))
    assert compare_runs(base, same).rows[0].verdict == "SAME"
    assert compare_runs(base, slower).rows[0].verdict == "SLOWER"
    assert compare_runs(base, rounds_of(tmp_path / "twice", osu("28.00"))).rows[0].verdict == "SLOWER"


def test_the_interval_and_the_grade_of_a_run_include_rounding(tmp_path: Path) -> None:
    report = rounds_of(tmp_path / "base", osu("0.14"))
    (result,) = report.results
    assert result.summary.ci == pytest.approx((0.135e-6, 0.145e-6), rel=2e-3)
    assert result.remarks == ["printed with two digits: ±3.6 %"]
    assert trust_in(report).level == "medium"
    assert trust_in(report).why == (
        "median interval ±3.6 %; 0 of 1 experiment disturbed; printed with two digits: ±3.6 %"
    )


def test_the_rounding_of_a_bandwidth_is_that_of_the_time(tmp_path: Path) -> None:
    for result in rounds_of(tmp_path / "base", stream("0.000026")).results:
        assert result.rounding == pytest.approx(0.5 / 26)


def test_counted_numbers_are_not_rounded(tmp_path: Path) -> None:
    for name in ("fio-3.33.json", "iperf3-tcp-3.12.json"):
        assert {result.rounding for result in read_imported(GOLDEN / name).results} == {0.0}


@pytest.mark.parametrize(
    ("text", "rounding"),
    [("0.14", 0.5 / 14), ("145", 0.5 / 145), ("1.4E-07", 0.5 / 14), ("00.140", 0.5 / 140), (" 2. ", 0.25),
     ("٣.١", 0.5 / 31), ("1_0", 0.05), ("7" * 5000, 0.0), (f"0.{'0' * 400}1e400", 0.5)],
)  # fmt: skip
def test_the_rounding_of_every_number_that_is_read(text: str, rounding: float) -> None:
    assert rounding_of(text) == pytest.approx(rounding)
