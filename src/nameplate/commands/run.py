"""``nameplate run``."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, cast, get_args

from cyclopts import Parameter
from msgspec import structs

from nameplate import __version__
from nameplate.commands._measuring import Place, make_run, measure_to_file, nodes_of_run
from nameplate.commands._study import check_study, write_study
from nameplate.commands._tools import asked_references, reference_figures, references_take_s
from nameplate.errors import FileError, OutputError, UsageError
from nameplate.execution.core_process import (
    CoreDescription,
    CoreProcess,
    OnRecord,
    describe,
    describe_all,
    describe_core,
)
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import Launch, alone, launch_with
from nameplate.execution.slurm import Allocation, allocation_of, write_script
from nameplate.planning.budget import MIN_ROUNDS, START_COMMAND_S, least_s, round_s
from nameplate.planning.places import check_places
from nameplate.planning.plan_file import build_plan, read_plan, shipped_plans, sweep_plan
from nameplate.planning.rated_keys import check_rated
from nameplate.planning.sweep import ProbeInfo, nearest, split_arguments
from nameplate.probes import probe_of
from nameplate.probes.shared.ceilings import parse_rated, read_rated_lines
from nameplate.probes.shared.job import nodes_of
from nameplate.records.model import PerNode, Plan, Reference, Report, Run
from nameplate.records.outputs import check_output
from nameplate.records.run_writer import RunWriter
from nameplate.report.aliases import without_names
from nameplate.report.terminal.progress import make_progress
from nameplate.report.terminal.run import print_report
from nameplate.results.run_file import RunFile, read_run
from nameplate.streams import has_reader
from nameplate.units import MAX_COUNT

HIGH_PRIORITY = -20
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
    rated: Sequence[str] = (),
    dry_run: bool = False,
    resume: Path | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    report: Path | None = None,
    study: Path | None = None,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Measure a plan, or one probe: nameplate run cpu_flops isa=avx2 threads=1,2

    Parameters
    ----------
    what
        A shipped plan ("nameplate plan" lists them), a path to a plan of yours (.toml), or a probe.
    parameters
        The probe's, as name=value; a,b,c and 1KiB..1GiB*2 sweep. Default: what the probe chooses.
    budget
        How long the whole run may take: 60s, 10min. With fixed rounds, slices are shortened so that all rounds end
        within it; a budget that is too short for that is rejected.
    precision
        An experiment rests when its 95 % interval is narrower than ± this: 2%.
    rounds
        Exactly so many rounds, instead of precision; within the budget only where it is given as well.
    samples
        At most so many samples in each round.
    time
        The length of one sample: 10s.
    warmup
        How long each experiment runs before its first sample.
    series
        One sample per interval without a gap: 600s/1s.
    read_device
        A block device for disk_block to read, and never to write, instead of a file.
    peer
        HOST[:PORT] where "nameplate serve" runs, for the network probes; default: a peer of its own on this machine.
    key_file
        The key shared with that peer; default: NAMEPLATE_KEY in the environment.
    blas
        The LAPACK that cpu_linpack solves with, by name or path: libmkl_rt.so.2; default: OpenBLAS.
    mpi
        The MPI launcher for the mpi probes, in quotes with its options: "mpirun -n 4", "srun -n 64".
    per_node
        With --mpi, every node of the job takes the single machines' probes: in-turn (one node at a time) or at-once.
    slurm
        Measure nothing, and write this script for sbatch, which does so in a batch job; with --mpi "srun -N 4 -n 64".
    seed
        Of the shuffled order; default: a new one, recorded.
    priority
        normal or high (needs the right to raise it); default: the plan's, else normal.
    rated
        Nameplate values: memory=59.7GB/s,cpu_flops=2TFLOP/s, or a file of such lines.
    dry_run
        Say what would run and how long, and measure nothing.
    resume
        Go on with a run file that was cut off: only what is missing is measured.
    output
        The run file; default: nameplate-DATE-TIME.jsonl in this directory.
    report
        Write an HTML report here too.
    study
        A folder for what a study's plan ends with: its tables with the published values as CSV, charts and report.
    json
        Print the figures as JSON instead of a table.
    quiet
        No progress, no table.
    """
    limits = {"budget": budget, "precision": precision, "rounds": rounds, "samples": samples, "time": time,
              "warmup": warmup, "series": series}  # fmt: skip
    return _run(
        RunOptions(
            what=what,
            parameters=parameters if read_device is None else (*parameters, f"read_device={read_device}"),
            limits={name: text for name, text in limits.items() if text is not None},
            core_options=_core_options(peer, key_file, blas),
            launch=launch_with(mpi) if mpi is not None else alone(),
            peer=peer, mpi=mpi, per_node=per_node, slurm=slurm, seed=seed, priority=priority, rated=rated,
            dry_run=dry_run, resume=resume, output=output, report=report, study=study, json=json, quiet=quiet,
        )
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of ``nameplate run`` as they are given, after the checks that need nothing but their text."""

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
    dry_run: bool
    resume: Path | None
    output: Path | None
    report: Path | None
    study: Path | None
    json: bool
    quiet: bool
    began: float = field(default_factory=monotonic)


@dataclass(frozen=True)
class Prepared:
    """A run that can begin: its first record, its core, and the file and content of an earlier run to go on with."""

    header: Run
    core: CoreDescription
    writer: RunWriter | None = None
    earlier: RunFile | None = None


def _run(options: RunOptions) -> int:
    _check(options)
    allocation = allocation_of(options.launch) if options.slurm is not None else None
    with ExitStack() as stack:
        prepared = _resumed(options, options.resume, stack) if options.resume else _begun(options, allocation)
        if options.study is not None:
            check_study(prepared.header.plan.name, options.study)
        if options.dry_run:
            _explain(prepared.header, options.peer, options.mpi, prepared.core.machine)
            return 0
        if options.slurm is not None and allocation is not None:
            write_script(options.slurm, allocation, prepared.header, sys.argv[1:])
            print(f"{options.slurm} is written; submit it with: sbatch {shlex.quote(str(options.slurm))}")
            return 0
        writer = prepared.writer or stack.enter_context(_new_run_file(options.output))
        result = _measure(options, prepared, writer)
    return _finish(options, result, writer.path)


def _check(options: RunOptions) -> None:
    """Check what is known before any process is started. Raises UsageError or FileError."""
    if _nice(options.priority or "normal") and options.launch.launcher:
        raise UsageError("--priority high with --mpi is not possible: the launcher starts the processes")
    if options.seed is not None and not 0 <= options.seed <= MAX_COUNT:
        raise UsageError(f"--seed {options.seed} is not possible: 0 or more, at most {MAX_COUNT}")
    if options.study is not None and options.resume is None:
        check_study(options.what, options.study)
    if options.output is not None and options.output.is_dir():
        raise FileError(f"-o {options.output} is a directory: name a file in it")
    check_output("--report", options.report, others=(options.output, options.resume, options.slurm))
    check_output("--slurm", options.slurm, others=(options.output, options.resume))


def _resumed(options: RunOptions, path: Path, stack: ExitStack) -> Prepared:
    """Open the run that is gone on with, so that nobody else writes to it, and read it."""
    paths = {"-o": options.output, "--slurm": options.slurm}
    given = [*options.limits, *options.rated, *(name for name, value in paths.items() if value)]
    writer = stack.enter_context(RunWriter.reopen(path))
    earlier = read_run(path)
    core = describe_core(options.launch, options.core_options)
    _check_resumable(earlier, core.machine, given)
    # The first word is a plan elsewhere.
    words = [*([] if options.what == DEFAULT_PLAN else [options.what]), *options.parameters]
    check_places(earlier.run.plan.experiments, core.probes, split_arguments(words), str(path))
    return Prepared(earlier.run, core, writer, earlier)


def _begun(options: RunOptions, allocation: Allocation | None) -> Prepared:
    launch = options.launch
    _check_launched(options.what, launch)
    core = _core(options, allocation)
    machine = core.machine
    turns = len(nodes_of(machine)) if options.per_node == "in-turn" and launch.launcher else 1
    plan = _choose(options.what, options.parameters, core.probes, options.limits, machine, turns)
    plan, priority = _with_priority(plan, options.priority, launch)
    per_node = _per_node(options.per_node, plan, launch, options.limits.get("series"))
    rated = _rated(options.rated)
    if rated:
        check_rated(rated, describe_all())
    return Prepared(make_run(plan, options.seed, rated, priority, per_node), core)


def _measure(options: RunOptions, prepared: Prepared, writer: RunWriter) -> Report:
    header, core = prepared.header, prepared.core
    nice = _nice(header.priority)

    def start_core(on_record: OnRecord, keeper: FileDescriptorCache) -> CoreProcess:
        return CoreProcess(on_record, nice, keeper, options.core_options, options.launch)

    nodes = nodes_of_run(header, core.machine)
    turns = nodes.turns if nodes else 1
    is_new = prepared.earlier is None
    said = _reference_figures(header.plan, core, turns, options.began, options.quiet) if is_new else []
    place = Place(core.machine, start_core, nodes, said, options.began)
    progress = make_progress(options.quiet, header.plan.limits.interval_s is not None)
    return measure_to_file(header, writer, prepared.earlier, progress, place)


def _finish(options: RunOptions, result: Report, path: Path) -> int:
    """Write and print the result, and return the exit code."""
    was_heard = options.quiet or has_reader(sys.stdout)
    _show(result, path, options.report, options.json, options.quiet)
    _write_study(result, options.study, options.json or options.quiet)
    if not was_heard:
        raise OutputError(f"standard output was closed before the run ended; show it with: nameplate show {path}")
    return _exit_code(result)


def _new_run_file(output: Path | None) -> RunWriter:
    if output is not None:
        return RunWriter.create(output)
    return RunWriter.create_numbered(Path(f"nameplate-{datetime.now().strftime('%Y%m%d-%H%M%S')}.jsonl"))


def _reference_figures(plan: Plan, core: CoreDescription, turns: int, began: float, quiet: bool) -> Sequence[Reference]:
    """Run the plan's reference tools; where a budget binds, it keeps the time that the plan itself needs at least."""
    references = asked_references(plan)
    takes_s = references_take_s(references, core.machine)
    if takes_s and not quiet:
        names = ", ".join(dict.fromkeys(reference.name for reference in references))
        within = ", within the budget" if plan.limits.budget_binds else ""
        print(f"nameplate: running the reference tools that are installed ({names}): about {takes_s:.0f} s{within}",
              file=sys.stderr)  # fmt: skip
    # The start of the command is over by now.
    needed_s = least_s(plan, turns) - START_COMMAND_S
    left_s = plan.limits.budget_s - needed_s if plan.limits.budget_binds else float("inf")
    return reference_figures(references, core, began + left_s)


def _per_node(text: str | None, plan: Plan, launch: Launch, series: str | None) -> PerNode:
    if text is None and plan.per_node and not launch.launcher:
        raise UsageError(f'{plan.name} is for the nodes of an MPI job: nameplate run {plan.name} --mpi "srun -N 8"')
    text = text or plan.per_node
    if not text:
        return ""
    if series:
        raise UsageError("--per-node keeps the sum of each node's samples only: leave out --series")
    ways = get_args(PerNode)[1:]
    if text not in ways:
        raise UsageError(f"--per-node {text} is not possible: {nearest(text, ways)}")
    if not launch.launcher:
        raise UsageError(f'--per-node needs the nodes of an MPI job: --mpi "mpirun -n 8 …" --per-node {text}')
    return cast(PerNode, text)


def _core(options: RunOptions, allocation: Allocation | None) -> CoreDescription:
    """Return what the core says of itself; of a job that is only being written, with this machine in each node's place.

    The job will have as many ranks and nodes as it asks for.
    """
    if allocation is None:
        return describe_core(options.launch, options.core_options)
    machine = describe_core(options=options.core_options).machine
    job = {"ranks": allocation.ranks, "nodes": [""] * allocation.nodes}
    return CoreDescription(describe(options.launch), {**machine, "job": job})


def _check_launched(what: str, launch: Launch) -> None:
    if not launch.launcher and probe_of(what).takes_whole_job:
        raise UsageError(f'{what} needs an MPI launcher: nameplate run {what} --mpi "mpirun -n 2"')


def _check_resumable(earlier: RunFile, today: Mapping[str, Any], options: Sequence[str]) -> None:
    """A run is one machine, one core and one plan; rounds of two would be one median of two things."""
    if options:
        raise UsageError(f"--resume takes the plan from {earlier.path}: leave out {options[0]}")
    if not earlier.headers:
        return
    before = earlier.headers[-1].machine
    for what, key in (("host", "hostname"), ("CPU", "cpu"), ("topology", "topology"), ("MPI job", "job")):
        if _stable(before.get(key)) != _stable(today.get(key)):
            raise UsageError(
                f"{earlier.path} was measured on another {what}: --resume goes on with the same machine only"
            )
    if earlier.run.version != __version__:
        raise UsageError(f"{earlier.path} was measured by nameplate {earlier.run.version}, this is {__version__}")


def _stable(facts: Any) -> Any:
    """Without the clock that /proc/cpuinfo lists, which moves."""
    return {k: v for k, v in facts.items() if k != "listed_frequency_hz"} if isinstance(facts, dict) else facts


def _nice(priority: str) -> int:
    if priority not in ("normal", "high"):
        raise UsageError(f"--priority {priority} is not possible: {nearest(priority, ('normal', 'high'))}")
    if priority == "normal":
        return 0
    # Tried on this process first, where a refusal can still be said in one line.
    before = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, HIGH_PRIORITY)
    except PermissionError:
        raise UsageError(
            "--priority high is not allowed to this user: run it as root, or raise the nice limit"
        ) from None
    os.setpriority(os.PRIO_PROCESS, 0, before)
    return HIGH_PRIORITY


