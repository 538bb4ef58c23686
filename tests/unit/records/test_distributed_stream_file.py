"""The XML of DistributedStream: readers of the original can read it, and nameplate reads files of any writer."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from nameplate.comparison.run_comparison import compare_runs
from nameplate.errors import FileError, UsageError
from nameplate.records.distributed_stream_file import is_stream_file, read_stream_run
from nameplate.report.content.aliases import without_names
from nameplate.report.exports import file_name, xml
from nameplate.results.node_values import judged_stream
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.tools.imported_run import read_imported
from run_samples import FACTS, run_of_one, sample
from simulated_cluster import ARRAY_BYTES, RANKS, node_name, write_stream_run

# The elements and attributes that the original writes and its readers expect.
ORIGINAL = """<?xml version="1.0"?>
<stream_run>
  <experiment>memory_results-48x1-1580000000.dat</experiment>
  <configuration>
    <processes_per_node>48</processes_per_node><threads_per_process>1</threads_per_process>
    <number_of_nodes>5</number_of_nodes>
    <copy_size>80000000</copy_size><scale_size>80000000</scale_size>
    <add_size>120000000</add_size><triad_size>120000000</triad_size>
  </configuration>
  <results>NODES</results>
</stream_run>
"""


def node(name: str, factor: float = 1.0) -> str:
    times = "".join(
        f"<{kernel}><Average>{seconds * factor}</Average><Minimum>{seconds * factor * 0.99}</Minimum>"
        f"<Maximum>{seconds * factor * 1.03}</Maximum></{kernel}>"
        for kernel, seconds in (("Copy", 0.0283), ("Scale", 0.0285), ("Add", 0.0374), ("Triad", 0.0373))
    )
    return f"<node><name>{name}</name>{times}</node>"


def original(path: Path, *nodes: str) -> Path:
    path.write_text(ORIGINAL.replace("NODES", "".join(nodes)), encoding="utf-8")
    return path


def test_a_file_of_distributed_stream_gives_bandwidths_and_the_slow_node(tmp_path: Path) -> None:
    factors = (1.0, 1.004, 0.996, 1.25, 1.002)
    nodes = judged_stream(read_stream_run(original(tmp_path / "x.dat", *(node(f"n{f}", f) for f in factors))))
    assert [metric.title for metric in nodes.metrics] == [f"{k} bandwidth" for k in ("Copy", "Scale", "Add", "Triad")]
    # The first row of the study: 135,687 MB/s on a node with 48 processes.
    assert nodes.metrics[0].value[0] == pytest.approx(135_687e6, rel=1e-3)
    assert [metric.slow for metric in nodes.metrics] == [[3]] * 4
    assert nodes.names[3] == "n1.25"


def test_values_in_attributes_are_read_as_well(tmp_path: Path) -> None:
    times = "".join(f'<{k} Average="0.1" Minimum="0.09" Maximum="0.2"/>' for k in ("Copy", "Scale", "Add", "Triad"))
    run = read_stream_run(original(tmp_path / "x.dat", f'<node name="a">{times}</node>'))
    assert (run.nodes[0].name, run.nodes[0].times["Add"].maximum_s) == ("a", 0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<stream_run>", "is not XML: no element found"),
        ("<html/>", "its root is 'html', not 'stream_run'"),
        ("<stream_run/>", "stream_run: has no element 'configuration'"),
        (ORIGINAL.replace("NODES", ""), "results: has no node"),
        (ORIGINAL.replace("NODES", "<node/>"), "node 1: has no name of 1 to 255 characters"),
        (ORIGINAL.replace("NODES", "<node><name>a</name></node>"), "node a: has no element 'Copy'"),
        (
            ORIGINAL.replace("NODES", "<node><name>a</name><processes>x</processes></node>"),
            "node a: processes is 'x', not a number above 0",
        ),
        (ORIGINAL.replace("NODES", node("a", float("nan"))), "node a, Copy: Average is 'nan', not a number above 0"),
        (ORIGINAL.replace("NODES", node("a", 0.0)), "node a, Copy: Average is '0.0', not a number above 0"),
    ],
)
def test_errors_in_a_file_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.dat"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as error:
        read_stream_run(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_a_run_is_exported_to_xml_and_read_back(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 5, slow={2: 0.3}, rounds=3)
    report = summarise(read_run(tmp_path / "run.jsonl"))
    name = file_name("xml", report, tmp_path / "run.jsonl")
    assert name == "memory_results-48x1-20260101-000000.dat"
    path = tmp_path / name
    path.write_text(xml.export(report), encoding="utf-8")
    assert is_stream_file(path)
    root = ElementTree.parse(path).getroot()
    assert [child.tag for child in root] == ["experiment", "configuration", "results"]
    assert root.findtext("configuration/triad_size") == str(3 * ARRAY_BYTES)
    assert root.findtext("configuration/processes_per_node") == str(RANKS)
    run = read_stream_run(path)
    assert [node.name for node in run.nodes] == [node_name(index) for index in range(5)]
    times = report.results[0].node_times[2]
    assert run.nodes[2].times["Copy"].average_s == pytest.approx(times.rank.average_s, rel=1e-6)
    assert run.nodes[2].times["Copy"].minimum_s == pytest.approx(times.longest.minimum_s, rel=1e-6)
    assert judged_stream(run).metrics[3].slow == [2]


def test_an_export_has_no_node_names(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 5, rounds=1)
    report = without_names([summarise(read_run(tmp_path / "run.jsonl"))])[0]
    assert "node0" not in xml.export(report)
    assert report.nodes is not None
    assert report.nodes.names == [f"machine {index + 1}" for index in range(5)]


def test_a_run_and_its_xml_export_compare_as_the_same(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 5, slow={2: 0.3}, rounds=1)
    ours = summarise(read_run(tmp_path / "run.jsonl"))
    (tmp_path / "x.dat").write_text(xml.export(ours), encoding="utf-8")
    rows = compare_runs(ours, read_imported(tmp_path / "x.dat"), 0.01).rows
    ratios = {(row.params["op"], row.metric): row.ratio for row in rows}
    assert ratios == pytest.approx(
        {
            (op, metric): 1.0
            for op in ("copy", "scale", "add", "triad")
            for metric in ("bandwidth", "rank_sum_bandwidth")
        }
    )


def test_other_runs_cannot_be_exported_to_xml() -> None:
    report = summarise(run_of_one("cpu_flops", {"threads": 1}, FACTS, [sample("x")]))
    with pytest.raises(UsageError, match="needs mpi_stream op=copy, which the run lacks"):
        xml.export(report)
