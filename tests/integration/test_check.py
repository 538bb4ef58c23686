"""nameplate check: learn from runs, judge a run, and measure what is expected."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from junitparser import JUnitXml

from nameplate.execution.memory_keeper import returns_free_memory
from nameplate.expectations.site_file import read_site
from nameplate.results.run_file import read_run
from recorded_runs import quieted


def nameplate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nameplate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, check=False)


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return nameplate(folder, "check", *arguments)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the text of a run of six rounds on this machine."""
    folder = tmp_path_factory.mktemp("measured")
    run = ("run", "cpu_flops", "threads=1", "--rounds", "6", "--samples", "12", "--quiet", "-o", "x.jsonl")
    subprocess.run([sys.executable, "-m", "nameplate", *run], cwd=folder, check=True)
    return quieted((folder / "x.jsonl").read_bytes()).decode()


@pytest.fixture
def site(tmp_path: Path, measured: str) -> Path:
    """Learn from twelve machines with the values of one run, and return the site file next to the run x.jsonl."""
    runs = tmp_path / "runs"
    runs.mkdir()
    (tmp_path / "x.jsonl").write_text(measured)
    for number in range(12):
        named = re.sub('"hostname":"[^"]*"', f'"hostname":"n{number}"', measured)
        (runs / f"{number}.jsonl").write_text(named)
    answer = check(tmp_path, "--learn", "runs", "-o", "site.toml")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "wrote site.toml: 1 class of 12 machines, from 12 runs\n"
    return tmp_path / "site.toml"


def test_a_site_file_is_replaced_only_with_force(site: Path) -> None:
    before = site.read_text()
    site.write_text(f"# reviewed\n{before}")
    for output in ([], ["-o", "site.toml"]):
        answer = check(site.parent, "--learn", "runs", *output)
        assert answer.returncode == 2
        assert "site.toml exists, and no checksum in it shows that nameplate wrote all of it" in answer.stderr
    assert site.read_text().startswith("# reviewed")
    assert check(site.parent, "--learn", "runs", "--force").returncode == 0
    assert site.read_text() == before


def test_a_machine_like_those_it_was_learned_from_is_as_expected(site: Path) -> None:
    answer = check(site.parent, "x.jsonl", "--expect", "site.toml", "--json")
    verdicts = [value["verdict"] for value in json.loads(answer.stdout)["values"]]
    assert verdicts
    assert "BELOW" not in verdicts
    assert answer.returncode == 0


def test_a_worse_machine_is_below_and_ends_with_exit_code_1(site: Path) -> None:
    raise_ranges(site)
    answer = check(site.parent, "x.jsonl", "--expect", "site.toml")
    assert answer.returncode == 1
    assert answer.stdout.startswith("BELOW: CPU delivers less than expected.")
    assert "12 machines with 12 runs" in " ".join(answer.stdout.split())


def test_junit_has_a_test_for_each_value_and_a_worse_one_fails(site: Path) -> None:
    raise_ranges(site)
    answer = check(site.parent, "x.jsonl", "--expect", "site.toml", "--format", "junit")
    assert answer.returncode == 1
    (suite,) = JUnitXml.fromstring(answer.stdout.encode())
    values = json.loads(check(site.parent, "x.jsonl", "--expect", "site.toml", "--json").stdout)["values"]
    assert suite.tests == len(values)
    assert suite.failures == sum(value["verdict"] == "BELOW" for value in values) > 0
    failed = next(case for case in suite if case.is_failure)
    assert failed.classname == "nameplate.cpu"
    assert failed.result[0].message.startswith("BELOW: ")
    assert "expected" in failed.result[0].message


def test_one_format_is_chosen(site: Path) -> None:
    answer = check(site.parent, "x.jsonl", "--expect", "site.toml", "--one-line", "--json")
    assert answer.returncode == 2
    assert answer.stderr == "nameplate: --one-line, --json and --format: use one of them\n"


def test_an_unknown_machine_is_no_pass(site: Path) -> None:
    site.write_text(re.sub("cores = .*", "cores = 4711", site.read_text()))
    for run in ([], ["x.jsonl"]):
        answer = check(site.parent, *run, "--expect", "site.toml")
        assert answer.returncode == 5
        assert answer.stderr.startswith("nameplate: site.toml has no class ")
        assert answer.stderr.count("\n") == 1


def test_without_a_range_nothing_is_judged(site: Path) -> None:
    site.write_text(site.read_text().partition("[[class.range]]")[0])
    answer = check(site.parent, "x.jsonl", "--expect", "site.toml")
    assert answer.returncode == 5
    assert answer.stdout.startswith("UNKNOWN: ")


