"""gnuplot of Debian draws every kind of chart."""

from __future__ import annotations

import re
import subprocess
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from machines import GUEST, machine_with
from nameplate.command_line import run
from nameplate.errors import UsageError
from nameplate.records.result import Report
from nameplate.report.chart_files.gnuplot import quoted
from nameplate.report.exports import gnuplot
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.studies import StudyRun, make_study
from report_samples import failed, memory_report, report, result, scaling_results, twenty_seconds, with_summary
from simulated_cluster import write_stream_run


def draw(made: Report, directory: Path) -> dict[str, str]:
    """Draw every chart of a report and return the drawings by name; gnuplot must print nothing."""
    files = gnuplot.export(made)
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    ended = subprocess.run(["gnuplot", "all.gp"], cwd=directory, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    drawings = {path.stem: path.read_text(encoding="utf-8") for path in directory.glob("*.svg")}
    assert sorted(drawings) == sorted(Path(name).stem for name in files if name.endswith(".dat"))
    assert all(drawing.rstrip().endswith("</svg>") for drawing in drawings.values())
    return drawings


def message(drawing: str) -> list[str]:
    return [text.strip() for text in re.findall(r"<text[^>]*>(?:<tspan[^>]*>)?([^<]*)", drawing)]


def test_curves_maps_roofline_scaling_and_samples(tmp_path: Path) -> None:
    drawings = draw(memory_report(), tmp_path)
    curve = drawings["memory-latency-latency-against-size"]
    assert {"memory_latency: Latency against size", "latency (ns)", "64KiB", "L1d", "L2"} <= set(message(curve))
    assert {"300.0 MB/s", "17.00 GB/s"} <= set(message(drawings["memory-block-bandwidth-pattern-random"]))
    roofline = "roofline-attainable-rate-against-arithmetic-intensity"
    assert "memory: 10.00 GB/s" in message(drawings[f"{roofline}-1-thread"])
    assert "memory: 20.00 GB/s" in message(drawings[f"{roofline}-2-threads"])
    assert "cpu-flops-over-time-threads-1" in drawings


def test_the_data_files_have_the_values_of_the_charts(tmp_path: Path) -> None:
    draw(memory_report(), tmp_path)
    text = (tmp_path / "memory-latency-latency-against-size.dat").read_text()
    ends, listed, line = text.split("\n\n\n")
    assert listed.splitlines()[1].split("\t")[0] == "# listed"
    script = (tmp_path / "memory-latency-latency-against-size.gp").read_text()
    assert script.count("nohead dashtype 2") == len(ends.splitlines()) - 2
    assert script.count("nohead dashtype 3") == len(listed.splitlines()) - 2
    assert ends.splitlines()[1].split("\t")[:2] == ["# end", "from"]
    assert line.splitlines()[1:3] == ["# size\tvalue\tlow\thigh\tline\tat", '4096\t1\t0.98\t1.02\t"measured"\t"4KiB"']
    assert len(line.splitlines()) == 2 + 31 + 1
    assert line.splitlines()[-1].startswith("# written by nameplate")


def test_the_key_names_each_line_once(tmp_path: Path) -> None:
    drawing = draw(report(scaling_results()), tmp_path)["cpu-flops-thread-scaling"]
    assert "Hollow marks are oversubscribed" in (tmp_path / "cpu-flops-thread-scaling.gp").read_text()
    assert [message(drawing).count(line) for line in ("mix=fma", "mix=mixed")] == [1, 1]


def test_the_key_of_a_roofline_has_lines_without_a_ridge_point(tmp_path: Path) -> None:
    drawing = draw(memory_report(), tmp_path)["roofline-attainable-rate-against-arithmetic-intensity-1-thread"]
    assert {"memory: 10.00 GB/s", "fp64: 50.00 GFLOP/s"} <= set(message(drawing))


def test_a_series_has_its_levels_and_events(tmp_path: Path) -> None:
    (drawing,) = draw(report([twenty_seconds()]), tmp_path).values()
    assert {"1", "2", "GFLOP/s"} <= set(message(drawing))
    (data,) = tmp_path.glob("*.dat")
    blocks = [block.splitlines()[0] for block in data.read_text().split("\n\n\n")]
    assert blocks == ["# undisturbed", "# all", "# all", "# all"]


def test_many_nodes_and_their_pairs(tmp_path: Path) -> None:
    write_stream_run(tmp_path / "run.jsonl", 20, slow={17: 0.2}, rounds=3)
    names = list(draw(summarise(read_run(tmp_path / "run.jsonl")), tmp_path))
    # The average, minimum and maximum of the four operations of STREAM, and the distribution of each.
    assert sum(name.startswith("nodes-") for name in names) == 16
    made = with_summary(result({"between": "nodes", "size": 8}, 1e-5, probe="mpi_pairs"), metric="latency", unit="s")
    named = report([msgspec.structs.replace(made, pairs=[1e-5 + i for i, _ in enumerate(combinations(range(5), 2))])])
    job = {"nodes": [f"n{i}" for i in range(5)], "ranks": 5, "library": "MPI"}
    (tmp_path / "pairs").mkdir()
    drawings = draw(msgspec.structs.replace(named, machine=machine_with(named.machine, job=job)), tmp_path / "pairs")
    assert any("mpi-pairs" in name for name in drawings)


def test_a_study_has_its_charts(tmp_path: Path) -> None:
    ours = [result({"mix": "mixed", "threads": n}, 1e9 * n) for n in (1, 2)]
    study = make_study(StudyRun(plan="cs553-kvm", results=ours, machine=GUEST))
    named = msgspec.structs.replace(report(ours), study=study)
    plan = named.run.plan.name
    drawings = draw(named, tmp_path)
    prefix = plan.replace(" ", "-")
    texts = message(drawings[f"{prefix}-gflop-s-against-threads"])
    assert {"rate (GFLOP/s)", "threads", "8", "mixed", "mixed, published"} <= set(texts)
    assert f"{plan}: GFLOP/s against threads" in texts
    n_charts = len([name for name in drawings if name.startswith(f"{prefix}-")])
    assert n_charts == len(study.charts if study else [])


HOSTILE = "`touch stolen` \"'; system('touch stolen') #{/=99 $x} @x \\"


def test_strings_are_not_interpreted(tmp_path: Path) -> None:
    hostile = [
        result({"threads": n, "mix": mix}) for n in (1, 2, 4) for mix in (HOSTILE, "add\n\nsystem('touch stolen')")
    ]
    drawings = draw(report(hostile), tmp_path)
    assert not (tmp_path / "stolen").exists()
    assert any("touch stolen" in word for word in message(drawings["cpu-flops-thread-scaling"]))


@pytest.mark.parametrize("text", [HOSTILE, "it's", "`date`", "a\nb", "\x1b[31m"])
def test_gnuplot_prints_quoted_strings_unchanged(text: str) -> None:
    ended = subprocess.run(["gnuplot", "-e", f"set print '-'; print {quoted(text)}"], capture_output=True, check=True)
    assert ended.stdout.decode().rstrip("\n") == " ".join(text.replace("\x1b", " ").split())


def test_another_terminal_and_file_suffix(tmp_path: Path) -> None:
    for name, text in gnuplot.export(report(scaling_results())).items():
        (tmp_path / name).write_text(text)
    message = "set terminal pngcairo; ending = 'png'"
    subprocess.run(["gnuplot", "-e", message, "all.gp"], cwd=tmp_path, check=True)
    assert (tmp_path / "cpu-flops-thread-scaling.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_to_draw() -> None:
    with pytest.raises(UsageError, match="the report on this run has no chart"):
        gnuplot.export(report([failed({"threads": 1}, "failed", "a reason")]))


def test_the_show_command_writes_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_stream_run(tmp_path / "run.jsonl", 5, slow={}, rounds=3)
    assert run(["show", str(tmp_path / "run.jsonl"), "--format", "gnuplot"]) == 2
    assert "--format gnuplot writes several files: name a directory with -o DIR" in capsys.readouterr().err
    assert run(["show", str(tmp_path / "run.jsonl"), "--format", "gnuplot", "-o", str(tmp_path / "new" / "plots")]) == 0
    assert "files to" in capsys.readouterr().out
    texts = [path.read_text() for path in (tmp_path / "new" / "plots").iterdir()]
    assert any("machine 1" in text for text in texts)
    assert not any("node0" in text for text in texts)
    (tmp_path / "a file").touch()
    assert run(["show", str(tmp_path / "run.jsonl"), "--format", "gnuplot", "-o", str(tmp_path / "a file")]) == 2
    assert "cannot write to" in capsys.readouterr().err
