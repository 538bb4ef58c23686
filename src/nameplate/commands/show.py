"""``nameplate show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.report.aliases import without_names
from nameplate.report.exports import find_export
from nameplate.report.text import print_report
from nameplate.store import read_run
from nameplate.summarise import summarise


def command(
    run: Path,
    /,
    *,
    format: Annotated[str, Parameter(name=["--format", "-f"])] = "table",  # noqa: A002
    identify: bool = False,
) -> int:
    """Show a run's figures.

    Parameters
    ----------
    run
        A run file (.jsonl).
    format
        table, json, csv or markdown; all but the table in SI base units.
    identify
        Keep the host's name where a format other than the table has one.
    """
    report = summarise(read_run(run))
    if format == "table":
        print_report(report, run)
        return 0
    export = find_export(format)
    sys.stdout.write(export(report if identify else without_names([report])[0]))
    return 0
