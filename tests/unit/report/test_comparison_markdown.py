"""The comparison for a pull request: at most 40 lines, the worst first."""

from __future__ import annotations

import msgspec
import pytest

from nameplate.comparison.machine_settings import SettingDifference
from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow
from nameplate.comparison.run_comparison import RunComparison
from nameplate.report.comparison_exports import comparison_export_names, find_comparison_export
from nameplate.statistics.verdict import Verdict
from rendered_markdown import HOSTILE, rendered_markdown


def row(verdict: Verdict, number: int = 1, probe: str = "cpu_flops") -> ComparisonRow:
    capability = CapabilityChange(
        base=100e9, new=90e9, verdict=verdict, ratio=0.9, ci=(0.89, 0.91), reason="", detectable=0.04
    )
    return ComparisonRow(
        id="one", probe=probe, params={"threads": number}, metric="rate", unit="FLOP/s", base=90e9, new=80e9,
        verdict="UNSURE", ratio=0.9, ci=None, reason="", capability=capability,
    )  # fmt: skip


def markdown(comparison: RunComparison) -> list[str]:
    text = find_comparison_export("markdown")(comparison, 0.0)
    assert text.endswith("\n")
    return text.splitlines()


def compared(*rows: ComparisonRow, settings: list[SettingDifference] | None = None) -> RunComparison:
    return RunComparison(rows=list(rows), settings=settings or [], only_in_base=[], only_in_new=[])


def test_what_changed_has_rows_and_the_worst_is_first() -> None:
    lines = markdown(compared(row("SAME", 1), row("FASTER", 2), row("SLOWER", 3)))
    assert lines[0].startswith("**2 of 3 metrics changed: ")
    assert (
        lines[4]
        == "| cpu_flops threads=3 rate | capability | **SLOWER** | 100.0 GFLOP/s | 90.00 GFLOP/s | 0.900 | 0.89–0.91 |"
    )
    assert "threads=2" in lines[5]
    assert "| CPU | 1 | 1 | 1 | 4.0 % |" in lines


def test_a_typical_change_is_not_called_one_of_the_machine() -> None:
    lines = markdown(compared(msgspec.structs.replace(row("SAME"), verdict="SLOWER")))
    assert any("| capability | SAME, typical SLOWER |" in line for line in lines)


def test_a_comparison_with_many_changes_fits_into_forty_lines() -> None:
    areas = ("cpu_flops", "memory_stream", "disk_block", "net_stream", "mpi_stream", "null")
    rows = [row(verdict, number, probe) for verdict in ("SLOWER", "FASTER", "UNSURE", "INCOMPARABLE", "SAME")
            for number in range(10) for probe in areas]  # fmt: skip
    settings = [SettingDifference(f"setting {number}", "a\nb", "c") for number in range(20)]
    actual = msgspec.structs.replace(compared(*rows, settings=settings), only_in_base=["x"] * 9, only_in_new=["y"] * 9,
                                    unchecked=["stores="], notes=["the base: not read: z.txt"] * 9)  # fmt: skip
    lines = markdown(actual)
    assert len(lines) <= 40
    assert "108 further metrics changed." in lines
    assert "Only in the base: x, x, x and 6 more" in lines


def test_what_is_not_read_of_the_inputs_is_named() -> None:
    actual = msgspec.structs.replace(
        compared(row("SAME")), notes=["the base: not read: a.txt", "the new run: not read: b"]
    )
    assert markdown(actual)[-1] == "Notes on the base: not read: a.txt; the new run: not read: b"


def test_names_from_a_run_cannot_contain_markup() -> None:
    lines = markdown(compared(msgspec.structs.replace(row("SLOWER"), params={"directory": "<img src=x>|[a](b)"})))
    assert not any("<img" in line or "[a]" in line for line in lines)


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()])
def test_nothing_in_a_comparison_becomes_markup(text: str) -> None:
    hostile = msgspec.structs.replace(
        row("SLOWER"), probe=text, params={text: text}, metric=text, unit=text.replace("\n", " ")
    )
    comparison = msgspec.structs.replace(compared(hostile), only_in_base=[text], only_in_new=[text], notes=[text])
    page = rendered_markdown(find_comparison_export("markdown")(comparison, 0.0))
    assert set(page.tags) == {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.tags.count("table") == 2
    assert page.tags.count("td") == 7 + 3


def test_runs_without_a_common_metric_are_one_sentence() -> None:
    assert markdown(compared()) == ["**The runs have no metric in common.**"]


def test_the_formats_are_found_by_their_names() -> None:
    assert {"json", "junit", "markdown"} <= {*comparison_export_names()}
