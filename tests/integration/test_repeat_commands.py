"""The commands beside a report's charts are ones that ``nameplate run`` takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from nameplate.command_line import run
from nameplate.report.charts.common import Chart
from nameplate.report.html.document import DETAILS
from nameplate.report.html.page import make_section
from report_kinds import every_kind


def commands() -> list[str]:
    """Each once, with a number of ranks where the run does not tell it."""
    charts: list[Chart] = []
    sources: list[str] = []
    for report in every_kind():
        section = make_section(1, report, DETAILS[0], charts)
        sources += [source.command for card in section.cards for source in card.sources]
    found = [command for chart in charts for command in chart.commands]
    # One command of each probe is enough, since they are made alike.
    first = {command.split()[2]: command for command in sources}
    return list(dict.fromkeys([*found, *first.values()]))


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("command", commands())
def test_a_dry_run_takes_it(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # This machine is no cluster, and Open MPI wants to be told that it may have more ranks than cores.
    words = shlex.split(re.sub(r"mpirun -n \w+", "mpirun --oversubscribe -n 2", command))
    assert words[0] == "nameplate"
    monkeypatch.chdir(tmp_path)
    assert run([*words[1:], "--dry-run"]) == 0, capsys.readouterr().err
    assert not list(tmp_path.iterdir())
