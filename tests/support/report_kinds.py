"""Build reports that together have every kind of chart, for tests that must hold for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from machines import machine_with
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judging import JudgedValue, Verdict
from nameplate.records.plan_record import Limits, Value
from nameplate.records.result import Quantity, Report, Result, Series, Table
from nameplate.records.study_record import Study, StudyAxis, StudyCell, StudyChart, StudyColumn, StudyLine, StudyTable
from nameplate.report.content.judgement import MachineJudgement
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from report_samples import (
    block_results,
    failed,
    memory_report,
    report,
    result,
    scaling_results,
    series,
    swept,
    twenty_seconds,
)
from simulated_cluster import write_stream_run

NODES = 30
_PERCENTILES = {"p50": 2e-6, "p90": 3e-6, "p99": 5e-6, "max": 4e-5}


@cache
def one_machine() -> Report:
    """Return a report of one machine with results of each area: every kind of chart except the maps of nodes."""
    memory = memory_report()
    not_flops = [r for r in memory.results if r.summary.probe != "cpu_flops"]
    disturbed = result({"threads": 1, "mix": "div"}, samples=series([5e10 + 1e8 * i for i in range(40)], [3, 4]))
    flops = [
        *(_in_precision(r) for r in scaling_results()), _with_id(disturbed), _as_series(twenty_seconds()),
        failed({"mix": "mul", "threads": 2}, "failed", "a reason"),
    ]  # fmt: skip
    rest = [_without_samples(item) for item in (*not_flops, *_disk(), *_network(), *_messages())]
    made = report([*flops, *rest], notes=["a note on this run"])
    job = {"nodes": [f"n{i}" for i in range(12)], "ranks": 12, "library": "MPI"}
    run = msgspec.structs.replace(
        made.run, plan=msgspec.structs.replace(made.run.plan, name="t2micro-posix", limits=Limits(300.0, 0.02))
    )
    return msgspec.structs.replace(
        made,
        run=run,
        machine=machine_with(made.machine, job=job),
        tables=[*memory.tables, _tools_table()],
        study=_study(),
    )


@cache
def cluster() -> Report:
    """Return the report of a run on many nodes, one of which is slow."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        write_stream_run(path, NODES, slow={17: 0.2}, rounds=3)
        return summarise(read_run(path))


def every_kind() -> list[Report]:
    """Return several reports to be shown side by side, which together have every kind of chart."""
    return [
        one_machine(),
        report([_with_id(_without_samples(block_result)) for block_result in block_results(["random"])], host="b"),
        cluster(),
    ]


def _without_samples(made: Result) -> Result:
    """Return the result without its samples, whose charts would make the page slow and add no new kind of chart."""
    return msgspec.structs.replace(made, series=Series([], [], [], []))


def _with_id(made: Result) -> Result:
    row = made.summary
    message = " ".join([row.probe, *(f"{name}={value}" for name, value in row.params.items())])
    return msgspec.structs.replace(made, id=message)


def _in_precision(made: Result) -> Result:
    params: dict[str, Value] = {**made.summary.params, "precision": "fp64"}
    return _with_id(msgspec.structs.replace(made, summary=msgspec.structs.replace(made.summary, params=params)))


def _as_series(made: Result) -> Result:
    return msgspec.structs.replace(made, id=f"{made.id} series")


def _swept(probe: str, params: Mapping[str, Value], value: float, metric: str, unit: str) -> Result:
    return _with_id(swept(probe, dict(params), value, metric, unit))


def _disk() -> list[Result]:
    """Return results by block size, I/O library and queue depth, with the percentiles of one of them."""
    typical: dict[str, Value] = {
        "op": "read", "pattern": "random", "block": 4096, "library": "pread", "depth": 1, "threads": 1, "sync": "none",
    }  # fmt: skip
    facts = {"file_bytes": 1 << 30, "memory_bytes": 8 << 30, "clock_cost_s": 25e-9, "timed_every": 1}
    sweep: list[dict[str, Value]] = [
        *({**typical, "block": block} for block in (512, 4096, 65536, 1 << 20)),
        *({**typical, "library": library} for library in ("stdio", "mmap", "libaio")),
        *({**typical, "library": "uring", "depth": depth} for depth in (1, 4, 16, 64)),
    ]
    printed = [
        _swept("disk_block", params, value, metric, unit)
        for params in sweep
        for metric, value, unit in _disk_metrics(float(params["block"]), float(params.get("depth", 1)))
    ]
    tails = [
        msgspec.structs.replace(_swept("disk_block", typical, value, f"latency_{name}", "s"), is_detail=True)
        for name, value in _PERCENTILES.items()
    ]
    return [msgspec.structs.replace(item, facts=facts) for item in (*printed, *tails)]