def test_what_is_expected_is_measured_here(site: Path) -> None:
    (learned,) = read_site(site).classes
    assert [item.experiment for item in learned.range] == ["cpu_flops threads=1"]
    accept_any_value(site)
    options = ("--fast", "--even-if-busy", "--json", "--quiet")
    answer = check(site.parent, "--expect", "site.toml", "-o", "new.jsonl", *options)
    assert answer.returncode == 0, answer.stderr
    assert {value["verdict"] for value in json.loads(answer.stdout)["values"]} <= {"AS EXPECTED", "ABOVE"}
    budget_s = read_run(site.parent / "new.jsonl").run.plan.limits.budget_s
    assert budget_s == (15.0 if returns_free_memory() else 5.0)
    new = site.parent / "new.jsonl"
    new.write_bytes(quieted(new.read_bytes()))
    assert check(site.parent, "new.jsonl", "--expect", "site.toml", "--strict").returncode == 0


def test_a_busy_machine_is_refused(site: Path) -> None:
    site.write_text(re.sub("low = .*", "low = 1.0", site.read_text()))
    spin = [sys.executable, "-c", "while True: pass"]
    workers = [subprocess.Popen(spin) for _ in os.sched_getaffinity(0)]
    try:
        answer = check(site.parent, "--expect", "site.toml", "--fast", "--quiet")
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert answer.returncode == 3
    assert re.fullmatch(r"nameplate: this machine is busy: CPU \d+ was busy for .*\n", answer.stderr)
    assert list(site.parent.glob("nameplate-*.jsonl")) == []


