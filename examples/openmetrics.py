"""Write the results for Prometheus, through the textfile collector of node_exporter.

The collector reads the files of one directory that end with .prom. A rename replaces the file at once, so that it never
reads half of it.

    $ python examples/openmetrics.py .
    wrote nameplate.prom: 4 metrics
"""

import sys
from pathlib import Path

import nameplate

run = nameplate.measure("cpu_flops", threads=1, rounds=1, samples=3, time="1ms")
(content,) = nameplate.export(nameplate.summarise(run), "openmetrics", identify=True).values()
target = Path(sys.argv[1], "nameplate.prom")
new = target.with_suffix(".new")
new.write_bytes(content)
new.replace(target)
print(f"wrote {target}: {content.count(b'# TYPE')} metrics")
