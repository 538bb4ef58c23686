"""The nodes of a cluster in the terminal: all values of a line follow from one definition."""

from __future__ import annotations

import re
from typing import Literal

import msgspec
import numpy as np
import pytest

from nameplate.records.node_record import Nodes
from nameplate.report.content.format import quantity, share
from nameplate.report.content.slow_nodes import summary
from nameplate.report.html.node_card import make_node_card
from nameplate.report.terminal.nodes import print_nodes
from nameplate.results.node_values import node_metric
from nameplate.statistics.outlier_nodes import NodeValues, judge
from report_samples import report
from report_samples import result as measured

CLASSES = ["old"] * 5 + ["new"] * 5
# Rounds drift, and for no node the median round is the one in which its class had its median.
ROUNDS = np.array([
    [10.0, 10.2, 9.9, 10.1, 9.1, 20.0, 20.4, 19.9, 20.1, 20.2],
    [8.1, 8.0, 7.2, 7.9, 7.7, 16.0, 16.2, 15.9, 14.0, 16.1],
    [6.0, 6.2, 6.1, 4.0, 5.9, 12.0, 12.1, 11.2, 12.2, 12.0],
]) * 1e9  # fmt: skip


def view(unit: str) -> Nodes:
    better: Literal["higher", "lower"] = "lower" if unit == "s" else "higher"
    values = 1e7 / ROUNDS if unit == "s" else ROUNDS
    actual = judge([NodeValues("x", "y", unit, better, values)], CLASSES)
    return Nodes([f"n{index}" for index in range(10)], CLASSES, [node_metric(item) for item in actual])


@pytest.mark.parametrize("unit", ["B/s", "s"])
def test_a_share_is_computed_from_the_values_in_its_line(unit: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_nodes(view(unit))
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  x y "))
    numbers = [float(number) for number in re.findall(r"[\d.]+(?= )", line)]
    middle, slowest, behind = numbers[:3]
    assert line.split()[-2] == "n4", "of the old ones, though the new ones are twice as fast"
    printed = 1 - (slowest / middle if unit == "B/s" else middle / slowest)
    assert behind == pytest.approx(100 * printed, abs=0.06)


def test_the_report_has_the_same_line() -> None:
    nodes = view("B/s")
    card = make_node_card("x", msgspec.structs.replace(report([measured({"threads": 1})]), nodes=nodes), [])
    assert card is not None
    metric = nodes.metrics[0]
    printed = [entry.text for entry in card.tables[0].rows[0]]
    values = [value for value in metric.value[:5] if value is not None]
    assert printed[1:4] == [quantity(float(np.median(values)), "B/s"), quantity(metric.value[4], "B/s"),
                          share(metric.gap[4])]  # fmt: skip


@pytest.mark.parametrize(
    ("n_nodes", "n_rounds", "sentence"),
    [
        (3, 2, "No node is judged: at least 4 nodes of the same hardware are needed."),
        (3, 3, "No node is judged: at least 4 nodes of the same hardware are needed."),
        (5, 2, "No node can be called slow: a node's variation needs 3 rounds."),
    ],
)
def test_the_reason_why_no_node_is_slow_is_what_is_missing(n_nodes: int, n_rounds: int, sentence: str) -> None:
    judged = judge([NodeValues("x", "y", "B/s", "higher", ROUNDS[:n_rounds, :n_nodes])], ["one"] * n_nodes)
    nodes = Nodes([f"n{number}" for number in range(n_nodes)], ["one"] * n_nodes, [node_metric(row) for row in judged])
    assert summary(nodes) == sentence