def test_one_line_is_safe_for_the_reason_of_a_node(site: Path) -> None:
    line = check(site.parent, "x.jsonl", "--expect", "site.toml", "--one-line").stdout
    assert re.fullmatch(r"nameplate: (AS EXPECTED|UNSURE): [A-Za-z0-9 .:,%/()+-]{1,80}\n", line)
    raise_ranges(site)
    line = check(site.parent, "x.jsonl", "--expect", "site.toml", "--one-line").stdout
    assert re.fullmatch(
        r"nameplate: BELOW: CPU [A-Za-z0-9 .:,%/()+-]+ GFLOP/s, expected [\d.]+ to [\d.]+ TFLOP/s\n", line
    )
    assert len(line) <= 101


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.jsonl", "--learn", "runs"], "leave out RUN and --expect"),
        (["x.jsonl", "--expect", "s.toml", "-o", "y.jsonl"], "-o names the run file to write"),
        (["--learn", "."], "there is no complete run to learn from"),
        (["--expect", "missing.toml"], "cannot read missing.toml"),
        (["--learn", "bad.jsonl"], "there is no complete run to learn from"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "bad.jsonl").write_text("not a run\n")
    answer = check(tmp_path, *arguments)
    assert answer.returncode == 2
    assert message in answer.stderr.splitlines()[-1]
    assert "Traceback" not in answer.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl"]


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the text of a run of what the catalogue has, as if it were measured on an instance of Azure."""
    folder = tmp_path_factory.mktemp("azure")
    cpus = len(os.sched_getaffinity(0))
    run = ("run", "memory_stream", "op=read,update", f"threads={cpus}", "unit=step", "stores=plain", "--rounds", "6",
           "--quiet", "-o", "x.jsonl")  # fmt: skip
    subprocess.run([sys.executable, "-m", "nameplate", *run], cwd=folder, check=True)
    lines = quieted((folder / "x.jsonl").read_bytes()).decode().splitlines()
    return "".join(json.dumps(_as_azure(json.loads(line))) + "\n" for line in lines)


def _as_azure(record: object) -> object:
    """Return a record with the CPU and the DMI of an instance wherever it has a machine."""
    if isinstance(record, list):
        return [_as_azure(item) for item in record]
    if not isinstance(record, dict):
        return record
    if "cpu" in record and "topology" in record:
        cpu = {**record["cpu"], "model": "AMD EPYC 9V74 80-Core Processor"}
        topology = {**record["topology"], "cores": 1, "threads": 2, "packages": 1}
        return {**record, "cpu": cpu, "topology": topology, "product": "Microsoft Corporation Virtual Machine"}
    return {name: _as_azure(item) for name, item in record.items()}


@pytest.mark.parametrize("options", [(), ("--type", "Standard_D2as_v6")])
def test_without_a_site_the_catalogue_tells_what_to_expect(
    tmp_path: Path, azure: str, options: tuple[str, ...]
) -> None:
    (tmp_path / "x.jsonl").write_text(azure)
    answer = check(tmp_path, "x.jsonl", *options, "--json")
    assert answer.returncode in (0, 1), answer.stderr
    actual = json.loads(answer.stdout)
    assert [value["params"]["op"] for value in actual["values"]] == ["read", "update"]
    assert all(value["expected"]["low"] < value["expected"]["high"] for value in actual["values"])
    assert actual["machine"].endswith("(from --type)" if options else "(from the CPU)")
    text = check(tmp_path, "x.jsonl", *options).stdout
    assert "machine: azure Standard_" in text
    message = "azure Standard_D2as_v6, 1 machine; " if options else "AMD EPYC 9V74 80-Core Processor on azure, "
    assert f"read: {message}" in " ".join(text.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--type", "c7i.large", "--expect", "site.toml"), "--type and --ask-metadata select ranges of the catalogue"),
        (("--type", "c7i.large", "--ask-metadata"), "--type already gives the instance type"),
        (("--type", "c7i.largo"), "has no such type; did you mean c7i.large"),
    ],
)
def test_contradictions_about_the_type_are_refused(
    tmp_path: Path, azure: str, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "x.jsonl").write_text(azure)
    answer = check(tmp_path, "x.jsonl", *options)
    assert answer.returncode == 2
    assert message in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_the_sources_of_the_catalogue_are_printed_with_their_licences(tmp_path: Path) -> None:
    answer = check(tmp_path, "--sources")
    assert answer.returncode == 0
    assert "SpareCores, sc-inspector-data, commit 804d3c71dda" in answer.stdout
    assert "licence: CC BY-SA 4.0; changes: " in answer.stdout


@pytest.mark.parametrize(("arguments", "message"), [
    (("x.jsonl",), "nothing to compare with: give --expect SITE.toml"),
    (("--sources",), "the catalogue is not installed: pip install nameplate-catalogue"),
])  # fmt: skip
def test_without_the_catalogue_the_user_is_told_how_to_get_it(
    tmp_path: Path, azure: str, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "x.jsonl").write_text(azure)
    start = "import sys; sys.modules['nameplate_catalogue'] = None; from nameplate.__main__ import main; main()"
    answer = subprocess.run(
        [sys.executable, "-c", start, "check", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert message in answer.stderr


def accept_any_value(site: Path) -> None:
    """Expect so little that a busy machine is within the range, and not far below the typical value either."""
    site.write_text(re.sub("(low|typical) = .*", r"\1 = 1.0", site.read_text()))


def raise_ranges(site: Path) -> None:
    """Expect a hundred times as much."""
    times_100 = re.sub(r"(low|typical|high) = (\S+)", lambda m: f"{m[1]} = {float(m[2]) * 100}", site.read_text())
    site.write_text(times_100)


def test_show_accepts_a_site_and_refuses_one_without_the_machine(site: Path) -> None:
    assert nameplate(site.parent, "show", "x.jsonl", "--expect", "site.toml").returncode == 0
    site.write_text(re.sub("cores = .*", "cores = 4711", site.read_text()))
    assert nameplate(site.parent, "show", "x.jsonl", "--expect", "site.toml").returncode == 5


def test_a_report_says_whether_the_machine_is_what_it_should_be(site: Path) -> None:
    report = ("report", "x.jsonl", "--expect", str(site), "-o", "r.html")
    learned = site.read_text()
    accept_any_value(site)
    for sentence, verdict in (
        ("AS EXPECTED: CPU delivers what was expected", "AS EXPECTED"),
        ("BELOW: CPU delivers less than expected.", "BELOW"),
    ):
        answer = nameplate(site.parent, *report)
        assert answer.returncode == 0, answer.stderr
        tile = (site.parent / "r.html").read_text().partition("<h3>Is this what it should be?</h3>")[2]
        tile = tile.partition("<h3>")[0]
        assert f"<p><b>{sentence}" in tile
        assert f'<td class="judged is-{verdict.lower().replace(" ", "-")}">{verdict}</td>' in tile
        assert "expected: site.toml, 12 machines with 12 runs" in tile
        assert str(site.parent) not in tile
        site.write_text(learned)
        raise_ranges(site)


def test_run_checks_the_site_before_it_measures_and_reports_the_verdict(site: Path) -> None:
    measure = ("run", "cpu_flops", "threads=1", "--rounds", "2", "--samples", "12", "--expect", "site.toml")
    answer = nameplate(site.parent, *measure, "-o", "new.jsonl", "--report", "new.html", "--quiet")
    assert answer.returncode == 0, answer.stderr
    # Other tests may take CPU time from the run.
    verdict = r"<p><b>(UNSURE: CPU is undecided: a longer run|Not judged: other programs took)"
    assert re.search(verdict, (site.parent / "new.html").read_text())
    site.write_text(re.sub("cores = .*", "cores = 4711", site.read_text()))
    answer = nameplate(site.parent, *measure, "-o", "no.jsonl")
    assert answer.returncode == 5
    assert answer.stderr.startswith("nameplate: site.toml has no class ")
    assert not (site.parent / "no.jsonl").exists()


def test_the_catalogue_gives_reference_values_on_the_first_screen(tmp_path: Path, azure: str) -> None:
    (tmp_path / "x.jsonl").write_text(azure)
    command = [sys.executable, "-m", "nameplate", "show", "x.jsonl", "--json"]
    rows = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout)["rows"]
    for row in (row for row in rows if row["metric"] == "bandwidth"):
        assert row["efficiency"] == pytest.approx(row["capability"] / row["rated"])
