"""``nameplate show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.errors import FileError
from nameplate.report.aliases import without_names
from nameplate.report.exports import file_name, find_export
from nameplate.report.text import print_report
from nameplate.store import read_run
from nameplate.summarise import summarise


def command(
    run: Path,
    /,
    *,
    format: Annotated[str, Parameter(name=["--format", "-f"])] = "table",  # noqa: A002
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    identify: bool = False,
) -> int:
    """Show a run's figures.

    Parameters
    ----------
    run
        A run file (.jsonl).
    format
        table, json, csv, markdown or xml (DistributedStream's); all but the table in SI base units.
    output
        Where to write another format than the table: a file, or a directory for a file of the format's own name.
    identify
        Keep the host's name where a format other than the table has one.
    """
    report = summarise(read_run(run))
    if format == "table":
        print_report(report, run)
        return 0
    export = find_export(format)
    shown = report if identify else without_names([report])[0]
    text = export(shown)
    if output is None:
        sys.stdout.write(text)
        return 0
    target = output / file_name(format, shown, run) if output.is_dir() else output
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {target}: {error.strerror}") from None
    print(f"wrote {target}")
    return 0
