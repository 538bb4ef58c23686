"""Implement ``nameplate ab``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, cast

import msgspec
from cyclopts import Parameter

from nameplate.commands._exit_codes import incomplete_code
from nameplate.commands._percent import parse_percent
from nameplate.commands.compare import exit_code, print_json
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
from nameplate.report.content.format import count
from nameplate.report.terminal.progress import make_progress

Option = Annotated[str | None, Parameter(show_default=False)]


def command(  # noqa: PLR0913 (the options of the command line)
    a: str,
    b: str,
    /,
    *,
    detect: str = "5%",
    budget: str = "60s",
    time: Option = None,
    peer: Option = None,
    key_file: Option = None,
    mpi: Option = None,
    seed: int | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Measure two variants in alternation until it is decided whether B is FASTER, SLOWER or the SAME as A.

    For example, "nameplate ab 'memory_stream pages=small' 'memory_stream pages=huge'". Each round measures both, in
    random order, and rounds are compared one by one, so that a drift of the machine mostly cancels. The error rate
    holds although the verdict is looked at many times. The exit code is 1 if B is SLOWER by
    at least ``--detect``.

    Parameters
    ----------
    a
        The first variant: a probe and its parameters, in quotes.
    b
        The second variant, which is compared with the first.
    detect
        The size of a change that matters. SAME means that a change of this size is ruled out.
    budget
        The maximum duration of the whole run, such as 60s or 10min.
    time
        The duration of one sample. Default: 10 ms or more.
    peer
        The HOST[:PORT] of a "nameplate serve" for the network probes. Default: a peer that is started on this machine.
    key_file
        A file with the key shared with that peer. Default: NAMEPLATE_KEY in the environment.
    mpi
        The MPI launcher of the MPI probes with its options, in quotes.
    seed
        The seed of the order in each round. Default: a random one, which is recorded.
    output
        The run file to write. Default: nameplate-DATE-TIME.jsonl in the current directory.
    json
        Print the rows as JSON.
    quiet
        Show neither progress nor the table.
    """
    share = parse_percent("--detect", detect)
    check_seed(seed)
    options = core_options(peer, key_file, None)
    launch = launch_with(mpi) if mpi is not None else alone()
    core = describe_core(launch, options)
    variants = [_experiment(text, cast(Variant, name), core, launch) for text, name in ((a, "a"), (b, "b"))]
    _check_comparable(*variants)
    given = {"budget": budget, "time": time}
    limits = make_limits({name: text for name, text in given.items() if text is not None})
    plan = Plan("ab", variants, msgspec.structs.replace(limits, detect=share))
    environment = RunEnvironment(core.machine, launch, options, decided=lambda report: _decided(report, share))
    with new_run_file(output) as writer:
        progress = make_progress(quiet, False, plan.experiments)
        report = measure_to_file(make_run(plan, seed, {}, "normal", ""), writer, None, progress, environment)
    return _show(report, share, (a, b), writer.path, json, quiet)


def _experiment(text: str, variant: Variant, core: CoreDescription, launch: Launch) -> Experiment:
    """Return the experiment of a variant such as "memory_stream op=triad"; other parameters have their defaults."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"'{text}': {error}".replace("No closing quotation", "a quote is not closed")) from None
    if not words:
        raise UsageError(f"variant {variant.upper()} is empty: name a probe and its parameters, 'cpu_flops threads=1'")
    if probe_of(words[0]).takes_whole_job and not launch.launcher:
        raise UsageError(f'{words[0]} needs an MPI launcher: add --mpi "mpirun -n 2"')
    info = find_probe(words[0], core.probes)
    found = experiments(info, split_arguments(words[1:]), DEFAULT_SLICE_S)
    if len(found) > 1:
        raise UsageError(f"'{text}' names {len(found)} experiments: give one value for each parameter")
    return msgspec.structs.replace(found[0], id=f"{variant.upper()}: {found[0].id}", variant=variant)


def _check_comparable(a: Experiment, b: Experiment) -> None:
    names = [[metric.name for metric in probe_of(each.probe).metrics] for each in (a, b)]
    if not set(names[0]) & set(names[1]):
        raise UsageError(
            f"{a.probe} and {b.probe} have no metric in common: {', '.join(names[0])}; {', '.join(names[1])}"
        )


def _decided(report: Report, share: float) -> set[str]:
    """Return both experiments once the first metric that they share is decided."""
    rows = compare_variants(report, share)
    is_open = not rows or rows[0].machine_verdict == "UNSURE"
    return set() if is_open else {result.id for result in report.results if result.round_values}


def _show(report: Report, share: float, variants: tuple[str, str], path: Path, json: bool, quiet: bool) -> int:
    missing = [result for result in report.results if result.summary.value is None]
    for result in missing:
        print(f"nameplate: {result.id}: {result.summary.why_no_value}", file=sys.stderr)
    if missing:
        return 3
    rows = compare_variants(report, share)
    if json:
        print_json(rows, overall_verdict(rows, share))
    elif not quiet:
        from nameplate.report.terminal.comparison import print_rows  # noqa: PLC0415 (only one of the ways to show it)

        for name, text in zip("AB", variants, strict=True):
            print(f"{name}: {text}")
        n_rounds = min(len(result.round_values) for result in report.results)
        print(f"{count(n_rounds, 'round')} of both\n")
        print_rows(rows, ("A", "B"), capability="fast tenth")
        print("Values are medians over the rounds, and the ratio is the median of the rounds' ratios.")
        print("fast tenth: the value of a round that one in ten of its samples reaches")
        print(f"\nrun file: {path}; show its values with: nameplate show {path}")
    return exit_code(rows, share) or incomplete_code(report)
