"""The verdict of a run on its machine: what it says, and that its numbers stand in the table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from machines import machine_with
from nameplate.commands._reading import read_report
from nameplate.expectations.expected_range import Kind
from nameplate.records.result import Rated, Report, Result
from nameplate.report.content.first_screen import first_screen
from nameplate.report.content.remarks import remarks
from recorded_runs import RUNS, recorded_file
from report_samples import failed, of_disk, report, result, scaling_results, with_summary


def verdict(made: Report, quota: float | None = None) -> str:
    """Return the verdict on a run whose processes have this CPU quota, on a machine with two CPUs."""
    machine = machine_with(limits={"cpus": quota}, topology={"allowed_cpus": [0, 1]})
    return first_screen(msgspec.structs.replace(made, machine=machine)).verdict


def beside_peers(share: float, probe: str, better: Literal["higher", "lower"], kind: Kind) -> Result:
    """Return a result with a value of this share of the median of other machines."""
    made = msgspec.structs.replace(result({"threads": 1}, share * 1e9, probe=probe), better=better)
    peers = "the median of 52 machines (Zen 4)"
    rated = Rated(1e9, "source", is_ceiling=False, kind="catalogue", compared_with=kind, peers=peers)
    return msgspec.structs.replace(with_summary(made, rated=1e9, efficiency=share), rated=rated)


def test_a_range_of_shares_is_that_of_the_shown_values() -> None:
    assert verdict(report(scaling_results())) == "CPU at 90 to 96 % of the peak."


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        (0.8, "A CPU quota of the cgroup limits processes to 0.8 of 2 CPUs: 40.0 % of the machine's CPU time, so "
              "the machine is not judged."),
        (2.0, "CPU as rated: 100 % of the peak."),
        (None, "CPU as rated: 100 % of the peak."),
    ],
)  # fmt: skip
def test_a_quota_below_the_cpus_withholds_the_verdict(quota: float | None, expected: str) -> None:
    assert verdict(report([result({"threads": 1}, 100e9)]), quota) == expected


def test_areas_without_a_reference_value_come_last() -> None:
    results = [result({"threads": 1}, 80e9), of_disk(1e9),
               result({"op": "triad"}, probe="memory_stream", rated=None)]  # fmt: skip
    assert verdict(report(results)) == (
        "CPU at 80 % of the peak. Memory and disk: nothing to compare with; give --rated memory=RATE,disk=RATE."
    )
    assert remarks(report([result({"threads": 1}, rated=None)])) == [
        "Floating-point rate: no reference value (nobody knows)."
    ]


@pytest.mark.parametrize(
    ("share", "better", "text"),
    [
        (1.48, "lower", "48 % worse than the median"), (0.8, "lower", "20 % better than the median"),
        (1.48, "higher", "48 % better than the median"), (0.8, "higher", "20 % worse than the median"),
        (1.05, "lower", "as usual, 105 % of the median"),
    ],
)  # fmt: skip
def test_a_value_of_other_machines_has_a_direction(share: float, better: Literal["higher", "lower"], text: str) -> None:
    probe = "memory_latency" if better == "lower" else "memory_block"
    (sentence,) = [verdict(report([beside_peers(share, probe, better, "typical")]))]
    assert sentence.startswith("Memory ")
    assert sentence.endswith(f": {text} of 52 machines (Zen 4).")


def test_says_that_nothing_was_measured() -> None:
    assert verdict(report([failed({"threads": 1}, "failed", "a reason")])) == "Nothing was measured."


@pytest.mark.parametrize(("busy", "is_judged"), [(2.0, True), (1.85, True), (1.7, False), (0.4, False)])
def test_a_machine_whose_cpus_others_took_is_not_accused(busy: float, is_judged: bool) -> None:
    actual = msgspec.structs.replace(result({"threads": 2}, 30e9), utilisation=busy)
    taken = f"The processes got {busy * 50:.0f} % of the CPU time that they asked for: other programs took the rest"
    assert verdict(report([actual])) == (
        "CPU at 30 % of the peak."
        if is_judged
        else f"{taken}, so the machine is not judged. Measure again when they have ended."
    )


def test_a_quota_that_is_not_visible_may_have_taken_cpu_time() -> None:
    actual = msgspec.structs.replace(result({"threads": 2}, 30e9), utilisation=0.5)
    hidden = machine_with(limits={"cpus": None, "are_visible": False})
    text = first_screen(msgspec.structs.replace(report([actual]), machine=hidden)).verdict
    assert "other programs, or a CPU quota that this system does not show, took the rest" in text


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name.partition(".")[0])
def test_every_number_of_a_verdict_stands_in_the_table(path: Path, tmp_path: Path) -> None:
    recorded = read_report(recorded_file(path.stem, tmp_path))
    # Most of these runs were slowed down by other programs, so that nothing would be said about the areas.
    results = [msgspec.structs.replace(result, utilisation=0.0) for result in recorded.results]
    screen = first_screen(msgspec.structs.replace(recorded, results=results))
    shares = {f"{row.share * 100:.0f}" for row in screen.rows if row.share is not None}
    assert set(re.findall(r"(\d+)(?: to \d+)? %", screen.verdict)) <= shares
    assert set(re.findall(r"to (\d+) %", screen.verdict)) <= shares


def test_a_reference_value_is_asked_for_only_if_it_can_be_given() -> None:
    limited = Rated(None, "the link limits the bandwidth, not single operations", can_be_given=False)
    operations = msgspec.structs.replace(of_disk(2e4, "iops", "op/s"), rated=limited)
    assert verdict(report([operations])) == "Disk: nothing to compare with."
    assert verdict(report([of_disk(1e9)])) == "Disk: nothing to compare with; give --rated disk=RATE."
