"""Implement ``nameplate ab``."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, cast

import msgspec
from cyclopts import Parameter

from nameplate.commands._ab_commands import CommandOptions, compare_programs, split_command
from nameplate.commands._busy import refuse_if_busy, why_no_verdict
from nameplate.commands._exit_codes import incomplete_code
from nameplate.commands._percent import parse_percent
from nameplate.commands._verdicts import exit_code, print_json
from nameplate.comparison.gate import without_verdicts
from nameplate.comparison.metric_rows import overall_verdict
from nameplate.comparison.two_variants import compare_variants
from nameplate.errors import UsageError
from nameplate.execution.core_process import CoreDescription, describe_core
from nameplate.execution.launch import Launch, alone, launch_with
from nameplate.execution.measuring import (
    RunEnvironment,
    check_seed,
    core_options,
    make_run,
    measure_to_file,
    new_run_file,
)
from nameplate.planning.plan_file import DEFAULT_SLICE_S, make_limits
from nameplate.planning.sweep import experiments, find_probe, split_arguments
from nameplate.probes import probe_of
from nameplate.records.plan_record import Experiment, Plan, Variant
from nameplate.records.result import Report
from nameplate.report.terminal.progress import make_progress
from nameplate.units import parse_duration

GROUP = "Measure"

Option = Annotated[str | None, Parameter(show_default=False)]


def command(  # noqa: PLR0913 (the options of the command line)
    a: Option = None,
    b: Option = None,
    /,
    *,
    commands: Annotated[tuple[str, str] | None, Parameter(show_default=False)] = None,
    setup: Option = None,
    prepare: Annotated[list[str] | None, Parameter(show_default=False)] = None,
    shell: bool = False,
    warmup: int | None = None,
    ignore_failure: bool = False,
    fail_on: Option = None,
    detect: str = "5%",
    budget: str = "60s",
    time: Option = None,
    peer: Option = None,
    key_file: Option = None,
    mpi: Option = None,
    seed: int | None = None,
    even_if_busy: bool = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Measure two variants in alternation until B is FASTER than A, SLOWER or the SAME, or the budget ends.

    For example, "nameplate ab 'memory_stream pages=small' 'memory_stream pages=huge'", or with two programs of yours
    "nameplate ab -- 'sort file' 'sort --parallel=2 file'". Each round measures both in random order, and A and B are
    compared within each round, so that slow drift of the machine mostly cancels out. The error rate of the verdict
    holds although it is tested repeatedly while the run goes on. The verdict is that of the first metric that both
    variants have. The exit code is 1 if B is SLOWER by at least ``--detect``, 3 if a variant could not be measured, and
    4 if a CPU quota or other programs slowed the run down, so that there is no verdict. For programs it is 0 whichever
    is faster, unless ``--fail-on`` is given, and 3 if one of them fails.

    Parameters
    ----------
    a
        The first variant: a probe and its parameters, in quotes.
    b
        The second variant, which is compared with the first.
    commands
        Two programs with their arguments to compare, each in quotes, instead of two variants of a probe; "--" is short
        for it. They run without a shell, without input, and without output. Time, CPU time and memory are compared.
    setup
        A command that runs once before all others.
    prepare
        A command that runs before each run of A and of B, untimed. Give it twice for different ones of A and of B.
    shell
        Run all commands with /bin/sh, so that pipes and variables work. The times include the start of the shell.
    warmup
        The number of first runs of each program that do not count. Default: 1.
    ignore_failure
        Go on if A or B ends with another exit code than 0. What --setup and --prepare run must not fail.
    fail_on
        Exit with 1 if the program B is SLOWER and takes at least this share more time than A, such as 5%.
    detect
        The size of a change that matters, such as 5%. SAME means that a change of this size is ruled out.
    budget
        The maximum duration of the whole run, such as 60s or 10min. Programs that have started are not cut off: a
        first pair of them is always complete.
    time
        The duration of one sample, such as 100ms. Default: 10 ms, or longer if the clock is coarse.
    peer
        The HOST[:PORT] of a "nameplate serve" for the network probes. Default: a peer that is started on this machine.
    key_file
        A file with the key that the peer and this machine share. Default: the key itself is taken from the
        environment variable NAMEPLATE_KEY.
    mpi
        The launcher of the MPI probes with its options, in quotes: "mpirun -n 2".
    seed
        The random seed for the order of the variants in each round. Default: a random seed, which is recorded.
    even_if_busy
        Measure and judge even if other programs take CPU time. By default that is an error with exit code 3.
    output
        The run file to write. Default: nameplate-DATE-TIME.jsonl in the current directory.
    json
        Print the rows as JSON.
    quiet
        Show neither progress nor the table.
    """
    share = parse_percent("--detect", detect)
    check_seed(seed)
    of_probes = {"--time": time, "--peer": peer, "--key-file": key_file, "--mpi": mpi, "--output": output}
    of_programs = {"--setup": setup, "--prepare": prepare, "--shell": shell or None, "--warmup": warmup,
                   "--ignore-failure": ignore_failure or None, "--fail-on": fail_on}  # fmt: skip
    _check_options(of_probes if commands else of_programs, "programs" if commands else "probes")
    if commands:
        if a is not None:
            raise UsageError(f"'{a}': give exactly two commands after --, each in quotes, and no variant")
        if warmup is not None and warmup < 0:
            raise UsageError(f"--warmup {warmup}: give 0 or more first runs that do not count")
        programs = CommandOptions(
            setup=setup or "", prepare=_prepared(prepare or []), is_shell=shell,
            warmups=1 if warmup is None else warmup, may_fail=ignore_failure, detect=share,
            fail_on=parse_percent("--fail-on", fail_on) if fail_on else None, budget_s=parse_duration(budget),
            seed=secrets.randbits(32) if seed is None else seed, even_if_busy=even_if_busy,
        )  # fmt: skip
        return compare_programs(commands, programs, json=json, quiet=quiet)
    if a is None or b is None:
        raise UsageError("give two variants of a probe, each in quotes, or after -- two programs")
    options = core_options(peer, key_file, None)
    launch = launch_with(mpi) if mpi is not None else alone()
    core = describe_core(launch, options)
    variants = [_experiment(text, cast(Variant, name), core, launch) for text, name in ((a, "a"), (b, "b"))]
    _check_comparable(*variants)
    if not even_if_busy:
        refuse_if_busy(core.machine)
    given = {"budget": budget, "time": time}
    limits = make_limits({name: text for name, text in given.items() if text is not None})
    plan = Plan("ab", variants, msgspec.structs.replace(limits, detect=share))
    environment = RunEnvironment(core.machine, launch, options, decided=lambda report: _decided(report, share))
    with new_run_file(output) as writer:
        progress = make_progress(quiet, False, plan.experiments)
        report = measure_to_file(make_run(plan, seed, {}, "normal", ""), writer, None, progress, environment)
    return _show(report, share, why_no_verdict(report, even_if_busy), writer.path, json, quiet)


