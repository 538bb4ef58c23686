"""Implement ``nameplate plan``."""

from __future__ import annotations

import msgspec

from nameplate.execution.core_process import describe_all, read_machine
from nameplate.planning.plan_file import build_plan, read_plan, shipped_plans
from nameplate.report.terminal.columns import wrapped
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.entries import Described, lay_out_entries
from nameplate.units import percent_text

GROUP = "This machine and nameplate"


def command(name: str = "", /, *, json: bool = False) -> int:
    """List the plans that come with nameplate, or the experiments of one plan.

    Parameters
    ----------
    name
        A plan that comes with nameplate, or the path of a plan file (.toml). Default: list all plans.
    json
        Print the plan as it would be run, as JSON.
    """
    console = make_console()
    if not name:
        entries = [Described(shipped, (read_plan(shipped).summary,)) for shipped in shipped_plans()]
        for line in lay_out_entries(entries, console.width):
            console.print(line)
        return 0
    text = read_plan(name)
    built = build_plan(text, describe_all(), {}, read_machine())
    limits = built.limits
    if json:
        print(msgspec.json.format(msgspec.json.encode(built), indent=2).decode())
        return 0
    head = f"{built.name}: {text.summary}; budget {limits.budget_s:g} s, precision {percent_text(limits.precision)}"
    lines = wrapped(head, console.width, "  ")
    for experiment in built.experiments:
        lines += wrapped(f"{experiment.id}  ({experiment.slice_s:g} s per round)", console.width, "    ", "  ")
    for line in lines:
        console.print(line)
    return 0
