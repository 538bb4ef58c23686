"""Compute the roofline of a machine: which loops its memory limits, and which its arithmetic.

The run file is that of nameplate run quick -o quick.jsonl. The rate that a loop can reach is the peak, or its
arithmetic intensity times the bandwidth, whichever is lower.

    $ python examples/roofline.py quick.jsonl
    peak 55.1 GFLOP/s, bandwidth 16.1 GB/s, ridge point 3.4 FLOP/byte
    triad                     0.08 FLOP/byte    1.3 GFLOP/s  limited by memory
    stencil of 7 points       0.50 FLOP/byte    8.1 GFLOP/s  limited by memory
    matrix product, n = 1000  83.33 FLOP/byte  55.1 GFLOP/s  limited by arithmetic
"""

import sys

import nameplate

LOOPS = {"triad": 2 / 24, "stencil of 7 points": 8 / 16, "matrix product, n = 1000": 1000 / 12}

rows = nameplate.summarise(nameplate.read(sys.argv[1])).to_dicts()


def highest(probe: str, metric: str, **parameters: str) -> float:
    """Return the highest value of a metric among the experiments with these parameters."""
    chosen = {"probe": probe, "metric": metric, "outcome": "ok", **parameters}
    return float(max(row["value"] for row in rows if chosen.items() <= row.items()))


peak = highest("cpu_flops", "rate", precision="fp64")
bandwidth = highest("memory_stream", "bandwidth", op="triad")
print(f"peak {peak / 1e9:.1f} GFLOP/s, bandwidth {bandwidth / 1e9:.1f} GB/s, ", end="")
print(f"ridge point {peak / bandwidth:.1f} FLOP/byte")
for loop, intensity in LOOPS.items():
    limit = "memory" if intensity * bandwidth < peak else "arithmetic"
    rate = min(peak, intensity * bandwidth) / 1e9
    print(f"{loop:24}  {intensity:5.2f} FLOP/byte  {rate:5.1f} GFLOP/s  limited by {limit}")
