"""Implement ``nameplate check``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from nameplate.commands._measuring import Place, make_run, measure_to_file, new_run_file
from nameplate.commands._reading import read_report
from nameplate.errors import CoreError, FileError, NothingExpected, UsageError
from nameplate.execution.busy_cpus import busiest_cpu
from nameplate.execution.core_process import CoreDescription, CoreProcess, OnRecord, describe_core
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import alone
from nameplate.expectations.judged_results import why_not_judged
from nameplate.expectations.judging import JudgedValue, areas_of, judge
from nameplate.expectations.machine_class import class_of
from nameplate.expectations.site_file import MIN_MACHINES, ClassRanges, Site, read_site, site_text
from nameplate.planning.plan_file import build_plan, read_plan
from nameplate.records.atomic_write import write_whole
from nameplate.records.machine_record import Machine
from nameplate.records.outputs import check_output
from nameplate.records.plan_record import Plan
from nameplate.records.result import Report
from nameplate.report.format import count
from nameplate.report.terminal.check import Checked, print_checked, short_line
from nameplate.report.terminal.progress import make_progress
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise

_BELOW, _STRICT = 1, 4
_SITE = Path("site.toml")
_BUDGET, _FAST_BUDGET = "30s", "5s"
# A CPU that is busy for a larger share of this time spoils the measurement.
_BUSY, _LOOK_S = 0.2, 0.5
# As many classes as a message names.
_FEW = 3


def command(  # noqa: PLR0913 (the options of the command line)
    run: Path | None = None,
    /,
    *,
    expect: Annotated[Path | None, Parameter(show_default=False)] = None,
    learn: Annotated[tuple[Path, ...], Parameter(show_default=False, consume_multiple=True)] = (),
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], show_default=False)] = None,
    fast: bool = False,
    even_if_busy: bool = False,
    strict: bool = False,
    one_line: bool = False,
    all: bool = False,  # noqa: A002
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Say whether this machine, or that of a run, delivers what it should.

    The verdict of an area is BELOW if a value's whole 95 % interval is worse than its expected range, AS EXPECTED,
    ABOVE, UNSURE if the interval reaches beyond the range, NOT MEASURED, or UNKNOWN. The exit code is 1 if an area is
    BELOW, 3 if one is NOT MEASURED, and 5 if none could be judged.

    Parameters
    ----------
    run
        A run file (.jsonl) to judge. Default: measure on this machine what the site file expects of it.
    expect
        The site file with the expected ranges, which --learn writes.
    learn
        Learn the expected ranges from the runs of healthy machines: run files, or folders with run files.
    output
        With --learn, the site file to write (default: site.toml). Otherwise the run file to write.
    fast
        Measure for 5 seconds instead of 30, without values that are derived from many experiments.
    even_if_busy
        Measure even if other programs keep a CPU busy. By default that is an error with exit code 3.
    strict
        End with exit code 4 if an area is UNSURE or UNKNOWN.
    one_line
        Print one line of at most 100 ASCII characters, for the reason of a drained node.
    all
        Show all values that are judged, and not only the one that decides on each area.
    json
        Print the values with their verdicts as JSON.
    quiet
        Do not show progress.
    """
    if learn:
        if run is not None or expect is not None:
            raise UsageError("--learn takes runs and writes a site file: leave out RUN and --expect")
        return _learn(learn, output, quiet)
    if expect is None:
        raise UsageError("nothing to compare with: give --expect SITE.toml, which nameplate check --learn RUNS/ writes")
    if run is not None and output is not None:
        raise UsageError("-o names the run file to write, but RUN is judged as it is: leave out one of them")
    checked = _of_run(run, expect) if run is not None else _measured(expect, output, fast, even_if_busy, quiet)
    if one_line:
        print(short_line(checked))
    elif json:
        document = {"machine": checked.found.machine, "expected": str(expect), "provisional": checked.found.provisional,
                    "values": checked.values}  # fmt: skip
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        print_checked(checked, has_all=all)
    return _exit_code(checked.values, strict)


def _exit_code(values: Sequence[JudgedValue], strict: bool) -> int:
    verdicts = {own[0].verdict for own in areas_of(values).values()}
    if "BELOW" in verdicts:
        return _BELOW
    if "NOT MEASURED" in verdicts:
        return CoreError.exit_code
    if verdicts <= {"UNKNOWN"}:
        return NothingExpected.exit_code
    return _STRICT if strict and verdicts & {"UNSURE", "UNKNOWN"} else 0


