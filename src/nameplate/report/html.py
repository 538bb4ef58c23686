"""The HTML report: one offline file with figures, charts, tables and the run's data inside.

Reports travel, so host names stay out of them: machines are "machine 1", "machine 2". No request leaves the page; its
content security policy forbids it, and names the only two scripts that may run by their hashes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib
import os
import re
import shlex
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import msgspec
import vl_convert
from markupsafe import Markup

from nameplate import __version__, probes
from nameplate.errors import FileError
from nameplate.model import Rated, Report, Result, Series, Summary, Value
from nameplate.report.charts import Chart, over_time, thread_scaling
from nameplate.report.format import digits, parameters, quantity, scale, share
from nameplate.report.text import GOOD, POOR, explanations
from nameplate.summarise import CEILING_TOLERANCE

SIZE_LIMIT = 1_500_000

# A share of disturbed samples from which a machine was not quiet enough to be judged by them.
NOT_QUIET = 0.1

# A probe with more cells has its charts over time folded, to be drawn when they are unfolded.
MOST_OPEN = 12

# What the page's script needs of the bundle; nothing else becomes global by name.
_EXPORTS = "window.vegaEmbed = vegaEmbed;"

_TEMPLATES = Path(__file__).parent / "templates"
_EMBEDDED = re.compile(rb'<script type="text/plain" id="nameplate-data">([A-Za-z0-9+/=]*)</script>')

HEADINGS = (
    "measured", "95 % interval", "rated", "delivers", "best", "p95", "p99", "sustained", "rounds",
    "samples", "disturbed", "outcome", "stopped by",
)  # fmt: skip
HEADINGS_IN_WORDS = ("outcome", "stopped by")


@dataclass(frozen=True)
class Detail:
    """How much a report holds: ``points`` in a chart at most, and whether the embedded data keep every sample."""

    points: int
    has_samples: bool


# From the fullest to the smallest: the first that stays below SIZE_LIMIT is written.
DETAILS = (Detail(2000, True), Detail(500, True), Detail(200, True), Detail(200, False), Detail(60, False))


@dataclass(frozen=True)
class Row:
    """One line of a probe's table, and beside it where its rated value comes from and how to measure it again.

    There are either ``figures``, in the order of ``HEADINGS``, or words why they are ``missing``.
    """

    label: str
    metric: str
    figures: tuple[str, ...]
    missing: str
    mood: str
    is_oversubscribed: bool
    source: str
    command: str


@dataclass(frozen=True)
class Bar:
    """An efficiency; lengths are in percent of the width that all bars of a run share."""

    label: str
    words: str
    mood: str
    length: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class BarGroup:
    """One probe's efficiencies, with the parameters that are the same in all of them."""

    title: str
    common: str
    bars: list[Bar]


@dataclass(frozen=True)
class Bars:
    """A run's efficiencies, and where their 100 % stands."""

    full: float
    groups: list[BarGroup]


@dataclass(frozen=True)
class Figure:
    """A chart with its place in the list that the page's script draws."""

    index: int
    chart: Chart


@dataclass(frozen=True)
class Card:
    """Everything about one probe in one run."""

    anchor: str
    title: str
    probe: str
    meaning: str
    common: str
    rows: list[Row]
    explanations: list[str]
    scaling: list[Figure]
    over_time: list[Figure]


@dataclass(frozen=True)
class Section:
    """One run."""

    anchor: str
    title: str
    verdict: str
    remarks: list[str]
    machine: list[tuple[str, str]]
    run: list[tuple[str, str]]
    efficiencies: Bars
    cards: list[Card]
    notes: list[str]


@dataclass(frozen=True)
class Beside:
    """One cell in every run: the table of several runs side by side."""

    label: str
    values: list[str]


