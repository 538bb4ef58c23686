"""Choose what the first screen of a run shows: the machine, a verdict, how far to trust it, and the main values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec

from nameplate.probes import Probe, probe_of
from nameplate.probes.interface.screen_line import DisplayUnit, ScreenLine
from nameplate.probes.shared.areas import order_of_area
from nameplate.records.plan_record import Value
from nameplate.records.result import RatedKind, Report, Result
from nameplate.report.content.aliases import is_alias
from nameplate.report.content.experiments import common_params, headlines, is_derived, label_of, mood_of, work_text
from nameplate.report.content.format import count, parameters
from nameplate.report.content.machine_verdict import verdict
from nameplate.report.content.platform_text import platform_text
from nameplate.report.content.remarks import warnings_of
from nameplate.report.content.screen_row import OVERSUBSCRIBED, ScreenRow, filled_label
from nameplate.report.content.trust import Trust, trust_in
from nameplate.results.cpu_time import why_slowed
from nameplate.units import memory_text

# The rows of a single probe that are shown without a choice.
MAX_ROWS = 12
# In an area for which no declared line fits, a probe lists this number of experiments, unless the run has no other.
MAX_ROWS_OF_ONE = 4
# The largest number of listed experiments that have further rows each.
MAX_DETAILED = 4
MAX_WARNINGS = 3
LOOPBACK = "loopback only"

_LETTERS: dict[RatedKind, str] = {"measured": "p", "derived": "p", "listed": "l", "site": "o", "catalogue": "o",
                                  "given": "g"}  # fmt: skip

# The parameters of each experiment in the plan, by its id.
Given: TypeAlias = Mapping[str, Mapping[str, Value]]


class FirstScreen(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the first screen of a run.

    ``machine`` is one line on the machine, and ``run`` has the plan and the start of the run in the time zone of its
    record, such as "quick, 2026-11-23 18:54". ``verdict`` has a few sentences on what the machine delivers, and
    ``trust`` says how far to trust the values. ``rows`` has at most ``MAX_ROWS`` lines, grouped by area; ``left_out``
    is the number of measured experiments without a line. ``warnings`` has at most ``MAX_WARNINGS`` sentences, the most
    serious first; ``further_warnings`` is the number of other warnings.
    """

    machine: str
    run: str
    verdict: str
    trust: Trust
    rows: list[ScreenRow]
    left_out: int
    warnings: list[str]
    further_warnings: int


def first_screen(report: Report, max_rows: int | None = None) -> FirstScreen:
    """Return the content of the first screen of a run.

    Each probe declares its lines (``Probe.screen``), which are shown if the run has fitting results. If no line of an
    area fits, the first experiments of the area are shown. If the run has a single probe with at most ``MAX_ROWS``
    measured experiments, all of them are shown. ``max_rows`` is the maximum number of lines, but each area keeps at
    least one. Results of one probe must be adjacent, as ``summarise`` returns them.
    """
    rows = _rows(report)
    if max_rows is not None:
        rows = _within(rows, max_rows)
    if why_slowed(report):
        # The colours would blame the machine for what other programs took.
        rows = [msgspec.structs.replace(row, mood="plain") for row in rows]
    warnings = warnings_of(report)
    return FirstScreen(
        machine=machine_text(report),
        run=", ".join(filter(None, [report.run.plan.name, report.run.started[:16].replace("T", " ")])),
        verdict=verdict(report, rows),
        trust=trust_in(report),
        rows=rows,
        left_out=_left_out(report, rows),
        warnings=warnings[:MAX_WARNINGS],
        further_warnings=max(0, len(warnings) - MAX_WARNINGS),
    )


def _within(rows: Sequence[ScreenRow], max_rows: int) -> list[ScreenRow]:
    """Return at most ``max_rows`` rows, but at least one of each area.

    The areas with the most rows lose rows from the end, first the rows without a reference value.
    """
    rows = list(rows)
    while len(rows) > max_rows:
        n_rows = Counter(row.area for row in rows)
        # Of areas with equally many rows, the last one loses one.
        area = max(reversed(n_rows), key=n_rows.__getitem__)
        if n_rows[area] == 1:
            break
        of_area = [index for index, row in enumerate(rows) if row.area == area]
        without_share = [index for index in of_area[1:] if rows[index].share is None]
        del rows[(without_share or of_area)[-1]]
    return rows


