"""Implement ``nameplate list``."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from rich.console import Console

from nameplate.execution.core_process import describe_all
from nameplate.planning.sweep import ProbeInfo, find_probe
from nameplate.probes import load_probes
from nameplate.report.content.parameter_values import possible_values
from nameplate.report.formats.named_formats import format_content, format_names
from nameplate.report.terminal.columns import wrapped
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.entries import Described, lay_out_entries

GROUP = "This machine and nameplate"


def command(probe: str = "", /, *, json: bool = False) -> int:
    """List the probes, the parameters and metrics of one probe, or the formats of show and compare.

    Parameters
    ----------
    probe
        The probe to describe, or "formats" for the formats of show and compare. Default: list all probes.
    json
        Print the descriptions as JSON.
    """
    if probe == "formats":
        _show_formats(json)
        return 0
    probes = describe_all()
    chosen = [find_probe(probe, probes)] if probe else [*probes.values()]
    if json:
        print(msgspec.json.format(msgspec.json.encode(chosen), indent=2).decode())
    elif probe:
        _show_one(chosen[0])
    else:
        _show_all(chosen)
    return 0


def _show_formats(json: bool) -> None:
    from nameplate.report import comparison_exports, exports  # noqa: PLC0415 (only this way needs them, and what they import)

    formats = {
        command: {name: format_content(name, package).replace("``", "") for name in format_names(package)}
        for command, package in (("show", exports), ("compare", comparison_exports))
    }
    if json:
        print(msgspec.json.format(msgspec.json.encode(formats), indent=2).decode())
        return
    console = make_console()
    for command, contents in formats.items():
        console.print(f"nameplate {command} --format")
        for line in lay_out_entries([Described(name, (content,)) for name, content in contents.items()], console.width):
            console.print(line)


def _show_all(probes: list[ProbeInfo]) -> None:
    console = make_console()
    for info in probes:
        known = load_probes().get(info.name)
        rows = {
            "parameters": [p.name for p in info.parameters],
            "metrics": [m.name for m in known.metrics] if known else [],
        }
        _print_entry(
            console, info.name, info.summary, {name: ", ".join(values) for name, values in rows.items() if values}
        )


def _show_one(info: ProbeInfo) -> None:
    console = make_console()
    _print_entry(console, info.name, info.summary, {})
    for parameter in info.parameters:
        rows = {"values": possible_values(parameter), "default": parameter.default or parameter.automatic}
        _print_entry(
            console, parameter.name, parameter.summary, {name: values for name, values in rows.items() if values}
        )
    known = load_probes().get(info.name)
    for metric in known.metrics if known else ():
        unit = f" ({metric.unit})" if metric.unit else ""
        console.print(f"metric {metric.name}{unit}, {metric.better} is better")


def _print_entry(console: Console, name: str, summary: str, rows: Mapping[str, str]) -> None:
    """Print a name with its summary, and below it a line for each item of ``rows``, which maps titles to texts."""
    head = wrapped(summary, console.width, "  ", f"{name}  ")
    head[0].stylize("bold", 0, len(name))
    for line in [
        *head,
        *(line for title, text in rows.items() for line in wrapped(text, console.width, "      ", f"    {title}: ")),
    ]:
        console.print(line)
    console.print()