def write_html(reports: Sequence[Report], path: Path) -> None:
    """Writes a report of one or several runs, whole or not at all. Raises FileError.

    It stays below ``SIZE_LIMIT`` by drawing fewer points, and, for very long runs, by leaving single samples out of the
    embedded data; the page says so.
    """
    nameless = without_names(reports)
    for detail in DETAILS:
        page = render(nameless, detail).encode()
        if len(page) <= SIZE_LIMIT:
            break
    _write(page, path)


def read_embedded(path: Path) -> list[Report]:
    """The runs that a report was written from, with aliases for the hosts' names. Raises FileError."""
    try:
        match = _EMBEDDED.search(path.read_bytes())
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None
    if match is None:
        raise FileError(f"{path} has no data of a nameplate report in it")
    try:
        return msgspec.json.decode(gzip.decompress(base64.b64decode(match[1])), type=list[Report])
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise FileError(f"{path}: its data cannot be read: {error}") from None


def render(reports: Sequence[Report], detail: Detail) -> str:
    """The page. ``reports`` are shown as they are: give them to ``without_names`` first."""
    charts: list[Chart] = []
    sections = [_section(number, report, detail, charts) for number, report in enumerate(reports, start=1)]
    bundle = _bundle()
    script = (_TEMPLATES / "report.js").read_text(encoding="utf-8")
    kept = reports if detail.has_samples else [_without_samples(report) for report in reports]
    return _template().render(
        title=_page_title(reports),
        version=__version__,
        sections=sections,
        beside=side_by_side(reports),
        headings=HEADINGS,
        in_words=HEADINGS_IN_WORDS,
        most_open=MOST_OPEN,
        detail=detail,
        policy=_policy(bundle.hash, _hash(script)),
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
        bundle=Markup(bundle.packed),
        drawings=Markup(_packed(msgspec.json.encode([_drawing(chart) for chart in charts]))),
        data=Markup(_packed(msgspec.json.encode(kept))),
    )


def without_names(reports: Sequence[Report]) -> list[Report]:
    """Each host's name replaced by an alias, also where a reason or a note names it; no path of a run file."""
    aliases: dict[str, str] = {}
    for report in reports:
        host = str(report.machine.get("hostname", ""))
        aliases.setdefault(host, f"machine {len(aliases) + 1}")
    return [_aliased(report, aliases) for report in reports]


def _aliased(report: Report, aliases: Mapping[str, str]) -> Report:
    def hide(text: str) -> str:
        for host, alias in aliases.items():
            if host:
                text = re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", alias, text)
        return text

    def hide_in(result: Result) -> Result:
        summary = msgspec.structs.replace(result.summary, reason=hide(result.summary.reason))
        return msgspec.structs.replace(
            result, summary=summary, rated=Rated(result.rated.value, hide(result.rated.source))
        )

    alias = aliases[str(report.machine.get("hostname", ""))]
    return msgspec.structs.replace(
        report,
        machine={**report.machine, "hostname": alias},
        results=[hide_in(result) for result in report.results],
        # What stands there about a run that was cut off names its file's path; the page says it in its own words.
        notes=[hide(note) for note in report.notes if "--resume" not in note],
    )


def _without_samples(report: Report) -> Report:
    results = [msgspec.structs.replace(result, series=Series([], [], [])) for result in report.results]
    return msgspec.structs.replace(report, results=results)


def _section(number: int, report: Report, detail: Detail, charts: list[Chart]) -> Section:
    return Section(
        anchor=f"run-{number}",
        title=f"Run {number}: {_alias(report)}",
        verdict=verdict(report),
        remarks=remarks(report),
        machine=machine_facts(report.machine),
        run=run_facts(report),
        efficiencies=efficiencies(report),
        cards=[
            _card(f"run-{number}-{index}", report, results, detail, charts)
            for index, results in enumerate(_by_probe(report).values(), start=1)
        ],
        notes=report.notes,
    )


def _by_probe(report: Report) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = {}
    for result in report.results:
        groups.setdefault(result.summary.probe, []).append(result)
    return groups


def _alias(report: Report) -> str:
    return str(report.machine["hostname"])


