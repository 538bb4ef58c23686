"""Compare cpu_flops with the peakflops kernels of likwid-bench: same mix, same instruction set, same cores.

The two programs of a pair run one after the other, in alternating order. Each measures the rate of one timed loop of
1 s. Pass the number of pairs as the first argument (default 7).
"""

from __future__ import annotations

import statistics
import sys
from functools import partial
from pathlib import Path

from nameplate.probes import ResolvedExperiment
from nameplate.probes.cpu_flops import PROBE
from nameplate.statistics.stats import median_interval
from nameplate.tools.pairing import measure_pairs, middle_pair

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from pairs import asked_pairs, likwid, measure, ratio_of

SECONDS = 1.0
EXPERIMENTS = (
    ("avx512", "fma", "peakflops_avx512_fma"),
    ("avx2", "fma", "peakflops_avx_fma"),
    ("sse2", "add+mul", "peakflops_sse"),
    ("scalar", "add+mul", "peakflops"),
)
THREADS = (1, 2)


def likwid_flops(test: str, threads: int) -> float:
    """Return the FLOP/s of one likwid-bench run of at least 1 s on the first ``threads`` cores."""
    return likwid(test, 16_000 * threads, threads, SECONDS, "MFlops")


def nameplate_flops(isa: str, mix: str, threads: int) -> tuple[float, float | None]:
    """Return nameplate's FLOP/s over 1 s, and its share of the peak: ports × clock under load × cores."""
    outcome, samples, machine = measure("cpu_flops", {"isa": isa, "mix": mix, "threads": threads}, SECONDS, SECONDS)
    flops = sum(s.work.flops for s in samples) / sum(s.elapsed_s for s in samples)
    cell = ResolvedExperiment(outcome.params, outcome.facts, machine)
    ceiling = PROBE.rated(PROBE.metrics[0], cell, samples).value
    median_flops = statistics.median(s.work.flops / s.elapsed_s for s in samples)
    return flops, median_flops / ceiling if ceiling else None


def main() -> None:
    """Print a line per experiment."""
    pairs = asked_pairs()
    print(f"cpu_flops and likwid-bench, {pairs} pairs of {SECONDS:g} s each; share of ports × clock × cores")
    for isa, mix, test in EXPERIMENTS:
        for threads in THREADS:
            measured, theirs = measure_pairs(
                pairs, partial(nameplate_flops, isa, mix, threads), partial(likwid_flops, test, threads)
            )
            ours = [flops for flops, _ in measured]
            efficiencies = [efficiency for _, efficiency in measured if efficiency is not None]
            share = f"share {statistics.median(efficiencies):.3f}" if 2 * len(efficiencies) > pairs else "share unknown"
            if interval := median_interval(efficiencies) if 2 * len(efficiencies) > pairs else None:
                share += f" ({interval.low:.3f} to {interval.high:.3f})"
            mine, its = middle_pair(ours, theirs)
            print(
                f"  {isa} {mix} threads={threads}: {mine / 1e9:.2f} GFLOP/s, {test} "
                f"{its / 1e9:.2f}, ratio {ratio_of(ours, theirs)}, {share}",
                flush=True,
            )


if __name__ == "__main__":
    main()
