"""Write each table of a study as CSV, with the values of this machine next to the published ones.

The run file is that of a plan that reproduces a study; here it is distributed-stream.

    $ python examples/study_tables.py mpi_stream.jsonl
    conditions.csv: 9 rows
    header-of-a-run.csv: 9 rows
    each-process-bandwidth.csv: 12 rows
    each-process-time.csv: 16 rows
    each-node-bandwidth.csv: 12 rows
    each-node-time.csv: 16 rows
"""

import io
import re
import sys

import pandas

import nameplate

report = nameplate.summarise(nameplate.read(sys.argv[1]))
rows = pandas.read_csv(io.BytesIO(nameplate.export(report, "study")["tables.csv"]))
for title, table in rows.groupby("table", sort=False):
    name = "-".join(re.findall(r"\w+", str(title).lower())) + ".csv"
    table[["row", "column", "unit", "here", "published", "ratio"]].to_csv(name, index=False)
    print(f"{name}: {len(table)} rows")
