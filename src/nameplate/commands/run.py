"""Implement ``nameplate run``."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast, get_args

import msgspec
from cyclopts import Parameter
from msgspec import structs

from nameplate import __version__
from nameplate.commands._against import Against, Shown, against_of, base_and_plan, show_verdicts, until_decided
from nameplate.commands._dry_run import print_plan
from nameplate.commands._exit_codes import incomplete_code, slow_code
from nameplate.commands._expected import check_site, with_judgement
from nameplate.commands._study import check_study, write_study
from nameplate.commands._tools import asked_references, reference_values, references_take_s
from nameplate.errors import FileError, OutputError, UsageError
from nameplate.execution.core_process import (
    CoreDescription,
    describe,
    describe_all,
    describe_core,
)
from nameplate.execution.launch import Launch, alone, launch_with
from nameplate.execution.measuring import (
    RunEnvironment,
    check_seed,
    core_options,
    make_run,
    measure_to_file,
    new_run_file,
    nodes_of_run,
)
from nameplate.execution.slurm import Allocation, allocation_of, write_script
from nameplate.expectations.site_file import read_site
from nameplate.planning.budget import START_COMMAND_S, min_plan_s
from nameplate.planning.places import check_places
from nameplate.planning.plan_file import build_plan, read_plan, shipped_plans, sweep_plan
from nameplate.planning.rated_keys import check_rated
from nameplate.planning.sweep import ProbeInfo, nearest, split_arguments
from nameplate.probes import probe_of
from nameplate.probes.shared.ceilings import parse_rated, read_rated_lines
from nameplate.probes.shared.job import nodes_of
from nameplate.process import command_began
from nameplate.records.machine_record import Cpu, Job, Machine, Topology, job_of
from nameplate.records.outputs import check_output
from nameplate.records.plan_record import PerNode, Plan
from nameplate.records.result import Report
from nameplate.records.run_record import Reference, Run
from nameplate.records.run_writer import RunWriter
from nameplate.report.content.aliases import without_names
from nameplate.report.content.judgement import MachineJudgement
from nameplate.report.formats.optional_packages import check_report_packages
from nameplate.report.terminal.progress import make_progress
from nameplate.report.terminal.run import print_report
from nameplate.results.cached_report import keep_report
from nameplate.results.measurements import RunFile
from nameplate.results.run_file import read_run
from nameplate.streams import has_reader

HIGH_PRIORITY = -20
# The time to draw the charts of a report or a study.
REPORT_S = 2.5
DEFAULT_PLAN = "quick"
Option = Annotated[str | None, Parameter(show_default=False)]


def command(  # noqa: PLR0913 (the options of the command line)
    what: str = DEFAULT_PLAN,
    /,
    *parameters: str,
    budget: Option = None,
    precision: Option = None,
    rounds: Option = None,
    samples: Option = None,
    time: Option = None,
    warmup: Option = None,
    series: Option = None,
    read_device: Option = None,
    peer: Option = None,
    key_file: Option = None,
    blas: Option = None,
    mpi: Option = None,
    per_node: Option = None,
    slurm: Path | None = None,
    seed: int | None = None,
    priority: Option = None,
    rated: Annotated[Sequence[str], Parameter(show_default=False)] = (),
    expect: Annotated[Path | None, Parameter(show_default=False)] = None,
    dry_run: bool = False,
    resume: Path | None = None,
    against: Path | None = None,
    detect: Option = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    report: Path | None = None,
    study: Path | None = None,
    force: bool = False,
    all: bool = False,  # noqa: A002
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Measure a plan or a probe, and show on one screen what the machine delivers and how far to trust it.

    For example, "nameplate run" measures the plan quick in at most a minute, and "nameplate run cpu_flops isa=avx2
    threads=1,2" measures one probe with one thread and with two. The exit code is 1 if nodes of an MPI job are compared
    and one is slow.

    Parameters
    ----------
    what
        A plan that comes with nameplate ("nameplate plan" lists them), the path of a plan file (.toml), or a probe.
    parameters
        Parameters of the probe as name=value. The forms a,b,c and 1KiB..1GiB*2 sweep a range. Default: the sweep that
        the probe declares.
    budget
        The maximum duration of the whole run, such as 60s or 10min. With fixed rounds, slices are shortened so that all
        rounds fit, and a budget that is too short for them is rejected.
    precision
        Stop measuring an experiment when its 95 % interval is narrower than ± this percentage of the value, such as
        2%.
    rounds
        Take exactly this number of rounds, whatever the precision. The budget applies only if it is given as well.
    samples
        The maximum number of samples of an experiment in a round.
    time
        The duration of one sample, such as 10s.
    warmup
        The time that each experiment runs before its first sample.
    series
        Take one sample per interval without a gap: DURATION/INTERVAL, such as 600s/1s.
    read_device
        A block device that disk_block reads instead of a file. It is never written to.
    peer
        The HOST[:PORT] of a "nameplate serve" for the network probes. Default: a peer that is started on this machine.
    key_file
        A file with the key shared with that peer. Default: NAMEPLATE_KEY in the environment.
    blas
        The name or path of the LAPACK that cpu_linpack uses, such as libmkl_rt.so.2. Default: OpenBLAS.
    mpi
        The MPI launcher with its options, in quotes: "mpirun -n 4", "srun -n 64".
    per_node
        With --mpi, run the single-machine probes on every node of the job: in-turn (one node at a time) or at-once.
    slurm
        Measure nothing now, but write this sbatch script, which measures in a batch job. Needs --mpi "srun -N 4 -n 64".
    seed
        The seed of the shuffled order. Default: a random one, which is recorded.
    priority
        The scheduling priority: normal, or high, which needs the privilege to raise it. Default: that of the plan, else
        normal.
    rated
        Reference values, such as memory=59.7GB/s,cpu_flops=2TFLOP/s, or a file with such lines.
    expect
        A site file of nameplate check, whose expected ranges give reference values where there are no others, and by
        which --report judges the machine. Default: what others measured on such a machine, if nameplate-catalogue is
        installed. Not with --against.
    dry_run
        Show what would run, for how long, and what it would write and send. Measure nothing.
    resume
        Continue an interrupted run file: measure only what is missing.
    against
        An earlier run. Its experiments are measured again until each is SAME or changed, or until the budget
        ends, and the verdicts are shown.
    detect
        With --against, the size of a change that matters, such as 5%: SAME means that a change of this size is ruled
        out. Default: 5%.
    output
        The run file to write. Default: nameplate-DATE-TIME.jsonl in the current directory.
    report
        Also write an HTML report to this file.
    study
        A folder for the results of a plan that reproduces a study: its tables with the published values as CSV, its
        charts, and a report.
    force
        Let --report and --study replace files also if no checksum shows that nameplate wrote all of them. Run files are
        never replaced.
    all
        Show the tables of all values below the first screen.
    json
        Print the results as JSON instead.
    quiet
        Show neither progress nor results.
    """
    limits = {"budget": budget, "precision": precision, "rounds": rounds, "samples": samples, "time": time,
              "warmup": warmup, "series": series}  # fmt: skip
    return _run(
        RunOptions(
            what=what,
            parameters=parameters if read_device is None else (*parameters, f"read_device={read_device}"),
            limits={name: text for name, text in limits.items() if text is not None},
            core_options=core_options(peer, key_file, blas),
            launch=launch_with(mpi) if mpi is not None else alone(),
            peer=peer, mpi=mpi, per_node=per_node, slurm=slurm, seed=seed, priority=priority, rated=rated,
            expect=expect, dry_run=dry_run, resume=resume, against=against_of(against, detect),
            output=output, report=report, study=study, force=force, has_tables=all, json=json, quiet=quiet,
        )
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of ``nameplate run`` as given, after the checks that need only their text; None means not given.

    - ``what``: the name of a plan or a probe, or the path of a plan; ``parameters``: its ``name=value`` arguments
    - ``limits``: the texts of the given limits by option, such as ``{"budget": "60s"}``: budget, precision, rounds,
      samples, time, warmup and series
    - ``core_options``: options of nameplate-core, from ``peer``, a key file and a LAPACK library
    - ``launch``: how to start the core, from ``mpi``, the text of the launcher; directly if that is None
    - ``per_node``: "in-turn" or "at-once"; ``priority``: "normal" or "high"; both are not yet checked
    - ``slurm``: the batch script to write instead of measuring; ``resume``: the run file to continue
    - ``against``: the run to compare with while measuring, and the change to detect; None for a run on its own
    - ``rated``: the arguments of ``--rated``, KEY=VALUE or the path of a file of such lines; ``expect``: a site file
    - ``output``, ``report`` and ``study``: the run file, the HTML report and the folder of the study to write;
      ``force``: whether the latter two may replace files that nameplate did not write
    - ``has_tables``: whether to show the tables of all values
    - ``began``: the start of the command by ``time.monotonic``, from which the budget counts
    """

    what: str
    parameters: Sequence[str]
    limits: Mapping[str, str]
    core_options: Sequence[str]
    launch: Launch
    peer: str | None
    mpi: str | None
    per_node: str | None
    slurm: Path | None
    seed: int | None
    priority: str | None
    rated: Sequence[str]
    expect: Path | None
    dry_run: bool
    resume: Path | None
    against: Against | None
    output: Path | None
    report: Path | None
    study: Path | None
    force: bool
    has_tables: bool
    json: bool
    quiet: bool
    began: float = field(default_factory=command_began)


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to start: its first record, and the description of its core.

    ``writer`` and ``earlier`` are the locked run file that it continues, and its content; both are None for a new run.
    ``base`` is the run that it is compared with, or None.
    """

    header: Run
    core: CoreDescription
    writer: RunWriter | None = None
    earlier: RunFile | None = None
    base: Report | None = None


def _run(options: RunOptions) -> int:
    _check(options)
    allocation = allocation_of(options.launch) if options.slurm is not None else None
    with ExitStack() as stack:
        prepared = _resumed(options, options.resume, stack) if options.resume else _begun(options, allocation)
        if options.study is not None:
            check_study(prepared.header.plan.name, options.study, options.force)
        if options.dry_run:
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
    if options.against is not None and prepared.base is not None:
        if options.report is not None:
            _write_report([prepared.base, result], options.report, options.force)
        shown: Shown = "json" if options.json else "nothing" if options.quiet else "changes"
        if shown == "changes" and options.has_tables:
            shown = "all"
        return show_verdicts(prepared.base, result, options.against, writer.path, shown)
    return _finish(options, result, writer.path)


def _check(options: RunOptions) -> None:
    """Check the options that need no process to be started.

    Raises UsageError for an impossible option, FileError for an output file that cannot be written.
    """
    if _nice(options.priority or "normal") and options.launch.launcher:
        raise UsageError("--priority high has no effect with --mpi, whose launcher starts the processes: leave it out")
    check_seed(options.seed)
    if options.against is not None:
        others = {"--resume": options.resume, "--slurm": options.slurm, "--study": options.study,
                  "--per-node": options.per_node, "--expect": options.expect}  # fmt: skip
        for name, value in others.items():
            if value is not None:
                raise UsageError(f"{name} is not possible with --against, which measures an earlier plan: leave it out")
    if options.study is not None and options.resume is None:
        check_study(options.what, options.study, options.force)
    if options.output is not None and options.output.is_dir():
        raise FileError(f"-o {options.output} is a directory: name a file in it")
    if options.expect is not None:
        read_site(options.expect)
    base = options.against.base if options.against else None
    _check_report_packages(options)
    plan = Path(options.what) if options.what.endswith(".toml") else None
    inputs = (base, plan, options.expect, *(Path(name) for name in options.rated if "=" not in name))
    outputs = (options.output, options.resume, options.slurm)
    check_output("--report", options.report, inputs, outputs, options.force)
    check_output("--slurm", options.slurm, others=(options.output, options.resume))


def _check_report_packages(options: RunOptions) -> None:
    for option, given in (("--report", options.report), ("--study", options.study)):
        if given is not None:
            check_report_packages(option)


def _resumed(options: RunOptions, path: Path, stack: ExitStack) -> Prepared:
    """Lock the run file to continue, so that no other process writes to it, and read it."""
    others = {"-o": options.output, "--slurm": options.slurm, "--seed": options.seed, "--priority": options.priority,
              "--per-node": options.per_node}  # fmt: skip
    given = [*options.limits, *options.rated, *(name for name, value in others.items() if value is not None)]
    writer = stack.enter_context(RunWriter.reopen(path))
    earlier = read_run(path)
    if earlier.run.plan.limits.detect is not None:
        raise UsageError(f"{path} is measured until it is decided: start it anew with --against, or nameplate ab")
    core = describe_core(options.launch, options.core_options)
    _check_resumable(earlier, core.machine, given)
    # The first word names the plan, unless a run is resumed.
    words = [*([] if options.what == DEFAULT_PLAN else [options.what]), *options.parameters]
    check_places(earlier.run.plan.experiments, core.probes, split_arguments(words), str(path))
    return Prepared(earlier.run, core, writer, earlier)


def _begun(options: RunOptions, allocation: Allocation | None) -> Prepared:
    launch = options.launch
    _check_launched(options.what, launch)
    core = _core(options, allocation)
    if options.against is not None:
        return _begun_against(options, options.against, core)
    machine = core.machine
    turns = len(nodes_of(machine)) if options.per_node == "in-turn" and launch.launcher else 1
    plan = _choose(options.what, options.parameters, core.probes, options.limits, machine, turns)
    plan, priority = _with_priority(plan, options.priority, launch)
    per_node = _per_node(options.per_node, plan, launch, options.limits.get("series"))
    rated = _rated(options.rated)
    return Prepared(make_run(plan, options.seed, rated, priority, per_node), core)


def _begun_against(options: RunOptions, against: Against, core: CoreDescription) -> Prepared:
    words = [*([] if options.what == DEFAULT_PLAN else [options.what]), *options.parameters]
    base, plan = base_and_plan(against, words, options.limits, core.probes, options.launch)
    rated, priority = _rated(options.rated), options.priority or base.run.priority
    _nice("normal" if options.launch.launcher else priority)
    return Prepared(make_run(plan, options.seed, rated, priority, ""), core, base=base)


def _measure(options: RunOptions, prepared: Prepared, writer: RunWriter) -> Report:
    header, core = prepared.header, prepared.core
    nodes = nodes_of_run(header, core.machine)
    turns = nodes.turns if nodes else 1
    is_new = prepared.earlier is None
    references = _reference_values(header.plan, core, turns, options.began, options.quiet) if is_new else []
    decided = until_decided(prepared.base, options.against) if options.against and prepared.base else None
    closing_s = REPORT_S * sum(each is not None for each in (options.report, options.study))
    environment = RunEnvironment(
        core.machine, options.launch, options.core_options, _nice(header.priority), nodes, references, options.began,
        closing_s, decided,
    )  # fmt: skip
    progress = make_progress(options.quiet, header.plan.limits.interval_s is not None, header.plan.experiments)
    report = measure_to_file(header, writer, prepared.earlier, progress, environment)
    keep_report(writer.path, report)
    return report


def _finish(options: RunOptions, result: Report, path: Path) -> int:
    """Show the results, write the report and the study, and return the exit code."""
    was_heard = options.quiet or has_reader(sys.stdout)
    shown, judgement = with_judgement(result, options.expect)
    if options.report is not None:
        _write_report([shown], options.report, options.force, [judgement])
    _show(options, shown, path)
    _write_study(result, options)
    if not was_heard:
        raise OutputError(
            f"standard output was closed before the run ended; show the results with: nameplate show {path}"
        )
    return slow_code(result.nodes) or incomplete_code(result)


def _reference_values(plan: Plan, core: CoreDescription, turns: int, began: float, quiet: bool) -> Sequence[Reference]:
    """Run the reference tools of the plan, at most until the plan itself needs the rest of a binding budget."""
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
    return reference_values(references, core, began + left_s)


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


def _core(options: RunOptions, allocation: Allocation | None) -> CoreDescription:
    """Return the description of the core.

    For a batch job that is only written now, this machine stands for each of the ranks and nodes that the job requests.
    """
    if allocation is None:
        return describe_core(options.launch, options.core_options)
    machine = describe_core(options=options.core_options).machine
    job = job_of(allocation.ranks, allocation.nodes)
    return CoreDescription(describe(options.launch), msgspec.structs.replace(machine, job=job))


def _check_launched(what: str, launch: Launch) -> None:
    if not launch.launcher and probe_of(what).takes_whole_job:
        raise UsageError(f'{what} needs an MPI launcher: nameplate run {what} --mpi "mpirun -n 2"')


def _check_resumable(earlier: RunFile, today: Machine, options: Sequence[str]) -> None:
    """Raise UsageError unless machine, core and plan are those of the earlier run: a median needs one of each."""
    if options:
        raise UsageError(f"--resume takes the plan and its options from {earlier.path}: leave out {options[0]}")
    if not earlier.headers:
        return
    before = earlier.headers[-1].machine
    for what, key in (("host", "hostname"), ("CPU", "cpu"), ("topology", "topology"), ("MPI job", "job")):
        if _stable(getattr(before, key)) != _stable(getattr(today, key)):
            raise UsageError(
                f"{earlier.path} was measured on another {what}: resume it on the same machine, or start a new run"
            )
    if earlier.run.version != __version__:
        raise UsageError(
            f"{earlier.path} was measured by nameplate {earlier.run.version}, this is {__version__}: start a new run"
        )


def _stable(facts: Cpu | Topology | Job | str | None) -> Cpu | Topology | Job | str | None:
    """Return the facts without the clock that /proc/cpuinfo lists, which varies."""
    return msgspec.structs.replace(facts, listed_frequency_hz=None) if isinstance(facts, Cpu) else facts


def _nice(priority: str) -> int:
    if priority not in ("normal", "high"):
        raise UsageError(f"--priority {priority}: unknown; {nearest(priority, ('normal', 'high'))}")
    if priority == "normal":
        return 0
    # Try it on this process first, where a refusal can be reported in one line.
    before = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, HIGH_PRIORITY)
    except PermissionError:
        raise UsageError(
            "--priority high: permission denied; run as root, or raise the nice limit (RLIMIT_NICE)"
        ) from None
    os.setpriority(os.PRIO_PROCESS, 0, before)
    return HIGH_PRIORITY


