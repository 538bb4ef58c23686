"""The results from the times between all pairs: medians by node, slow nodes, and the heat map."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest

from machines import MACHINE, machine_with
from nameplate.probes import ResolvedExperiment
from nameplate.probes.interface.pair_matrix import PairMatrix
from nameplate.probes.mpi_pairs import PROBE
from nameplate.probes.shared.pair_tables import pair_matrix_tables
from nameplate.records.result import Quantity, Result, Table
from nameplate.records.run_record import Sample, Work
from nameplate.report.charts.pair_map import MAX_ROWS, pair_maps
from nameplate.report.content.aliases import without_names
from nameplate.report.html.document import DETAILS, SIZE_LIMIT
from nameplate.report.html.embed import read_embedded
from nameplate.report.html.page import render
from nameplate.results.summarise import summarise
from report_samples import result, with_summary
from run_samples import run_of_one

assert PROBE.pair_matrix is not None
MATRIX: PairMatrix = PROBE.pair_matrix
FAST_S, SLOW_S = 1e-5, 4e-5
FACTS = {"parties": 4.0, "nodes": 4.0, "pairs_between_nodes": 6.0}


def job(nodes: int, ranks_per_node: int = 1) -> dict[str, Any]:
    return {
        "library": "Open MPI v4.1.4", "ranks": nodes * ranks_per_node, "nodes": [f"node{n}" for n in range(nodes)],
        "placement": [[n, ranks_per_node] for n in range(nodes)], "eager_limits": {}, "mtu_bytes": {},
        "socket_buffer_bytes": {},
    }  # fmt: skip


def matrix(parties: int, slow: int) -> list[float | None]:
    """Return the times between all pairs, which are equal except for those of one slow party."""
    return [SLOW_S if slow in pair else FAST_S for pair in combinations(range(parties), 2)]


def sample(pairs: list[float | None]) -> Sample:
    messages = 20 * len(pairs)
    return Sample(
        id="x", index=0, start_s=0.0, elapsed_s=0.03, repetitions=10, disturbed={}, pairs=pairs,
        counters={"cpu_user_s": 0.0, "cpu_system_s": 0.0}, work=Work(8 * messages, 0, messages),
    )  # fmt: skip


def measured(parties: int, slow: int, size: int = 1 << 20, between: str = "nodes") -> Result:
    made = result({"between": between, "size": size}, FAST_S, probe="mpi_pairs")
    return msgspec.structs.replace(with_summary(made, metric="latency", unit="s"), pairs=matrix(parties, slow))


def tables(of: Result, nodes: int) -> list[Table]:
    return pair_matrix_tables(MATRIX.measured(of, machine_with(job=job(nodes))))


@pytest.mark.parametrize("parties", [2, 3, 4, 5, 1001])
def test_the_number_of_parties_follows_from_the_number_of_pairs(parties: int) -> None:
    assert MATRIX.n_parties(len(matrix(parties, 0))) == parties


def test_a_slow_party_is_slow_with_all_and_the_others_are_not() -> None:
    for slow in range(5):
        assert MATRIX.party_medians(matrix(5, slow)) == [SLOW_S if party == slow else FAST_S for party in range(5)]


def test_a_slow_link_does_not_make_its_ends_slow() -> None:
    values = [SLOW_S, *[FAST_S] * 5]
    assert MATRIX.party_medians(values) == [FAST_S] * 4


def test_a_pair_has_the_median_of_its_samples() -> None:
    assert MATRIX.sample_medians([sample(matrix(4, 1)), sample(matrix(4, 1)), sample(matrix(4, 2))]) == matrix(4, 1)


def test_the_median_pair_is_the_main_value() -> None:
    latency, bandwidth = PROBE.metrics
    large = ResolvedExperiment({"size": 1 << 20}, {"parties": 4.0, "pairs_between_nodes": 6.0}, MACHINE, {})
    small = ResolvedExperiment({"size": 8}, {"parties": 4.0, "pairs_between_nodes": 4.0}, MACHINE, {})
    taken = sample([1e-6, 2e-6, 3e-6, 5e-6, 6e-6, 9e-6])
    assert latency.value(small, taken) == pytest.approx(4e-6)
    assert bandwidth.value(large, taken) == pytest.approx((1 << 20) / 4e-6)
    assert (bandwidth.when(small), bandwidth.when(large)) == (False, True)
    assert PROBE.evidence(small, [taken]) == {"pair_p95_s": 9e-6, "pair_worst_s": 9e-6}
    assert PROBE.remarks(small, []) == ["4 of 6 pairs between nodes"]
    assert PROBE.remarks(large, []) == ["between nodes"]


def test_slow_parties_are_listed_first_with_their_names() -> None:
    pairs, nodes = tables(measured(5, slow=3), 5)
    assert pairs.title.startswith("All pairs, slowest first")
    assert [row[0] for row in pairs.rows[:4]] == ["node0 – node3", "node1 – node3", "node2 – node3", "node3 – node4"]
    assert pairs.rows[0][1:] == [Quantity((1 << 20) / SLOW_S, "B/s"), Quantity(4.0, "")]
    assert nodes.rows[0][0] == "node3"
    assert nodes.rows[1] == ["node0", Quantity((1 << 20) / FAST_S, "B/s"), Quantity(1.0, "")]
    small = tables(measured(5, slow=3, size=8), 5)[1]
    assert small.headings == ["node", "message time", "time / median"]
    assert small.rows[0][1] == Quantity(SLOW_S, "s")


def test_only_the_slowest_of_many_are_shown() -> None:
    pairs, nodes = tables(measured(30, slow=29), 30)
    assert pairs.title.startswith("Slowest pairs")
    assert (len(pairs.rows), pairs.notes) == (10, ["The table lists the slowest 10 of 435."])
    assert (len(nodes.rows), nodes.notes) == (20, ["The table lists the slowest 20 of 30."])


def test_two_parties_have_one_pair_and_no_ranking() -> None:
    assert len(tables(measured(2, slow=0), 2)) == 1


def names_of(of: Result, machine_job: dict[str, Any]) -> list[str]:
    return [party.name for party in MATRIX.measured(of, machine_with(job=machine_job)).parties]


def test_ranks_are_named_with_their_nodes_and_nodes_of_one_name_by_number() -> None:
    ranks = measured(4, slow=0, between="ranks")
    assert names_of(ranks, job(2, 2)) == ["0 (node0)", "1 (node0)", "2 (node1)", "3 (node1)"]
    alike = {**job(3), "nodes": ["a", "b", "a"]}
    assert names_of(measured(3, slow=0), alike) == ["a [0]", "b", "a [2]"]


def test_ranks_have_a_table_within_and_between_nodes() -> None:
    times: list[float | None] = [SLOW_S if a // 2 != b // 2 else FAST_S for a, b in combinations(range(4), 2)]
    of = msgspec.structs.replace(measured(4, slow=0, size=8, between="ranks"), pairs=times)
    *_, ranks, groups = pair_matrix_tables(MATRIX.measured(of, machine_with(job=job(2, 2))))
    assert groups.rows == [
        ["between two nodes", Quantity(SLOW_S, "s"), Quantity(1.0, "")],
        ["within one node", Quantity(FAST_S, "s"), Quantity(0.25, "")],
    ]
    assert ranks.notes == ["The values show 2 groups: one for each node."]


def points_of(of: Result, nodes: int) -> list[dict[str, Any]]:
    (chart,) = pair_maps([of], machine_with(job=job(nodes)))
    (points,) = chart.spec["datasets"].values()
    return list(points)


def test_the_heat_map_has_both_triangles_and_a_slow_row() -> None:
    points = points_of(measured(5, slow=3), 5)
    assert len(points) == 5 * 4
    slow = {(point["row"], point["column"]) for point in points if point["value"] == SLOW_S}
    assert slow == {pair for n in (0, 1, 2, 4) for pair in ((f"node{n}", "node3"), ("node3", f"node{n}"))}
    assert points[0]["shown"] == "104.9 GB/s"


@pytest.mark.parametrize("nodes", [48, 49, 1024])
def test_many_parties_share_rows_that_show_their_slowest_pair(nodes: int) -> None:
    points = points_of(measured(nodes, slow=nodes // 2), nodes)
    rows = {point["row"] for point in points}
    assert len(rows) <= MAX_ROWS
    slow = {point["row"] for point in points if point["value"] == SLOW_S and point["row"] != point["column"]}
    assert slow == rows
    assert sum(point["value"] == SLOW_S for point in points) in {2 * len(rows) - 1, 2 * len(rows) - 2}


def test_noise_does_not_look_like_a_slow_node() -> None:
    even = msgspec.structs.replace(measured(4, slow=0), pairs=[1e-5, 1.01e-5, 1.02e-5, 1e-5, 1e-5, 1e-5])
    (chart,) = pair_maps([even], machine_with(job=job(4)))
    assert chart.spec["layer"][0]["encoding"]["opacity"]["scale"]["domain"] == [1e-5, 2e-5]


def test_a_report_of_a_thousand_nodes_is_small_and_names_none_of_them(tmp_path: Path) -> None:
    report = summarise(run_of_one("mpi_pairs", {"between": "nodes", "size": 8}, FACTS, [sample(matrix(4, 1))]))
    of = measured(1000, slow=123)
    machine = machine_with(report.machine, job=job(1000))
    complete = msgspec.structs.replace(report, machine=machine, results=[of], tables=tables(of, 1000))
    (named,) = without_names([complete])
    page = render([named], DETAILS[-1])
    (tmp_path / "page.html").write_text(page)
    assert len(page.encode()) < SIZE_LIMIT
    assert read_embedded(tmp_path / "page.html")[0].results[0].pairs == []
    assert "machine 125" in page
    assert "node123" not in page


@pytest.mark.parametrize("pairs", [[], [1e-5] * 4, [1e-5] * 5])
def test_an_invalid_matrix_has_no_value(pairs: list[float | None]) -> None:
    """Such a matrix can come from a run file that was edited by hand."""
    file = run_of_one("mpi_pairs", {"between": "nodes", "size": 8}, FACTS, [sample(pairs)])
    assert [(r.summary.value, r.pairs) for r in summarise(file).results] == []


def test_without_a_job_parties_are_numbers() -> None:
    report = summarise(run_of_one("mpi_pairs", {"between": "nodes", "size": 8}, FACTS, [sample(matrix(4, 1))]))
    assert report.tables[1].rows[0][0] == "1"