def _with_priority(plan: Plan, given: str | None, launch: Launch) -> tuple[Plan, str]:
    """Return the plan and the priority of the run: the user's, else the plan's as far as the user may have it."""
    if given is not None or plan.priority != "high":
        return plan, given or "normal"
    if launch.launcher:
        why = "the MPI launcher starts the processes"
    else:
        try:
            _nice("high")
        except UsageError:
            why = "only root, or a raised nice limit, may raise it"
        else:
            return plan, "high"
    note = f"measured with normal priority, where the plan asks for a high one: {why}"
    return structs.replace(plan, notes=[*plan.notes, note]), "normal"


def _write_study(result: Report, folder: Path | None, is_silent: bool) -> None:
    if folder is not None:
        words = write_study(result, folder)
        if not is_silent:
            print(words)


def _rated(arguments: Sequence[str]) -> dict[str, float]:
    lines: list[str] = []
    for argument in arguments:
        if "=" in argument:
            lines.append(argument)
            continue
        lines += read_rated_lines(Path(argument))
    return parse_rated(lines)


def _choose(  # noqa: PLR0913, PLR0917 (what a plan is made from)
    what: str, parameters: Sequence[str], probes: dict[str, ProbeInfo], options: Mapping[str, str],
    machine: dict[str, Any], turns: int,
) -> Plan:  # fmt: skip
    if what in probes:
        return sweep_plan(what, split_arguments(parameters), probes, options, machine, turns)
    is_plan = what in shipped_plans() or what.endswith(".toml") or "/" in what
    if not is_plan:
        raise UsageError(f"unknown plan or probe '{what}': {nearest(what, [*shipped_plans(), *probes])}")
    if parameters:
        raise UsageError(f"'{what}' is a plan and takes no parameters: leave out '{parameters[0]}', or name a probe")
    text = read_plan(what)
    references_s = references_take_s(asked_references(text), machine)
    return build_plan(text, probes, options, machine, turns, references_s)