def _page_title(reports: Sequence[Report]) -> str:
    models = dict.fromkeys(_model(report) for report in reports)
    return "nameplate: what " + ", ".join(models) + " delivers"


def _model(report: Report) -> str:
    cpu = report.machine.get("cpu")
    return str(cpu["model"] or cpu["architecture"]) if cpu else "an unrecorded machine"


# --- the verdict -----------------------------------------------------------------------------------------------------


def headlines(results: Iterable[Result]) -> list[Result]:
    """The first metric of every cell."""
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.id, result)
    return list(first.values())


def _judged(report: Report) -> list[Result]:
    """For each probe the cell with the highest nameplate value: that is what the machine as a whole promises."""
    by_probe: dict[str, list[Result]] = {}
    for result in headlines(report.results):
        if result.summary.efficiency is not None:
            by_probe.setdefault(result.summary.probe, []).append(result)
    return [_most_promised(results) for results in by_probe.values()]


def _most_promised(results: list[Result]) -> Result:
    own = [result for result in results if not result.oversubscribed] or results
    pick = max if own[0].better == "higher" else min
    return pick(own, key=lambda result: result.summary.rated or 0.0)


def verdict(report: Report) -> str:
    """What the machine delivers of its nameplate, in one sentence, from those figures alone that have a rated value."""
    judged = _judged(report)
    who = _alias(report)
    if not judged:
        return f"What {who} delivers of its nameplate is not known: nothing that was measured has a rated value."
    delivered = [_share_of_rated(result) for result in judged if result.better == "higher"]
    taken = [_share_of_rated(result) for result in judged if result.better == "lower"]
    parts = ["delivers " + _listed(delivered)] * bool(delivered) + ["takes " + _listed(taken)] * bool(taken)
    return f"{who[:1].upper()}{who[1:]} {' and '.join(parts)}."


def remarks(report: Report) -> list[str]:
    """What the verdict rests on, and what stands against it: unknown, missing and doubtful figures."""
    lines = [_basis(result) for result in _judged(report)]
    lines += _unknown(report)
    lines += _missing(report)
    if report.truncated:
        lines.append("The run was cut off before its end: only what was measured until then is shown.")
    elif report.interrupted:
        lines.append("The run was interrupted: only what was measured until then is shown.")
    return lines + _doubts(report)


def _share_of_rated(result: Result) -> str:
    interval = result.efficiency_ci
    between = f" (95 % interval: {interval[0] * 100:.1f} to {share(interval[1])})" if interval else ""
    return f"{share(result.summary.efficiency)}{between} of its rated {_noun(result)}"


def _noun(result: Result) -> str:
    title = _title(result.summary.probe)
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _title(probe: str) -> str:
    known = probes.load_probes().get(probe)
    return known.title if known else probe


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)


def _basis(result: Result) -> str:
    row = result.summary
    unsure = "" if result.efficiency_ci else " Too few rounds for an interval."
    return (
        f"{_title(row.probe)}: {quantity(row.value, row.unit)} with {parameters(row.params)}; "
        f"rated {quantity(row.rated, row.unit)} = {result.rated.source}.{unsure}"
    )


def _unknown(report: Report) -> list[str]:
    measured: dict[str, Result] = {}
    for result in headlines(report.results):
        if result.summary.value is not None:
            measured.setdefault(result.summary.probe, result)
    rated = {result.summary.probe for result in _judged(report)}
    return [
        f"{_title(probe)}: measured, but without a rated value: {result.rated.source}."
        for probe, result in measured.items()
        if probe not in rated
    ]


def _missing(report: Report) -> list[str]:
    first = headlines(report.results)
    words = {
        "invalid": "computed a wrong result, so no number is shown",
        "failed": "could not be measured",
        "skipped": "skipped",
    }
    lines = []
    for ending, said in words.items():
        cells = [result.id for result in first if result.summary.outcome == ending]
        lines += [f"{_count(len(cells), 'cell')} {said}: {_some(cells)}."] if cells else []
    never = len(report.run.plan.experiments) - len(first)
    return lines + ([f"{_count(never, 'cell')} of the plan not measured at all."] if never > 0 else [])


