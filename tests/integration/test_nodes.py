"""``nameplate nodes``: the cluster view of runs and of files of DistributedStream."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nameplate.commands import run
from nameplate.commands._run_options import RunOptions
from nameplate.report.content.aliases import without_names
from nameplate.report.exports import xml
from nameplate.report.html.document import DETAILS
from nameplate.report.html.page import render
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from simulated_cluster import node_name, write_stream_run

MAX_BYTES = 5_000_000


def nodes(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_nameplate("nodes", *arguments)


def run_nameplate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nameplate", *map(str, arguments)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_slow_nodes_are_named_and_set_the_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_stream_run(path, 40, slow={6: 0.2, 7: 0.15, 20: 0.1})
    answer = nodes(path)
    assert (answer.returncode, answer.stderr) == (1, "")
    assert "Slow: node[00007-00008,00021] (3 of 40)" in answer.stdout
    command = next(line for line in answer.stdout.splitlines() if line.startswith("scontrol"))
    arguments = shlex.split(command)
    assert arguments[:4] == ["scontrol", "update", "NodeName=node[00007-00008,00021]", "State=DRAIN"]
    assert arguments[4].startswith("Reason=nameplate: ")
    assert arguments[4].endswith(" behind")
    assert "40 nodes, 1 hardware class" in answer.stdout


@pytest.mark.parametrize(("slow", "code", "verdict"), [({6: 0.2}, 1, "Nodes: slow: node00007"), ({}, 0, "Nodes: none")])
def test_a_run_that_finds_a_slow_node_has_the_exit_code_of_nodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], slow: dict[int, float], code: int, verdict: str
) -> None:
    path = tmp_path / "run.jsonl"
    write_stream_run(path, 40, slow=slow)
    assert run._finish(RunOptions(), summarise(read_run(path)), path) == code
    assert verdict in capsys.readouterr().out


def test_a_healthy_cluster_has_exit_code_zero(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 40)
    answer = nodes(tmp_path / "run.jsonl")
    assert answer.returncode == 0
    assert "None of 40 nodes is slow" in answer.stdout


@pytest.mark.slow
def test_a_file_of_distributed_stream_has_the_same_view_and_a_map(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 230, slow={6: 0.2})
    path = tmp_path / "memory_results-48x1-1.dat"
    path.write_text(xml.export(summarise(read_run(tmp_path / "run.jsonl"))), encoding="utf-8")
    answer = nodes(path, "-o", tmp_path / "map.svg")
    assert answer.returncode == 1
    assert f"Slow: {node_name(6)} (1 of 230)" in answer.stdout
    drawn = ElementTree.parse(tmp_path / "map.svg").getroot()
    assert sum("aria-roledescription" in shape.attrib for shape in drawn.iter()) > 4 * 230
    assert nodes(path, "-o", tmp_path / "map.png").returncode == 1
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


ONE_NODE = """<?xml version="1.0"?>
<stream_run>
  <experiment>memory_results-48x1-1580000000.dat</experiment>
  <configuration>
    <processes_per_node>48</processes_per_node><threads_per_process>1</threads_per_process>
    <number_of_nodes>1</number_of_nodes>
    <copy_size>80000000</copy_size><scale_size>80000000</scale_size>
    <add_size>120000000</add_size><triad_size>120000000</triad_size>
  </configuration>
  <results><node><name>cn01</name>
    <Copy><Average>0.028300</Average><Minimum>0.028457</Minimum><Maximum>0.029185</Maximum></Copy>
    <Scale><Average>0.028537</Average><Minimum>0.028677</Minimum><Maximum>0.029586</Maximum></Scale>
    <Add><Average>0.037422</Average><Minimum>0.037731</Minimum><Maximum>0.038520</Maximum></Add>
    <Triad><Average>0.037340</Average><Minimum>0.037660</Minimum><Maximum>0.040035</Maximum></Triad>
  </node></results>