def _with_priority(plan: Plan, given: str | None, launch: Launch) -> tuple[Plan, str]:
    """Return the plan and the priority of the run: the given one, else that of the plan if the user may raise it."""
    if given is not None or plan.priority != "high":
        return plan, given or "normal"
    if launch.launcher:
        why = "the MPI launcher starts the processes"
    else:
        try:
            _nice("high")
        except UsageError:
            why = "raising it needs root or a higher nice limit"
        else:
            return plan, "high"
    note = f"measured with normal priority although the plan asks for high priority: {why}"
    return structs.replace(plan, notes=[*plan.notes, note]), "normal"


def _write_study(result: Report, options: RunOptions) -> None:
    if options.study is not None:
        words = write_study(result, options.study, options.force)
        if not (options.json or options.quiet):
            print(words)


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


def _choose(
    what: str, parameters: Sequence[str], probes: dict[str, ProbeInfo], options: Mapping[str, str],
    machine: Machine, turns: int,
) -> Plan:  # fmt: skip
    if what in probes:
        return sweep_plan(what, split_arguments(parameters), probes, options, machine, turns)
    is_plan = what in shipped_plans() or what.endswith(".toml") or "/" in what
    if not is_plan:
        raise UsageError(f"unknown plan or probe '{what}': {nearest(what, [*shipped_plans(), *probes])}")
    if parameters:
        raise UsageError(f"'{what}' is a plan, which takes no parameters: leave out '{parameters[0]}', or name a probe")
    text = read_plan(what)
    references_s = references_take_s(asked_references(text), machine)
    return build_plan(text, probes, options, machine, turns, references_s)


def _write_report(
    runs: Sequence[Report], path: Path, force: bool, judgements: Sequence[MachineJudgement | None] = ()
) -> None:
    from nameplate.report.html.document import write_html  # noqa: PLC0415 (charts take a second to import)

    write_html(runs, path, judgements=judgements, force=force)


def _show(options: RunOptions, result: Report, path: Path) -> None:
    if options.json:
        from nameplate.report.exports.json import export  # noqa: PLC0415 (one of several formats)

        sys.stdout.write(export(without_names([result])[0]))
    elif not options.quiet:
        print_report(result, path, options.has_tables)
        if options.report is not None:
            print(f"report: {options.report}")
