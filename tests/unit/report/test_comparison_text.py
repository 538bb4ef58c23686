from __future__ import annotations

import io

import msgspec
from rich.console import Console

from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow
from nameplate.comparison.run_comparison import RunComparison
from nameplate.report.terminal.comparison import print_comparison, print_rows
from nameplate.statistics.verdict import Verdict


def row(capability: Verdict, typical: Verdict) -> ComparisonRow:
    return ComparisonRow(
        id="one", probe="cpu_flops", params={"threads": 1}, metric="rate", unit="FLOP/s", base=90e9, new=63e9,
        verdict=typical, ratio=0.7, ci=(0.6, 0.8), reason="", detectable=0.3,
        capability=CapabilityChange(
            base=100e9, new=101e9, verdict=capability, ratio=1.01, ci=(0.99, 1.03), reason="", detectable=0.04
        ),
    )  # fmt: skip


def printed(*rows: ComparisonRow) -> str:
    console = Console(file=io.StringIO(), width=80, record=True)
    print_rows(rows, ("base", "new"), console)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    return text


def test_each_line_has_the_values_of_its_own_question() -> None:
    lines = [line.split() for line in printed(row("SAME", "SLOWER")).splitlines()]
    assert ["capability", "SAME", "100.0", "GFLOP/s", "101.0", "GFLOP/s", "1.010", "0.99–1.03", "4.0", "%"] in lines
    assert ["typical", "SLOWER", "90.00", "GFLOP/s", "63.00", "GFLOP/s", "0.700", "0.60–0.80", "30.0", "%"] in lines


def test_the_conclusion_says_whether_the_machine_or_its_neighbours_changed() -> None:
    machine, neighbours = "the machine or its settings changed", "other programs or guests took more"

    def conclusion(capability: Verdict, typical: Verdict) -> str:
        console = Console(file=io.StringIO(), width=80, record=True)
        found = RunComparison(rows=[row(capability, typical)], settings=[], only_in_base=[], only_in_new=[])
        print_comparison(found, console)
        return console.export_text()

    assert machine not in conclusion("SAME", "SLOWER")
    assert neighbours in conclusion("SAME", "SLOWER")
    assert machine in conclusion("SLOWER", "SLOWER")
    assert neighbours not in conclusion("SLOWER", "SLOWER")
    # Within one run, it is the setting that differs.
    assert machine not in printed(row("SLOWER", "SLOWER"))
    assert "capability: 1 SLOWER, 1 SAME\ntypical: 2 SLOWER" in printed(row("SLOWER", "SLOWER"), row("SAME", "SLOWER"))


def test_what_only_a_change_beyond_all_bounds_would_show_is_not_given_in_digits() -> None:
    text = printed(msgspec.structs.replace(row("SAME", "UNSURE"), detectable=230.0))
    assert "> 100 %" in text
    assert "23000" not in text


def test_the_smallest_detectable_change_is_shown_by_area() -> None:
    disk = msgspec.structs.replace(row("SAME", "SAME"), probe="disk_block", capability=None)
    assert "median by area: cpu 4.0 %, disk 30.0 %" in printed(row("SAME", "SAME"), disk)
