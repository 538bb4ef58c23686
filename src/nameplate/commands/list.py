"""Implement ``nameplate list``."""

from __future__ import annotations

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from nameplate.execution.core_process import describe_all
from nameplate.planning.sweep import ProbeInfo, find_probe
from nameplate.probes import load_probes
from nameplate.report.parameter_values import possible_values
from nameplate.report.terminal.console import make_console


def command(probe: str = "", /, *, json: bool = False) -> int:
    """List the probes, or the parameters and metrics of one probe.

    Parameters
    ----------
    probe
        The probe to describe.
    json
        Print the description of the probes as JSON.
    """
    probes = describe_all()
    chosen = [find_probe(probe, probes)] if probe else [*probes.values()]
    if json:
        print(msgspec.json.format(msgspec.json.encode(chosen), indent=2).decode())
    elif probe:
        _show_one(chosen[0])
    else:
        _show_all(chosen)
    return 0


def _show_all(probes: list[ProbeInfo]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("probe", "measures", "parameters", "metrics"):
        table.add_column(heading)
    for info in probes:
        known = load_probes().get(info.name)
        metrics = " ".join(metric.name for metric in known.metrics) if known else ""
        table.add_row(info.name, info.summary, " ".join(p.name for p in info.parameters), metrics)
    make_console().print(table)


def _show_one(info: ProbeInfo) -> None:
    console = make_console()
    console.print(Text.assemble((info.name, "bold"), f": {info.summary}"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("parameter", "values", "default", "meaning"):
        table.add_column(heading)
    for parameter in info.parameters:
        table.add_row(
            parameter.name, possible_values(parameter), parameter.default or parameter.automatic, parameter.summary
        )
    console.print(table)
    known = load_probes().get(info.name)
    for metric in known.metrics if known else ():
        unit = f" ({metric.unit})" if metric.unit else ""
        console.print(f"metric {metric.name}{unit}, {metric.better} is better")
