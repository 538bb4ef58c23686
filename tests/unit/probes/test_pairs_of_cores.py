"""A probe with a matrix of pairs that are neither nodes nor ranks: its record, tables, map and export."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from machines import machine_with
from nameplate.probes import Probe, load_probes
from nameplate.probes.interface.pair_matrix import PairLayout, PairMatrix, Party, PartyKind
from nameplate.probes.shared.median_pair import MedianPair
from nameplate.probes.shared.pair_tables import pair_matrix_tables
from nameplate.records.result import Quantity, Rated, Report, Result
from nameplate.records.run_record import Sample
from nameplate.report.charts.pair_map import pair_maps
from nameplate.report.exports.json import export
from nameplate.report.exports.markdown import export as export_markdown
from nameplate.results.summarise import summarise
from report_samples import result, with_summary
from run_samples import run_of_one

CORES = PartyKind(
    singular="core", plural="cores", group="L3 cache", slow_party="it is far from the others, or its clock is low",
    slow_pair="a slow path between two cores", slow_squares="cores that share no L3 cache",
)  # fmt: skip


def cores(of: Result, _: object) -> list[Party]:
    return [Party(f"core {number}", f"L3 {group}") for number, group in map(str.split, of.labels["cores"].split(","))]


MATRIX = PairMatrix(lambda _: CORES, cores, "off_diagonal", roles=("writer", "reader"))
PROBE = Probe(
    name="cpu_made", title="Hand-over between cores", metrics=(MedianPair("latency", "s", "lower", MATRIX),),
    rated=lambda _, __, ___: Rated(None, "not specified"), pair_matrix=MATRIX,
)  # fmt: skip
LABELS = {"cores": "0 0,1 0,2 1,3 1"}
# Row by row without the diagonal. Reading core 3's line takes longest; 2 → 1 could not be measured.
SECONDS = [20e-9, 60e-9, 61e-9, 22e-9, 64e-9, 65e-9, 70e-9, None, 24e-9, 90e-9, 91e-9, 26e-9]


def record(pairs: Sequence[float | None]) -> Sample:
    """Return a sample as it is read from the core's record, in which a missing pair is null."""
    fields: dict[str, Any] = {
        "id": "x", "index": 0, "start_s": 0.0, "elapsed_s": 0.03, "repetitions": 10, "disturbed": {},
        "work": {"bytes": 0, "flops": 0, "ops": 120}, "counters": {"cpu_user_s": 0.0, "cpu_system_s": 0.0},
        "pairs": pairs, "type": "sample",
    }  # fmt: skip
    return msgspec.json.decode(json.dumps(fields), type=Sample)


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(load_probes(), "cpu_made", PROBE)


@pytest.fixture
def report() -> Report:
    file = run_of_one("cpu_made", {}, {}, [record(SECONDS)])
    (measurement,) = file.measurements
    end = msgspec.structs.replace(measurement.outcome, labels=LABELS)
    changed = msgspec.structs.replace(measurement, outcome=end)
    return summarise(msgspec.structs.replace(file, measurements=[changed]))


def test_the_value_is_that_of_the_median_pair(report: Report) -> None:
    assert report.results[0].summary.value == pytest.approx(61e-9)


def test_tables_rank_pairs_cores_and_groups(report: Report) -> None:
    pairs, ranking, groups = report.tables
    assert {table.probe for table in report.tables} == {"cpu_made"}
    assert pairs.headings == ["pair", "time", "time / median"]
    assert [row[0] for row in pairs.rows[:3]] == ["core 3 → core 1", "core 3 → core 0", "core 2 → core 0"]
    assert pairs.rows[0][1] == Quantity(91e-9, "s")
    assert pairs.notes == ["The table lists the slowest 10 of 11.", "1 of 12 pairs has no value."]
    assert (ranking.title, ranking.rows[0][0]) == ("Each core's median over its partners", "core 1")
    assert ranking.notes == ["The values show 2 groups: one for each L3 cache."]
    assert [row[:2] for row in groups.rows] == [
        ["between two L3 caches", Quantity(65e-9, "s")],
        ["within one L3 cache", Quantity((22e-9 + 24e-9) / 2, "s")],
    ]
    assert "core 3 → core 1" in export_markdown(report)


