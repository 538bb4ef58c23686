"""``nameplate show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.report.exports import find_export
from nameplate.report.text import print_report
from nameplate.store import read_run
from nameplate.summarise import summarise


def command(run: Path, /, *, format: Annotated[str, Parameter(name=["--format", "-f"])] = "table") -> int:  # noqa: A002
    """Show a run's figures.

    Parameters
    ----------
    run
        A run file (.jsonl).
    format
        table, json, csv or markdown; all but the table in SI base units.
    """
    report = summarise(read_run(run))
    if format == "table":
        print_report(report, run)
    else:
        sys.stdout.write(find_export(format)(report))
    return 0
