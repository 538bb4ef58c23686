"""UDP round trips of which a sample, a round or all were lost have no latency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nameplate.commands._reading import read_report
from nameplate.records.result import Result
from nameplate.report.html.document import write_html
from nameplate.report.terminal.run import print_report
from recorded_runs import unpacked

CELL = "net_pingpong protocol=udp payload=64"
ROUNDS = 6


def six_rounds() -> list[dict[str, Any]]:
    """Return the records of a run in which the only round of the experiment is repeated six times."""
    records = [json.loads(line) for line in unpacked("quick").splitlines()]
    of_cell = [record for record in records if record.get("id") == CELL]
    index = next(index for index, record in enumerate(records) if record["type"] == "stop")
    further = [{**record, "round": number} for number in range(2, ROUNDS + 1) for record in of_cell]
    return [*records[:index], *further, *records[index:]]


def lost(record: dict[str, Any]) -> dict[str, Any]:
    """Return the sample as if every datagram had been lost."""
    retained = {key: value for key, value in record.items() if key != "histogram"}
    nothing = {"bytes": 0, "flops": 0, "ops": 0}
    return {**retained, "work": nothing, "counters": {**record["counters"], "lost": 12}}


def with_losses(folder: Path, rounds: int, samples: int) -> dict[str, Result]:
    """Return the results of a run in which the first ``samples`` of the first ``rounds`` of an experiment were lost."""
    records = [
        lost(record)
        if record.get("id") == CELL and record["round"] <= rounds and record.get("index", samples) < samples
        else record
        for record in six_rounds()
    ]
    path = folder / "lossy.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    report = read_report(path)
    print_report(report, path)
    write_html([report], folder / "lossy.html", identify=True)
    return {result.summary.metric: result for result in report.results if result.id == CELL}


def test_a_sample_without_an_answer_has_no_latency(tmp_path: Path) -> None:
    complete, actual = with_losses(tmp_path, 0, 0), with_losses(tmp_path, 1, 1)
    assert actual["latency"].summary.samples == complete["latency"].summary.samples - 1
    assert actual["round_trips"].summary.samples == complete["round_trips"].summary.samples
    assert (actual["latency"].summary.rounds, actual["loss"].summary.best) == (6, 0.0)
    assert any("1 of " in remark and "lost every datagram" in remark for remark in actual["latency"].remarks)


def test_a_round_without_an_answer_is_left_out_of_the_latency(tmp_path: Path) -> None:
    actual = with_losses(tmp_path, 2, 1000)
    assert [actual[metric].summary.rounds for metric in ("latency", "round_trips", "loss")] == [4, 6, 6]
    assert actual["latency"].summary.ci is None
    assert actual["loss"].round_values[:2] == pytest.approx([1.0, 1.0])


def test_without_any_answer_there_is_a_loss_and_no_latency(tmp_path: Path) -> None:
    actual = with_losses(tmp_path, 6, 1000)
    assert "latency" not in actual
    assert (actual["loss"].summary.value, actual["round_trips"].summary.value) == (1.0, 0.0)
