"""Implement ``nameplate list``."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from rich.console import Console

from nameplate.execution.core_process import describe_all
from nameplate.planning.sweep import ProbeInfo, find_probe
from nameplate.probes import load_probes
from nameplate.report.content.parameter_values import possible_values
from nameplate.report.terminal.columns import wrapped
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
    console = make_console()
    for info in probes:
        known = load_probes().get(info.name)
        rows = {
            "parameters": [p.name for p in info.parameters],
            "metrics": [m.name for m in known.metrics] if known else [],
        }
        _print_entry(
            console, info.name, info.summary, {name: ", ".join(words) for name, words in rows.items() if words}
        )


def _show_one(info: ProbeInfo) -> None:
    console = make_console()
    _print_entry(console, info.name, info.summary, {})
    for parameter in info.parameters:
        rows = {"values": possible_values(parameter), "default": parameter.default or parameter.automatic}
        _print_entry(console, parameter.name, parameter.summary, {name: words for name, words in rows.items() if words})
    known = load_probes().get(info.name)
    for metric in known.metrics if known else ():
        unit = f" ({metric.unit})" if metric.unit else ""
        console.print(f"metric {metric.name}{unit}, {metric.better} is better")


def _print_entry(console: Console, name: str, summary: str, rows: Mapping[str, str]) -> None:
    """Print a name with its meaning, and below it a line for each of ``rows``: a title and its text."""
    head = wrapped(summary, console.width, "  ", f"{name}  ")
    head[0].stylize("bold", 0, len(name))
    for line in [
        *head,
        *(line for title, text in rows.items() for line in wrapped(text, console.width, "      ", f"    {title}: ")),
    ]:
        console.print(line)
    console.print()