def _learn(paths: Sequence[Path], given: Path | None, quiet: bool) -> int:
    # numpy and scipy take half a second.
    from nameplate.expectations.learning import Learner  # noqa: PLC0415

    output = given or _SITE
    if given is None and output.exists():
        raise UsageError(f"{output} exists and may have been edited: name the file to write with -o")
    check_output("-o", output)
    learner = Learner()
    n_learned = 0
    for path in _run_files(paths):
        try:
            why = learner.add(summarise(read_run(path)))
        except FileError as error:
            why = str(error)
        n_learned += not why
        if why and not quiet:
            print(f"nameplate: {path} is left out: {why}", file=sys.stderr)
    if not n_learned:
        raise UsageError("there is no complete run to learn from: give run files (.jsonl), or folders that have some")
    site = learner.site(date.today())
    write_whole(site_text(site).encode(), output)
    print(f"wrote {output}: {_learned_words(site)} from {count(n_learned, 'run')}")
    for each in site.classes:
        for line in _notes(each):
            print(f"{each.machine.words}: {line}")
    return 0


def _notes(learned: ClassRanges) -> list[str]:
    """Return what the reviewer of a site file must know: machines that were left out, and metrics without a range."""
    left_out = Counter(name for each in learned.range for name in each.left_out)
    names = ", ".join(f"{name} ({count(n, 'metric')})" for name, n in left_out.most_common(_FEW))
    more = f" and {len(left_out) - _FEW} more" if len(left_out) > _FEW else ""
    return [*([f"far from the others and left out: {names}{more}"] if names else []), *learned.without_range]


def _learned_words(site: Site) -> str:
    machines = sum(each.machines for each in site.classes)
    provisional = sum(each.provisional for each in site.classes)
    classes = "1 class" if len(site.classes) == 1 else f"{len(site.classes)} classes"
    few = f", {provisional} of them provisional, with fewer than {MIN_MACHINES} machines" if provisional else ""
    return f"{classes} of {count(machines, 'machine')}{few},"


def _run_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.jsonl"))
        else:
            yield path


def _of_run(run: Path, expect: Path) -> Checked:
    report = read_report(run)
    site = read_site(expect)
    return _checked(report, site, expect, run)


def _measured(expect: Path, output: Path | None, is_fast: bool, even_if_busy: bool, quiet: bool) -> Checked:
    """Measure on this machine what the site expects of it."""
    site = read_site(expect)
    core = describe_core(alone(), [])
    found = _expected_of(site, core.machine, expect)
    plan = _plan(core, found, expect, is_fast)
    if not even_if_busy:
        _refuse_if_busy(core.machine)

    def start_core(on_record: OnRecord, keeper: FileDescriptorCache) -> CoreProcess:
        return CoreProcess(on_record, 0, keeper, [], alone())

    with new_run_file(output) as writer:
        progress = make_progress(quiet, False, plan.experiments)
        header = make_run(plan, None, {}, "normal", "")
        report = measure_to_file(header, writer, None, progress, Place(core.machine, start_core, None))
    return _checked(report, site, expect, writer.path)


def _checked(report: Report, site: Site, expect: Path, run: Path) -> Checked:
    why = why_not_judged(report)
    if why or report.machine is None:
        raise NothingExpected(f"{run} cannot be judged: {why}")
    found = _expected_of(site, report.machine, expect)
    return Checked(report, judge(report, found.range), str(expect), found, str(run), site.learned)


def _expected_of(site: Site, machine: Machine, expect: Path) -> ClassRanges:
    own = class_of(machine)
    found = site.ranges_of(own)
    if found is None:
        raise NothingExpected(f"{expect} has no class {own.words}; {_known(site)}")
    return found


def _refuse_if_busy(machine: Machine) -> None:
    busiest = busiest_cpu(machine.topology.allowed_cpus, _LOOK_S)
    if busiest is not None and busiest[1] > _BUSY:
        raise CoreError(
            f"this machine is busy: CPU {busiest[0]} was busy for {busiest[1] * 100:.0f} % of half a second; "
            "wait, or add --even-if-busy"
        )


def _plan(core: CoreDescription, found: ClassRanges, expect: Path, is_fast: bool) -> Plan:
    """Return the experiments of quick that have an expected range, or from which a value with one is derived."""
    limits = {"budget": _FAST_BUDGET if is_fast else _BUDGET}
    plan = build_plan(read_plan("quick"), core.probes, limits, core.machine)
    wanted = {each.experiment for each in found.range}
    of_whole_probe = {each.split()[0] for each in wanted - {experiment.id for experiment in plan.experiments}}
    if is_fast:
        of_whole_probe = set()
    experiments = [each for each in plan.experiments if each.id in wanted or each.probe in of_whole_probe]
    if not experiments:
        raise NothingExpected(f"{expect} expects nothing that the plan quick measures: learn from runs of quick")
    return msgspec.structs.replace(plan, name="check", experiments=experiments)


def _known(site: Site) -> str:
    if not site.classes:
        return "it has no class at all"
    words = [each.machine.words for each in site.classes]
    return f"it has {'; '.join(words[:_FEW])}{' and others' if len(words) > _FEW else ''}"