def _core_options(peer: str | None, key_file: str | None, blas: str | None) -> list[str]:
    """Peers, keys and libraries are only ever named on the command line, never by a plan or a run file."""
    if key_file is not None and peer is None:
        raise UsageError("--key-file is the key of a named peer: name it with --peer HOST")
    options = ["--peer", peer] if peer else []
    options += ["--key-file", key_file] if key_file else []
    options += ["--blas", blas] if blas else []
    return options


def _explain(header: Run, peer: str | None, mpi: str | None, machine: Mapping[str, Any]) -> None:
    plan, nodes = header.plan, nodes_of_run(header, machine)
    limits = plan.limits
    certain = [experiment for experiment in plan.experiments if not experiment.dense]
    rounds = f"{limits.rounds} rounds" if limits.rounds else f"{MIN_ROUNDS} rounds or more"
    is_limited = limits.rounds is None or limits.budget_binds
    longest = f", at most {limits.budget_s:g} s" if is_limited else ""
    fewest_s = (limits.rounds or MIN_ROUNDS) * round_s(plan, nodes.turns if nodes else 1)
    print(f"{plan.name}: {len(certain)} experiments, {rounds}, about {fewest_s:.0f} s{longest}")
    if references_s := references_take_s(asked_references(plan), machine):
        print(f"  of the budget, reference tools first take about {references_s:.0f} s")
    if len(certain) < len(plan.experiments):
        print(f"  and up to {len(plan.experiments) - len(certain)} more, where these show that the figures change")
    for experiment in certain:
        print(f"  {experiment.id}")
    print("writes to disk: the run file" + "".join(f"; {use}" for use in _disk_use(plan)))
    print("network: " + ("; ".join(_network_use(plan, peer, mpi)) or "nothing"))


