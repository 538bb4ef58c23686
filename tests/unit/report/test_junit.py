"""Verdicts as JUnit XML, read back by junitparser."""

from __future__ import annotations

from xml.etree import ElementTree

import msgspec
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from nameplate.comparison.gate import AreaLoss, Gate
from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow
from nameplate.comparison.run_comparison import RunComparison
from nameplate.report.comparison_exports import find_comparison_export
from nameplate.report.formats.junit_xml import VerdictTest, junit_text
from nameplate.statistics.verdict import Verdict


def row(verdict: Verdict, ratio: float = 1.0, reason: str = "") -> ComparisonRow:
    capability = CapabilityChange(
        base=100e9, new=ratio * 100e9, verdict=verdict, ratio=ratio, ci=(ratio - 0.01, ratio + 0.01), reason=reason,
        detectable=0.04,
    )  # fmt: skip
    return ComparisonRow(
        id="one", probe="cpu_flops", params={"threads": 1}, metric="rate", unit="FLOP/s", base=90e9, new=80e9,
        verdict="UNSURE", ratio=0.9, ci=None, reason="typical", capability=capability,
    )  # fmt: skip


def suite_of(text: str) -> TestSuite:
    (suite,) = JUnitXml.fromstring(text.encode())
    return suite


def cases_of(*rows: ComparisonRow, limit: float = 0.0) -> list[TestCase]:
    actual = RunComparison(rows=list(rows), settings=[], only_in_base=[], only_in_new=[])
    return list(suite_of(find_comparison_export("junit")(actual, limit)))


def test_each_verdict_is_a_test() -> None:
    cases = cases_of(row("SLOWER", 0.9), row("FASTER", 1.1), row("SAME"), row("UNSURE"), row("INCOMPARABLE"))
    assert [[type(one) for one in case.result] for case in cases] == [[Failure], [], [], [], [Skipped]]
    assert {(case.classname, case.name) for case in cases} == {("nameplate.cpu_flops", "cpu_flops threads=1 rate")}


def test_a_message_has_both_values_and_the_reason() -> None:
    (failed, unsure) = cases_of(row("SLOWER", 0.9), row("UNSURE", reason="8 rounds would decide"))
    assert (
        failed.result[0].message
        == "SLOWER: capability 90.00 GFLOP/s, base 100.0 GFLOP/s, ratio 0.900 (99 %: 0.89–0.91)"
    )
    assert unsure.is_passed  # a test is skipped only if it has no value
    assert unsure.system_out.endswith("; 8 rounds would decide")


def test_the_notes_on_the_inputs_are_the_output_of_the_suite() -> None:
    export = find_comparison_export("junit")
    actual = RunComparison(rows=[row("SAME")], settings=[], only_in_base=[], only_in_new=[], notes=["a", "b\x00"])
    assert ElementTree.fromstring(export(actual, 0.0)).findtext("testsuite/system-out") == (
        "No change was found in 1 metric, of which 1 are the SAME.\na\nb\ufffd"
    )


def gated(gate: Gate, *rows: ComparisonRow) -> list[TestCase]:
    comparison = RunComparison(rows=list(rows), gate=gate, settings=[], only_in_base=[], only_in_new=[])
    return list(suite_of(find_comparison_export("junit")(comparison, 0.0)))


def test_only_main_values_and_means_of_areas_are_tests_of_a_gate() -> None:
    main = msgspec.structs.replace(row("SLOWER", 0.9), is_main=True)
    typical = msgspec.structs.replace(main, capability=None, verdict="SLOWER")
    gate = Gate(verdict="SLOWER", reason="", values=1, area_losses=[AreaLoss("memory", 0.12)], detectable={"cpu": 0.04})
    cases = gated(gate, main, row("SLOWER", 0.5), typical)
    assert [[type(one) for one in case.result] for case in cases] == [[Failure], [], [Failure]]
    assert (cases[2].name, cases[2].result[0].message) == ("mean of memory", "12.0 % slower")


def test_a_machine_that_is_not_judged_is_an_error() -> None:
    gate = Gate(verdict="UNSURE", reason="in the base, it was busy", values=0, area_losses=[], detectable={})
    (case,) = gated(gate, row("UNSURE"))
    assert isinstance(case.result[0], Error)
    assert case.result[0].message == "in the base, it was busy"


def test_a_loss_below_the_limit_passes() -> None:
    (small, large) = cases_of(row("SLOWER", 0.97), row("SLOWER", 0.9), limit=0.05)
    assert small.is_passed
    assert "SLOWER" in small.system_out
    assert large.is_failure


def test_without_a_capability_the_typical_value_is_judged() -> None:
    (case,) = cases_of(msgspec.structs.replace(row("SAME"), capability=None, verdict="SLOWER"))
    assert case.result[0].message.startswith("SLOWER: typical 80.00 GFLOP/s")


def test_the_suite_counts_its_tests() -> None:
    suite = suite_of(
        junit_text(
            "all",
            [VerdictTest("a", "b", outcome, "c") for outcome in ("passed", "failure", "error", "skipped", "skipped")],
        )
    )
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (5, 1, 1, 2)
    assert [type(case.result[0]) for case in suite if case.result] == [Failure, Error, Skipped, Skipped]


def test_text_that_xml_does_not_allow_is_replaced() -> None:
    (case,) = suite_of(junit_text("all", [VerdictTest("a<&", 'b"\x1b\x00', "skipped", "c\ud800\n<d>")]))
    assert (case.classname, case.name, case.result[0].message) == ("a<&", 'b"\ufffd\ufffd', "c\ufffd\n<d>")


def test_no_verdict_is_an_empty_suite() -> None:
    assert suite_of(junit_text("all", [])).tests == 0
