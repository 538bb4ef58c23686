"""Traces of real machines: short samples of all areas over half an hour, and what happened during each.

A trace is a run of ``bench/statistics/traces/trace.toml`` without what the study of estimators does not need. ``pack``
makes one of a run file, and ``load`` reads it."""

from __future__ import annotations

import io
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nameplate.probes import probe_of
from nameplate.records.run_record import Sample
from nameplate.results.measurements import Measurement
from nameplate.results.run_file import read_run

FOLDER = Path(__file__).parent / "traces"
PLAN = FOLDER / "trace.toml"
# Logarithms are stored in steps of 0.02 %, up to a factor of e^13.
STEP = 2e-4
# A round has at least this many samples of 1 ms.
MIN_SHORT_SAMPLES = 10
STOLEN, PREEMPTED, THROTTLED = 1, 2, 4

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """The samples of one experiment in a trace, in the order of time.

    ``slowness`` is the logarithm of the time per work, from 0 for the best sample. ``round`` is the number of the
    round, from 1. ``burst`` is the logarithm of the time of the clock's burst before the sample, from 0 for the
    shortest. ``flags`` is a sum of ``STOLEN`` (steal), ``PREEMPTED`` (involuntary switches) and ``THROTTLED``.
    ``threads`` is the number of workers, and ``cpu_share`` the share of the CPU time that these could use and got; it
    is None if they wait for something else, as for a disk, and in traces that were recorded without it.
    """

    experiment: str
    slowness: Floats
    round: NDArray[np.uint16]
    burst: Floats
    flags: NDArray[np.uint8]
    threads: int = 1
    cpu_share: Floats | None = None

    def rounds(self) -> list[Floats]:
        """Return the slowness of the samples of each round, in the order of the rounds."""
        return np.split(self.slowness, self._ends())

    def cpu_shares(self) -> list[float] | None:
        """Return the share of the CPU time that the workers got in each round; None if it is not known."""
        if self.cpu_share is None:
            return None
        return [float(np.mean(shares)) for shares in np.split(self.cpu_share, self._ends())]

    def _ends(self) -> NDArray[np.intp]:
        return np.flatnonzero(np.diff(self.round)) + 1


def time_per_work(sample: Sample) -> float:
    """Return the seconds that a sample took for each operation or byte that its probe counts."""
    return sample.elapsed_s / sample.work.main


def pack(run: Path, name: str) -> Path:
    """Write the trace ``name`` from a run file of the plan ``trace.toml``, and return its path."""
    by_experiment: dict[str, list[Measurement]] = {}
    for measurement in read_run(run).measurements:
        if measurement.outcome.ending == "ok" and not measurement.outcome.interrupted:
            by_experiment.setdefault(measurement.outcome.id, []).append(measurement)
    arrays: dict[str, NDArray[np.generic]] = {}
    for experiment, measured in by_experiment.items():
        arrays |= {f"{experiment}|{part}": array for part, array in _packed(measured).items()}
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    path = FOLDER / f"{name}.npz.xz"
    path.write_bytes(lzma.compress(content.getvalue(), preset=9))
    return path


def _packed(measured: list[Measurement]) -> dict[str, NDArray[np.generic]]:
    samples = [(m.outcome.round, sample) for m in measured for sample in m.samples]
    slowness = np.log([time_per_work(sample) for _, sample in samples])
    burst = np.log([sample.disturbed["burst_s"] for _, sample in samples])
    flags = [
        STOLEN * (sample.disturbed.get("steal_s", 0) > 0)
        + PREEMPTED * (sample.disturbed["involuntary_switches"] > 0)
        + THROTTLED * (sample.disturbed.get("cgroup_throttled", 0) > 0)
        for _, sample in samples
    ]
    packed: dict[str, NDArray[np.generic]] = {
        "round": np.asarray([number for number, _ in samples], np.uint16),
        "slowness": np.minimum(np.rint((slowness - slowness.min()) / STEP), 65535).astype(np.uint16),
        "burst": np.minimum(np.rint((burst - burst.min()) / STEP), 65535).astype(np.uint16),
        "flags": np.asarray(flags, np.uint8),
    }
    return packed | _packed_cpu_time(measured)


def _packed_cpu_time(measured: list[Measurement]) -> dict[str, NDArray[np.generic]]:
    """Return the number of threads, and the share of the CPU time in percent where the workers always compute."""
    outcome = measured[0].outcome
    threads = int(outcome.params.get("threads", 1))
    packed: dict[str, NDArray[np.generic]] = {"threads": np.asarray(threads, np.uint16)}
    if not probe_of(outcome.probe).is_always_computing:
        return packed
    samples = [sample for m in measured for sample in m.samples]
    got_s = np.array([sample.cpu_s for sample in samples])
    asked_s = np.array([sample.elapsed_s * threads for sample in samples])
    return packed | {"cpu_share": np.minimum(np.rint(100 * got_s / asked_s), 255).astype(np.uint8)}


def load(name: str) -> list[Trace]:
    """Return the experiments of a trace, in the order of their names."""
    with np.load(io.BytesIO(lzma.decompress((FOLDER / f"{name}.npz.xz").read_bytes()))) as arrays:
        names = sorted({key.rpartition("|")[0] for key in arrays})
        return [_loaded(path_name, arrays) for path_name in names]


def _loaded(experiment: str, arrays: Mapping[str, NDArray[Any]]) -> Trace:
    cpu_share = arrays.get(f"{experiment}|cpu_share")
    return Trace(
        experiment=experiment,
        slowness=arrays[f"{experiment}|slowness"] * STEP,
        round=arrays[f"{experiment}|round"],
        burst=arrays[f"{experiment}|burst"] * STEP,
        flags=arrays[f"{experiment}|flags"],
        threads=int(arrays.get(f"{experiment}|threads", 1)),
        cpu_share=None if cpu_share is None else cpu_share / 100,
    )


def with_capability(traces: Sequence[Trace]) -> list[Trace]:
    """Return the traces of experiments that have a capability: with samples of 1 ms, or with periods of a quota.

    A round has one or two of the long samples of a trace under a quota. They are whole periods only if the quota
    stopped some of them, and otherwise too few.
    """
    return [trace for trace in traces if not are_full_periods(trace.rounds()) or np.any(trace.flags & THROTTLED)]


def are_full_periods(rounds: Sequence[Floats]) -> bool:
    """Return whether the samples last whole periods of a quota instead of 1 ms: a round then has one or two."""
    return float(np.median([len(values) for values in rounds])) < MIN_SHORT_SAMPLES


def names() -> list[str]:
    """Return the names of the recorded traces, in alphabetical order."""
    return sorted(path.name.removesuffix(".npz.xz") for path in FOLDER.glob("*.npz.xz"))
