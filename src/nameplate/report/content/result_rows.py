"""Format the results of a run as rows of text, and the sources of their reference values as sentences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from nameplate.probes import ResolvedExperiment, load_probes
from nameplate.probes.shared.ceilings import count_ports, textbook_peak
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.report.content.experiments import common_params, differing_params, headlines, is_derived, mood_of
from nameplate.report.content.format import parameters, quantity, share, spread
from nameplate.results.cpu_time import why_slowed

HEADINGS = ("", "typical", "95 %", "capability", "its 95 %", "reference", "share", "sustained", "cores", "notes")
MAX_EXPERIMENTS = 24


@dataclass(frozen=True)
class TableRow:
    """One row of the table of results, as text.

    ``cells`` has one entry for each of ``HEADINGS``; the first is the name of the row. If the result has no value, the
    second cell is the outcome, such as "skipped", and all further cells are "". In a row about experiments that are
    left out, all cells but the first are "". ``mood``, which is "good", "poor" or "plain", determines the colour.
    """

    cells: tuple[str, ...]
    mood: str


@dataclass(frozen=True)
class TableSection:
    """The rows of one probe, under a heading with its title and the parameters common to all of them."""

    heading: str
    rows: list[TableRow]


def sections(report: Report) -> list[TableSection]:
    """Return the results as text, in one section per probe, in the order of ``report.results``.

    Results of one probe must be adjacent, as ``summarise`` returns them. Details (``Result.is_detail``) have no row. If
    a probe that has tables has more than ``MAX_EXPERIMENTS`` (24) experiments, only derived values and experiments
    without a value have rows, and a last row has the number of experiments. The list is empty without results.
    """
    grouped = groupby(report.results, key=lambda result: result.summary.probe)
    is_judged = not why_slowed(report)
    return [_section(probe, list(results), is_judged) for probe, results in grouped]


def _section(probe: str, results: list[Result], is_judged: bool) -> TableSection:
    common = common_params(results)
    known = load_probes().get(probe)
    title = f"{known.title} ({probe} {known.metrics[0].name})" if known else probe
    heading = f"{title}  {parameters(common)}".strip()
    n_experiments = len({result.id for result in results if not is_derived(result)})
    is_in_tables = n_experiments > MAX_EXPERIMENTS and known is not None and known.has_tables
    main_rows = [
        result for result in results
        if not result.is_detail and (not is_in_tables or is_derived(result) or result.summary.value is None)
    ]  # fmt: skip
    first = {id(result) for result in headlines(main_rows)}
    rows = [TableRow(_cells(result, common, id(result) in first), mood_of(result, is_judged)) for result in main_rows]
    if is_in_tables:
        text = (
            f"{n_experiments} experiments: see the tables and charts, or nameplate show FILE --format csv for every "
            "value"
        )
        rows.append(TableRow((text, *("",) * (len(HEADINGS) - 1)), "plain"))
    return TableSection(heading, rows)


def _cells(result: Result, common: dict[str, Value], is_first: bool) -> tuple[str, ...]:
    """Return the cells of a row.

    The first row of an experiment has its name and remarks; further rows have the names of their metrics.
    """
    row = result.summary
    name = _row_name(result, common) if is_first else f"  {row.metric}"
    if row.value is None:
        return (name, row.outcome, *("",) * (len(HEADINGS) - 2))
    return (
        name,
        quantity(row.value, row.unit),
        spread(row.value, row.ci, row.unit),
        quantity(row.capability, row.unit),
        spread(row.capability, row.capability_ci, row.unit),
        quantity(row.rated, row.unit),
        share(row.efficiency),
        quantity(row.sustained, row.unit),
        "–" if is_derived(result) else f"{result.utilisation:.2f}",
        ", ".join(_remarks(result) if is_first or is_derived(result) else []),
    )


def _row_name(result: Result, common: dict[str, Value]) -> str:
    """Return the parameters that distinguish the experiment, and the metric unless the heading has it."""
    name = differing_params(result.summary.params, common)
    known = load_probes().get(result.summary.probe)
    is_in_heading = known is not None and result.summary.metric == known.metrics[0].name
    return name if name and is_in_heading else f"{name} {result.summary.metric}".strip()


def _remarks(result: Result) -> list[str]:
    row = result.summary
    remarks = ["oversubscribed"] * result.oversubscribed
    if row.disturbed > 0:
        remarks.append(f"{row.disturbed * 100:.0f} % disturbed")
    return [*remarks, *result.remarks]


def explanations(report: Report) -> list[str]:
    """Return for each probe a line with its highest reference value and the source of this value.

    If a probe has no reference value, its line gives the reason. A probe that counts the operations per cycle has a
    second line with the theoretical peak, computed from the nominal clock. Every line starts with the probe's name and
    a space. Probes without a measured value have no line. Results of one probe must be adjacent.
    """
    lines = []
    for probe, grouped in groupby(report.results, key=lambda result: result.summary.probe):
        results = [r for r in grouped if r.summary.value is not None and not is_derived(r)]
        rated = [result for result in results if result.summary.rated is not None]
        if rated:
            best = max(rated, key=lambda result: result.summary.rated or 0.0)
            lines.append(
                f"{probe} reference value {quantity(best.summary.rated, best.summary.unit)} = {best.rated.source}"
            )
            lines += _textbook_line(report, best)
        elif results:
            lines.append(f"{probe} has no reference value: {results[0].rated.source}")
    return lines


def _textbook_line(report: Report, result: Result) -> list[str]:
    """Return GHz × cores × operations per cycle for the experiment with the highest ceiling of an arithmetic probe."""
    ports = count_ports(result.facts) if "port_block_s" in result.facts else None
    if ports is None or report.machine is None or result.summary.metric != "rate":
        return []
    cores = ResolvedExperiment(result.summary.params, result.facts, report.machine).cores
    peak = textbook_peak(report.machine, ports * result.facts["operations_per_instruction"], cores)
    return [f"{result.summary.probe} theoretical peak {quantity(peak.value, result.summary.unit)} = {peak.source}"]
