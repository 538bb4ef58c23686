"""Implement ``nameplate check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cyclopts import Parameter

from nameplate.commands._busy import refuse_if_busy, why_no_verdict
from nameplate.commands._expected import ExpectationSource, expectation_source, print_sources
from nameplate.commands._learning import learn_site
from nameplate.commands._machine_check import check_machines, exit_code_of
from nameplate.commands._reading import read_report
from nameplate.errors import NothingExpected, NotJudged, UsageError
from nameplate.execution.core_process import describe_core
from nameplate.execution.launch import alone
from nameplate.execution.measuring import RunEnvironment, make_run, measure_to_file, new_run_file
from nameplate.execution.memory_keeper import returns_free_memory
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.judging import judge
from nameplate.planning.plan_file import build_plan, read_plan
from nameplate.records.inputs import is_folder
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Plan
from nameplate.records.result import Report
from nameplate.report.content.judgement import MachineJudgement
from nameplate.report.formats.judgement_junit import judgement_junit
from nameplate.report.terminal.check import Checked, print_checked, short_line
from nameplate.report.terminal.progress import make_progress
from nameplate.results.judgeable import judgeable, why_without_class

GROUP = "Measure"

_BUDGET, _FAST_BUDGET = "30s", "5s"
# The longer budget lets each experiment get its memory from the host, which takes seconds.
_FAST_BUDGET_OF_GUEST = "15s"


def command(  # noqa: PLR0913 (the options of the command line)
    *runs: Path,
    expect: Annotated[Path | None, Parameter(show_default=False)] = None,
    type: Annotated[str, Parameter(show_default=False)] = "",  # noqa: A002
    ask_metadata: bool = False,
    sources: bool = False,
    learn: Annotated[tuple[Path, ...], Parameter(show_default=False, consume_multiple=True)] = (),
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], show_default=False)] = None,
    force: bool = False,
    fast: bool = False,
    even_if_busy: bool = False,
    strict: bool = False,
    one_line: bool = False,
    format: Annotated[Literal["table", "json", "junit"], Parameter(name=["--format", "-f"])] = "table",  # noqa: A002
    all: bool = False,  # noqa: A002
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Judge whether this machine, or the machine of an earlier run, delivers the expected values.

    The expected ranges are those of a site file, or what others measured on the same cloud instance type.

    Each area, such as memory, has the most severe verdict of its values. A value is BELOW if its whole 95 % interval is
    worse than its expected range, ABOVE if the whole interval is better, UNSURE if there is no interval, or if the
    interval or the range is too wide to tell, NOT MEASURED if its experiment failed, UNKNOWN if no range is known, and
    otherwise AS EXPECTED. The exit code is 1 if an area is BELOW, 3 if one is NOT MEASURED or if a CPU quota or other
    programs slowed the run down, and 5 if no area could be judged.

    Parameters
    ----------
    runs
        A run file (.jsonl) to judge, or several, and folders with run files, to judge each machine of a fleet. Default:
        measure on this machine the values that have expected ranges.
    expect
        The site file with the expected ranges, which --learn writes. Default: the catalogue of cloud instance types,
        if nameplate-catalogue is installed.
    type
        The instance type of the machine, such as Standard_D4s_v5. Default: derived from its DMI data or its CPU
        model.
    ask_metadata
        Ask the metadata service of the cloud, at a link-local address, for the instance type.
    sources
        Print the sources of the catalogue with their licences, and measure nothing.
    learn
        Measure nothing, but learn the expected ranges from the runs of healthy machines, and write a site file: run
        files, or folders with run files.
    output
        With --learn, the site file to write (default: site.toml). Otherwise the run file to write.
    force
        With --learn, replace the site file if it exists. Run files are never replaced.
    fast
        Measure for 5 seconds instead of 30, without values that are derived from many experiments; for 15 seconds in a
        guest that returns free memory to its host.
    even_if_busy
        Measure and judge even if other programs take CPU time. By default that is an error with exit code 3.
    strict
        End with exit code 4 if an area is UNSURE or UNKNOWN.
    one_line
        Print one line of at most 100 ASCII characters, for the reason of a drained node.
    format
        The output format: table, json, or junit, with a test for each value, for CI systems.
    all
        Show all values that are judged, and not only the one that decides on each area.
    json
        The same as --format json.
    quiet
        Do not show progress.
    """
    if learn:
        if runs or expect is not None:
            raise UsageError("--learn takes runs and writes a site file: leave out RUN and --expect")
        return learn_site(learn, output, force, quiet)
    if sources:
        return print_sources()
    if [one_line, json, format != "table"].count(True) > 1 and not (json and format == "json"):
        raise UsageError("--one-line, --json and --format: use one of them")
    if force:
        raise UsageError("--force replaces the site file that --learn writes: add --learn, or leave it out")
    if runs:
        _check_judged_as_is(output, fast or even_if_busy)
    source = expectation_source(expect, type, ask_metadata)
    format_name = "one-line" if one_line else "json" if json else format
    if len(runs) > 1 or (runs and is_folder(runs[0])):
        return check_machines(runs, source, format_name, all, strict)
    checked = _of_run(runs[0], source) if runs else _measured(source, output, fast, even_if_busy, quiet)
    _print(checked, format_name, all)
    return exit_code_of(checked.judgement.values, strict)


