"""Adapter for HPC Challenge (https://hpcchallenge.org): HPL, STREAM and message times in one MPI program.

HPCC derives the size of its STREAM vectors from its matrix: a third of the matrix's bytes, divided by the number of
ranks. Of the repeats of a message between two ranks, HPCC takes the fastest; the averages in its summary are averages
over pairs of ranks (bench_lat_bw).
"""

from __future__ import annotations

import re
from functools import partial

from nameplate.errors import Unreadable
from nameplate.records.plan_record import Value
from nameplate.tools.output import number
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork

ORDER = 5000
_BLOCK = 192
_MAX_RANKS = 2
_PING_PONG_BYTES = 2_000_000

# HPL.dat as HPL documents it, with HPCC's four lines at the end: no further sizes for PTRANS.
_INPUT = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{order}      Ns
1            # of NBs
{block}      NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
{ranks}      Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
0            values of N
0            number of additional blocking sizes for PTRANS
0            values of NB
"""


def _summary(key: str, factor: float, text: str) -> float:
    """Return the value of ``key`` in HPCC's summary, multiplied by ``factor``.

    Raises:
        Unreadable: HPCC did not succeed, or ran with other settings than requested.
    """
    summary = text.partition("Begin of Summary section.")[2]
    if not re.search(r"^Success=1$", summary, re.MULTILINE):
        raise Unreadable("the summary does not contain Success=1")
    order = number(summary, r"^HPL_N=(\d+)$", "line HPL_N")
    if order != ORDER:
        raise Unreadable(f"HPL_N is {order:.0f}, not {ORDER}")
    return number(summary, rf"^{key}=([\d.eE+-]+)$", f"line {key}", factor)


def _stream(op: str, kind: str, ranks: int) -> ComparedMetric:
    vector_bytes = 8 * (ORDER * ORDER // (3 * ranks)) // 64 * 64
    count = ranks if kind == "Star" else 1
    params: dict[str, Value] = {
        "op": op,
        "stores": "plain",
        "threads": count,
        "size": vector_bytes * count,
        "pages": "small",
    }
    name = f"STREAM {op}, {count} rank{'s' if count > 1 else ''}"
    read = partial(_summary, f"{kind}STREAM_{op.capitalize()}", 1e9 * count)
    return ComparedMetric(name, "memory_stream", params, "bandwidth", read, take="best")


def _works(setting: ToolSetting) -> list[ToolWork]:
    ranks = min(_MAX_RANKS, setting.ranks)
    kinds = ("Single", "Star") if ranks > 1 else ("Single",)
    linpack: dict[str, Value] = {"n": ORDER, "threads": ranks}
    metrics = [
        ComparedMetric("HPL", "cpu_linpack", linpack, "rate", partial(_summary, "HPL_Tflops", 1e12)),
        *(_stream(op, kind, ranks) for op in ("copy", "triad") for kind in kinds),
    ]
    if ranks > 1:
        # Only the first and the last byte of its messages change.
        small: dict[str, Value] = {"size": 8, "pairs": 1, "data": "unchanged"}
        metrics += [
            ComparedMetric("ping-pong, 8 B", "mpi_pingpong", small, "latency",
                   partial(_summary, "AvgPingPongLatency_usec", 1e-6), take="best"),
            ComparedMetric("ping-pong, 2 MB", "mpi_pingpong", {**small, "size": _PING_PONG_BYTES}, "bandwidth",
                   partial(_summary, "AvgPingPongBandwidth_GBytes", 1e9), take="best"),
        ]  # fmt: skip
    return [
        ToolWork(f"order {ORDER:,}, {ranks} ranks", [*setting.launcher, setting.programs["hpcc"].path], metrics,
             takes_s=60.0,
             files={"hpccinf.txt": _INPUT.format(order=ORDER, block=_BLOCK, ranks=ranks)},
             environment={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}),
    ]  # fmt: skip


REFERENCE = ReferenceTool(
    name="hpcc",
    programs=("hpcc",),
    identify=(),
    version=re.compile(r"^This is the DARPA/DOE HPC Challenge Benchmark version (\S+)", re.MULTILINE),
    install="apt install hpcc",
    works=_works,
    output="hpccoutf.txt",
    is_mpi=True,
    identify_s=10.0,
)
