"""The terminal's notes on a run that ended too early; exported notes must not name the file."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from machines import machine_with
from nameplate.report.exports import markdown
from nameplate.report.terminal.run import print_report
from report_samples import report, scaling_results

PATH = Path("/home/alice/run.jsonl")
CUT_OFF = report(scaling_results(), truncated=True, notes=["a note"])


def test_the_terminal_says_how_to_resume(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(CUT_OFF, PATH)
    said = f"! {PATH} ends before the run did; continue it with nameplate run --resume {PATH}\n! a note\n"
    assert said in capsys.readouterr().out


def test_a_complete_run_has_no_hint_to_resume(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(scaling_results()), PATH)
    assert "--resume" not in capsys.readouterr().out


def test_markdown_says_that_the_run_was_cut_off() -> None:
    export = markdown.export
    assert export(CUT_OFF).endswith("\n- the run file ends before the run did\n- a note\n")
    assert "ends before" not in export(report(scaling_results()))


@pytest.mark.parametrize("quota", [None, 1.5, 2.0])
def test_a_quota_below_the_cpus_is_the_first_note(quota: float | None, capsys: pytest.CaptureFixture[str]) -> None:
    machine = machine_with(limits={"cpus": quota}, topology={"allowed_cpus": [0, 1]})
    print_report(
        msgspec.structs.replace(report(scaling_results()), machine=machine, notes=["another"]), Path("x.jsonl")
    )
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("!")]
    words = "! A CPU quota limits processes to 1.5 of 2 CPUs on average: 75.0 % of their time."
    assert notes == [*([words] if quota == 1.5 else []), "! another"]
