"""Measure the percentiles of a disk's read latency, with the 95 % interval of each over six rounds.

The test file is created in the current directory and removed afterwards. A percentile is known if ten operations took
longer, and has an interval if the rounds show how much it varies. The maximum has none.

    $ python examples/disk_latency.py
    p50  394 µs (371 to 402 µs)
    ...
    max  4013 µs
"""

import nameplate

run = nameplate.measure(
    "disk_block", op="read", pattern="random", block="4KiB", cache="direct", library="uring", depth=32, size="16MiB",
    rounds=6, samples=10, time="20ms",
)  # fmt: skip
for row in nameplate.summarise(run).to_dicts():
    if row["metric"].startswith("latency_"):
        line = f"{row['metric'].removeprefix('latency_')}  {row['value'] * 1e6:.0f} µs"
        if row["ci_low"] is not None:
            line += f" ({row['ci_low'] * 1e6:.0f} to {row['ci_high'] * 1e6:.0f} µs)"
        print(line)
