"""Choose what the first screen of a run shows: the machine, a verdict, how far to trust it, and the main values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

import msgspec

from nameplate.probes import Probe, probe_of
from nameplate.probes.shared.areas import order_of_area
from nameplate.probes.shared.screen_line import DisplayUnit
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.report.content.aliases import is_alias
from nameplate.report.content.experiments import common_params, headlines, is_derived, label_of, mood_of
from nameplate.report.content.format import count, parameters
from nameplate.report.content.platform_words import platform_words
from nameplate.report.content.remarks import warnings_of
from nameplate.report.content.trust import Trust, trust_in
from nameplate.report.content.verdict import verdict
from nameplate.units import memory_text, size_text

# More rows do not fit a terminal of 24 lines.
MAX_ROWS = 12
# A probe of an area without such lines has at most this many rows next to those of other areas.
MAX_ROWS_OF_ONE = 4
MAX_WARNINGS = 3
LOOPBACK = "loopback only"
_SIZES = ("size", "block", "payload")


class ScreenRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the first screen: one value with its interval and reference value, or several values with one unit.

    ``area`` is that of the probe, such as "memory". ``metrics``, ``values``, ``capabilities`` and ``references`` have
    one entry for each value, in ``unit``, an SI base unit, "bit/s" or "IOPS"; None is unknown. ``ci`` is the 95 %
    interval of a single value and ``share`` that value ÷ its reference value; both are None for several values.
    ``mood`` is "good", "poor" or "plain". ``remark`` are a few words that the reader must know, such as
    "loopback only", or "".
    """

    area: str
    label: str
    probe: str
    params: dict[str, Value]
    metrics: list[str]
    unit: str
    values: list[float | None]
    ci: tuple[float, float] | None
    capabilities: list[float | None]
    references: list[float | None]
    share: float | None
    mood: str
    remark: str


