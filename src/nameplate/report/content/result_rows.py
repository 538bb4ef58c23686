"""Put the results of a run into rows of text, with what explains their reference values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from nameplate.probes import ResolvedExperiment, load_probes
from nameplate.probes.shared.ceilings import count_ports, textbook_peak
from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result
from nameplate.report.content.experiments import common_params, headlines, mood_of, own_params
from nameplate.report.content.format import parameters, quantity, share, spread

HEADINGS = ("", "typical", "95 %", "capability", "its 95 %", "reference", "share", "sustained", "cores", "notes")
MAX_EXPERIMENTS = 24


@dataclass(frozen=True)
class TableRow:
    """One row of the table of results, as text.

    ``cells`` has one entry for each of ``HEADINGS``, of which the first is the name of the row. A row without a value
    has the outcome, such as "skipped", as its second cell and "" as all further ones; a row about experiments that are
    left out has only the first cell. ``mood`` is "good", "poor" or "plain", which is shown as the colour.
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
    a probe with its own tables has more than ``MAX_EXPERIMENTS``, only derived values and experiments without a value
    have rows, and a last row says how many experiments the sweep has.
    """
    grouped = groupby(report.results, key=lambda result: result.summary.probe)
    return [_section(probe, list(results)) for probe, results in grouped]


def _section(probe: str, results: list[Result]) -> TableSection:
    common = common_params(results)
    results, left_out = _in_a_terminal(results)
    known = load_probes().get(probe)
    title = f"{known.title} ({probe} {known.metrics[0].name})" if known else probe
    heading = f"{title}  {parameters(common)}".strip()
    shown = [result for result in results if not result.is_detail]
    first = {id(result) for result in headlines(shown)}
    rows = [TableRow(_cells(result, common, id(result) in first), mood_of(result)) for result in shown]
    if left_out:
        words = (
            f"{left_out} experiments: see the tables and charts, or nameplate show FILE --format csv for every value"
        )
        rows.append(TableRow((words, *("",) * (len(HEADINGS) - 1)), "plain"))
    return TableSection(heading, rows)


def _in_a_terminal(results: list[Result]) -> tuple[list[Result], int]:
    """Return the results to show, and the number of experiments left out.

    Experiments of a large sweep are left out if the probe's tables show them.
    """
    experiments = {result.id for result in results if result.kind != "derived"}
    known = load_probes().get(results[0].summary.probe)
    if len(experiments) <= MAX_EXPERIMENTS or known is None or known.tables is None:
        return results, 0
    return [result for result in results if result.kind == "derived" or result.summary.value is None], len(experiments)


def _cells(result: Result, common: dict[str, Value], is_first: bool) -> tuple[str, ...]:
    """Return the cells of a row. An experiment's name and remarks are in its first row; further rows name their
    metric.
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
        f"{result.utilisation:.2f}" if result.kind != "derived" else "–",
        ", ".join(_remarks(result) if is_first or result.kind == "derived" else []),
    )


def _row_name(result: Result, common: dict[str, Value]) -> str:
    """Return the parameters that distinguish the experiment, and the metric if it is not the one in the heading."""
    name = own_params(result.summary.params, common)
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
    """Return for each probe a line with its highest reference value and the source of that, or why it has none.

    Every line starts with the probe's name and a space. A probe that counts the operations per cycle has a second line,
    with the theoretical peak at the nominal clock. Probes without a measured value have no line. Results of one probe
    must be adjacent.
    """
    lines = []
    for probe, grouped in groupby(report.results, key=lambda result: result.summary.probe):
        results = [r for r in grouped if r.summary.value is not None and r.kind != "derived"]
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
