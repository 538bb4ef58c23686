"""Which rounds and nodes the results of an experiment are computed from."""

from __future__ import annotations

import msgspec
import pytest

from nameplate.records.run_record import Ending, Outcome
from nameplate.results.measurements import Measurement
from nameplate.results.rounds import good_rounds, has_failed_node, missing_rounds, worst_outcome
from run_samples import outcome, sample


def of_nodes(number: int, *endings: Ending) -> Measurement:
    """Return a round in which each node ran the experiment on its own, with the outcome that the core gives to all."""
    ends = {
        node: msgspec.structs.replace(outcome("a", ending, number), node=node) for node, ending in enumerate(endings)
    }
    samples = [msgspec.structs.replace(sample("a"), node=node) for node in ends]
    complete = outcome("a", "ok" if "ok" in endings else endings[0], number)
    return Measurement(complete, samples, ends)


def nodes_in(measured: Measurement) -> list[object]:
    return [sample.node for sample in measured.samples]


def test_a_node_that_failed_in_a_round_lacks_only_that_round() -> None:
    rounds = good_rounds([of_nodes(1, "ok", "ok", "ok"), of_nodes(2, "ok", "failed", "skipped")])
    assert [nodes_in(measured) for measured in rounds] == [[0, 1, 2], [0]]


def test_nodes_that_ended_before_the_job_failed_are_kept_for_the_view_of_nodes() -> None:
    lost = of_nodes(1, "ok", "failed")
    lost = msgspec.structs.replace(lost, outcome=outcome("a", "failed", 1))
    assert good_rounds([lost]) == []
    assert [nodes_in(measured) for measured in good_rounds([lost], of_nodes=True)] == [[0]]


def test_a_node_with_a_wrong_result_has_no_value_in_any_round() -> None:
    rounds = good_rounds(
        [of_nodes(1, "ok", "ok", "ok"), of_nodes(2, "invalid", "ok", "ok"), of_nodes(3, "ok", "ok", "ok")]
    )
    assert [nodes_in(measured) for measured in rounds] == [[1, 2], [1, 2], [1, 2]]


@pytest.mark.parametrize(
    ("endings", "is_failed"),
    [(["ok", "ok"], False), (["ok", "skipped"], False), (["ok", "failed"], True), (["invalid", "ok"], True)],
)
def test_a_node_that_failed_or_was_wrong_makes_the_run_incomplete(endings: list[Ending], is_failed: bool) -> None:
    assert has_failed_node([of_nodes(1, "ok", "ok"), of_nodes(2, *endings)]) == is_failed


def test_without_a_good_node_the_outcome_is_the_worst_of_the_nodes() -> None:
    rounds = [of_nodes(1, "invalid", "ok"), of_nodes(2, "ok", "invalid")]
    assert good_rounds(rounds) == []
    assert worst_outcome(rounds).ending == "invalid"


def test_a_round_without_samples_is_no_good_one() -> None:
    assert good_rounds([Measurement(outcome("a"), [])]) == []


def test_nothing_is_missing_from_good_rounds() -> None:
    end: Outcome = outcome("a")
    assert missing_rounds([Measurement(end, [sample("a")])]) == ""
