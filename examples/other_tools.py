"""Read the outputs of fio, iperf3 and OSU as nameplate's metrics, in SI base units.

A folder with outputs of one tool would be one report, in which every output is a round.

    $ python examples/other_tools.py fio-3.33.json iperf3-tcp-3.12.json osu_latency-7.5.txt
    fio-3.33.json: fio 3.33
      disk_block block=4096 cache=direct depth=1 library=pread op=read pattern=random threads=1 bandwidth 6.03e+07 B/s
      disk_block block=4096 cache=direct depth=1 library=pread op=read pattern=random threads=1 iops 14720 op/s
      disk_block block=4096 cache=direct depth=1 library=pread op=read pattern=random threads=1 latency 6.746e-05 s
    iperf3-tcp-3.12.json: iperf3 3.12
      net_stream block=131072 connections=1 direction=up protocol=tcp bandwidth 3.663e+08 B/s
    osu_latency-7.5.txt: osu 7.5
      mpi_pingpong data=unchanged pairs=1 size=1 latency 3.34e-06 s
      ...
      mpi_pingpong data=unchanged pairs=1 size=128 latency 4.33e-06 s
"""

import sys

import nameplate

for path in sys.argv[1:]:
    report = nameplate.read_output(path)
    print(f"{path}: {report.run.version}")
    for row in report.to_dicts():
        print(f"  {row['id']} {row['metric']} {row['value']:.4g} {row['unit']}")
