"""``nameplate report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from nameplate.errors import UsageError
from nameplate.store import read_run
from nameplate.summarise import summarise


def command(
    *runs: Path,
    identify: bool = False,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("nameplate-report.html"),
) -> int:
    """Write an HTML report: one file, offline, charts and tables.

    Parameters
    ----------
    runs
        Run files (.jsonl); several are shown one after the other.
    identify
        Keep the hosts' names; by default they are "machine 1", "machine 2".
    output
        The file to write.
    """
    from nameplate.report.html import write_html  # noqa: PLC0415 (charts take a second to import)

    if not runs:
        raise UsageError("nothing to report: name one or more run files (.jsonl)")
    write_html([summarise(read_run(run)) for run in runs], output, identify)
    print(f"wrote {output}")
    return 0
