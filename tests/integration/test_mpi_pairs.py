"""Messages between all pairs: real launchers, real ranks, and a link that flips a byte."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from mpi_ranks import OPEN_MPI, ask, command, faulty_mpi, nameplate
from nameplate.execution.launch import mpi_programs
from nameplate.probes.mpi_pairs import PROBE
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from two_hosts import CLIENT, SERVER, Host, two_hosts

pytestmark = pytest.mark.usefixtures("as_root")

STEP_S = 1e-9


def pairs_experiment(**params: Any) -> dict[str, Any]:
    given = {"between": "ranks", **params}
    return {"probe": "mpi_pairs", "params": given, "slice_s": 20, "sample_s": 0.001, "max_samples": 2}


@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
def test_every_pair_of_ranks_is_measured(family: str, ranks: int) -> None:
    _, *records = ask(command(family, ranks), pairs_experiment(size=8), pairs_experiment(size=70_000))
    outcomes = [r for r in records if r["type"] == "outcome"]
    assert [r["ending"] for r in outcomes] == ["ok", "ok"], outcomes
    pairs = ranks * (ranks - 1) // 2
    assert outcomes[0]["facts"] == {"parties": ranks, "nodes": 1, "pairs_between_nodes": 0}
    rounds = ranks - 1 if ranks % 2 == 0 else ranks
    for sample in (r for r in records if r["type"] == "sample"):
        assert len(sample["pairs"]) == pairs
        assert min(sample["pairs"]) > 0
        messages = 2 * sample["repetitions"]
        assert sample["work"]["ops"] == messages * pairs
        # Each round takes as long as its slowest pair. The times of the pairs are rounded, and the sum is in steps of
        # the clock.
        slowest_s, all_s = max(sample["pairs"]) * messages, sum(sample["pairs"]) * messages
        max_s = min(rounds * slowest_s, all_s)
        assert slowest_s * 0.9999 - STEP_S <= sample["elapsed_s"] <= max_s * 1.0001 + STEP_S


def test_a_run_names_the_slowest_pairs_and_ranks(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    arguments = ["run", "mpi_pairs", "between=ranks", "--mpi", f"{OPEN_MPI} -n 4", "--rounds", "2", "--samples", "1"]
    answer = nameplate(*arguments, "--time", "1ms", "-o", str(path))
    assert answer.returncode == 0, answer.stderr
    assert "All pairs, slowest first, messages of 8B" in answer.stdout
    report = summarise(read_run(path))
    assert {(r.summary.metric, r.summary.params["size"]) for r in report.results} == {
        ("latency", 8), ("latency", 1 << 20), ("bandwidth", 1 << 20),
    }  # fmt: skip
    assert report.machine is not None
    host = report.machine.hostname
    for result in (r for r in report.results if r.summary.metric == "latency"):
        assert len(result.pairs) == 6
        assert PROBE.pair_matrix is not None
        medians = [median or 0.0 for median in PROBE.pair_matrix.party_medians(result.pairs)]
        slowest = f"{medians.index(max(medians))} ({host})"
        size = "1MiB" if result.summary.params["size"] == 1 << 20 else "8B"
        table = next(t for t in report.tables if t.title == f"Each rank's median over its partners, messages of {size}")
        assert table.rows[0][0] == slowest
    assert nameplate("report", str(path), "-o", str(tmp_path / "report.html"), "--identify").returncode == 0
    assert "bandwidth between=ranks size=1MiB" in (tmp_path / "report.html").read_text()


def test_one_node_has_no_pairs_of_nodes(family: str) -> None:
    outcome = ask(command(family, 2), pairs_experiment(between="nodes"))[1]
    assert (outcome["ending"], outcome["reason"]) == (
        "skipped", "all ranks run on one node; between=ranks measures pairs of ranks",
    )  # fmt: skip
    alone = ask(command(family, 1), pairs_experiment())[1]
    assert alone["ending"] == "skipped"
    assert "a message needs two" in alone["reason"]


def test_a_link_that_flips_a_byte_is_named(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(faulty_mpi(family, tmp_path)))
    monkeypatch.setenv("FAULTY_LINK", "2-1")
    records = ask(command(family, 4), pairs_experiment(size=5000), pairs_experiment(size=8))
    outcomes = [r for r in records if r["type"] == "outcome"]
    assert [r["ending"] for r in outcomes] == ["invalid", "ok"]
    message = r"rank 1 on (\S+): the answer of rank 2 on \1 differs from the message"
    assert re.fullmatch(message, outcomes[0]["reason"]), outcomes[0]["reason"]


# Sets a host name and mounts private shared memory, by which MPI distinguishes nodes.
SEPARATE_HOST = 'hostname "$0"; mount -t tmpfs tmpfs /dev/shm; exec "$@"'
AGENT = """#!/bin/sh
shift
exec {inside} sh -c "$*"
"""


def as_host(host: Host, name: str) -> list[str]:
    """Return the start of a command that runs on a host with that name."""
    return [*host.command("unshare", "--uts", "--ipc", "--mount"), "sh", "-c", SEPARATE_HOST, name]


def test_nodes_exchange_messages_over_their_network(tmp_path: Path) -> None:
    """One rank of each node takes part, limited by the link: 100 Mbit/s, after 32 KiB that fill the token bucket."""
    with two_hosts(rate="100mbit") as (first, second):
        agent = tmp_path / "agent"
        agent.write_text(AGENT.format(inside=shlex.join(as_host(second, "far"))))
        agent.chmod(0o755)
        launcher = [*OPEN_MPI.split(), "--mca", "plm_rsh_agent", str(agent), "--host", f"{SERVER}:2,{CLIENT}:2"]
        arguments = [*as_host(first, "near"), *launcher, "-n", "4", str(mpi_programs()["openmpi"])]
        header, sample, outcome, _ = ask(
            arguments, {**pairs_experiment(between="nodes", size=1 << 20), "max_samples": 1}
        )
    assert (outcome["ending"], outcome["facts"]) == ("ok", {"parties": 2, "nodes": 2, "pairs_between_nodes": 1})
    assert header["machine"]["job"]["nodes"] == ["near", "far"]
    (message_s,) = sample["pairs"]
    assert message_s > ((1 << 20) - (32 << 10)) * 8 / 100e6
