"""Measure a run until every verdict against an earlier run is final, for ``nameplate run --against``."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from nameplate.commands._exit_codes import incomplete_code
from nameplate.commands._percent import parse_percent
from nameplate.commands._reading import read_report
from nameplate.comparison.decisions import decided_experiments
from nameplate.comparison.run_comparison import compare_runs
from nameplate.errors import UsageError
from nameplate.execution.launch import Launch
from nameplate.planning.budget import MIN_ROUNDS, START_COMMAND_S, START_CORE_S, closing_s, round_s
from nameplate.planning.places import check_places
from nameplate.planning.plan_file import make_limits
from nameplate.planning.sweep import ProbeInfo, find_probe, split_arguments
from nameplate.probes import probe_of
from nameplate.records.plan_record import Experiment, Plan
from nameplate.records.result import Report
from nameplate.statistics.verdict import SAME_WITHIN

# With fewer rounds, a metric of the earlier run has no interval.
MIN_BASE_ROUNDS = 5


@dataclass(frozen=True)
class BaselineComparison:
    """The run file to compare with, ``base``, and the smallest change that matters, ``detect``.

    ``detect`` is a share: 0.05 is 5 %.
    """

    base: Path
    detect: float


def against_of(base: Path | None, detect: str | None) -> BaselineComparison | None:
    """Return the comparison for the options ``--against`` and ``--detect``; None without ``--against``.

    ``base`` is the run file of ``--against``. ``detect`` is a percentage such as ``5%``; None means the default of 5 %.
    Raises UsageError if ``detect`` is given without ``base``, or is not a percentage.
    """
    if base is None:
        if detect is not None:
            raise UsageError(f"--detect {detect} needs a run to compare with: add --against BASE.jsonl")
        return None
    return BaselineComparison(base, SAME_WITHIN if detect is None else parse_percent("--detect", detect))


def base_and_plan(
    against: BaselineComparison,
    arguments: Sequence[str],
    limits: Mapping[str, str],
    probes: Mapping[str, ProbeInfo],
    launch: Launch,
) -> tuple[Report, Plan]:
    """Return the earlier run, and the plan that measures its experiments again until their verdicts are final.

    - ``arguments``: the arguments of the command line before the options. A run file cannot choose paths or addresses,
      so they must name each one that the earlier run used, as name=value, and may contain nothing else
    - ``limits``: the given limits by option, of which only ``budget`` is allowed. The default is the budget of the
      earlier run, or the time of ``MIN_ROUNDS`` rounds if that is longer
    - ``probes``: the core's probes by name; ``launch``: how the core is started

    Raises:
        FileError: the earlier run cannot be read.
        UsageError: the earlier run is a series or a run per node, compares two variants, has no experiment with
            ``MIN_BASE_ROUNDS`` rounds, or needs a launcher; or an argument or a limit is not allowed.
    """
    base, path = read_report(against.base), against.base
    if arguments and "=" not in arguments[0]:
        raise UsageError(f"--against takes the plan from {path}: leave out '{arguments[0]}'")
    for name in limits:
        if name != "budget":
            raise UsageError(f"--against takes the plan and its limits from {path}: leave out --{name}")
    plan = msgspec.structs.replace(
        base.run.plan, experiments=_comparable(base, path), references=[], reference_works=[], priority=""
    )
    for experiment in plan.experiments:
        if probe_of(experiment.probe).takes_all_ranks and not launch.launcher:
            raise UsageError(f'{path} measured {experiment.probe}: give its launcher, such as --mpi "mpirun -n 4"')
        find_probe(experiment.probe, probes)
    check_places(plan.experiments, probes, split_arguments(arguments), str(path))
    until = msgspec.structs.replace(
        plan.limits, budget_s=_budget_s(plan, limits), rounds=None, budget_binds=False, detect=against.detect
    )
    return base, msgspec.structs.replace(plan, limits=until)


def _comparable(base: Report, path: Path) -> list[Experiment]:
    """Return the experiments that have enough rounds for a verdict, none of them dense, so that all are measured."""
    plan = base.run.plan
    if base.run.per_node or plan.limits.interval_s or any(experiment.interval_s for experiment in plan.experiments):
        raise UsageError(f"--against {path}: a series or a run per node cannot be compared; give another run")
    if any(experiment.variant for experiment in plan.experiments):
        raise UsageError(f"--against {path}: it compares two variants; repeat it with nameplate ab")
    enough = {result.id for result in base.results if len(result.round_values) >= MIN_BASE_ROUNDS}
    experiments = [
        msgspec.structs.replace(experiment, dense=False) for experiment in plan.experiments if experiment.id in enough
    ]
    if not experiments:
        raise UsageError(
            f"--against {path}: none of its experiments has {MIN_BASE_ROUNDS} rounds; measure them with nameplate run"
        )
    return experiments


def _budget_s(plan: Plan, limits: Mapping[str, str]) -> float:
    """Return the given budget in seconds, or the budget of the earlier run if that is long enough for a verdict.

    If it is shorter, the result is the minimum for a verdict. Raises UsageError if the given budget is shorter.
    """
    shortest = msgspec.structs.replace(plan, limits=msgspec.structs.replace(plan.limits, rounds=None))
    least_s = math.ceil(
        START_COMMAND_S
        + MIN_ROUNDS * (START_CORE_S + round_s(shortest))
        + closing_s(plan.limits, len(plan.experiments))
    )
    if "budget" not in limits:
        return max(plan.limits.budget_s, least_s)
    budget_s = make_limits({"budget": limits["budget"]}).budget_s
    if budget_s < least_s:
        raise UsageError(f"--budget {limits['budget']}: too short for {MIN_ROUNDS} rounds; use {least_s}s or more")
    return budget_s


def until_decided(base: Report, against: BaselineComparison) -> Callable[[Report], set[str]]:
    """Return a function that returns the ids of the experiments whose verdict is final, given the results so far.

    ``base`` is the earlier run, and ``against`` has the smallest change that matters.
    """

    def decided(report: Report) -> set[str]:
        return decided_experiments(compare_runs(base, report, against.detect).rows, report)

    return decided


OutputKind = Literal["json", "changes", "all", "nothing"]


def show_verdicts(base: Report, new: Report, against: BaselineComparison, path: Path, output: OutputKind) -> int:
    """Print the comparison of two runs, and return the exit code of ``compare``, or 3 for an incomplete run.

    ``new`` is the run in the file ``path``, and ``base`` the earlier run. ``output`` chooses JSON, a table of the
    metrics that changed, a table of all metrics, or nothing. ``against`` has the smallest change that matters.
    """
    from nameplate.commands._verdicts import gate_code  # noqa: PLC0415 (only this way of running compares)
    from nameplate.report.comparison_exports.json import export  # noqa: PLC0415 (only one of the ways to show it)
    from nameplate.report.terminal.comparison import print_comparison  # noqa: PLC0415 (only one of the ways to show it)

    comparison = compare_runs(base, new, against.detect, against.detect)
    if output == "json":
        sys.stdout.write(export(comparison, against.detect))
    elif output != "nothing":
        print_comparison(comparison, has_all=output == "all")
        print(f"\nrun file: {path}; show its values with: nameplate show {path}")
    return gate_code(comparison, against.detect) or incomplete_code(new)
