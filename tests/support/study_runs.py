"""Build runs of the studies' plans from the work and times that follow from the conditions of a published study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from machines import MACHINE, machine_with
from nameplate.planning.plan_file import build_plan, read_plan
from nameplate.planning.sweep import ProbeInfo
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Plan, Value
from nameplate.records.result import Report
from nameplate.records.run_record import Header, Histogram, Outcome, Reference, Run, Sample, Stop, Work
from nameplate.records.study_record import StudyCell, StudyTable
from nameplate.results.measurements import Measurement, RunFile
from nameplate.results.summarise import summarise
from nameplate.studies import with_study
from nameplate.units import parse_size
from run_samples import header
from run_samples import run as run_of

# The facts that the core reports on a machine with 2 cores, for all probes together.
FACTS = {
    "file_bytes": 3e8, "memory_bytes": 1e9, "unwritten_bytes": 0.0, "is_memory": 0.0, "link_bytes_per_s": 0.0,
    "registered_buffers": 1.0, "offset_s": 0.0, "touched_bytes": 1e9, "last_level_bytes": 1e6, "huge_bytes": 1e9,
    "bus_bytes_per_byte": 1.0, "nontemporal": 0.0, "pass_bytes": 160e6, "is_local": 1.0, "path_mtu_bytes": 65536.0,
    "connect_s": 1e-4, "clock_cost_s": 2e-8, "timed_every": 1.0, "chains": 12.0, "lanes": 1.0, "burst_cycles": 3e4,
    "operations_per_instruction": 1.0, "port_block_instructions": 1e6, "port_block_s": 1e6 / 3e9, "port_burst_s": 1e-5,
    "residuals": 3.0,
}  # fmt: skip
COUNTERS = {
    "cpu_user_s": 0.5, "cpu_system_s": 0.1, "burst_s": 1e-5, "residual": 0.03, "lost": 0.0, "other_sessions": 0.0,
    "sent": 893.0, "lost_sender": 0.0, "lost_queue": 0.0, "lost_network": 0.0, "reordered": 0.0, "duplicates": 0.0,
    "retransmits": 1.0, "zerocopy_sends": 0.0, "zerocopy_copied": 0.0, "window_bytes": 2.0**21, "round_trip_s": 1e-4,
    "jitter_s": 2.57e-4, "up_bytes": 1e9, "down_bytes": 0.0, "resident_before_bytes": 0.0, "resident_after_bytes": 0.0,
    "process_read_bytes": 0.0, "process_write_bytes": 0.0, "device_read_bytes": 0.0, "device_written_bytes": 0.0,
    "device_write_bytes": 0.0, "unscaled_residual": 9e-13, "intel_residual": 0.032,
}  # fmt: skip

LABELS = {"peer": "own", "blas": "OpenBLAS"}
CORES = 2

# The work of one sample of an experiment, and its time in seconds.
WorkOf = Callable[[Experiment], tuple[Work, float]]


def machine(frequency_hz: float, cores: int) -> Machine:
    """Return a machine with a clock and a number of cores."""
    return machine_with(cpu={"base_frequency_hz": frequency_hz}, topology={"cores": cores})


def plan_of(name: str, described: Mapping[str, ProbeInfo], where: Machine = MACHINE) -> Plan:
    """Return a study's plan with its whole budget, without the experiments that need an MPI job."""
    return build_plan(read_plan(name), described, {}, where)


@dataclass(frozen=True)
class Given:
    """The inputs of a run besides its plan: the machine, ``--rated`` values, values of reference tools, and facts."""

    where: Machine = MACHINE
    rated: Mapping[str, float] = field(default_factory=dict)
    references: Sequence[Reference] = ()
    facts: Mapping[str, float] = field(default_factory=dict)


def report_of(
    plan: Plan, described: Mapping[str, ProbeInfo], work_of: WorkOf, given: Given = Given()
) -> Report:  # fmt: skip
    """Return the summary and the study of a run with one sample per experiment, or three for a series."""
    measurements = [
        _measured(experiment, described[experiment.probe], work_of(experiment), given.facts)
        for experiment in plan.experiments
    ]
    run: Run = msgspec.structs.replace(run_of(plan), rated=dict(given.rated))
    head: Header = msgspec.structs.replace(header(), machine=given.where)
    stop = Stop(reasons={}, elapsed_s=1.0, interrupted=False)
    return with_study(summarise(RunFile("x.jsonl", run, [head], measurements, stop, 0, 0, list(given.references))))


def _measured(
    experiment: Experiment, info: ProbeInfo, work: tuple[Work, float], facts: Mapping[str, float]
) -> Measurement:  # fmt: skip
    automatic: dict[str, Value] = {
        "threads": 2,
        "pass": "again",
        "block": 65536,
        "library": "libc",
        "size": 10**8,
        "lda": 1000,
    }
    defaults = {p.name: _typed(p.type, p.default) if p.default is not None else automatic.get(p.name, "")
                for p in info.parameters}  # fmt: skip
    given = {name: value for name, value in defaults.items() if value != "" and name != "rate"}
    params: dict[str, Value] = {**given, **experiment.params}
    outcome = Outcome(
        round=1, id=experiment.id, probe=experiment.probe, ending="ok", params=params, facts={**FACTS, **facts},
        labels=LABELS,
        oversubscribed=int(params.get("threads", 1)) > CORES, interrupted=False, samples=1, setup_s=0.1,
        total_s=work[1],
    )  # fmt: skip
    count = 3 if experiment.interval_s else 1
    return Measurement(outcome, [_sample(experiment.id, index, work) for index in range(count)])


def _typed(kind: str, default: str) -> Value:
    return parse_size(default) if kind in ("integer", "size") else default


def _sample(identity: str, index: int, work: tuple[Work, float]) -> Sample:
    return Sample(
        round=1, id=identity, index=index, start_s=index * work[1], elapsed_s=work[1], repetitions=1, work=work[0],
        counters=COUNTERS, disturbed={"involuntary_switches": 0.0, "steal_s": 0.0, "burst_s": 1e-5},
        histogram=Histogram([100], [1]),
    )  # fmt: skip


def table_of(report: Report, title: str) -> StudyTable:
    """Return the study's table with this title."""
    assert report.study is not None
    return next(table for table in report.study.tables if table.title == title)


def cells_of(table: StudyTable) -> dict[tuple[str, str], StudyCell]:
    """Return the cells of a table by the names of their row and column."""
    return {
        (row, column.name): cell
        for row, cells in zip(table.rows, table.cells, strict=True)
        for column, cell in zip(table.columns, cells, strict=True)
    }
