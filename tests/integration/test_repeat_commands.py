"""``nameplate run`` accepts the commands that a report shows next to its charts."""

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
    """Return each command once."""
    charts: list[Chart] = []
    sources: list[str] = []
    for report in every_kind():
        section = make_section(1, report, DETAILS[0], charts)
        sources += [source.command for card in section.cards for source in card.sources]
    commands_of_charts = [command for chart in charts for command in chart.commands]
    # The commands of experiments are all built alike, so one per probe is enough.
    first = {command.split()[2]: command for command in sources}
    return list(dict.fromkeys([*commands_of_charts, *first.values()]))


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("command", commands())
def test_a_dry_run_accepts_every_command(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The command names no number of ranks if the run did not record it, and there may be fewer cores than ranks.
    arguments = shlex.split(re.sub(r"mpirun -n \w+", "mpirun --oversubscribe -n 2", command))
    assert arguments[0] == "nameplate"
    monkeypatch.chdir(tmp_path)
    assert run([*arguments[1:], "--dry-run"]) == 0, capsys.readouterr().err
    assert not list(tmp_path.iterdir())