def machine_text(report: Report) -> str:
    """Return one line on the machine, such as ``node03 · EPYC 7543, 32 cores, 251.4 GiB, KVM guest``.

    For an MPI job and a fleet it has the number of further nodes or machines after the host name, and for a job the
    number of ranks at the end. The host
    name is left out if it is empty or an alias such as ``machine 1``. If the report has no machine record, the line
    says that the machine was not recorded.
    """
    machine = report.machine
    if machine is None:
        return "the machine was not recorded"
    model = machine.cpu.model or machine.cpu.architecture
    cores = count(machine.topology.cores, "core")
    hardware = ", ".join(filter(None, [model, cores, memory_text(machine.memory.total_bytes), platform_text(machine)]))
    host = "" if is_alias(machine.hostname) else machine.hostname
    if report.fleet and len(report.fleet.hosts) > 1:
        machines = count(len(report.fleet.hosts) - 1, "further machine")
        return " · ".join([f"{host} and {machines}" if host else machines, hardware])
    if machine.job is None:
        return " · ".join(filter(None, [host, hardware]))
    further = len(machine.job.nodes) - 1
    first = " and ".join(filter(None, [host, f"{count(further, 'further node')}" if further else ""]))
    return " · ".join(filter(None, [first, hardware, count(machine.job.ranks, "rank")]))


def _rows(report: Report) -> list[ScreenRow]:
    areas: dict[str, list[list[Result]]] = {}
    for _, group in groupby(report.results, key=lambda result: result.summary.probe):
        results = list(group)
        areas.setdefault(probe_of(results[0].summary.probe).area, []).append(results)
    is_alone = sum(map(len, areas.values())) == 1
    given = {experiment.id: experiment.params for experiment in report.run.plan.experiments}
    return [row for area in sorted(areas, key=order_of_area) for row in _rows_of(areas[area], is_alone, given)]


def _rows_of(probes: Sequence[Sequence[Result]], is_alone: bool, given: Given) -> list[ScreenRow]:
    """Return the rows of an area, whose results are given by probe."""
    if is_alone and len(_measured(probes[0])) <= MAX_ROWS:
        return _plain_rows(probes[0], MAX_ROWS, is_alone, given)
    declared = [row for results in probes for row in _declared_rows(results)]
    limit = MAX_ROWS if is_alone else MAX_ROWS_OF_ONE
    return declared or [row for results in probes for row in _plain_rows(results, limit, is_alone, given)]


def _measured(results: Sequence[Result]) -> list[Result]:
    return [result for result in headlines(results) if result.summary.value is not None]


def _declared_rows(results: Sequence[Result]) -> Iterable[ScreenRow]:
    probe = probe_of(results[0].summary.probe)
    seen: set[tuple[str, str]] = set()
    labels: set[str] = set()
    for line in probe.screen:
        best = line.best_of(result for result in results if (result.id, line.metrics[0]) not in seen)
        if best is None:
            continue
        label = filled_label(line.label, best.summary.params)
        if label in labels:
            continue
        seen.add((best.id, line.metrics[0]))
        labels.add(label)
        values = _of_line(results, best, line.metrics)
        remark = LOOPBACK if best.facts.get("is_local") else OVERSUBSCRIBED if best.oversubscribed else ""
        yield _in_unit(_row(probe, label, values, remark), line.unit)
        yield from _rows_below(line, results, best)


def _rows_below(line: ScreenLine, results: Sequence[Result], main: Result) -> Iterable[ScreenRow]:
    """Yield the further rows of a line on the experiment of ``main`` that have all of their values."""
    for label, metrics in line.below.items():
        further = _of_line(results, main, metrics)
        if all(further):
            yield _row(probe_of(main.summary.probe), label, further, "")


