"""Measure a machine against itself, for ``nameplate compare --selftest``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from nameplate.comparison.false_positives import WINDOW
from nameplate.errors import UsageError
from nameplate.execution.core_process import describe_core
from nameplate.execution.measuring import RunEnvironment, make_run, measure_to_file
from nameplate.planning.budget import round_s
from nameplate.planning.plan_file import build_plan, read_plan
from nameplate.records.result import Report
from nameplate.records.run_writer import RunWriter
from nameplate.report.terminal.progress import make_progress
from nameplate.units import parse_duration

PLAN = "quick"
DEFAULT_BUDGET = "5min"


def measured_against_itself(budget: str | None) -> tuple[Report, Path]:
    """Measure the plan ``quick`` for as many rounds as fit the budget; return the results and the run file's path.

    ``budget`` is a duration such as ``10min``; None means 5min. The run file ``nameplate-selftest-DATE-TIME.jsonl`` is
    created in the current directory, and progress is shown on standard error. Ctrl-C ends the measurement early; the
    results then have fewer rounds.

    Raises UsageError if the budget is not a duration, or is too short for 2 × ``WINDOW`` rounds, and the errors of
    ``measure_to_file``.
    """
    text, core = read_plan(PLAN), describe_core()
    once = build_plan(text, core.probes, {"rounds": "1"}, core.machine)
    rounds = int(parse_duration(budget or DEFAULT_BUDGET) / round_s(once))
    if rounds < 2 * WINDOW:
        raise UsageError(
            f"--budget {budget or DEFAULT_BUDGET} is too short: two windows of {WINDOW} rounds of {PLAN} take "
            f"{2 * WINDOW * round_s(once):.0f} s; use at least that"
        )
    plan = build_plan(text, core.probes, {"rounds": str(rounds)}, core.machine)
    path = Path(f"nameplate-selftest-{datetime.now().strftime('%Y%m%d-%H%M%S')}.jsonl")
    header = make_run(plan, None, {}, "normal", "")
    with RunWriter.create_numbered(path) as writer:
        progress = make_progress(False, False, header.plan.experiments)
        report = measure_to_file(header, writer, None, progress, RunEnvironment(core.machine))
    return report, writer.path