def _network_use(plan: Plan, peer: str | None, mpi: str | None) -> Iterator[str]:
    """What each probe says that its cells send."""
    rounds = plan.limits.rounds or MIN_ROUNDS
    to_peer = f"to {peer}" if peer else "over loopback, to a peer of its own"
    for name in dict.fromkeys(experiment.probe for experiment in plan.experiments):
        use = probe_of(name).network_use([e for e in plan.experiments if e.probe == name], rounds)
        if use:
            yield f"{name}: {use}, {f'among the ranks of {mpi}' if probe_of(name).takes_whole_job else to_peer}"


def _disk_use(plan: Plan) -> Iterator[str]:
    """What each probe says that its cells write."""
    rounds = plan.limits.rounds or MIN_ROUNDS
    for name in dict.fromkeys(experiment.probe for experiment in plan.experiments):
        own = [experiment for experiment in plan.experiments if experiment.probe == name]
        yield from probe_of(name).disk_use(own, rounds)


def _show(result: Report, path: Path, report: Path | None, json: bool, quiet: bool) -> None:
    if report is not None:
        from nameplate.report.html.document import write_html  # noqa: PLC0415 (charts take a second to import)

        write_html([result], report)
    if json:
        from nameplate.report.exports.json import export  # noqa: PLC0415 (one of several formats)

        sys.stdout.write(export(without_names([result])[0]))
    elif not quiet:
        print_report(result, path)
        print(f"\nrun file: {path}; show it again with: nameplate show {path}")
        if report is not None:
            print(f"report: {report}")


def _exit_code(result: Report) -> int:
    endings = [r.summary.outcome for r in result.results]
    nothing = not any(ending == "ok" for ending in endings)
    return 3 if nothing or result.interrupted or "invalid" in endings or "failed" in endings else 0
