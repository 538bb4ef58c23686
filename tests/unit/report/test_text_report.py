"""The terminal's notes on a run that ended too early; exported notes must not name the file."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from machines import machine_with
from nameplate.report.exports import markdown
from nameplate.report.terminal.run import print_report
from report_samples import report, result, scaling_results, with_summary

PATH = Path("/home/alice/run.jsonl")
CUT_OFF = report(scaling_results(), truncated=True, notes=["a note"])


def test_the_terminal_says_how_to_resume(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(CUT_OFF, PATH)
    warnings = " ".join(capsys.readouterr().out.partition("\n! ")[2].split())
    assert warnings.startswith(f"{PATH} is incomplete; continue it with nameplate run --resume {PATH} ! a note share =")


def test_a_long_path_is_not_broken_into_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    path = Path("/home/alice/a-long-name-of-a-directory/and-another-long-name/run.jsonl")
    print_report(report(scaling_results()), path)
    lines = capsys.readouterr().out.splitlines()
    assert sum(str(path) in line for line in lines) == 2
    assert [line for line in lines if len(line) > 60 and str(path) not in line] == []
    assert " ".join(" ".join(lines).split()).endswith(f"charts: nameplate report {path} -o report.html")


def test_columns_are_explained_if_they_have_values(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(scaling_results()), PATH)
    assert "\nshare = typical ÷ reference; p: peak computed here\nall values" in capsys.readouterr().out
    print_report(report([with_summary(result({"threads": 1}, rated=None), capability=60e9)]), PATH)
    assert "\ncapability: the value without interference\nall values" in capsys.readouterr().out
    print_report(report([result({"threads": 1}, rated=None)]), PATH)
    assert "capability:" not in capsys.readouterr().out


def test_a_missing_interval_is_explained_once(capsys: pytest.CaptureFixture[str]) -> None:
    few = [with_summary(result({"threads": n}), ci=None, rounds=n) for n in (2, 3)]
    print_report(report([*few, result({"threads": 8})]), PATH, has_tables=True)
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("2 of 3 experiments without a 95 % interval, which needs 6 rounds (got 2 to 3).") == 1
    print_report(report([few[0], result({"threads": 4}), result({"threads": 8})]), PATH)
    assert "±95% needs 6 rounds" in capsys.readouterr().out
    print_report(report([result({"threads": 8})]), PATH, has_tables=True)
    assert "rounds" not in capsys.readouterr().out


def test_a_complete_run_has_no_hint_to_resume(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(scaling_results()), PATH)
    assert "--resume" not in capsys.readouterr().out


def test_markdown_says_that_the_run_was_cut_off() -> None:
    export = markdown.export
    assert export(CUT_OFF).endswith("\n- the run file is incomplete\n- a note\n")
    assert "ends before" not in export(report(scaling_results()))


def test_a_quota_below_the_cpus_is_named_first(capsys: pytest.CaptureFixture[str]) -> None:
    machine = machine_with(limits={"cpus": 1.5}, topology={"allowed_cpus": [0, 1]})
    print_report(msgspec.structs.replace(report(scaling_results()), machine=machine), PATH)
    assert "VERDICT  A CPU quota of the cgroup limits processes to 1.5 of 2 CPUs" in capsys.readouterr().out


def test_an_emulated_processor_is_named_and_not_rated(capsys: pytest.CaptureFixture[str]) -> None:
    machine = machine_with(emulator="a program on x86_64", container="docker")
    print_report(msgspec.structs.replace(report(scaling_results()), machine=machine), PATH)
    printed = " ".join(capsys.readouterr().out.split())
    assert "docker container, emulated" in printed
    assert (
        "VERDICT The processor is emulated by a program on x86_64: the values are those of the emulator and are not "
        "rated. TRUST LOW: the processor is emulated." in printed
    )


def test_tables_follow_the_first_screen_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(report(scaling_results()), PATH)
    assert "Floating-point rate (cpu_flops rate)" not in capsys.readouterr().out
    print_report(report(scaling_results()), PATH, has_tables=True)
    printed = capsys.readouterr().out
    assert printed.index("VERDICT") < printed.index("Floating-point rate (cpu_flops rate)")


def test_an_interrupted_run_names_the_command_that_continues_it(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(msgspec.structs.replace(report(scaling_results()), interrupted=True), Path("my run.jsonl"))
    text = " ".join(capsys.readouterr().out.split())
    assert "The run was interrupted; continue it with nameplate run --resume 'my run.jsonl'" in text


@pytest.mark.parametrize(("path", "detect"), [("report.html", None), ("run.jsonl", 0.05)])
def test_no_command_continues_a_report_or_a_run_that_ends_with_its_verdict(
    capsys: pytest.CaptureFixture[str], path: str, detect: float | None
) -> None:
    interrupted = msgspec.structs.replace(report(scaling_results()), interrupted=True)
    limits = msgspec.structs.replace(interrupted.run.plan.limits, detect=detect)
    plan = msgspec.structs.replace(interrupted.run.plan, limits=limits)
    run = msgspec.structs.replace(interrupted.run, plan=plan)
    print_report(msgspec.structs.replace(interrupted, run=run), Path(path))
    text = " ".join(capsys.readouterr().out.split())
    assert "The run was interrupted; the report shows what was measured until then." in text
    assert "--resume" not in text