def _some(cells: Sequence[str], limit: int = 3) -> str:
    more = f" and {len(cells) - limit} more" if len(cells) > limit else ""
    return "; ".join(cells[:limit]) + more


def _doubts(report: Report) -> list[str]:
    shown = [result for result in headlines(report.results) if result.summary.value is not None]
    noisy = [result for result in shown if result.summary.disturbed > NOT_QUIET]
    over = [r for r in shown if r.efficiency_ci and r.efficiency_ci[0] > 1 + CEILING_TOLERANCE]
    lines = []
    if noisy:
        lines.append(
            f"The machine was not quiet: in {len(noisy)} of {len(shown)} cells more than {NOT_QUIET * 100:.0f} % of "
            "the samples were disturbed (steal, throttling, preemption or a slower clock). It may do better."
        )
    if over:
        lines.append(f"{len(over)} measured over the ceiling: measurement or rated value is wrong there.")
    return lines


# --- facts -----------------------------------------------------------------------------------------------------------


def machine_facts(machine: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The machine's nameplate as the system shows it; nothing that identifies a unit."""
    if "cpu" not in machine:
        return [("machine", "not recorded")]
    cpu, topology, memory = machine["cpu"], machine["topology"], machine["memory"]
    facts = [
        ("CPU", f"{cpu['model']} ({cpu['architecture']})"),
        (
            "cores",
            f"{topology['cores']} cores, {topology['threads']} threads, {_count(topology['packages'], 'package')}",
        ),
        ("allowed", f"{topology['allowed_cores']} cores; {machine['default_threads']} threads by default"),
        ("clock on paper", _clock_on_paper(cpu)),
    ]
    facts += [(f"L{cache['level']} {cache['type']}", _cache(cache)) for cache in topology["caches"]]
    facts += [
        ("memory", f"{_binary(memory['total_bytes'])}, huge pages: {memory['transparent_huge_pages']}"),
        ("NUMA nodes", str(len(topology["numa_nodes"]))),
        ("runs on", f"{machine['hypervisor']} guest" if machine["hypervisor"] else "bare metal, as far as can be seen"),
        ("product", machine["product"] or "not shown"),
        ("limits", _limits(machine["limits"])),
        ("system", f"{machine['distribution']}, Linux {machine['kernel']}"),
    ]
    return facts


def run_facts(report: Report) -> list[tuple[str, str]]:
    """What is needed to run the same again."""
    run, clock = report.run, report.clock
    facts = [
        ("started", run.started),
        ("plan", f"{run.plan.name}, {_count(len(run.plan.experiments), 'cell')}"),
        ("limits", _run_limits(report)),
        ("seed", str(run.seed)),
        ("priority", run.priority),
        ("nameplate", run.version),
        ("timed by", _timer(clock.source, clock.resolution_s, clock.cost_s) if clock else "not recorded"),
    ]
    given = ", ".join(f"{key.partition(' ')[0]}={quantity(v, key.partition(' ')[2])}" for key, v in run.rated.items())
    return [*facts, ("rated by the user", given)] if given else facts


def _timer(source: str, resolution_s: float, cost_s: float) -> str:
    return f"{source}, resolution {quantity(resolution_s, 's')}, {quantity(cost_s, 's')} a reading"


def _run_limits(report: Report) -> str:
    limits = report.run.plan.limits
    parts = [f"budget {limits.budget_s:g} s", f"precision {limits.precision * 100:g} %"]
    parts += [f"{limits.rounds} rounds"] if limits.rounds else []
    parts += [f"{limits.samples} samples a round"] if limits.samples else []
    parts += [f"{quantity(limits.sample_s, 's')} a sample"] if limits.sample_s else []
    parts += [f"series of {limits.series_s:g} s"] if limits.series_s else []
    return ", ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _clock_on_paper(cpu: Mapping[str, Any]) -> str:
    named = (("base", "base_frequency_hz"), ("maximum", "maximum_frequency_hz"), ("listed", "listed_frequency_hz"))
    return ", ".join(f"{label} {quantity(cpu[key], 'Hz')}" for label, key in named if cpu[key]) or "not shown"


def _cache(cache: Mapping[str, Any]) -> str:
    return f"{cache['count']} × {_binary(cache['size_bytes'])}, each for {_count(cache['shared_by'], 'thread')}"


def _limits(limits: Mapping[str, Any]) -> str:
    parts = [f"{limits['cpus']:g} CPUs"] if limits["cpus"] else []
    parts += [_binary(limits["memory_bytes"])] if limits["memory_bytes"] else []
    return ", ".join(parts) or "none by the control group"


def _binary(size: int) -> str:
    for factor, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} B"