def _check_options(options: Mapping[str, object], kind: str) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise UsageError(f"{given[0]} is not possible with two {kind}: leave it out")


def _prepared(prepare: Sequence[str]) -> tuple[str, str]:
    if len(prepare) > 2:
        raise UsageError(f"--prepare is given {len(prepare)} times: give one for both commands, or one for each")
    first, last = (prepare[0], prepare[-1]) if prepare else ("", "")
    return first, last


def _experiment(text: str, variant: Variant, core: CoreDescription, launch: Launch) -> Experiment:
    """Return the experiment of a variant such as "memory_stream op=triad"; other parameters have their defaults."""
    arguments = split_command(text)
    if not arguments:
        raise UsageError(f"variant {variant.upper()} is empty: name a probe and its parameters, 'cpu_flops threads=1'")
    if probe_of(arguments[0]).takes_all_ranks and not launch.launcher:
        raise UsageError(f'{arguments[0]} needs an MPI launcher: add --mpi "mpirun -n 2"')
    info = find_probe(arguments[0], core.probes)
    matching = experiments(info, split_arguments(arguments[1:]), DEFAULT_SLICE_S)
    if len(matching) > 1:
        raise UsageError(f"'{text}' names {len(matching)} experiments: give one value for each parameter")
    return msgspec.structs.replace(matching[0], id=f"{variant.upper()}: {matching[0].id}", variant=variant)


def _check_comparable(a: Experiment, b: Experiment) -> None:
    names = [[metric.name for metric in probe_of(experiment.probe).metrics] for experiment in (a, b)]
    if not set(names[0]) & set(names[1]):
        raise UsageError(
            f"{a.probe} and {b.probe} have no metric in common: {', '.join(names[0])}; {', '.join(names[1])}. Choose "
            "two variants that measure the same metric"
        )


def _decided(report: Report, share: float) -> set[str]:
    """Return the ids of both experiments if the first metric that they share has a verdict, else an empty set.

    UNSURE is not a verdict here, since more rounds may change it. ``share`` is the smallest change that matters.
    """
    rows = compare_variants(report, share)
    is_open = not rows or rows[0].machine_verdict == "UNSURE"
    return set() if is_open else {result.id for result in report.results if result.round_values}


def _show(report: Report, share: float, slowed: str, path: Path, json: bool, quiet: bool) -> int:
    """Print the comparison of the variants, and return the exit code; ``slowed``, if not "", withholds the verdict."""
    missing = [result for result in report.results if result.summary.value is None]
    for result in missing:
        print(f"nameplate: {result.id}: {result.summary.why_no_value}", file=sys.stderr)
    if missing:
        return 3
    rows = compare_variants(report, share)
    if slowed:
        rows = without_verdicts(rows, slowed)[0]
    if json:
        print_json(rows, overall_verdict(rows[:1], share))
    elif not quiet:
        from nameplate.report.terminal.comparison import print_variants  # noqa: PLC0415 (only one of the ways to show it)

        print_variants(rows, report)
        print(f"\nrun file: {path}; show its values with: nameplate show {path}")
    return exit_code(rows[:1], share, strict=bool(slowed)) or incomplete_code(report)
