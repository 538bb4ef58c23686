"""Two commands of the user: their comparison, and the sentence on it."""

from __future__ import annotations

import pytest
from rich.console import Console

from nameplate.comparison.two_commands import CommandComparison, compare_commands
from nameplate.report.terminal.two_commands import print_commands, sentence

NOISE = [1.0, 1.004, 0.997, 1.002, 0.999, 1.001, 0.998, 1.003, 0.996, 1.005, 1.0, 0.9985]


def compared(a_s: float, b_s: float, pairs: int = 12, cpu_s: float = 0.1) -> CommandComparison:
    """Return the comparison of commands whose times vary by half a percent from pair to pair."""
    a = [a_s * item for item in NOISE[:pairs]]
    b = [b_s * item for item in reversed(NOISE[:pairs])]
    return compare_commands(
        [
            ("elapsed", "s", a, b),
            ("cpu", "s", [cpu_s] * pairs, [0.1] * pairs),
            ("memory", "B", [2e6] * pairs, [4e6] * pairs),
        ],
        0.05,
    )


def test_the_faster_command_is_named_with_its_ratio_and_interval() -> None:
    assert sentence(compared(0.1, 0.132), 0.3).startswith("A is 1.32")
    assert "times faster than B (99 % interval 1.309 to 1.331)." in sentence(compared(0.1, 0.132), 0.3)
    reverse = compared(0.132, 0.1)
    assert reverse.verdict == "FASTER"
    assert sentence(reverse, 0.3).startswith("B is 1.32")
    low, high = (float(word.strip(").")) for word in sentence(reverse, 0.3).rsplit(" ", 3)[1::2])
    assert low < 1.32 < high


def test_equal_commands_take_the_same_time() -> None:
    same = compared(0.1, 0.1)
    assert same.verdict == "SAME"
    assert sentence(same, 0.3).startswith("A and B take the same time: B ÷ A is 1.000, 99 % interval 0.99")
    assert same.half_width < 0.01


def test_few_pairs_have_no_verdict_and_the_necessary_budget() -> None:
    """A pair takes 0.61 s with its preparation, and ten of them with some reserve 7.3 s."""
    few = compared(0.25, 0.35, pairs=3)
    assert few.verdict == "UNSURE"
    assert few.half_width == float("inf")
    assert sentence(few, 0.61) == "Not decided: B ÷ A is 1.400. 3 pairs: a verdict needs 10; raise --budget to 10s."


def test_a_quantity_that_is_zero_has_no_ratio() -> None:
    both = compared(0.1, 0.2, cpu_s=0.0)
    assert [item.ratio for item in both.quantities] == [pytest.approx(2.0, rel=0.01), None, 2.0]
    console = Console(width=80, no_color=True)
    with console.capture() as capture:
        print_commands(["a", "b"], both, 0.3, console)
    lines = capture.get().splitlines()
    assert lines[0].startswith("A is 2.0")
    assert next(line for line in lines if "CPU time" in line).split() == [
        "CPU",
        "time",
        "0",
        "s",
        "100.0",
        "ms",
        "–",
        "–",
    ]
    assert all(len(line) <= 80 for line in lines)
    assert "Less than 5 ms" not in capture.get()


def test_short_commands_are_mostly_the_start_of_a_process() -> None:
    console = Console(width=80, no_color=True)
    with console.capture() as capture:
        print_commands(["a", "b"], compared(0.002, 0.003), 0.3, console)
    assert "Less than 5 ms is mostly the start of a process." in capture.get()