# --- tables ----------------------------------------------------------------------------------------------------------


def efficiencies(report: Report) -> Bars:
    """The headline of every cell that has a rated value."""
    rated = [result for result in headlines(report.results) if result.summary.efficiency is not None]
    ends = [end for result in rated for end in (result.summary.efficiency or 0.0, *(result.efficiency_ci or ()))]
    reach = max([1.0, *ends]) * 1.04
    groups: dict[str, list[Result]] = {}
    for result in rated:
        groups.setdefault(result.summary.probe, []).append(result)
    return Bars(100 / reach, [_bar_group(probe, results, reach) for probe, results in groups.items()])


def _bar_group(probe: str, results: Sequence[Result], reach: float) -> BarGroup:
    common = _common(results)
    return BarGroup(_title(probe), parameters(common), [_bar(result, common, reach) for result in results])


def _bar(result: Result, common: Mapping[str, Value], reach: float) -> Bar:
    row = result.summary
    interval = result.efficiency_ci
    lower = " (less is better)" if result.better == "lower" else ""
    crowded = ", oversubscribed" if result.oversubscribed else ""
    return Bar(
        label=_label(row.params, common),
        words=f"{share(row.efficiency)} of {quantity(row.rated, row.unit)}{lower}{crowded}",
        mood=_mood(result),
        length=(row.efficiency or 0.0) * 100 / reach,
        interval=(interval[0] * 100 / reach, interval[1] * 100 / reach) if interval else None,
    )


def _mood(result: Result) -> str:
    row = result.summary
    if row.outcome in ("invalid", "failed"):
        return "poor"
    if row.efficiency is None or result.better == "lower":
        return "plain"
    return "good" if row.efficiency >= GOOD else "poor" if row.efficiency < POOR else "plain"


def _card(anchor: str, report: Report, results: list[Result], detail: Detail, charts: list[Chart]) -> Card:
    probe = results[0].summary.probe
    common = _common(results)
    first = headlines(results)
    cores = int(report.machine["topology"]["allowed_cores"]) if "topology" in report.machine else 1
    return Card(
        anchor=anchor,
        title=_title(probe),
        probe=probe,
        meaning=meaning(probe),
        common=parameters(common),
        rows=[_row(result, common) for result in results],
        explanations=[line for line in explanations(report) if line.startswith(f"{probe} ")],
        scaling=_placed(thread_scaling(first, cores), charts),
        over_time=_placed([_titled(r, common, detail.points) for r in first if len(r.series.value) > 1], charts),
    )


def meaning(probe: str) -> str:
    """What a probe's module says of itself."""
    if probe not in probes.load_probes():
        return ""
    return (importlib.import_module(f"{probes.__name__}.{probe}").__doc__ or "").strip()


def _titled(result: Result, common: Mapping[str, Value], limit: int) -> Chart:
    chart = over_time(result, limit)
    return Chart(_label(result.summary.params, common), chart.caption, chart.spec, chart.columns)


def _placed(new: Sequence[Chart], charts: list[Chart]) -> list[Figure]:
    figures = [Figure(len(charts) + offset, chart) for offset, chart in enumerate(new)]
    charts.extend(new)
    return figures


