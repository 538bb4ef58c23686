"""Measure the memory bandwidth by number of threads and array size, as a pandas DataFrame.

It prints the bandwidth in GB/s, with a row for each size in bytes and a column for each number of threads:

    $ python examples/sweep_to_dataframe.py
    threads     1     2
    size
    65536    55.1 110.2
    1048576  38.4  71.9
"""

import nameplate

run = nameplate.measure(
    "memory_stream", op="read", threads=[1, 2], size=["64KiB", "1MiB"], rounds=2, samples=3, time="1ms"
)
frame = nameplate.summarise(run).to_pandas()
bandwidth = frame[frame["metric"] == "bandwidth"]
print(bandwidth.pivot_table(values="value", index="size", columns="threads").div(1e9).round(1))
