"""The text of comparisons: what changed comes first, and everything fits."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from nameplate.comparison.gate import NO_CAPABILITY, Gate
from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow
from nameplate.comparison.run_comparison import RunComparison, compare_runs
from nameplate.report.content.comparison_text import gate_sentences, meanings, summary
from nameplate.report.terminal.comparison import MAX_CHANGED, print_comparison, print_rows
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.statistics.verdict import Verdict
from recorded_runs import recorded_file


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


def compared(rows: list[ComparisonRow], width: int = 80, has_all: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, record=True)
    print_comparison(RunComparison(rows=rows, settings=[], only_in_base=[], only_in_new=[]), console, has_all)
    return console.export_text()


def named(number: int, capability: Verdict, ratio: float) -> ComparisonRow:
    one = row(capability, "UNSURE")
    assert one.capability
    changed = msgspec.structs.replace(one.capability, ratio=ratio)
    return msgspec.structs.replace(one, params={"threads": 1, "mix": f"mix{number}"}, capability=changed)


def test_each_line_has_the_values_of_its_own_question() -> None:
    lines = [line.split() for line in printed(row("SAME", "SLOWER")).splitlines()]
    assert ["capability", "SAME", "100.0", "GFLOP/s", "101.0", "GFLOP/s", "1.010", "0.99–1.03", "4.0", "%"] in lines
    assert ["typical", "SLOWER", "90.00", "GFLOP/s", "63.00", "GFLOP/s", "0.700", "0.60–0.80", "30.0", "%"] in lines


def test_the_conclusion_says_whether_the_machine_or_its_neighbours_changed() -> None:
    machine, neighbours = "the machine or its settings changed", "other programs or guests took more"

    def conclusion(capability: Verdict, typical: Verdict) -> str:
        return compared([row(capability, typical)])

    assert machine not in conclusion("SAME", "SLOWER")
    assert neighbours in conclusion("SAME", "SLOWER")
    assert machine in conclusion("SLOWER", "SLOWER")
    assert neighbours not in conclusion("SLOWER", "SLOWER")
    # Within one run, it is the setting that differs.
    assert machine not in printed(row("SLOWER", "SLOWER"))
    assert "capability: 1 SLOWER, 1 SAME\ntypical: 2 SLOWER" in printed(row("SLOWER", "SLOWER"), row("SAME", "SLOWER"))


def test_what_only_a_change_beyond_all_bounds_would_show_is_not_given_in_digits() -> None:
    text = printed(msgspec.structs.replace(row("SAME", "UNSURE"), detectable=230.0))
    assert "> 2×" in text
    assert "23000" not in text


def test_the_smallest_detectable_change_is_shown_by_area() -> None:
    disk = msgspec.structs.replace(row("SAME", "SAME"), probe="disk_block", capability=None)
    assert "median by area: cpu 4.0 %, disk 30.0 %" in printed(row("SAME", "SAME"), disk)


def test_a_sentence_names_the_largest_changes_first() -> None:
    rows = [named(1, "SLOWER", 0.9), named(2, "FASTER", 1.5), named(3, "SAME", 1.0), named(4, "SLOWER", 0.5),
            named(5, "SLOWER", 0.8)]  # fmt: skip
    assert summary(rows) == (
        "4 of 5 metrics changed: cpu_flops rate 50 % lower (SLOWER), cpu_flops rate 50 % higher (FASTER), "
        "cpu_flops rate 20 % lower (SLOWER) and 1 more."
    )
    assert summary(rows[2:3]) == "No change was found in 1 metric, of which 1 are the SAME."
    assert summary([]) == "The runs have no metric in common."


def test_what_is_not_read_of_the_inputs_is_printed() -> None:
    console = Console(file=io.StringIO(), width=80, record=True)
    notes = ["the base: not read: a.txt: [bold]"]
    print_comparison(RunComparison(rows=[], settings=[], only_in_base=[], only_in_new=[], notes=notes), console)
    assert console.export_text().endswith("\n\nthe base: not read: a.txt: [bold]\n")


def test_a_machine_that_is_not_judged_has_a_reason_and_a_remedy() -> None:
    def sentences(reason: str) -> list[str]:
        gate = Gate(verdict="UNSURE", reason=reason, values=0, area_losses=[], detectable={})
        return gate_sentences(
            RunComparison(rows=[row("UNSURE", "UNSURE")], settings=[], only_in_base=[], only_in_new=[], gate=gate)
        )

    busy = "in the base, other programs took 69 % of the CPU time"
    assert sentences(busy) == [f"UNSURE: {busy}; measure again when nothing else limits the CPUs."]
    assert sentences(NO_CAPABILITY) == [f"UNSURE: {NO_CAPABILITY}; raise --budget."]


@pytest.mark.parametrize(
    ("loss", "clock", "sentence"),
    [
        (0.7, 0.71, "The clock was 29.0 % lower, too: heat, a power limit or other guests of its host lower it."),
        (0.7, 0.99, ""),
        (0.965, 0.985, ""),
    ],
)
def test_a_lower_clock_explains_a_slower_cpu(loss: float, clock: float, sentence: str) -> None:
    def main(probe: str, verdict: Verdict, ratio: float) -> ComparisonRow:
        return msgspec.structs.replace(named(1, verdict, ratio), probe=probe, is_main=True)

    gate = Gate(verdict="SLOWER", reason="", values=2, area_losses=[], detectable={"cpu": 0.04})
    rows = [main("cpu_flops", "SLOWER", loss), main("cpu_clock", "UNSURE", clock)]
    sentences = gate_sentences(RunComparison(rows=rows, settings=[], only_in_base=[], only_in_new=[], gate=gate))
    assert [text for text in sentences if "clock was" in text] == [sentence] * bool(sentence)


def test_the_summary_says_why_nothing_can_be_compared() -> None:
    reasons = ("the new run does not report pairs", "the base has no value")
    rows = [
        msgspec.structs.replace(row("SAME", "SAME"), capability=None, verdict="INCOMPARABLE", reason=reason)
        for reason in (reasons[0], *reasons)
    ]
    assert summary(rows[:2]) == "None of 2 metrics can be compared: the new run does not report pairs."
    assert summary(rows).endswith(
        "None of 3 metrics can be compared: the new run does not report pairs, and 1 other reason."
    )


def test_only_what_changed_has_rows_unless_all_are_asked() -> None:
    rows = [named(1, "SLOWER", 0.9), named(2, "SAME", 1.0)]
    assert "mix=mix1" in compared(rows)
    assert "mix=mix2" not in compared(rows)
    assert "threads=1" not in compared(rows)  # both metrics have it
    assert "mix=mix2" in compared(rows, has_all=True)


def test_further_changes_are_counted() -> None:
    text = compared([named(number, "SLOWER", 0.9) for number in range(20)])
    assert f"{20 - MAX_CHANGED} further metrics changed: add --all" in text
    assert len(text.splitlines()) <= 40


def test_verdicts_are_counted_by_area() -> None:
    disk = msgspec.structs.replace(named(1, "SLOWER", 0.5), probe="disk_block")
    lines = [line.split() for line in compared([named(2, "SAME", 1.0), named(3, "UNSURE", 1.0), disk]).splitlines()]
    assert ["metrics", "by", "area", "SLOWER", "UNSURE", "SAME", "detects"] in lines
    assert ["CPU", "0", "1", "1", "4.0", "%"] in lines
    assert ["disk", "1", "0", "0", "4.0", "%"] in lines


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_a_recorded_run_fits_at_any_width(width: int, tmp_path: Path) -> None:
    base = summarise(read_run(recorded_file("full.jsonl", tmp_path)))
    console = Console(file=io.StringIO(), width=width, record=True)
    print_comparison(compare_runs(base, base), console)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= width
    assert len(text.splitlines()) <= 40
    assert "…" not in text


def test_the_ratio_is_that_of_the_values_next_to_it(tmp_path: Path) -> None:
    base = summarise(read_run(recorded_file("quick.jsonl", tmp_path)))
    new = summarise(read_run(recorded_file("full.jsonl", tmp_path)))
    rows = [row for row in compare_runs(base, new).rows if row.verdict != "INCOMPARABLE"]
    assert rows
    for row in rows:
        assert row.base
        assert row.new
        assert row.ratio == pytest.approx(row.new / row.base)
        assert row.ci is None or row.ci[0] <= row.new / row.base <= row.ci[1]


def test_a_slower_metric_that_does_not_decide_is_not_explained_as_a_change_of_the_machine() -> None:
    """ "None of 3 main values is worse" must not be followed by "SLOWER in capability: the machine changed"."""
    main = msgspec.structs.replace(row("SAME", "SAME"), is_main=True)
    gate = Gate(verdict="SAME", reason="", values=1, area_losses=[], detectable={"cpu": 0.04})
    comparison = RunComparison(rows=[main, row("SLOWER", "SLOWER")], settings=[], only_in_base=[], only_in_new=[])
    assert meanings(comparison) == ["SLOWER in capability: the machine or its settings changed."]
    assert meanings(msgspec.structs.replace(comparison, gate=gate)) == []
    slower = msgspec.structs.replace(row("SLOWER", "SLOWER"), is_main=True)
    assert meanings(msgspec.structs.replace(comparison, rows=[slower], gate=gate)) != []


def test_main_values_have_the_unit_of_the_first_screen() -> None:
    stream = msgspec.structs.replace(
        row("SAME", "SAME"), probe="net_stream", params={"protocol": "tcp"}, metric="bandwidth", unit="B/s",
        base=1.25e9, new=1.25e9, capability=None, is_main=True,
    )  # fmt: skip
    text = compared([stream])
    assert "NET TCP stream" in text
    assert "10.00 Gbit/s" in text
    assert "1.250 GB/s" in compared([msgspec.structs.replace(stream, is_main=False, verdict="SLOWER")])


def test_the_first_sentence_says_how_many_main_values_were_compared() -> None:
    """Two of three main values have no capability in both runs."""
    compared_row = msgspec.structs.replace(row("SAME", "SAME"), is_main=True)
    rest = [msgspec.structs.replace(compared_row, capability=None)] * 2
    gate = Gate(verdict="UNSURE", reason="", values=1, area_losses=[], detectable={"cpu": 0.04})
    three = RunComparison(
        rows=[compared_row, *rest], gate=gate, settings=[], only_in_base=[], only_in_new=[],
    )  # fmt: skip
    assert gate_sentences(three)[0] == "None of the 1 comparable of 3 main values is worse."
    only_compared = msgspec.structs.replace(three, rows=[compared_row])
    assert gate_sentences(only_compared)[0] == "None of 1 main value is worse."
