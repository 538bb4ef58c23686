"""Measure how long disturbances last, and what samples of other lengths would make of them.

    bench/statistics/sample_lengths.py CONDITION [BUDGET]     default: 3min; conditions of
        bench/statistics/_record_traces.py, but no quota
    bench/statistics/sample_lengths.py bias [PAIRS]           default: 7 pairs

The first records samples of 0.1 ms while a load runs. It prints how long the disturbances last and the times between
them, and how well runs would agree if several samples were one. The second asks whether short samples are biased, as
they are if a core is slower for some time after it did something else: it measures short and long ones in alternation.
A clock reads in 20 ns, so that samples could be shorter still.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from _record_traces import BESIDE, beside
from _traces import Floats, time_per_work

from nameplate.records.plan_record import Value
from nameplate.results.run_file import read_run
from nameplate.statistics.capability import capability
from nameplate.tools.pairing import measure_pairs

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import measure, ratio_of

SHORT_S = 1e-4
# The numbers of consecutive samples that are joined into one.
LENGTHS = (1, 2, 5, 10, 20, 50, 100)
# A sample this much slower than the capability is disturbed.
DISTURBED = 1.05
ROUNDS = 6
# A round of quick takes samples of an experiment for this long.
SLICE_S = 0.025
NEAR = (0.03, 0.10)
# Short samples in alternation with long ones, in fresh processes that measure for some time.
BIAS_OF_S, LONG_S, SECONDS = (2e-4, 5e-4, 1e-3), 1e-2, 0.5
# Probes that need a file, or the peer of a run.
NEEDS_MORE = ("disk_block", "net_pingpong")
PLAN = """summary = "samples of 0.1 ms"
budget = "{budget}"
precision = "0.0001%"
"""
EXPERIMENTS: dict[str, dict[str, Value]] = {
    "cpu_flops, 1 thread": {"probe": "cpu_flops", "threads": 1},
    "cpu_flops, all threads": {"probe": "cpu_flops"},
    "read, 256 KiB": {"probe": "memory_stream", "op": "read", "threads": 1, "size": 256 << 10},
    "triad, 128 MiB": {"probe": "memory_stream", "op": "triad", "size": 128 << 20, "unit": "step"},
    "latency, 64 MiB": {"probe": "memory_latency", "size": 64 << 20},
    "round trips, TCP": {"probe": "net_pingpong", "protocol": "tcp", "payload": 64},
    "reads, 4 KiB, depth 32": {"probe": "disk_block", "op": "read", "block": 4096, "pattern": "random",
                               "cache": "direct", "library": "uring", "depth": 32},
}  # fmt: skip
OTHER_KERNELS: dict[str, dict[str, Value]] = {
    "cpu_intops": {"probe": "cpu_intops", "mix": "add"},
    "cpu_flops, AVX2": {"probe": "cpu_flops", "isa": "avx2", "threads": 1},
    "cpu_workset, 4 KiB": {"probe": "cpu_workset", "size": 4096},
    "cpu_workset, 1 MiB": {"probe": "cpu_workset", "size": 1 << 20},
    "read, 16 KiB": {"probe": "memory_stream", "op": "read", "threads": 1, "size": 16 << 10},
    "latency, 16 KiB": {"probe": "memory_latency", "size": 16 << 10},
    "copy, 8 KiB": {"probe": "memory_block", "op": "copy", "block": 8192, "size": 256 << 20},
}


def plan_text(budget: str) -> str:
    """Return the plan of a recording in TOML."""
    lines = [PLAN.format(budget=budget)]
    for params in EXPERIMENTS.values():
        entry = {**params, "slice": "100ms", "sample": f"{SHORT_S * 1e6:g}us"}
        lines += ["[[experiment]]", *(f"{name} = {value!r}".replace("'", '"') for name, value in entry.items()), ""]
    return "\n".join(lines)


@dataclass(frozen=True)
class Round:
    """The samples of a round: the time of each in seconds, and its time per work."""

    elapsed_s: Floats
    times: Floats


def record(condition: str, budget: str) -> dict[str, list[Round]]:
    """Return the rounds of each experiment."""
    with TemporaryDirectory(dir=Path.cwd()) as name, ExitStack() as stack:
        folder = Path(name)
        for load in BESIDE[condition]:
            stack.enter_context(beside(load, folder))
        (folder / "plan.toml").write_text(plan_text(budget))
        command = [sys.executable, "-m", "nameplate", "run", "plan.toml", "--quiet", "-o", "run.jsonl"]
        subprocess.run(command, cwd=folder, check=True)
        rounds: dict[str, list[Round]] = {}
        for measurement in read_run(folder / "run.jsonl").measurements:
            if measurement.outcome.ending == "ok" and not measurement.outcome.interrupted:
                elapsed_s = np.array([sample.elapsed_s for sample in measurement.samples])
                times = np.array([time_per_work(sample) for sample in measurement.samples])
                rounds.setdefault(measurement.outcome.id, []).append(Round(elapsed_s, times))
        return rounds


def stretches(rounds: Sequence[Round], limit: float) -> tuple[list[float], list[float]]:
    """Return the lengths in seconds of the disturbed stretches and of the undisturbed ones."""
    lengths: tuple[list[float], list[float]] = ([], [])
    for recorded in rounds:
        is_disturbed = recorded.times > limit
        edges = np.flatnonzero(np.diff(is_disturbed)) + 1
        for start, part in zip([0, *edges], np.split(recorded.elapsed_s, edges), strict=True):
            lengths[0 if is_disturbed[start] else 1].append(float(part.sum()))
    return lengths


def print_stretches(rounds: Sequence[Round]) -> None:
    """Print the share of the time that is disturbed, and quantiles of the lengths of both kinds of stretches in ms."""
    best = capability([recorded.times.tolist() for recorded in rounds], higher_is_better=False)
    if best is None:
        return
    disturbed, quiet = stretches(rounds, best.value * DISTURBED)
    share = sum(disturbed) / (sum(disturbed) + sum(quiet))
    text = "; ".join(f"{name} {_quantiles(lengths)}" for name, lengths in (("disturbed", disturbed), ("quiet", quiet)))
    print(f"    {share:5.1%} of the time is slower than the capability by 5 %; stretches of ms: {text}")


def _quantiles(lengths_s: Sequence[float]) -> str:
    if not lengths_s:
        return "none"
    middle, most, longest = (float(np.quantile(lengths_s, q)) * 1e3 for q in (0.5, 0.9, 1))
    return f"{middle:.2g} (nine of ten up to {most:.2g}, longest {longest:.2g})"


def runs_of(rounds: Sequence[Round], length: int) -> Iterator[list[Floats]]:
    """Yield runs of six rounds, in which ``length`` samples are one, as many as fit the time of a round of quick.

    Rounds that have fewer samples are left out: under a load, a sample of 0.1 ms may take longer.
    """
    n_samples = max(1, round(SLICE_S / SHORT_S / length)) * length
    long = [recorded.times[:n_samples] for recorded in rounds if len(recorded.times) >= round(SLICE_S / SHORT_S)]
    for at in range(0, len(long) - ROUNDS + 1, ROUNDS):
        yield [recorded.reshape(-1, length).mean(1) for recorded in long[at : at + ROUNDS]]


def print_lengths(rounds: Sequence[Round]) -> None:
    """Print for each length how the capability differs from that of samples of 1 ms, and how well two runs agree."""
    by_length = {length: [_capability(run) for run in runs_of(rounds, length)] for length in LENGTHS}
    reference = by_length[10]
    for length, values in by_length.items():
        if len(values) < 2 or np.isnan(values).all():
            continue
        bias = np.nanmedian(np.subtract(values, reference))
        apart = [abs(a - b) for a, b in combinations(values, 2)]
        near = " / ".join(f"{np.mean(np.asarray(apart) <= np.log1p(limit)):4.0%}" for limit in NEAR)
        print(f"    {length * SHORT_S * 1e3:5.1f} ms: {bias:+7.2%} time of 1 ms; {len(values)} runs agree in {near}")


def _capability(run: Sequence[Floats]) -> float:
    estimate = capability([times.tolist() for times in run], higher_is_better=False, are_full_periods=True)
    return float(np.log(estimate.value)) if estimate else float("nan")


def rate(params: dict[str, Value], sample_s: float) -> float:
    """Return the work per second that one in twenty stretches of 10 ms reaches, each of samples of this length."""
    arguments = {name: value for name, value in params.items() if name != "probe"}
    _, samples, _ = measure(str(params["probe"]), arguments, SECONDS, sample_s)
    elapsed_s = np.array([sample.elapsed_s for sample in samples])
    work = elapsed_s / [time_per_work(sample) for sample in samples]
    edges = np.flatnonzero(np.diff(np.cumsum(elapsed_s) // LONG_S)) + 1
    rates = [float(w.sum() / e.sum()) for w, e in zip(np.split(work, edges), np.split(elapsed_s, edges), strict=True)]
    return float(np.quantile(rates[:-1], 0.95))


def print_bias(pairs: int) -> None:
    """Print the rate of short samples, measured in alternation with long ones."""
    for name, params in {**EXPERIMENTS, **OTHER_KERNELS}.items():
        if params["probe"] in NEEDS_MORE:
            continue
        for sample_s in BIAS_OF_S:
            ours, theirs = measure_pairs(pairs, partial(rate, params, sample_s), partial(rate, params, LONG_S))
            print(f"  {name:24} {sample_s * 1e3:g} ms ÷ {LONG_S * 1e3:g} ms: {ratio_of(ours, theirs)}", flush=True)


def main() -> None:
    """Print what was asked for."""
    condition, *rest = sys.argv[1:] or ["idle"]
    if condition == "bias":
        print_bias(int(rest[0]) if rest else 7)
        return
    if condition not in BESIDE or condition == "quota":
        sys.exit(f"no condition {condition}: there are {', '.join(name for name in BESIDE if name != 'quota')}")
    for experiment, rounds in record(condition, rest[0] if rest else "3min").items():
        print(f"  {condition}: {experiment}, {len(rounds)} rounds")
        print_stretches(rounds)
        print_lengths(rounds)


if __name__ == "__main__":
    main()
