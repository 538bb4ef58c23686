"""Measure a run until each of its verdicts against an earlier run is final, for ``nameplate run --against``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from nameplate.commands._exit_codes import incomplete_code
from nameplate.commands._percent import parse_percent
from nameplate.commands._reading import read_report
from nameplate.comparison.decisions import decided_experiments
from nameplate.comparison.metric_rows import overall_verdict
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
class Against:
    """The run to compare with, and the size of a change that matters, as a share."""

    base: Path
    detect: float


def against_of(base: Path | None, detect: str | None) -> Against | None:
    """Return the options ``--against`` and ``--detect``, or None without ``--against``.

    Raises UsageError for ``--detect`` alone, or if it is not a percentage.
    """
    if base is None:
        if detect is not None:
            raise UsageError(f"--detect {detect} needs a run to compare with: add --against BASE.jsonl")
        return None
    return Against(base, SAME_WITHIN if detect is None else parse_percent("--detect", detect))


def base_and_plan(
    against: Against, words: Sequence[str], limits: Mapping[str, str], probes: Mapping[str, ProbeInfo], launch: Launch
) -> tuple[Report, Plan]:
    """Return the earlier run, and the plan that measures its experiments again until they are decided.

    ``words`` are the plan, the probe and the parameters of the command line: only places that the earlier run used may
    be named, since a run file cannot choose them. ``limits`` are its limits by option, of which only ``budget`` is
    possible. The default is that of the earlier run, but not less than a verdict needs. ``probes`` are those of the
    core, and ``launch`` says how it is started. Raises FileError if the earlier run cannot be read, and UsageError if
    it cannot be measured again in this way.
    """
    base, path = read_report(against.base), against.base
    if words and "=" not in words[0]:
        raise UsageError(f"--against takes the plan from {path}: leave out '{words[0]}'")
    for name in limits:
        if name != "budget":
            raise UsageError(f"--against takes the plan and its limits from {path}: leave out --{name}")
    plan = msgspec.structs.replace(
        base.run.plan, experiments=_comparable(base, path), references=[], reference_works=[], priority=""
    )
    for experiment in plan.experiments:
        if probe_of(experiment.probe).takes_whole_job and not launch.launcher:
            raise UsageError(f'{path} has {experiment.probe}: launch it as before, with --mpi "mpirun -n 4"')
        find_probe(experiment.probe, probes)
    check_places(plan.experiments, probes, split_arguments(words), str(path))
    until = msgspec.structs.replace(
        plan.limits, budget_s=_budget_s(plan, limits), rounds=None, budget_binds=False, detect=against.detect
    )
    return base, msgspec.structs.replace(plan, limits=until)


def _comparable(base: Report, path: Path) -> list[Experiment]:
    """Return the experiments that have enough rounds for a verdict; a point of a curve is then measured in any case."""
    plan = base.run.plan
    if base.run.per_node or plan.limits.interval_s or any(each.interval_s for each in plan.experiments):
        raise UsageError(f"--against {path}: a series, or a run of each node, has no rounds to compare one by one")
    if any(each.variant for each in plan.experiments):
        raise UsageError(f"--against {path}: it compares two variants; repeat it with nameplate ab")
    enough = {result.id for result in base.results if len(result.round_values) >= MIN_BASE_ROUNDS}
    found = [msgspec.structs.replace(each, dense=False) for each in plan.experiments if each.id in enough]
    if not found:
        raise UsageError(
            f"--against {path}: none of its experiments has {MIN_BASE_ROUNDS} rounds; measure them with nameplate run"
        )
    return found


def _budget_s(plan: Plan, limits: Mapping[str, str]) -> float:
    """Return the given budget in seconds, or that of the earlier run, but not less than a verdict needs."""
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


def until_decided(base: Report, against: Against) -> Callable[[Report], set[str]]:
    """Return a function that takes the results so far, and returns the experiments whose verdict is final."""

    def decided(report: Report) -> set[str]:
        return decided_experiments(compare_runs(base, report, against.detect).rows, report)

    return decided


Shown = Literal["json", "changes", "all", "nothing"]


def show_verdicts(base: Report, new: Report, against: Against, path: Path, shown: Shown) -> int:
    """Print the comparison of two runs, and return the exit code: that of ``compare``, or 3 for an incomplete run.

    ``shown`` is JSON, a table of the metrics that changed or of all, or nothing.
    """
    from nameplate.commands.compare import exit_code, print_json  # noqa: PLC0415 (only this way of running compares)
    from nameplate.report.terminal.comparison import print_comparison  # noqa: PLC0415 (only one of the ways to show it)

    found = compare_runs(base, new, against.detect)
    if shown == "json":
        print_json(found.rows, overall_verdict(found.rows, against.detect), found.notes)
    elif shown != "nothing":
        print_comparison(found, has_all=shown == "all")
        print(f"\nrun file: {path}; show its values with: nameplate show {path}")
    return exit_code(found.rows, against.detect) or incomplete_code(new)
