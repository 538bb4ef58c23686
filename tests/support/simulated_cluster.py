"""Write run files of mpi_stream on many simulated nodes with random bandwidths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from machines import machine_with
from nameplate.records.plan_record import Experiment, Limits, Plan
from nameplate.records.run_record import Header, NodeTimes, Outcome, Sample, Spread, Stop, Work
from nameplate.records.run_writer import RunWriter
from run_samples import header, run

FUNCTIONS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
RANKS, REPEATS, ARRAY_BYTES = 48, 10, 40_000_000
FACTS = {"ranks": 0.0, "nodes": 0.0, "bus_bytes_per_byte": 1.0, "touched_bytes": 1e10, "last_level_bytes": 1e8,
         "huge_bytes": 0.0}  # fmt: skip


def node_name(position: int) -> str:
    return f"node{position + 1:05}"


def write_stream_run(
    path: Path, nodes: int, spread: float = 0.01, slow: Mapping[int, float] | None = None, rounds: int = 6
) -> None:
    """Write a run of the four operations; ``slow`` gives the share by which a node, by its index, is slower."""
    random = np.random.default_rng(7)
    typical = np.exp(random.normal(0, spread, nodes))
    for position, share in (slow or {}).items():
        typical[position] *= 1 - share
    ids = {f"mpi_stream op={op}": op for op in FUNCTIONS}
    plan = Plan("mpi_stream", [Experiment(i, "mpi_stream", {"op": op}) for i, op in ids.items()], Limits(60.0, 0.02))
    writer = RunWriter.create(path)
    writer.write(run(plan))
    for number in range(1, rounds + 1):
        writer.write(msgspec.structs.replace(_header(nodes), round=number))
        for identity, op in ids.items():
            bandwidth = 150e9 * typical * np.exp(random.normal(0, spread / 3, nodes))
            writer.write(_sample(identity, FUNCTIONS[op], bandwidth, number))
            writer.write(_outcome(identity, op, nodes, number))
    writer.write(Stop(reasons=dict.fromkeys(ids, "rounds"), elapsed_s=60.0, interrupted=False))
    writer.close()


def _header(nodes: int) -> Header:
    job: dict[str, Any] = {
        "library": "Open MPI v4.1.4", "ranks": nodes * RANKS, "nodes": [node_name(index) for index in range(nodes)],
        "hardware": [["2 × M, 96 of 96 CPUs, 384 GiB", nodes]], "placement": [[index, RANKS] for index in range(nodes)],
        "eager_limits": {}, "mtu_bytes": {}, "socket_buffer_bytes": {},
    }  # fmt: skip
    return msgspec.structs.replace(header(), machine=machine_with(hostname=node_name(0), job=job))


def _sample(identity: str, arrays: int, bandwidth: np.typing.NDArray[np.float64], number: int) -> Sample:
    moved = RANKS * arrays * ARRAY_BYTES
    times = (moved / bandwidth).tolist()
    nodes = [
        NodeTimes(
            ranks=RANKS, repeats=REPEATS, bytes_in_repeat=moved, start_skew_s=1e-6,
            window=Spread(time, 0.99 * time, 1.02 * time), longest=Spread(time, 0.99 * time, 1.02 * time),
            rank=Spread(0.99 * time, 0.97 * time, 1.02 * time),
        )
        for time in times
    ]  # fmt: skip
    return Sample(
        round=number, id=identity, index=0, start_s=0.1, elapsed_s=max(times) * REPEATS, repetitions=1,
        work=Work(moved * REPEATS * len(nodes), 0, 0), counters={"cpu_user_s": 1.0, "cpu_system_s": 0.0},
        disturbed={"involuntary_switches": 0}, nodes=nodes,
    )  # fmt: skip


def _outcome(identity: str, op: str, nodes: int, number: int) -> Outcome:
    return Outcome(
        round=number, id=identity, probe="mpi_stream", ending="ok",
        params={"op": op, "threads": 1, "size": ARRAY_BYTES, "repeats": REPEATS},
        facts={**FACTS, "ranks": nodes * RANKS, "nodes": nodes}, labels={}, oversubscribed=False, interrupted=False,
        samples=1, setup_s=0.1, total_s=1.0,
    )  # fmt: skip