def test_the_map_has_both_directions_and_an_empty_cell(report: Report) -> None:
    (chart,) = pair_maps(report.results, report.machine)
    (points,) = chart.spec["datasets"].values()
    by_cell = {(point["row"], point["column"]): point for point in points}
    assert len(by_cell) == 12
    assert by_cell["core 0", "core 3"]["value"] == 61e-9
    assert by_cell["core 3", "core 0"] == {"row": "core 3", "column": "core 0", "shown": "90.00 ns", "value": 90e-9}
    assert by_cell["core 2", "core 1"] == {"row": "core 2", "column": "core 1", "shown": "–"}
    assert chart.columns == (("row", "writer"), ("column", "reader"), ("shown", "time"))
    assert "one slow core: it is far from the others" in chart.meaning
    assert "network" not in chart.meaning
    assert chart.caption == "A stronger colour means a longer time. Rows: writer; columns: reader."


def test_json_has_the_matrix(report: Report) -> None:
    (matrix,) = json.loads(export(report))["pair_matrices"]
    assert matrix["parties"][2] == {"name": "core 2", "group": "L3 1"}
    assert (matrix["name"], matrix["unit"], matrix["better"]) == ("time", "s", "lower")
    assert matrix["roles"] == ["writer", "reader"]
    assert matrix["groups"] == [[0, 1], [2, 3]]
    assert [[value and round(value * 1e9) for value in row] for row in matrix["values"]] == [
        [None, 20, 60, 61], [22, None, 64, 65], [70, None, None, 24], [90, 91, 26, None],
    ]  # fmt: skip


def test_a_run_without_pairs_has_no_matrices(report: Report) -> None:
    without = msgspec.structs.replace(report.results[0], pairs=[])
    assert "pair_matrices" not in json.loads(export(msgspec.structs.replace(report, results=[without])))


def nodes(bandwidths: list[float | None]) -> tuple[Probe, Result]:
    """Return a probe whose matrix has NUMA nodes, with their own memory on the diagonal, and a result of it."""
    kind = PartyKind("node", "nodes", "socket", "its memory is slow", "a slow link", "sockets")
    parties = [Party(str(index), str(index // 2)) for index in range(3)]
    matrix = PairMatrix(
        lambda _: kind, lambda _, __: parties, "square", "bandwidth", "B/s", "higher", ("cores", "memory")
    )
    of = with_summary(result({}, 1e9, probe="cpu_made"), metric="bandwidth", unit="B/s")
    return replace(PROBE, pair_matrix=matrix), msgspec.structs.replace(of, pairs=bandwidths)


def test_a_bandwidth_is_slow_if_it_is_low_and_may_have_a_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    numa, of = nodes([9e9, 6e9, 2e9, 6e9, 9e9, 2.5e9, 3e9, 3e9, 9e9])
    monkeypatch.setitem(load_probes(), "cpu_made", numa)
    assert numa.pair_matrix is not None
    pairs, ranking, groups = pair_matrix_tables(numa.pair_matrix.measured(of, machine_with()))
    assert [row[0] for row in pairs.rows] == [
        "0 → 2", "1 → 2", "2 → 0", "2 → 1", "0 → 1", "1 → 0", "0 → 0", "1 → 1", "2 → 2",
    ]  # fmt: skip
    assert [row[:2] for row in ranking.rows[:1]] == [["2", Quantity(2.75e9, "B/s")]]
    assert [row[0] for row in groups.rows] == ["between two sockets", "within one socket"]
    (chart,) = pair_maps([of], None)
    shade = chart.spec["layer"][0]["encoding"]["opacity"]["scale"]
    assert (shade["domain"], shade["range"]) == ([9e9, 2e9], [0.05, 0.5])
    assert chart.caption.startswith("A stronger colour means a lower bandwidth.")


@pytest.mark.parametrize(("layout", "n_values", "n_parties"), [
    ("triangle", 6, 4), ("triangle", 5, 0), ("off_diagonal", 6, 3), ("off_diagonal", 5, 0), ("square", 9, 3),
    ("square", 8, 0),
])  # fmt: skip
def test_the_number_of_parties_follows_from_the_layout(layout: PairLayout, n_values: int, n_parties: int) -> None:
    matrix = replace(MATRIX, layout=layout)
    assert matrix.n_parties(n_values) == n_parties
    assert n_parties == 0 or len(list(matrix.indices(n_parties))) == n_values


def test_cores_without_names_are_numbers() -> None:
    pairs = MATRIX.measured(msgspec.structs.replace(nodes([1e-8, 2e-8])[1], labels=LABELS), None)
    assert [party.name for party in pairs.parties] == ["0", "1"]


def test_pairs_without_any_value_have_no_metric_tables_or_map() -> None:
    report = summarise(run_of_one("cpu_made", {}, {}, [record([None] * 12)]))
    assert (report.results, report.tables) == ([], [])
    unmeasured = msgspec.structs.replace(nodes([None] * 12)[1], labels=LABELS)
    assert pair_maps([unmeasured], None) == []
