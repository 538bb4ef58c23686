"""nameplate compared with other tools: real sockperf, and scripts that replace tools for the failures."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import jsonschema
import msgspec
import pytest

from machines import MACHINE
from nameplate.errors import CoreError, ToolFailed
from nameplate.probes import ResolvedExperiment
from nameplate.records.plan_record import Value
from nameplate.records.replaceable import mark_work_folder
from nameplate.records.run_record import Work
from nameplate.tools.external import load_references
from nameplate.tools.paired import _check_served, scratch
from nameplate.tools.tool_process import free_port, loopback_host, on_cpus, run_tool, serving
from run_samples import sample

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "references"
STREAM = (GOLDEN / "stream-5.10.txt").read_text()


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder that is the whole PATH; it has only the programs that the scripts need."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat", "sleep", "taskset"):
        actual = shutil.which(name)
        assert actual
        (folder / name).symlink_to(actual)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


def stand_in(tools: Path, name: str, script: str) -> None:
    """Write a script that replaces the program of that name."""
    path = tools / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def versus(*arguments: str) -> tuple[int, dict[str, object], str]:
    """Run ``nameplate versus``; return its exit code, its JSON output and its messages."""
    done = subprocess.run(
        [sys.executable, "-m", "nameplate", "versus", *arguments, "--json", "-q"], capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def rows(answer: dict[str, object]) -> list[dict[str, object]]:
    actual = answer["rows"]
    assert isinstance(actual, list)
    return actual


def test_plain_stream_is_built_from_its_file_and_compared_pass_by_pass(tmp_path: Path, tools: Path) -> None:
    compiler = shutil.which("gcc", path=os.defpath)
    assert compiler
    built, source = tools / "plain-stream", ROOT / "bench" / "references" / "plain_stream.c"
    subprocess.run([compiler, "-O3", "-o", built, source], check=True, env={"PATH": os.defpath})
    for wrong in ([], ["0", "10"], ["100", "1"], ["100", "201"]):
        assert subprocess.run([built, *wrong], capture_output=True, check=False).returncode == 2
    code, answer, _ = versus("plain_stream", "--pairs", "5", "--time", "1")
    assert code == 0
    compared = [str(row["work"]).rpartition(", ")[0] for row in rows(answer) if row["ratio"]]
    assert compared == [f"{op}, average pass" for op in ("copy", "scale", "add", "triad")]


def sysbench(file_test: str) -> str:
    """Return a sysbench script whose memory test prints a recorded output."""
    cases = {
        "--version": 'echo "sysbench 1.0.20"', "memory": f"cat {GOLDEN}/sysbench-memory-1.0.20.txt",
        "prepare": "echo content > test_file.0", "": file_test,
    }  # fmt: skip
    return f'case "$*" in {" ".join(f"*{word}*) {does};;" for word, does in cases.items())} esac'


def is_running(process: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_a_real_tool_has_a_ratio_with_an_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, answer, _ = versus("sockperf", "--pairs", "6", "--time", "1s")
    measured = [row for row in rows(answer) if row["ratio"]]
    assert code == 0
    assert [row["work"] for row in measured] == ["tcp round trip, 64 B, median", "udp round trip, 64 B, median"]
    for row in measured:
        ours, theirs, ratio, ci = row["ours"], row["theirs"], row["ratio"], row["ci"]
        assert isinstance(ours, list)
        assert isinstance(theirs, list)
        assert isinstance(ci, list)
        assert len(ours) == len(theirs) == 6
        assert all(1e-6 < value < 0.1 for value in [*ours, *theirs])
        assert ci[0] <= ratio <= ci[1]
        assert "sockperf ping-pong -i 127.0.0.1" in str(row["command"])
        assert row["version"]
    assert [row["work"] for row in rows(answer) if not row["ratio"]] == ["payload=1"]
    assert list(tmp_path.iterdir()) == []


def test_a_failing_tool_affects_only_its_own_rows(tools: Path, tmp_path: Path) -> None:
    stand_in(tools, "sysbench", sysbench("echo out of luck >&2; kill -SEGV $$"))
    (tmp_path / "stream.txt").write_text(STREAM.replace("Solution Validates", "Failed Validation"))
    stand_in(tools, "stream", f"cat {tmp_path}/stream.txt")
    stand_in(tools, "iozone", "exec /nowhere/iozone.real")
    stand_in(tools, "likwid-bench", 'echo "Version: ImageMagick 6.9.11-60 Q16 x86_64"')
    stand_in(tools, "sockperf", 'case "$*" in *--version*) echo "sockperf, version 3.7";; *) exit 1;; esac')
    named = ("sysbench", "iozone", "stream", "iperf3", "likwid", "sockperf")
    code, answer, _ = versus(*named, "--pairs", "5", "--time", "1s")
    reasons: dict[str, list[str]] = {}
    for row in rows(answer):
        reasons.setdefault(str(row["tool"]), []).append(str(row["reason"]))
    assert code == 3
    assert [row["work"] for row in rows(answer) if row["ratio"]] == ["write 1 MiB repeatedly, 1 thread"]
    assert "sysbench: was ended by SIGSEGV: out of luck" in reasons["sysbench"]
    assert reasons["stream"] == ["stream: cannot read its output: STREAM did not print 'Solution Validates'"] * 4
    assert "iozone.real: not found" in reasons["iozone"][0]
    assert reasons["likwid"] == [
        f"{tools}/likwid-bench is not likwid: it prints 'Version: ImageMagick 6.9.11-60 Q16 x86_64'"
    ]
    assert reasons["iperf3"] == ["not installed"]
    assert [row["install"] for row in rows(answer) if row["tool"] == "iperf3"] == ["apt install iperf3"]
    assert "sockperf: its server does not listen" in reasons["sockperf"][0]
    assert not list(tmp_path.glob(".nameplate*"))


# Drops a file from the page cache, as direct writes of another work do.
EVICT = """import os, sys
file = os.open(sys.argv[1], os.O_RDWR)
os.fsync(file)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
"""


def evicting(path: str) -> str:
    return f"{sys.executable} -c '{EVICT}' {path}"


@pytest.mark.slow
def test_each_pair_has_its_file_prepared_and_in_the_page_cache(tools: Path, tmp_path: Path) -> None:
    """The other work removes the file from the cache, and this tool lists what it finds in the cache."""
    share = "from nameplate.tools.page_cache import cached_share, Path; print(cached_share(Path('test_file.0')))"
    actual = f'{sys.executable} -c "{share}" >> {tmp_path}/found'
    file_test = f"{actual}; cat {GOLDEN}/sysbench-fileio-1.0.20.txt"
    script = sysbench(file_test).replace("*memory*) ", f"*memory*) {evicting('test_file.0')}; ")
    script = script.replace("echo content > test_file.0", f"echo x >> {tmp_path}/prepared; echo content > test_file.0")
    stand_in(tools, "sysbench", script)
    code, answer, _ = versus("sysbench", "--pairs", "5", "--time", "1s")
    assert (code, [len(row["theirs"]) for row in rows(answer) if row["ratio"]]) == (0, [5, 5])  # type: ignore[arg-type]
    assert (tmp_path / "found").read_text() == "1.0\n" * 5
    assert (tmp_path / "prepared").read_text() == "x\n" * 5


@pytest.mark.slow
def test_a_file_that_leaves_the_page_cache_during_a_run_has_no_ratio(tools: Path) -> None:
    stand_in(tools, "sysbench", sysbench(f"cat {GOLDEN}/sysbench-fileio-1.0.20.txt; {evicting('test_file.0')}"))
    code, answer, _ = versus("sysbench", "--pairs", "5", "--time", "1s")
    reasons = [str(row["reason"]) for row in rows(answer) if row["work"] == "4 KiB random read, page cache"]
    assert (code, len(reasons)) == (3, 1)
    assert "sysbench: 0 % of test_file.0 are in the page cache after its run" in reasons[0]


def test_reads_of_nameplate_that_the_page_cache_did_not_serve_are_no_values() -> None:
    params: dict[str, Value] = {"op": "read", "cache": "warm", "sync": "none"}
    facts = {"file_bytes": 100.0, "is_memory": 0.0}
    moved = {"process_write_bytes": 0.0, "device_read_bytes": 0.0, "device_write_bytes": 0.0}
    for before, fetched, message in ((100.0, 0.0, None), (40.0, 60.0, "mixed: 60 %"), (-1.0, -1.0, "unknown")):
        counters = {
            "resident_before_bytes": before, "resident_after_bytes": 100.0, "process_read_bytes": fetched, **moved,
        }  # fmt: skip
        measured = msgspec.structs.replace(sample("x"), work=Work(100, 0, 1), counters=counters)
        experiment = ResolvedExperiment(params, facts, MACHINE, {})
        with pytest.raises(CoreError, match=message) if message else nullcontext():
            _check_served(experiment, [measured])


def test_a_hanging_tool_is_ended_with_its_children(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > {tmp_path}/child; sleep 600"
    with pytest.raises(ToolFailed, match="did not finish within 5 s and was ended"):
        run_tool(["sh", "-c", script], tmp_path, 5)
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + 60
    while is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def in_a_namespace(before: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a network namespace of its own that a line of shell prepares."""
    inside = f'{before}; exec "$@"'
    return subprocess.run(
        ["unshare", "--net", "sh", "-c", inside, "sh", *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


IPV6_ONLY = "ip link set lo up && ip addr del 127.0.0.1/8 dev lo"


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["iperf3", "iperf"])
def test_without_ipv4_servers_listen_at_ipv6(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["versus", tool, "--pairs", "5", "--time", "1s", "--json", "-q"]
    done = in_a_namespace(IPV6_ONLY, sys.executable, "-m", "nameplate", *arguments)
    answer = rows(json.loads(done.stdout))
    assert any(row["ratio"] for row in answer), answer
    assert all("::1" in str(row["command"]) for row in answer if row["ratio"])


def test_without_a_loopback_address_the_reason_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["versus", "sockperf", "--pairs", "5", "--time", "1s", "--json", "-q"]
    done = in_a_namespace(":", sys.executable, "-m", "nameplate", *arguments)
    reasons = [str(row["reason"]) for row in rows(json.loads(done.stdout)) if row["probe"] and row["command"]]
    assert done.returncode == 3
    assert reasons
    assert all("cannot use 127.0.0.1: Network is unreachable" in reason for reason in reasons)
    assert loopback_host() in ("127.0.0.1", "::1")


def test_a_server_that_does_not_listen_is_an_error_and_a_listening_one_is_ended(tmp_path: Path) -> None:
    port = free_port()
    dead = serving(["sh", "-c", "exit 1"], port, tmp_path, [])
    with pytest.raises(ToolFailed, match="its server does not listen: sh -c 'exit 1'"), dead:
        pass
    listen = f"import socket, time; s = socket.socket(); s.bind(('127.0.0.1', {port})); s.listen(); time.sleep(600)"
    with serving([sys.executable, "-c", listen], port, tmp_path, [0]):
        pass
    free = [sys.executable, "-c", f"import socket; socket.socket().bind(('127.0.0.1', {port}))"]
    assert subprocess.run(free, check=False).returncode == 0


@pytest.mark.slow
def test_an_interrupted_comparison_keeps_its_pairs_and_leaves_no_files(tools: Path, tmp_path: Path) -> None:
    stand_in(tools, "sysbench", sysbench("exit 1"))
    for number in (signal.SIGTERM, signal.SIGINT):
        run = subprocess.Popen(
            [sys.executable, "-m", "nameplate", "versus", "sysbench", "--pairs", "50", "--time", "1s"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert run.stderr is not None
        # From the second round on, each piece of work has a value of both programs.
        assert any("round 2" in line for line in run.stderr)
        run.send_signal(number)
        output, message = run.communicate(timeout=60)
        assert run.returncode == 3
        assert "stopped; the table shows the pairs measured so far" in message
        assert "Traceback" not in message
        assert "sysbench 1.0.20" in output
        assert not list(tmp_path.glob(".nameplate*"))


def test_leftovers_of_a_killed_run_are_removed_and_those_of_a_running_one_are_not(tmp_path: Path) -> None:
    left = tmp_path / ".nameplate-versus-left"
    left.mkdir()
    mark_work_folder(left)
    (left / "fio.data").write_bytes(b"x")
    with scratch(tmp_path) as first, scratch(tmp_path) as second:
        assert first.is_dir()
        assert second.is_dir()
        assert not left.exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fo"], "unknown tool or probe 'fo': did you mean 'fio'?"),
        (["--pairs", "4"], "--pairs 4: too few; use 5 or more"),
        (["--time", "1500ms"], "--time 1500ms: not a whole number of seconds"),
        (["--mpi", "nosuchrun -n 2"], "--mpi 'nosuchrun': not found on PATH"),
    ],
)
def test_bad_input_is_one_clear_line(arguments: list[str], message: str) -> None:
    code, _, said = versus(*arguments)
    assert code == 2
    assert message in said
    assert said.count("\n") == 1


def test_only_the_named_probes_are_compared(tools: Path) -> None:
    stand_in(tools, "sysbench", sysbench("exit 1"))
    code, answer, _ = versus("cpu_flops", "--pairs", "5", "--time", "1s")
    assert code == 0
    assert rows(answer) == []


def test_a_plan_that_names_tools_shows_their_values(tools: Path, tmp_path: Path) -> None:
    stand_in(tools, "sysbench", sysbench("exit 1"))
    plan = tmp_path / "mine.toml"
    plan.write_text('rounds = 1\nreferences = ["sysbench", "iozone"]\n[[experiment]]\nprobe = "null"\nslice = "20ms"\n')
    command = [sys.executable, "-m", "nameplate", "run", "mine.toml", "-o", "x.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    tables = subprocess.run([*command[:3], "show", "x.jsonl", "--all"], capture_output=True, text=True, check=True)
    assert "Reference tools on this machine" in tables.stdout
    schema = json.loads((ROOT / "schema" / "record.schema.json").read_text())
    said = [
        record
        for line in (tmp_path / "x.jsonl").read_text().splitlines()
        if (record := json.loads(line))["type"] == "reference"
    ]
    for record in said:
        jsonschema.validate(record, schema)
    assert [(record["tool"], record["value"], record["reason"]) for record in said] == [
        ("sysbench", 4711.05 * 2**20, ""),
        ("sysbench", None, "ended with exit code 1"),
        (
            "iozone",
            None,
            f"not installed; install it with: {load_references()['iozone'].install}",
        ),
    ]
    assert not list(tmp_path.glob(".nameplate*"))
    plan.write_text(plan.read_text().replace("iozone", "iozon"))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr == "nameplate: references: unknown tool 'iozon': did you mean 'iozone'?\n"


def test_a_tool_stopped_during_identification_leaves_no_process(tools: Path, tmp_path: Path) -> None:
    stand_in(tools, "fio", f"echo $$ > {tmp_path}/started; sleep 600")
    command = [sys.executable, "-m", "nameplate", "versus", "fio"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists() or not (tmp_path / "started").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, message = run.communicate(timeout=60)
    assert (run.returncode, message) == (3, "nameplate: stopped\n")
    assert not is_running(int((tmp_path / "started").read_text()))
    assert not list(tmp_path.glob(".nameplate*"))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a client and a server on CPUs of their own need two")
def test_server_and_client_run_on_different_cpus(tmp_path: Path) -> None:
    first, second = sorted(os.sched_getaffinity(0))[:2]
    show = "import os, sys; print(*os.sched_getaffinity(0), file=open(sys.argv[1], 'w'))"
    serve = f"{show}; import socket; socket.create_server(('127.0.0.1', int(sys.argv[2]))).accept()"
    port = free_port()
    with on_cpus([first]), serving([sys.executable, "-c", serve, "server", str(port)], port, tmp_path, [second]):
        run_tool([sys.executable, "-c", show, "client"], tmp_path, 10.0)
    assert [(tmp_path / name).read_text().split() for name in ("client", "server")] == [[str(first)], [str(second)]]
