"""Implement ``nameplate run``."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast, get_args

import msgspec

from nameplate import __version__
from nameplate.commands._against import BaselineComparison, OutputKind, base_and_plan, show_verdicts, until_decided
from nameplate.commands._dry_run import check_peer, check_room, print_plan
from nameplate.commands._exit_codes import incomplete_code, slow_code
from nameplate.commands._expected import check_site, with_judgement
from nameplate.commands._priority import nice_value, with_priority
from nameplate.commands._run_options import RunOptions
from nameplate.commands._study import check_study, write_study
from nameplate.commands._tools import asked_references, reference_values, references_take_s
from nameplate.errors import FileError, OutputError, UsageError
from nameplate.execution.core_process import CoreDescription, describe, describe_all, describe_core
from nameplate.execution.launch import Launch
from nameplate.execution.measuring import (
    RunEnvironment,
    check_seed,
    core_options,
    make_plan,
    make_run,
    measure_to_file,
    new_run_file,
    nodes_of_run,
)
from nameplate.execution.slurm import Allocation, allocation_of, write_script
from nameplate.expectations.site_file import read_site
from nameplate.extras import check_extra
from nameplate.planning.budget import START_COMMAND_S, min_plan_s
from nameplate.planning.places import check_places
from nameplate.planning.rated_keys import check_rated
from nameplate.planning.sweep import split_arguments
from nameplate.probes import probe_of
from nameplate.probes.shared.ceilings import parse_rated, read_rated_lines
from nameplate.probes.shared.job import nodes_of
from nameplate.process import command_began
from nameplate.records.machine_record import Cpu, Job, Machine, Topology, job_of
from nameplate.records.outputs import check_output
from nameplate.records.plan_record import PerNode, Plan
from nameplate.records.result import Report
from nameplate.records.run_record import Reference, Run
from nameplate.records.run_writer import RunWriter, check_new
from nameplate.report.content.aliases import without_names
from nameplate.report.content.judgement import MachineJudgement
from nameplate.report.terminal.progress import make_progress
from nameplate.report.terminal.run import print_report
from nameplate.results.cached_report import keep_report
from nameplate.results.measurements import RunFile
from nameplate.results.run_file import read_run
from nameplate.streams import has_reader
from nameplate.studies import with_study
from nameplate.suggestion import nearest

GROUP = "Measure"

# The time to draw the charts of a report or a study.
REPORT_S = 2.5
DEFAULT_PLAN = "quick"
_STDOUT = Path("/dev/stdout")


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to start.

    - ``header``: the first record of the run; ``core``: the description of the core that measures
    - ``writer``, ``earlier``: the locked run file to continue, and its content; None for a new run
    - ``base``: the run to compare with; None for a run that is not compared
    """

    header: Run
    core: CoreDescription
    writer: RunWriter | None = None
    earlier: RunFile | None = None
    base: Report | None = None


def command(plan_or_probe: str = DEFAULT_PLAN, /, *parameters: str, options: RunOptions | None = None) -> int:
    """Measure a plan or a probe, and show on one screen what the machine delivers and how far to trust it.

    For example, "nameplate run" measures the plan quick in at most a minute, and "nameplate run cpu_flops isa=avx2
    threads=1,2" measures one probe with one thread and with two. The exit code is 3 if something could not be measured,
    and 1 if nodes of an MPI job are compared and one is slow.

    Parameters
    ----------
    plan_or_probe
        A plan that comes with nameplate ("nameplate plan" lists them), the path of a plan file (.toml), or a probe.
    parameters
        Parameters of the probe as name=value. The forms a,b,c and 1KiB..1GiB*2 sweep a range. Default: the sweep that
        the probe declares. A plan has only dir=DIRECTORY, the directory of its test files.
    """
    options = options or RunOptions()
    _check(plan_or_probe, options)
    allocation = allocation_of(options.launch) if options.slurm is not None else None
    with ExitStack() as stack:
        options = stack.enter_context(_with_run_file(options))
        prepared = _prepared(plan_or_probe, parameters, options, allocation, stack)
        if options.study is not None:
            check_study(prepared.header.plan.name, options.study, options.force)
        if options.dry_run:
            if options.output is not None:
                check_new(options.output)
            check_room(prepared.header.plan.experiments)
            check_peer(options.peer)
            print_plan(prepared.header, options.peer, options.mpi, prepared.core.machine)
            return 0
        if options.slurm is not None and allocation is not None:
            write_script(options.slurm, allocation, prepared.header, sys.argv[1:])
            print(f"wrote {options.slurm}; submit it with: sbatch {shlex.quote(str(options.slurm))}")
            return 0
        if options.expect is not None:
            check_site(options.expect, prepared.core.machine)
        writer = prepared.writer or stack.enter_context(new_run_file(options.output))
        result = _measure(options, prepared, writer)
    if options.baseline is not None and prepared.base is not None:
        _write_report([prepared.base, result], options)
        output: OutputKind = (
            "json" if options.json else "nothing" if options.quiet else "all" if options.all else "changes"
        )
        return show_verdicts(prepared.base, result, options.baseline, writer.path, output)
    return _finish(options, result, writer.path)


