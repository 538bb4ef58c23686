"""Implement ``nameplate show``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.commands._expected import with_expectation
from nameplate.commands._fleet import is_fleet, read_fleet_report
from nameplate.commands._reading import read_reports, the_only
from nameplate.errors import FileError, UsageError
from nameplate.records.atomic_write import write_atomically
from nameplate.records.outputs import check_output
from nameplate.records.replaceable import check_replaceable
from nameplate.records.result import Report
from nameplate.report.content.aliases import without_names
from nameplate.report.exports import file_name, find_export
from nameplate.report.terminal.run import print_report
from nameplate.studies import with_study

GROUP = "Read results"


def command(  # noqa: PLR0913 (the options of the command line)
    *runs: Path,
    format: Annotated[str, Parameter(name=["--format", "-f"])] = "table",  # noqa: A002
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    expect: Annotated[Path | None, Parameter(show_default=False)] = None,
    all: bool = False,  # noqa: A002
    json: bool = False,
    identify: bool = False,
    force: bool = False,
) -> int:
    """Show the verdict and the main values of a run on one screen, show all its values, or export them.

    Parameters
    ----------
    runs
        A run file (.jsonl), a report (.html), which contains its runs, the output of another tool, such as fio, or a
        directory, for its newest run file. Several run files, and a directory with runs of several machines, are shown
        as a fleet: each value is the median of the machines.
    format
        The output format: table, or another one, such as csv. nameplate list formats describes them.
    output
        The file to write. In a directory, the file gets the default name of the format. A format of several files needs
        a directory. Default: standard output.
    expect
        A site file of nameplate check, whose expected ranges give reference values where there are no others. Default:
        what others measured on this cloud instance type, if nameplate-catalogue is installed.
    all
        Show the tables of all values below the first screen.
    json
        The same as --format json.
    identify
        Keep the host name in formats other than the table.
    force
        Overwrite the output file even if its checksum does not show that nameplate wrote it. Run files are never
        overwritten.
    """
    if json:
        if format not in ("table", "json"):
            raise UsageError(f"--json and --format {format}: use one of them")
        format = "json"  # noqa: A001
    if format == "table" and output is not None:
        raise UsageError("-o cannot write the table; add --format, for example --format csv")
    reports = [with_expectation(with_study(report), expect) for report in _reports(runs)]
    if format == "table":
        for report in reports:
            print_report(report, runs[0], all)
        return 0
    report = the_only(reports, runs[0])
    anonymised = report if identify else without_names([report])[0]
    made = find_export(format)(anonymised)
    if isinstance(made, dict):
        _write_several(made, output, format, force)
    elif output is None:
        sys.stdout.write(made)
    else:
        target = output / file_name(format, anonymised, runs[0]) if output.is_dir() else output
        check_output("-o", target, inputs=[*runs, expect], force=force, content=made.encode())
        write_atomically(made.encode(), target, force)
        print(f"wrote {target}")
    return 0


def _reports(paths: Sequence[Path]) -> list[Report]:
    """Return the report of a fleet, or the runs of a single file or folder."""
    if not paths:
        raise UsageError("nothing to show: name a run file (.jsonl), or a directory with run files")
    return [read_fleet_report(paths)] if len(paths) > 1 or is_fleet(paths[0]) else read_reports(paths)


def _write_several(
    files: Mapping[str, str] | Mapping[str, bytes], directory: Path | None, format_name: str, force: bool
) -> None:
    if directory is None:
        raise UsageError(f"--format {format_name} writes several files: name a directory with -o DIR")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot write to {directory}: {error.strerror}") from None
    contents = {
        directory / name: content.encode() if isinstance(content, str) else content for name, content in files.items()
    }
    check_replaceable(contents, force)
    for path, content in contents.items():
        write_atomically(content, path, force)
    print(f"wrote {len(files)} files to {directory}")
