"""cpu_flops beside likwid-bench's peakflops kernels: the same mix and instruction set, pinned to the same cores.

Each pair runs one after the other, in an order that alternates; a figure is the rate of one timed loop of a second.
Pass the number of pairs as the first argument (default 7).
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys

from nameplate.model import Experiment, Header, Limits, Outcome, Sample, Value
from nameplate.native import CoreProcess, make_request
from nameplate.probes import Cell
from nameplate.probes.cpu_flops import PROBE
from nameplate.stats import median_interval

SECONDS = 1.0
CELLS = (
    ("avx512", "fma", "peakflops_avx512_fma"),
    ("avx2", "fma", "peakflops_avx_fma"),
    ("sse2", "add+mul", "peakflops_sse"),
    ("scalar", "add+mul", "peakflops"),
)
THREADS = (1, 2)


def likwid_flops(test: str, threads: int) -> float:
    """FLOP/s of one likwid-bench run of at least a second on the first ``threads`` cores."""
    command = ["likwid-bench", "-t", test, "-w", f"S0:{16 * threads}kB:{threads}", "-s", str(int(SECONDS))]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"MFlops/s:\s+([\d.]+)", output)
    assert match, output
    return float(match[1]) * 1e6


def nameplate_flops(isa: str, mix: str, threads: int) -> tuple[float, float | None]:
    """FLOP/s of one second, and its share of ports × clock under load × cores."""
    samples: list[Sample] = []
    machine: dict[str, object] = {}

    def keep(record: Header | Sample | Outcome) -> None:
        if isinstance(record, Header):
            machine.update(record.machine)
        elif isinstance(record, Sample):
            samples.append(record)

    core = CoreProcess(keep)
    params: dict[str, Value] = {"isa": isa, "mix": mix, "threads": threads}
    request = make_request(
        Experiment("bench", "cpu_flops", params), Limits(60, 0.01, samples=1, sample_s=SECONDS), SECONDS
    )
    outcome = core.measure(request, 60, keep)
    core.close()
    if outcome.ending != "ok":
        raise SystemExit(f"{params}: {outcome.ending}: {outcome.reason}")
    flops = sum(s.work.flops for s in samples) / sum(s.elapsed_s for s in samples)
    cell = Cell(outcome.params, outcome.facts, machine)
    ceiling = PROBE.rated(PROBE.metrics[0], cell, samples).value
    median_flops = statistics.median(s.work.flops / s.elapsed_s for s in samples)
    return flops, median_flops / ceiling if ceiling else None


def main() -> None:
    """Prints a line per cell."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(
        f"cpu_flops beside likwid-bench, {pairs} pairs of {SECONDS:g} s each; efficiency against ports × clock × cores"
    )
    for isa, mix, test in CELLS:
        for threads in THREADS:
            ratios, efficiencies, ours, theirs = [], [], [], []
            for pair in range(pairs):
                first = likwid_flops(test, threads) if pair % 2 else None
                flops, efficiency = nameplate_flops(isa, mix, threads)
                reference = likwid_flops(test, threads) if first is None else first
                ratios.append(flops / reference)
                ours.append(flops)
                theirs.append(reference)
                efficiencies += [efficiency] if efficiency is not None else []
            interval = median_interval(ratios)
            text = f"{interval.low:.3f} to {interval.high:.3f}" if interval else "no interval below 6 pairs"
            share = (
                f"efficiency {statistics.median(efficiencies):.3f}"
                if 2 * len(efficiencies) > pairs
                else "efficiency unknown"
            )
            if own := median_interval(efficiencies) if 2 * len(efficiencies) > pairs else None:
                share += f" ({own.low:.3f} to {own.high:.3f})"
            print(
                f"  {isa} {mix} threads={threads}: {statistics.median(ours) / 1e9:.2f} GFLOP/s, {test} "
                f"{statistics.median(theirs) / 1e9:.2f}, ratio {statistics.median(ratios):.3f} ({text}), {share}",
                flush=True,
            )


if __name__ == "__main__":
    main()
