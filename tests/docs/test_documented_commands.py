"""Check that every command shown in README.md and docs/ works.

Each command runs in a folder of its own and takes a few seconds. A command that would take long is only planned
(``--dry-run``). A command that needs what a test does not have is only parsed by the real command line. Both lists give
the reason.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from documented_commands import Command, fenced_commands, mentioned_commands
from mutated_files import stream_file
from nameplate.command_line import make_app, run
from nameplate.execution.launch import core_path
from nameplate.tools.tool_process import free_port
from recorded_runs import quiet_file, quieted

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tests" / "golden" / "references"

# Commands that begin like this are only planned, because they would take this long.
PLANNED = {
    "run full": "half an hour",
    "run soak": "half an hour",
    "run iozone-auto": "six minutes or more",
    "run cs553-kvm": "an hour",
    "run cse557-now": "half an hour",
    "run t2micro": "half an hour or more",
    "run distributed-stream": "minutes, on all ranks",
    "run cluster": "five minutes, on all nodes",
    "run mtu": "a minute",
    "run mpi_pingpong": "a sweep over sizes on all ranks",
    "run mpi_pairs": "as many ranks as nodes",
    "run cpu_linpack": "minutes",
    "run cpu_workset": "a minute",
    "run memory_latency": "a minute",
    "run disk_block op=write block=1MiB cache=direct size=100GB": "writes 100 GB",
}
# Commands that match are only parsed, for this reason.
PARSED = {
    r"^versus": "runs the installed reference tools for minutes",
    r"--selftest": "measures for five minutes",
    r"^ab .*--commands ": "needs the user's programs",
    r"^compare .* --new ": "needs six runs",
    r"--against": "measures a whole run again",
    r"--recheck": "needs a cluster with a slow node",
    r"^fleet (run|check|recheck)": "needs hosts that ssh reaches",
    r"^serve --listen": "listens until Ctrl-C",
    r"^check --(type|ask-metadata)": "needs an instance of a cloud",
    r"^--install-completion": "changes the files of the user's shell",
}
# Replaces the automatic size, which would fill the memory.
SMALL = {
    "disk_block": "size=4MiB",
    "memory_stream": "size=1MiB",
    "memory_block": "size=1MiB",
    "mpi_stream": "size=1MiB",
}
FAST = ("--rounds", "1", "--time", "10ms", "--samples", "1", "--warmup", "1ms")
LAUNCHER = "mpirun.openmpi --oversubscribe -n 2"
# The exit codes with which compare, nodes, doctor and check report their findings.
VERDICTS = (0, 1, 4, 5)


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Start a peer on this machine and return its address and the path of its key."""
    key = tmp_path_factory.mktemp("peer") / "key"
    subprocess.run([core_path(), "serve", "--new-key", str(key)], check=True)
    port = free_port()
    process = subprocess.Popen(
        [core_path(), "serve", "--listen", "127.0.0.1", "--port", str(port), "--key-file", str(key)],
        stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for(port)
    yield f"127.0.0.1:{port}", key
    process.terminate()
    process.wait(timeout=60)


def wait_for(port: int) -> None:
    """Return when a process listens on this port; raise after a minute."""
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "the peer does not listen"
            time.sleep(0.05)


def text_of(arguments: list[str]) -> str:
    return " ".join(arguments)


def is_planned(arguments: list[str]) -> bool:
    return any(text_of(arguments).startswith(start) for start in PLANNED)


def is_parsed(arguments: list[str]) -> bool:
    return any(re.search(pattern, text_of(arguments)) for pattern in PARSED)


def parse(arguments: list[str]) -> None:
    """Raise if the command line has no such command or option, or if a value is of the wrong kind."""
    make_app().parse_args(arguments, exit_on_error=False, print_error=False)


def recording_for(arguments: list[str]) -> str:
    """Return the recorded run that replaces the file names in a command."""
    if arguments[0] == "nodes":
        return "per_node"
    return "t2micro-posix" if "study" in arguments else "quick"


def make_inputs(arguments: list[str], folder: Path) -> None:
    """Write the input files that a command names."""
    written = {
        arguments[at + 1] for at, word in enumerate(arguments[:-1]) if word in ("-o", "--report", "--charts", "--study")
    }
    recorded = quiet_file(f"{recording_for(arguments)}.jsonl", folder)
    for name in (word for word in arguments[1:] if word not in written and "=" not in word):
        make_input(folder / name, recorded)
    if recorded.name not in arguments:
        recorded.unlink()


def make_input(path: Path, recorded: Path) -> None:
    """Write the input file of this name, if a test has one of its kind."""
    if path.suffix == ".jsonl":
        shutil.copy(recorded, path)
    elif path.name in ("RUNS", "fleet"):
        path.mkdir()
        shutil.copy(recorded, path / "a.jsonl")
        write_run(path / "b.jsonl")
    elif path.suffix == ".html":
        assert run(["report", str(recorded), "-o", str(path)]) == 0
    elif path.suffix == ".dat":
        path.write_text(stream_file())
    elif path.name == "old-fio.json":
        shutil.copy(TOOLS / "fio-3.33.json", path)
    elif path.name == "site.toml":
        write_run(Path(f"{path}.jsonl"))
        assert run(["check", "--learn", f"{path}.jsonl", "-o", str(path)]) == 0


def write_run(path: Path) -> None:
    """Write a run with intervals, from which a range can be learned."""
    path.write_bytes(run_of_six_rounds())


@cache
def run_of_six_rounds() -> bytes:
    """Measure once for all commands that want such a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        assert run(["run", "cpu_flops", "threads=1", "--rounds", "6", "--quiet", "-o", str(path)]) == 0
        return quieted(path.read_bytes())


def replaced(arguments: list[str], peer: tuple[str, Path]) -> list[str]:
    """Replace placeholders for values of the reader."""
    address, key = peer
    replacements = {
        "HOST": address,
        "KEY": str(key),
        "node17": "vm",
        "/tmp/run.jsonl": "run.jsonl",
        "/etc/nameplate/site.toml": "site.toml",
    }
    arguments = [replacements.get(word, word) for word in arguments]
    return ["nameplate.prom" if word.endswith(".prom") else word for word in arguments]


def made_short(arguments: list[str]) -> list[str]:
    """Replace the limits of a run by short ones."""
    arguments = [word for word in arguments if word != "--dry-run"]
    for option in ("--budget", "--rounds", "--time", "--samples"):
        if option in arguments:
            del arguments[arguments.index(option) : arguments.index(option) + 2]
    arguments = [LAUNCHER if at and arguments[at - 1] == "--mpi" else word for at, word in enumerate(arguments)]
    probe = arguments[1] if len(arguments) > 1 else ""
    if probe in SMALL:
        arguments = [word for word in arguments if not word.startswith("size=")] + [SMALL[probe]]
    if "--series" in arguments:
        arguments[arguments.index("--series") + 1] = "2s/100ms"
        return arguments
    # One round of the plan quick takes three seconds. A busy machine could spend a budget of that before it starts.
    is_plan = probe == "quick" or probe.startswith("-")
    return arguments + (["--rounds", "1"] if is_plan else [*FAST])


def measure(arguments: list[str], folder: Path) -> None:
    """Run as briefly as possible; check that at least one experiment was measured."""
    arguments = made_short(arguments)
    if "-o" not in arguments:
        arguments += ["-o", "run.jsonl"]
    assert run(arguments) == 0
    records = map(json.loads, (folder / arguments[arguments.index("-o") + 1]).read_text().splitlines())
    endings = [record["ending"] for record in records if record["type"] == "outcome"]
    assert "ok" in endings, endings
    assert "invalid" not in endings


def plan(arguments: list[str]) -> None:
    """Plan a run without measuring it."""
    arguments = [LAUNCHER if at and arguments[at - 1] == "--mpi" else word for at, word in enumerate(arguments)]
    # The file system of a test has less room than that of the reader.
    arguments = [word for word in arguments if not word.startswith("size=")]
    if "-o" in arguments:
        Path(arguments[arguments.index("-o") + 1]).parent.mkdir(exist_ok=True)
    launcher = ["--mpi", LAUNCHER] if "--mpi" not in arguments and arguments[1].startswith("mpi_") else []
    assert run([*arguments, *launcher, *([] if "--dry-run" in arguments else ["--dry-run"])]) == 0


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("command", fenced_commands(), ids=lambda command: f"{command.page}: {command.text}")
def test_a_shown_command_works(
    command: Command, peer: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    message = command.argv
    parse(message)
    if is_parsed(message):
        return
    message = replaced(message, peer)
    if message[0] == "run" and "--slurm" not in message:
        plan(message) if is_planned(message) else measure(message, tmp_path)
        return
    if message[0] == "serve":
        # The command replaces its process by the core, which would end the test.
        new_key = [sys.executable, "-m", "nameplate", *message[:2], str(tmp_path / "key")]
        subprocess.run(new_key, check=True)
        return
    if message[0] == "ab":
        assert run([*message, "--budget", "20s", "--even-if-busy"]) in VERDICTS
        return
    make_inputs(message, tmp_path)
    if message == ["check"] or message[:2] == ["check", "--expect"]:
        message = [*(word for word in message if word != "--fast"), "--fast", "--even-if-busy"]
    judges = message[0] in ("compare", "nodes", "doctor", "check")
    assert run(message) in (VERDICTS if judges else (0,))


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("command", mentioned_commands(), ids=lambda command: f"{command.page}: {command.text}")
def test_a_mentioned_command_exists(
    command: Command, peer: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    message = replaced(command.argv, peer)
    app = make_app()
    assert message[0] in app
    if message[0].startswith("-"):
        return
    options = {name for argument in app[message[0]].assemble_argument_collection() for name in argument.names}
    assert {word for word in message if word.startswith("-")} <= options
    # A run with all its arguments is planned too, so that its parameters are checked.
    if (
        message[0] == "run"
        and len(message) > 1
        and "…" not in command.text
        and not {"--resume", "--against"} & {*message}
    ):
        (tmp_path / "my-plan.toml").write_text(printed_plan())
        plan(message)


def printed_plan() -> str:
    """Return the plan file that the page on studies shows."""
    return (ROOT / "docs" / "studies.md").read_text().partition("```toml\n")[2].partition("```")[0]


def test_exceptions_match_a_documented_command() -> None:
    texts = [text_of(item.argv) for item in (*fenced_commands(), *mentioned_commands())]
    assert [start for start in PLANNED if not any(text.startswith(start) for text in texts)] == []
    assert [pattern for pattern in PARSED if not any(re.search(pattern, text) for text in texts)] == []