def _common(results: Sequence[Result]) -> dict[str, Value]:
    """The parameters that are the same in all cells; what could not be measured often has not all of them."""
    measured = [result for result in results if result.summary.value is not None] or results
    first, *others = [result.summary.params for result in measured]
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def _own(params: Mapping[str, Value], common: Mapping[str, Value]) -> str:
    return parameters({name: value for name, value in params.items() if common.get(name) != value})


def _label(params: Mapping[str, Value], common: Mapping[str, Value]) -> str:
    return _own(params, common) or "all as above"


def _row(result: Result, common: Mapping[str, Value]) -> Row:
    row = result.summary
    return Row(
        label=_label(row.params, common),
        metric=row.metric,
        figures=_figures(row) if row.value is not None else (),
        mood=_mood(result),
        is_oversubscribed=result.oversubscribed,
        missing=f"{row.outcome}: {row.reason or 'no reason is known'}" if row.value is None else "",
        source=result.rated.source,
        command=repeat_command(row.probe, row.params),
    )


def _figures(row: Summary) -> tuple[str, ...]:
    def shown(value: float | None) -> str:
        return quantity(value, row.unit)

    return (
        shown(row.value), _interval(row), shown(row.rated), share(row.efficiency), shown(row.best),
        shown(row.p95), shown(row.p99), shown(row.sustained), str(row.rounds), str(row.samples),
        f"{row.disturbed * 100:.0f} %", row.outcome, row.stop or "–",
    )  # fmt: skip


def _interval(row: Summary) -> str:
    if row.ci is None or row.value is None:
        return "–"
    factor, unit = scale(row.value, row.unit)
    return f"{digits(row.ci[0] / factor)} to {digits(row.ci[1] / factor)} {unit}".strip()


def repeat_command(probe: str, params: Mapping[str, Value]) -> str:
    """The command that measures a cell again, fit for a shell."""
    words = [f"{name}={_as_argument(value)}" for name, value in params.items()]
    return shlex.join(["nameplate", "run", probe, *words])


def _as_argument(value: Value) -> str:
    """Without an exponent, which the command line does not take."""
    return f"{value:.15f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def side_by_side(reports: Sequence[Report]) -> list[Beside]:
    """The cells that were measured in more than one of the runs."""
    by_run = [
        {(r.summary.probe, parameters(r.summary.params)): r.summary for r in headlines(report.results)}
        for report in reports
    ]
    cells = dict.fromkeys(key for rows in by_run for key in rows)
    return [
        Beside(" ".join(key), [_value_in(rows.get(key)) for rows in by_run])
        for key in cells
        if sum(key in rows for rows in by_run) > 1
    ]


def _value_in(row: Summary | None) -> str:
    if row is None:
        return "not measured"
    return quantity(row.value, row.unit) if row.value is not None else row.outcome


# --- the file --------------------------------------------------------------------------------------------------------


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["zip"] = zip
    return environment.get_template("report.html.j2")


def _drawing(chart: Chart) -> dict[str, Any]:
    return {"spec": chart.spec, "columns": chart.columns}


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


@dataclass(frozen=True)
class _Bundle:
    """The chart libraries, as they stand in the page, and the hash of what the page makes of them."""

    packed: str
    hash: str


@cache
def _bundle() -> _Bundle:
    source = vl_convert.javascript_bundle(_EXPORTS)
    return _Bundle(_packed(source.encode()), _hash(source))


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _policy(*hashes: str) -> str:
    scripts = " ".join(hashes)
    return f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _write(page: bytes, path: Path) -> None:
    """By a file beside it that takes its name at the end: a reader sees the old one or the new one."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise FileError(f"cannot write {path}: it is not a regular file")
    beside = target.with_name(f".nameplate-{os.getpid()}.tmp")
    try:
        beside.write_bytes(page)
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise FileError(f"cannot write {path}: {error.strerror}") from None