</stream_run>
"""


def test_a_file_of_one_node_has_its_values(tmp_path: Path) -> None:
    path = tmp_path / "memory_results-48x1-1580000000.dat"
    path.write_text(ONE_NODE, encoding="utf-8")
    answer = nodes(path, "-o", tmp_path / "map.svg")
    assert (answer.returncode, answer.stderr) == (0, "")
    rows = [line.split() for line in answer.stdout.splitlines() if line.startswith("  cn01")]
    assert [row[1:6:2] for row in rows] == [
        ["135.7", "131.6", "134.9"], ["134.6", "129.8", "133.9"], ["153.9", "149.5", "152.7"],
        ["154.3", "143.9", "152.9"],
    ]  # fmt: skip
    assert "so the average can exceed" in " ".join(answer.stdout.split())
    assert answer.stdout.startswith("No node is judged: at least 4 nodes of the same hardware are needed.\n")
    assert "135.7 GB/s" in (tmp_path / "map.svg").read_text(encoding="utf-8")


def test_a_file_of_one_node_is_shown_and_compared(tmp_path: Path) -> None:
    path = tmp_path / "memory_results-48x1-1580000000.dat"
    path.write_text(ONE_NODE, encoding="utf-8")
    printed, compared = run_nameplate("show", "--all", path), run_nameplate("compare", path, path, "--all")
    assert [(item.returncode, item.stderr) for item in (printed, compared)] == [(0, ""), (4, "")]
    assert "135.7 GB/s" in printed.stdout
    assert "2.827 GB/s" in printed.stdout
    assert compared.stdout.count("1.000") == 8


def test_the_json_has_every_value(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 10, slow={6: 0.3})
    reported = json.loads(nodes(tmp_path / "run.jsonl", "--json").stdout)
    assert reported["names"][6] == node_name(6)
    assert [metric["slow"] for metric in reported["metrics"]] == [[6]] * 4
    assert all(len(metric["value"]) == 10 for metric in reported["metrics"])


@pytest.mark.slow
def test_a_report_of_ten_thousand_nodes_stays_small(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 10_007, slow={6: 0.1}, rounds=2)
    report = summarise(read_run(tmp_path / "run.jsonl"))
    assert len(render(without_names([report]), DETAILS[-1]).encode()) <= MAX_BYTES


def test_a_run_without_nodes_is_rejected_in_one_line(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "one.jsonl", 1, rounds=1)
    (tmp_path / "x.dat").write_text("<stream_run/>", encoding="utf-8")
    for message, code in (("one.jsonl", 2), ("x.dat", 2), ("missing.jsonl", 2)):
        answer = nodes(tmp_path / message)
        assert answer.returncode == code
        assert answer.stderr.startswith("nameplate: ")
        assert len(answer.stderr.splitlines()) == 1
    write_stream_run(tmp_path / "run.jsonl", 4, rounds=1)
    answer = nodes(tmp_path / "run.jsonl", "-o", tmp_path / "map.gif")
    assert (answer.returncode, "not a picture format; use .svg, .pdf, .png" in answer.stderr) == (2, True)


def test_a_recheck_that_is_impossible_is_reported(tmp_path: Path) -> None:
    slow, healthy, other = tmp_path / "slow.jsonl", tmp_path / "healthy.jsonl", tmp_path / "x.dat"
    write_stream_run(slow, 10, slow={6: 0.3}, rounds=3)
    write_stream_run(healthy, 10, rounds=3)
    other.write_text(xml.export(summarise(read_run(slow))), encoding="utf-8")
    second: list[str | Path] = ["--recheck", tmp_path / "again.jsonl"]
    for message, said in (
        ([slow, *second], "--recheck needs a run file and a launcher"),
        ([other, *second, "--mpi", "mpirun -n 2"], "--recheck needs a run file and a launcher"),
        ([slow, *second, "--json"], "leave out -o and --json"),
        ([slow, *second, "--mpi", "no-such-launcher"], "not found on PATH"),
    ):
        answer = nodes(*message)
        assert (answer.returncode, said in answer.stderr) == (2, True), answer.stderr
        assert len(answer.stderr.splitlines()) == 1
    answer = nodes(healthy, *second, "--mpi", "mpirun -n 2")
    assert (answer.returncode, "is slow" in answer.stdout) == (0, True)
    assert not (tmp_path / "again.jsonl").exists()
