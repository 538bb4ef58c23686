"""Measure slow nodes again, each alone, and judge the result."""

from __future__ import annotations

import msgspec
import pytest

from nameplate.comparison.recheck import RecheckFinding, findings, suspects_of
from nameplate.errors import UsageError
from nameplate.records.node_record import NodeMetric, Nodes
from nameplate.records.plan_record import Experiment, Limits, PerNode, Plan
from nameplate.records.run_record import Run
from run_samples import run

NAMES = ["a", "b", "c", "d", "e", "old"]
CLASSES = ["new"] * 5 + ["old"]


def metric(
    *values: float | None, slow: tuple[int, ...] = (), experiment: str = "x", better: str = "higher"
) -> NodeMetric:
    gaps = [None if value is None else 1 - value if better == "higher" else 1 - 1 / value for value in values]
    none: list[float | None] = [None] * len(values)
    return NodeMetric(experiment, "rate", "B/s", "lower" if better == "lower" else "higher", list(values), gaps, none,
                      none, list(slow))  # fmt: skip


def plan(probe: str = "cpu_flops") -> Plan:
    experiments = [Experiment("x", probe, {"op": "triad"}), Experiment("fine", "cpu_flops", {})]
    return Plan("p", experiments, Limits(60.0, 0.02))


def nodes(*metrics: NodeMetric) -> Nodes:
    return Nodes(NAMES, CLASSES, list(metrics))


FIRST = nodes(
    metric(1.0, 0.8, 1.01, 0.99, 1.3, 0.5, slow=(1,)), metric(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, experiment="fine")
)


def findings_of(second: NodeMetric, how: PerNode, probe: str = "cpu_flops") -> list[RecheckFinding]:
    suspects = suspects_of(FIRST, plan(probe))
    return findings(FIRST, suspects, nodes(second), run_of(how, probe))


def run_of(how: PerNode, probe: str = "cpu_flops") -> Run:
    return msgspec.structs.replace(run(plan(probe)), per_node=how)


def test_the_metric_that_named_a_node_is_measured_again_on_healthy_nodes_too() -> None:
    suspects = suspects_of(FIRST, plan())
    assert suspects.nodes == ["b", "a", "c", "d"]
    assert dict(suspects.references) == {("x rate", "b"): ["a", "c", "d"]}
    assert [experiment.id for experiment in suspects.plan.experiments] == ["x"]
    assert suspects.plan.limits.rounds == 6


@pytest.mark.parametrize(
    ("factor", "how", "label"),
    [(0.8, "in-turn", "persistent"), (0.88, "at-once", "persistent"), (0.97, "at-once", "contended"),
     (0.97, "", "contended"), (1.02, "in-turn", "transient")],
)  # fmt: skip
def test_the_label_says_whether_the_node_is_the_cause(factor: float, how: PerNode, label: str) -> None:
    (finding,) = findings_of(metric(2.0, 2.0 * factor, 2.02, 1.98, None, None), how)
    assert (finding.node, finding.label) == ("b", label)
    assert finding.before == pytest.approx(0.2)
    assert finding.alone == pytest.approx(1 - factor)


def test_a_higher_latency_is_worse() -> None:
    first = nodes(metric(1.0, 1.25, 1.0, 1.0, 1.0, 1.0, slow=(1,), better="lower"))
    second = nodes(metric(1.0, 1.25, 1.0, 1.0, None, None, better="lower"))
    (finding,) = findings(first, suspects_of(first, plan()), second, run_of("in-turn"))
    assert finding.alone == pytest.approx(0.2)
    assert finding.label == "persistent"


def test_memory_of_all_nodes_is_measured_again_on_one() -> None:
    (experiment,) = suspects_of(FIRST, plan("mpi_stream")).plan.experiments
    assert (experiment.id, experiment.probe, experiment.params) == ("x", "memory_stream", {"op": "triad"})
    second = msgspec.structs.replace(metric(1.0, 0.8, 1.0, 1.0, None, None), metric="bandwidth")
    assert findings_of(second, "", "mpi_stream")[0].label == "persistent"
    alright = msgspec.structs.replace(metric(1.0, 1.0, 1.0, 1.0, None, None), metric="bandwidth")
    assert findings_of(alright, "in-turn", "mpi_stream")[0].label == "contended", "all nodes took that one at once"


def test_persistent_memory_is_not_measured_again_as_dram() -> None:
    experiment = Experiment("x", "mpi_stream", {"op": "triad", "memory": "pmem", "path": "/mnt"})
    with pytest.raises(UsageError, match="only in experiments of the whole job"):
        suspects_of(FIRST, Plan("p", [experiment], Limits(60.0, 0.02)))


def test_a_node_that_is_slow_by_another_metric_is_not_used_for_comparison() -> None:
    first = nodes(metric(1.0, 0.8, 1.0, 0.99, 1.3, 0.5, slow=(1,)),
                  metric(0.7, 1.0, 1.0, 1.0, 1.0, 1.0, slow=(0,), experiment="fine"))  # fmt: skip
    assert suspects_of(first, plan()).references["x rate", "b"] == ["c", "d", "e"]


def test_a_dense_point_is_always_measured_again() -> None:
    dense = Plan("p", [Experiment("x", "cpu_flops", {}, dense=True)], Limits(60.0, 0.02))
    assert not suspects_of(FIRST, dense).plan.experiments[0].dense


def test_a_link_cannot_be_measured_alone() -> None:
    with pytest.raises(UsageError, match=r"only in experiments of the whole job; leave it out: x"):
        suspects_of(FIRST, plan("mpi_pairs"))


def test_a_suspect_that_was_not_measured_again_is_reported() -> None:
    assert [item.label for item in findings_of(metric(1.0, None, 1.0, 1.0, None, None), "in-turn")] == ["not measured"]
    assert findings(FIRST, suspects_of(FIRST, plan()), None, run_of("in-turn"))[0].label == "not measured"