class FirstScreen(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the first screen of a run.

    ``machine`` and ``run`` describe what was measured, each in a line. ``verdict`` is a sentence or two. ``rows`` has
    at most ``MAX_ROWS`` lines, by area, and ``left_out`` the number of further experiments. ``warnings`` has at most
    ``MAX_WARNINGS`` sentences, the most serious first, and ``further_warnings`` the number of others.
    """

    machine: str
    run: str
    verdict: str
    trust: Trust
    rows: list[ScreenRow]
    left_out: int
    warnings: list[str]
    further_warnings: int


def first_screen(report: Report) -> FirstScreen:
    """Return what the first screen shows of a run.

    The lines are those that the probes declare (``Probe.screen``). An area without a line that fits has rows of its
    first experiments instead, and so has a run of a single probe with at most ``MAX_ROWS`` experiments. Results of one
    probe must be adjacent, as ``summarise`` returns them.
    """
    rows = _rows(report)
    warnings = warnings_of(report)
    return FirstScreen(
        machine=machine_words(report),
        run=run_words(report),
        verdict=verdict(report),
        trust=trust_in(report),
        rows=rows[:MAX_ROWS],
        left_out=_left_out(report, rows[:MAX_ROWS]),
        warnings=warnings[:MAX_WARNINGS],
        further_warnings=max(0, len(warnings) - MAX_WARNINGS),
    )


def without_loopback(screen: FirstScreen, lines: int) -> FirstScreen:
    """Return a screen without up to ``lines`` of its last rows, as far as they are about the loopback alone."""
    rows = list(screen.rows)
    while rows and lines > 0 and rows[-1].remark == LOOPBACK:
        rows.pop()
        lines -= 1
    left_out = screen.left_out + len({(row.probe, parameters(row.params)) for row in screen.rows[len(rows) :]})
    return msgspec.structs.replace(screen, rows=rows, left_out=left_out)


def machine_words(report: Report) -> str:
    """Return the machine in a line, such as ``node03 · EPYC 7543, 32 cores, 251.4 GiB, KVM guest``.

    Memory is in binary units. An alias of the host, or an empty name, is left out. For a run without a machine, the
    line says that it was not recorded.
    """
    machine = report.machine
    if machine is None:
        return "the machine was not recorded"
    model = machine.cpu.model or machine.cpu.architecture
    cores = count(machine.topology.cores, "core")
    hardware = ", ".join(filter(None, [model, cores, memory_text(machine.memory.total_bytes), platform_words(machine)]))
    return hardware if is_alias(machine.hostname) or not machine.hostname else f"{machine.hostname} · {hardware}"


def run_words(report: Report) -> str:
    """Return the plan and the start of a run, such as ``quick, 2026-11-23 18:54``, in the time zone of its record."""
    return ", ".join(filter(None, [report.run.plan.name, report.run.started[:16].replace("T", " ")]))


def _rows(report: Report) -> list[ScreenRow]:
    areas: dict[str, list[list[Result]]] = {}
    for _, group in groupby(report.results, key=lambda result: result.summary.probe):
        results = list(group)
        areas.setdefault(probe_of(results[0].summary.probe).area, []).append(results)
    is_alone = sum(map(len, areas.values())) == 1
    return [row for area in sorted(areas, key=order_of_area) for row in _rows_of(areas[area], is_alone)]


def _rows_of(probes: Sequence[Sequence[Result]], is_alone: bool) -> list[ScreenRow]:
    """Return the rows of an area, whose results are given by probe."""
    if is_alone and len(_measured(probes[0])) <= MAX_ROWS:
        return _plain_rows(probes[0], MAX_ROWS)
    declared = [row for results in probes for row in _declared_rows(results)]
    limit = MAX_ROWS if is_alone else MAX_ROWS_OF_ONE
    return declared or [row for results in probes for row in _plain_rows(results, limit)]


def _measured(results: Sequence[Result]) -> list[Result]:
    return [result for result in headlines(results) if result.summary.value is not None]


def _declared_rows(results: Sequence[Result]) -> Iterable[ScreenRow]:
    probe = probe_of(results[0].summary.probe)
    shown: set[tuple[str, str]] = set()
    labels: set[str] = set()
    for line in probe.screen:
        best = line.best_of(result for result in results if (result.id, line.metrics[0]) not in shown)
        if best is None or _filled(line.label, best) in labels:
            continue
        shown.add((best.id, line.metrics[0]))
        labels.add(_filled(line.label, best))
        values = _of_line(results, best, line.metrics)
        yield _in_unit(_row(probe, _filled(line.label, best), values, _short_remark(best)), line.unit)
        for label, metrics in line.below.items():
            further = _of_line(results, best, metrics)
            if all(further):
                yield _row(probe, label, further, "")


def _of_line(results: Sequence[Result], shown: Result, metrics: Sequence[str]) -> list[Result | None]:
    """Return the results of the metrics: of the same experiment, or derived ones of the same probe."""
    own = {result.summary.metric: result for result in results
           if result.id == shown.id or (is_derived(shown) and is_derived(result))}  # fmt: skip
    return [own.get(metric) for metric in metrics]


def _filled(label: str, result: Result) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: _words(match[1], result.summary.params.get(match[1], "")), label)


def _words(name: str, value: Value) -> str:
    if name == "threads":
        return count(int(value), "thread")
    if name in _SIZES and isinstance(value, int):
        return size_text(value)
    return value.upper() if name == "protocol" and isinstance(value, str) else str(value)


def _plain_rows(results: Sequence[Result], limit: int) -> list[ScreenRow]:
    """Return a row for each of the first experiments, named by the parameters in which they differ."""
    probe = probe_of(results[0].summary.probe)
    common = common_params(results)
    measured = _measured(results)
    names = [probe.title if len(measured) == 1 else label_of(result.summary.params, common) for result in measured]
    return [
        _row(probe, name, [result], ", ".join(_remarks(result)))
        for name, result in zip(names[:limit], measured[:limit], strict=True)
    ]


def _row(probe: Probe, label: str, results: Sequence[Result | None], remark: str) -> ScreenRow:
    """Return the row of these results of one experiment, of which at least one is known."""
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
        mood=mood_of(first) if is_single else "plain",
        remark=remark,
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


def _short_remark(result: Result) -> str:
    if result.facts.get("is_local"):
        return LOOPBACK
    return "oversubscribed" if result.oversubscribed else ""


def _remarks(result: Result) -> list[str]:
    """Return what a reader must know about a value, such as "oversubscribed" or what served its bytes."""
    return [*(["oversubscribed"] if result.oversubscribed else []), *result.remarks]


def _left_out(report: Report, rows: Sequence[ScreenRow]) -> int:
    """Return the number of measured experiments without a row."""
    measured = {(result.summary.probe, parameters(result.summary.params)) for result in headlines(report.results)
                if not is_derived(result) and result.summary.value is not None}  # fmt: skip
    return len(measured - {(row.probe, parameters(row.params)) for row in rows})