def _check_judged_as_is(output: Path | None, is_measured: bool) -> None:
    if output is not None:
        raise UsageError("-o names the run file to write, but RUN is an existing run: leave out one of them")
    if is_measured:
        raise UsageError("--fast and --even-if-busy are for a measurement, but RUN is an existing run: leave them out")


def _print(checked: Checked, format_name: str, has_all: bool) -> None:
    if format_name == "one-line":
        print(short_line(checked))
    elif format_name == "table":
        print_checked(checked, has_all)
    elif format_name == "junit":
        print(judgement_junit(checked.judgement), end="")
    else:
        expected = checked.judgement.expectation
        document = {"machine": expected.machine, "sources": expected.sources, "provisional": expected.provisional,
                    "values": checked.judgement.values}  # fmt: skip
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def _of_run(run: Path, source: ExpectationSource) -> Checked:
    report = read_report(run)
    expectation = source(_machine_of(report, run), report.run.plan.experiments)
    _refuse_slowed(report, run)
    return _checked(report, expectation, run)


def _measured(
    source: ExpectationSource, output: Path | None, is_fast: bool, even_if_busy: bool, quiet: bool
) -> Checked:
    """Measure on this machine the values that have expected ranges, and return them with their judgement."""
    core = describe_core(alone(), [])
    budget = _BUDGET
    if is_fast:
        budget = _FAST_BUDGET_OF_GUEST if returns_free_memory() else _FAST_BUDGET
    quick = build_plan(read_plan("quick"), core.probes, {"budget": budget}, core.machine)
    if core.machine.emulator:
        raise NothingExpected(f"this machine cannot be judged: its processor is emulated by {core.machine.emulator}")
    expectation = source(core.machine, quick.experiments)
    plan = _plan(quick, expectation, is_fast)
    if not even_if_busy:
        refuse_if_busy(core.machine)
    with new_run_file(output) as writer:
        progress = make_progress(quiet, False, plan.experiments)
        header = make_run(plan, None, {}, "normal", "")
        report = measure_to_file(header, writer, None, progress, RunEnvironment(core.machine))
    _machine_of(report, writer.path)
    _refuse_slowed(report, writer.path, even_if_busy)
    return _checked(report, expectation, writer.path)


def _machine_of(report: Report, run: Path) -> Machine:
    """Return the machine of a run. Raises NothingExpected if no range can fit it, for example if it is emulated."""
    why = why_without_class(report)
    if why or report.machine is None:
        raise NothingExpected(f"{run} cannot be judged: {why}")
    return report.machine


def _refuse_slowed(report: Report, run: Path, even_if_busy: bool = False) -> None:
    """Raise NotJudged if a CPU quota slowed the run down, or if other programs did, unless ``even_if_busy``."""
    slowed = why_no_verdict(report, even_if_busy)
    if slowed:
        raise NotJudged(f"{run} cannot be judged: {slowed}; measure again without it")


def _checked(report: Report, expectation: Expectation, run: Path) -> Checked:
    return Checked(report, MachineJudgement(judge(judgeable(report), expectation.ranges), expectation), str(run))


def _plan(quick: Plan, expectation: Expectation, is_fast: bool) -> Plan:
    """Return the plan ``quick`` with only the experiments that are needed for values with an expected range.

    These experiments have a range themselves, or a value with a range is derived from them.
    """
    identities = {expected.experiment for expected in expectation.ranges}
    probes_of_sweeps = {
        expected.split()[0] for expected in identities - {experiment.id for experiment in quick.experiments}
    }
    if is_fast:
        probes_of_sweeps = set()
    experiments = [
        expected for expected in quick.experiments if expected.id in identities or expected.probe in probes_of_sweeps
    ]
    if not experiments:
        raise NothingExpected(
            f"nothing that the plan quick measures has an expected range for {expectation.machine}; learn one from "
            "runs of quick on healthy machines: nameplate check --learn RUNS/"
        )
    return msgspec.structs.replace(quick, name="check", experiments=experiments)