@contextmanager
def _with_run_file(options: RunOptions) -> Iterator[RunOptions]:
    """Yield the options; for ``-o /dev/stdout`` with a temporary run file, which is copied there at the end."""
    if options.output != _STDOUT:
        yield options
        return
    with TemporaryDirectory(prefix="nameplate-") as folder:
        path = Path(folder) / "run.jsonl"
        try:
            yield replace(options, output=path, quiet=True)
        finally:
            if path.exists():
                with path.open("rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)
                sys.stdout.buffer.flush()


def _check(plan_or_probe: str, options: RunOptions) -> None:
    """Check the options without starting a process, except for the launcher.

    Raises:
        UsageError: an option is not possible.
        FileError: an output file cannot be written.
    """
    launch = options.launch
    if nice_value(options.priority or "normal") and launch.launcher:
        raise UsageError("--priority high has no effect with --mpi, whose launcher starts the processes: leave it out")
    check_seed(options.seed)
    core_options(options.peer, options.key_file, options.blas)  # rejects a key file without a peer
    _check_against(options)
    if options.output == _STDOUT and (options.json or options.all or options.dry_run or options.slurm):
        raise UsageError("-o /dev/stdout: it has the run file: leave out --json, --all, --dry-run and --slurm")
    if options.study is not None:
        check_extra("report", "--study")
        if options.resume is None:
            check_study(plan_or_probe, options.study, options.force)
    if options.report is not None:
        check_extra("report", "--report")
    if options.output is not None and options.output.is_dir():
        raise FileError(f"-o {options.output} is a directory: name a file in it")
    if options.expect is not None:
        read_site(options.expect)
    plan = Path(plan_or_probe) if plan_or_probe.endswith(".toml") else None
    inputs = (options.against, plan, options.expect, *(Path(name) for name in options.rated if "=" not in name))
    outputs = (options.output, options.resume, options.slurm)
    check_output("--report", options.report, inputs, outputs, options.force)
    check_output("--slurm", options.slurm, further=(options.output, options.resume))


def _check_against(options: RunOptions) -> None:
    """Raise UsageError if ``--against`` is not possible, or is given with an option that it excludes."""
    if options.baseline is None:
        return
    excluded = {"--resume": options.resume, "--slurm": options.slurm, "--study": options.study,
                "--per-node": options.per_node, "--expect": options.expect}  # fmt: skip
    for name, value in excluded.items():
        if value is not None:
            raise UsageError(f"{name} is not possible with --against, which measures an earlier plan: leave it out")


def _prepared(
    plan_or_probe: str, parameters: Sequence[str], options: RunOptions, allocation: Allocation | None, stack: ExitStack
) -> Prepared:
    """Prepare a run that continues an earlier run, repeats one until its verdicts are final, or measures a plan."""
    if options.read_device is not None:
        parameters = [*parameters, f"read_device={options.read_device}"]
    # The first argument names the plan; "quick" is the default, and the plan of an earlier run needs no name.
    arguments = [*([] if plan_or_probe == DEFAULT_PLAN else [plan_or_probe]), *parameters]
    if options.resume is not None:
        return _resumed(arguments, options, options.resume, stack)
    if options.baseline is not None:
        return _planned_against(arguments, options, options.baseline)
    return _planned(plan_or_probe, parameters, options, allocation)


def _resumed(arguments: Sequence[str], options: RunOptions, path: Path, stack: ExitStack) -> Prepared:
    """Lock the run file to continue, so that no other process writes to it, and read the file."""
    excluded = {"-o": options.output, "--slurm": options.slurm, "--seed": options.seed, "--priority": options.priority,
                "--per-node": options.per_node}  # fmt: skip
    given = [*options.limits, *options.rated, *(name for name, value in excluded.items() if value is not None)]
    writer = stack.enter_context(RunWriter.reopen(path))
    earlier = read_run(path)
    if earlier.run.plan.limits.detect is not None:
        raise UsageError(
            f"{path} cannot be resumed, because it ran until its verdicts were final: start a new run with --against, "
            "or nameplate ab"
        )
    core = describe_core(options.launch, options.core_options)
    _check_resumable(earlier, core.machine, given)
    check_places(earlier.run.plan.experiments, core.probes, split_arguments(arguments), str(path))
    return Prepared(earlier.run, core, writer, earlier)


def _planned(
    plan_or_probe: str, parameters: Sequence[str], options: RunOptions, allocation: Allocation | None
) -> Prepared:
    """Plan a run. For a batch job, this machine stands for each node of the allocation."""
    launch = options.launch
    if not launch.launcher and probe_of(plan_or_probe).takes_all_ranks:
        raise UsageError(f'{plan_or_probe} needs an MPI launcher: nameplate run {plan_or_probe} --mpi "mpirun -n 2"')
    if allocation is None:
        core = describe_core(launch, options.core_options)
    else:
        machine = describe_core(options=options.core_options).machine
        job = job_of(allocation.ranks, allocation.nodes)
        core = CoreDescription(describe(launch), msgspec.structs.replace(machine, job=job))
    turns = len(nodes_of(core.machine)) if options.per_node == "in-turn" and launch.launcher else 1
    plan = make_plan(plan_or_probe, parameters, options.limits, core, turns,
                     lambda text: references_take_s(asked_references(text), core.machine))  # fmt: skip
    plan, priority = with_priority(plan, options.priority, launch)
    per_node = _per_node(options.per_node, plan, launch, options.series)
    return Prepared(make_run(plan, options.seed, _rated(options.rated), priority, per_node), core)


def _planned_against(arguments: Sequence[str], options: RunOptions, baseline: BaselineComparison) -> Prepared:
    """Plan a run that measures the experiments of an earlier run until their verdicts are final."""
    core = describe_core(options.launch, options.core_options)
    base, plan = base_and_plan(baseline, arguments, options.limits, core.probes, options.launch)
    priority = options.priority or base.run.priority
    nice_value("normal" if options.launch.launcher else priority)
    return Prepared(make_run(plan, options.seed, _rated(options.rated), priority, ""), core, base=base)


def _measure(options: RunOptions, prepared: Prepared, writer: RunWriter) -> Report:
    header, core = prepared.header, prepared.core
    nodes = nodes_of_run(header, core.machine)
    turns = nodes.turns if nodes else 1
    is_new = prepared.earlier is None
    references = _reference_values(header.plan, core, turns, options.quiet) if is_new else []
    decided = until_decided(prepared.base, options.baseline) if options.baseline and prepared.base else None
    closing_s = REPORT_S * sum(path is not None for path in (options.report, options.study))
    environment = RunEnvironment(
        core.machine, options.launch, options.core_options, nice_value(header.priority), nodes, references,
        command_began(), closing_s, decided,
    )  # fmt: skip
    progress = make_progress(options.quiet, header.plan.limits.interval_s is not None, header.plan.experiments)
    report = measure_to_file(header, writer, prepared.earlier, progress, environment)
    keep_report(writer.path, report)
    return with_study(report)


def _finish(options: RunOptions, result: Report, path: Path) -> int:
    """Show the results, write the report and the study, and return the exit code."""
    was_heard = options.quiet or has_reader(sys.stdout)
    judged, judgement = with_judgement(result, options.expect)
    _write_report([judged], options, [judgement])
    if options.json:
        from nameplate.report.exports.json import export  # noqa: PLC0415 (one of several formats)

        sys.stdout.write(export(without_names([judged])[0]))
    elif not options.quiet:
        print_report(judged, path, options.all)
        if options.report is not None:
            print(f"report: {options.report}")
    if options.study is not None:
        written = write_study(result, options.study, options.force)
        if not (options.json or options.quiet):
            print(written)
    if not was_heard:
        raise OutputError(
            f"standard output was closed before the run ended; show the results with: nameplate show {path}"
        )
    return slow_code(result.nodes) or incomplete_code(result)


def _write_report(
    runs: Sequence[Report], options: RunOptions, judgements: Sequence[MachineJudgement | None] = ()
) -> None:
    if options.report is not None:
        from nameplate.report.html.document import write_html  # noqa: PLC0415 (charts take a second to import)

        write_html(runs, options.report, judgements=judgements, force=options.force)


def _reference_values(plan: Plan, core: CoreDescription, turns: int, quiet: bool) -> Sequence[Reference]:
    """Run the reference tools of the plan, until the plan needs the rest of a binding budget."""
    references = asked_references(plan)
    takes_s = references_take_s(references, core.machine)
    if takes_s and not quiet:
        names = ", ".join(dict.fromkeys(reference.name for reference in references))
        within = ", within the budget" if plan.limits.budget_binds else ""
        print(f"nameplate: running the installed reference tools ({names}): about {takes_s:.0f} s{within}",
              file=sys.stderr)  # fmt: skip
    # The start of the command, which min_plan_s includes, is over by now.
    needed_s = min_plan_s(plan, turns) - START_COMMAND_S
    left_s = plan.limits.budget_s - needed_s if plan.limits.budget_binds else float("inf")
    return reference_values(references, core, command_began() + left_s)


def _per_node(text: str | None, plan: Plan, launch: Launch, series: str | None) -> PerNode:
    if text is None and plan.per_node and not launch.launcher:
        raise UsageError(f'{plan.name} measures the nodes of an MPI job: nameplate run {plan.name} --mpi "srun -N 8"')
    text = text or plan.per_node
    if not text:
        return ""
    if series:
        raise UsageError("--per-node keeps only the sum of the samples of each node: leave out --series")
    ways = get_args(PerNode)[1:]
    if text not in ways:
        raise UsageError(f"--per-node {text}: unknown; {nearest(text, ways)}")
    if not launch.launcher:
        raise UsageError(f'--per-node needs the nodes of an MPI job: --mpi "mpirun -n 8 …" --per-node {text}')
    return cast(PerNode, text)


def _check_resumable(earlier: RunFile, today: Machine, options: Sequence[str]) -> None:
    """Raise UsageError unless the machine and the version are those of the earlier run and no option is given.

    A median over rounds needs all of them from the same machine, version and plan.
    """
    if options:
        raise UsageError(f"--resume takes the plan and its options from {earlier.path}: leave out {options[0]}")
    if not earlier.headers:
        return
    before = earlier.headers[-1].machine
    for kind, key in (("host", "hostname"), ("CPU", "cpu"), ("topology", "topology"), ("MPI job", "job")):
        if _stable(getattr(before, key)) != _stable(getattr(today, key)):
            raise UsageError(
                f"{earlier.path} was measured on another {kind}: resume it on the same machine, or start a new run"
            )
    if earlier.run.version != __version__:
        raise UsageError(
            f"{earlier.path} was measured by nameplate {earlier.run.version}, this is {__version__}: start a new run"
        )


def _stable(facts: Cpu | Topology | Job | str | None) -> Cpu | Topology | Job | str | None:
    """Return the facts without the clock that /proc/cpuinfo lists, since this clock varies."""
    return msgspec.structs.replace(facts, listed_frequency_hz=None) if isinstance(facts, Cpu) else facts


def _rated(arguments: Sequence[str]) -> dict[str, float]:
    lines: list[str] = []
    for argument in arguments:
        if "=" in argument:
            lines.append(argument)
            continue
        lines += read_rated_lines(Path(argument))
    rated = parse_rated(lines)
    if rated:
        check_rated(rated, describe_all())
    return rated