def _disk_metrics(block: float, depth: float) -> list[tuple[str, float, str]]:
    time_s = 2e-6 + block / 3e9
    return [("bandwidth", depth * block / time_s, "B/s"), ("iops", depth / time_s, "op/s"), ("latency", time_s, "s")]


def _network() -> list[Result]:
    """Return round trips by payload and by number of connections, with their distributions."""
    rising = [(1e-5 * (1 + share**8), share) for share in (0.0, 0.25, 0.5, 0.9, 0.99, 1.0)]
    places = [(payload, 1) for payload in (1, 1024, 65536)] + [(64, number) for number in (1, 2, 4)]
    made = []
    for payload, connections in places:
        params: dict[str, Value] = {"protocol": "tcp", "payload": payload, "connections": connections}
        latency = _swept("net_pingpong", params, 2e-5 + payload / 1e9, "latency", "s")
        made += [
            msgspec.structs.replace(latency, distribution=rising),
            _swept("net_pingpong", params, payload / 2e-5, "bandwidth", "B/s"),
            _swept("net_pingpong", params, connections / 2e-5, "round_trips", "op/s"),
        ]
    return made


def _messages() -> list[Result]:
    """Return messages by size, by number of simultaneous pairs, and between all nodes, one of which is slow."""
    sizes = [0, *(2**power for power in range(0, 20, 2))]
    by_size = [_swept("mpi_pingpong", {"size": size, "pairs": 1}, 1e-6 + size / 1e9, "latency", "s") for size in sizes]
    by_pairs = [
        _swept("mpi_pingpong", {"size": size, "pairs": pairs}, 1e9 * min(pairs, 4), "bandwidth", "B/s")
        for size, pairs in product((1000, 100_000), (1, 2, 4, 6))
    ]
    times = [4e-5 if 7 in pair else 1e-5 for pair in combinations(range(12), 2)]
    among_all = _swept("mpi_pairs", {"between": "nodes", "size": 8}, 1e-5, "latency", "s")
    results = [*by_size, *by_pairs, msgspec.structs.replace(among_all, pairs=times)]
    return [msgspec.structs.replace(item, facts=_JOB_FACTS) for item in results]


_JOB_FACTS = {"ranks": 12.0, "nodes": 12.0, "parties": 12.0, "pairs_between_nodes": 6.0}
_STUDIED: list[tuple[str, float | None, float]] = [("read 1 KiB", 2e3, 900.0), ("read 1 MiB", 7e3, 3e3),
                                                   ("write 1 KiB", None, 4e2)]  # fmt: skip


def _study() -> Study:
    cells = [[StudyCell(here, printed, remarks=["a remark on it"])] for _, here, printed in _STUDIED]
    table = StudyTable(title="disk", rows=[name for name, *_ in _STUDIED], columns=[StudyColumn("bandwidth", "MB/s")],
                       cells=cells, notes=["by the study's definition"])  # fmt: skip
    lines = [
        StudyLine("read", [(1024.0, 2000.0), (1048576.0, 7000.0)]),
        StudyLine("read", [(1024.0, 900.0), (1048576.0, 3000.0)], is_published=True),
        StudyLine("single times", [(1500.0, 1800.0), (2048.0, 2100.0)], is_joined=False),
    ]
    x = StudyAxis("block size", is_logarithmic=True, names=[(1024.0, "1 KiB"), (1048576.0, "1 MiB")])
    chart = StudyChart("disk against block", x, StudyAxis("bandwidth (MB/s)"), lines, [(1500.0, "MTU")])
    return Study([table], [chart])


def _tools_table() -> Table:
    rows: list[list[str | Quantity | None]] = [["iozone 3.489", "reread", Quantity(1e9, "B/s")]]
    return Table("", "Reference tools on this machine", ["tool", "work", "value"], rows, ["each ran once"])


def judgement_of_every_kind() -> MachineJudgement:
    """Return a judgement with a verdict of each colour."""
    of_probes: dict[str, Verdict] = {
        "cpu_flops": "BELOW", "memory_stream": "AS EXPECTED", "disk_block": "UNSURE", "net_pingpong": "UNKNOWN",
    }  # fmt: skip
    values = [
        JudgedValue(
            area=probe.partition("_")[0], experiment=probe, probe=probe, params={}, metric="rate", unit="B/s",
            better="higher", value=1e9, ci=(0.9e9, 1.1e9), verdict=verdict,
            expected=ExpectedRange(
                experiment=probe, metric="rate", kind="typical", unit="B/s", low=1e9, typical=2e9, high=3e9, machines=9
            ),
        )
        for probe, verdict in of_probes.items()
    ]  # fmt: skip
    return MachineJudgement(
        values, Expectation(kind="site", machine="M", provisional=False, ranges=[], origins=["site.toml"], peers=[])
    )
