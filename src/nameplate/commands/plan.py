"""Implement ``nameplate plan``."""

from __future__ import annotations

import msgspec
from rich import box
from rich.table import Table

from nameplate.execution.core_process import describe_all, read_machine
from nameplate.planning.plan_file import build_plan, read_plan, shipped_plans
from nameplate.report.terminal.console import make_console
from nameplate.units import percent_text


def command(name: str = "", /, *, json: bool = False) -> int:
    """List the plans that come with nameplate, or the experiments of one.

    Parameters
    ----------
    name
        A plan that comes with nameplate, or the path of a plan file (.toml).
    json
        Print the plan as it would be run, as JSON.
    """
    console = make_console()
    if not name:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("plan")
        table.add_column("measures")
        for shipped in shipped_plans():
            table.add_row(shipped, read_plan(shipped).summary)
        console.print(table)
        return 0
    text = read_plan(name)
    built = build_plan(text, describe_all(), {}, read_machine())
    limits = built.limits
    if json:
        print(msgspec.json.format(msgspec.json.encode(built), indent=2).decode())
        return 0
    console.print(
        f"{built.name}: {text.summary}; budget {limits.budget_s:g} s, precision {percent_text(limits.precision)}"
    )
    for experiment in built.experiments:
        console.print(f"  {experiment.id}  ({experiment.slice_s:g} s per round)")
    return 0
