"""Compare the runs of two machines: a verdict on the second one, for each metric that both measured.

The range is the 99 % interval of the ratio. For a first try, both runs are of this machine.

    $ nameplate run cpu_flops precision=fp64,fp32 threads=1 --rounds 6 --samples 5 --time 1ms -o a.jsonl > a.txt
    $ nameplate run cpu_flops precision=fp64,fp32 threads=1 --rounds 6 --samples 5 --time 1ms -o b.jsonl > b.txt
    $ python examples/compare_machines.py a.jsonl b.jsonl
    FASTER  1.21 (1.18 to 1.25)  cpu_flops precision=fp64 threads=1 rate
    FASTER  1.07 (1.05 to 1.09)  cpu_flops precision=fp64 threads=1 flops_per_cycle
    FASTER  1.22 (1.17 to 1.24)  cpu_flops precision=fp32 threads=1 rate
    SAME    1.01 (0.99 to 1.02)  cpu_flops precision=fp32 threads=1 flops_per_cycle
"""

import sys

import nameplate

base, new = map(nameplate.read, sys.argv[1:])
changes = nameplate.compare(base, new)
for row in changes.rows:
    if row.ci is not None:
        low, high = row.ci
        print(f"{row.verdict:6}  {row.ratio:.2f} ({low:.2f} to {high:.2f})  {row.id} {row.metric}")
for setting in changes.settings:
    print(f"{setting.name}: {setting.base} and {setting.new}")