def _of_line(results: Sequence[Result], main: Result, metrics: Sequence[str]) -> list[Result | None]:
    """Return the result of each of ``metrics`` for the experiment of ``main``, or None if there is none.

    If ``main`` is derived, all derived results of the probe are considered.
    """
    by_metric = {result.summary.metric: result for result in results
           if result.id == main.id or (is_derived(main) and is_derived(result))}  # fmt: skip
    return [by_metric.get(metric) for metric in metrics]


def _plain_rows(results: Sequence[Result], limit: int, is_alone: bool, given: Given) -> list[ScreenRow]:
    """Return rows of each of the first experiments, named by their work or by the parameters in which they differ.

    A single experiment, or those of a probe that is not alone, are named by their parameters in the plan. A few
    experiments also have the rows below their line (``ScreenLine.below``).
    """
    probe = probe_of(results[0].summary.probe)
    common = common_params(results)
    measured = _measured(results)
    lines = [
        probe.work_line(result.summary.params) if probe.work_line and result.kind == "measured" else None
        for result in measured
    ]
    names = [line.label if line else "" for line in lines]
    if not all(names) or len(set(names)) < len(names):
        names = [label_of(result.summary.params, common) for result in measured]
        if len(measured) == 1 or not is_alone:
            names = [work_text(given.get(result.id, {}), result.summary.metric, True) for result in measured]
    rows = []
    for name, result, line in zip(names[:limit], measured[:limit], lines[:limit], strict=True):
        remark = ", ".join([*[OVERSUBSCRIBED] * result.oversubscribed, *result.remarks])
        values, unit = (_of_line(results, result, line.metrics), line.unit) if line else ([result], None)
        if not all(values) or result.rated.value is not None:
            # The main metric has a reference value, which operations per second have not.
            values, unit = [result], None
        rows.append(_in_unit(_row(probe, name, values, remark), unit))
        if line and len(measured) <= MAX_DETAILED:
            rows += _rows_below(line, results, result)
    return rows


def _row(probe: Probe, label: str, results: Sequence[Result | None], remark: str) -> ScreenRow:
    """Return the row of one experiment with these results of its metrics; at least one of them is not None."""
    rows = [result.summary if result else None for result in results]
    first = next(result for result in results if result)
    is_single = len(results) == 1
    return ScreenRow(
        area=probe.area,
        label=label,
        probe=probe.name,
        params=first.summary.params,
        metrics=[row.metric if row else "" for row in rows],
        unit=first.summary.unit,
        values=[row.value if row else None for row in rows],
        ci=first.summary.ci if is_single else None,
        capabilities=[row.capability if row else None for row in rows],
        references=[row.rated if row else None for row in rows],
        share=first.summary.efficiency if is_single else None,
        share_of=first.rated.compared_with,
        mood=mood_of(first) if is_single else "plain",
        remark=remark,
        better=first.better,
        reference_kind="" if first.rated.value is None else _LETTERS[first.rated.kind],
        peers=first.rated.peers,
    )


def _in_unit(row: ScreenRow, unit: DisplayUnit | None) -> ScreenRow:
    if unit is None:
        return row
    factor = unit.per_base_unit
    return msgspec.structs.replace(
        row,
        unit=unit.name,
        values=_multiplied(row.values, factor),
        ci=(row.ci[0] * factor, row.ci[1] * factor) if row.ci else None,
        capabilities=_multiplied(row.capabilities, factor),
        references=_multiplied(row.references, factor),
    )


def _multiplied(values: Sequence[float | None], factor: float) -> list[float | None]:
    return [None if value is None else value * factor for value in values]


def _left_out(report: Report, rows: Sequence[ScreenRow]) -> int:
    """Return the number of measured experiments without a row."""
    measured = {(result.summary.probe, parameters(result.summary.params)) for result in headlines(report.results)
                if not is_derived(result) and result.summary.value is not None}  # fmt: skip
    return len(measured - {(row.probe, parameters(row.params)) for row in rows})
