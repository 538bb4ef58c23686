"""Print comparisons of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.console import Console
from rich.text import Text

from nameplate.comparison.best_of_several import MultiRunComparison
from nameplate.comparison.false_positives import FalsePositiveCount, upper_bound
from nameplate.comparison.machine_settings import SettingDifference
from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow
from nameplate.comparison.run_comparison import RunComparison
from nameplate.probes.interface.screen_line import DisplayUnit
from nameplate.probes.shared.areas import order_of_area, text_of_area
from nameplate.records.plan_record import Value
from nameplate.records.result import Report
from nameplate.report.content.comparison_text import (
    VERDICT_ORDER,
    detectable_text,
    gate_sentences,
    has_changed,
    in_order,
    meanings,
    metric_text,
    ratio_interval_text,
    verdicts_by_area,
)
from nameplate.report.content.experiments import differing_params, shared_params
from nameplate.report.content.format import count, first_few, parameters, quantity
from nameplate.report.content.screen_row import label_and_unit
from nameplate.report.terminal.columns import Line, lay_out
from nameplate.report.terminal.console import make_console
from nameplate.statistics.verdict import Verdict

# Colours mean better and worse, never larger and smaller.
_STYLES: dict[Verdict, str] = {"FASTER": "green", "SLOWER": "red", "SAME": "dim", "UNSURE": "yellow"}
_MAX_NAMED = 6
MAX_CHANGED = 6
_CHANGED = ("FASTER", "SLOWER")
_INTERVAL = "99 %"
_COLUMNS = ("verdict", "{0}", "{1}", "ratio", _INTERVAL, "detects")
# On a narrower terminal, the short table has no intervals, so that a metric has a single line.
_WIDE = 100


def print_comparison(comparison: RunComparison, console: Console | None = None, has_all: bool = False) -> None:
    """Print the verdict on the machine, the main values, what else changed, and the number of verdicts by area.

    Further paragraphs name the settings that differ, the settings that only one run recorded, the first six metrics
    that only one run has, and the notes on the inputs. A main value has one line, for its capability, or for its
    typical value without one. Of the other metrics, the first ``MAX_CHANGED`` that changed are printed. With
    ``has_all``, every metric is printed, with both kinds of values, sorted as by ``print_rows``. ``console`` is
    standard output by default.
    """
    console = console or make_console()
    for part in (*gate_sentences(comparison), *meanings(comparison)):
        console.print(part)
    if has_all:
        console.print()
        _print_table(comparison.rows, ("base", "new"), console, "capability", {})
    else:
        _print_main(comparison, console)
    console.print()
    for line in area_lines(comparison.rows, console.width):
        console.print(line)
    _print_settings(comparison.settings, console)
    if comparison.unchecked:
        console.print(Text(f"\nnot recorded by both, so not compared: {', '.join(comparison.unchecked)}", style="dim"))
    for name, only in (("the base", comparison.only_in_base), ("the new run", comparison.only_in_new)):
        if only:
            console.print(Text(f"\nonly in {name}: {first_few(only, _MAX_NAMED)}", style="dim"))
    print_notes(comparison.notes, console)


def _print_main(comparison: RunComparison, console: Console) -> None:
    """Print the main values, then the other metrics that changed; one line each."""
    common = _common(comparison.rows)
    main = sorted((row for row in comparison.rows if row.is_main), key=lambda row: order_of_area(_area(row)))
    changed = in_order([row for row in comparison.rows if has_changed(row) and not row.is_main])
    decides = "changed, without deciding" if main else "changed"
    for heading, rows in (("main values", main), (decides, changed[:MAX_CHANGED])):
        if rows:
            lines = [_short_line(row, common.get(row.probe, {})) for row in rows]
            console.print()
            headings = [column.format("base", "new") for column in _COLUMNS]
            if console.width < _WIDE:
                headings.remove(_INTERVAL)
                lines = [replace(line, cells=(*line.cells[:4], line.cells[-1])) for line in lines]
            for text in lay_out(headings, lines, console.width, heading):
                console.print(text)
    if len(changed) > MAX_CHANGED:
        console.print(Text(f"  {count(len(changed) - MAX_CHANGED, 'further metric')} changed: add --all", style="dim"))


def _area(row: ComparisonRow) -> str:
    return row.probe.partition("_")[0]


def _short_line(row: ComparisonRow, common: Mapping[str, Value]) -> Line:
    """Return one line on a metric: its capability, or its typical value if that alone changed or there is none."""
    is_typical = row.machine_verdict not in _CHANGED and row.verdict in _CHANGED and not row.is_main
    seen = row if row.capability is None or is_typical else row.capability
    kind = ", typical" if seen is row else ""
    name = " ".join(filter(None, [row.probe, differing_params(row.params, common), row.metric]))
    label, unit = label_and_unit(row.probe, row.metric, row.params) if row.is_main else ("", None)
    # The column "detects" and --all say what more rounds would give.
    note = "" if row.is_main and "rounds" in seen.reason else seen.reason
    return Line((label or name) + kind, _cells(seen, unit or DisplayUnit(row.unit)), note)


def print_notes(notes: Sequence[str], console: Console | None = None) -> None:
    """Print an empty line and then the notes on the inputs of a comparison, one per line; nothing without notes.

    ``console`` is standard output by default.
    """
    console = console or make_console()
    if notes:
        console.print()
    for note in notes:
        console.print(Text(note, style="dim"))


def area_lines(rows: Sequence[ComparisonRow], width: int) -> list[Text]:
    """Return the lines of a table with the number of metrics by verdict in each area, up to ``width`` characters wide.

    The verdict is on the capability, or on the typical value where a metric has no capability. The last column,
    "detects", is the smallest change that the runs would show in half of the area's metrics. Without ``rows``, the list
    is empty.
    """
    verdicts = [verdict for verdict in VERDICT_ORDER if any(row.machine_verdict == verdict for row in rows)]
    lines = []
    for area_verdicts in verdicts_by_area(rows):
        cells = [str(area_verdicts.counts.get(verdict, 0)) for verdict in verdicts]
        lines.append(
            Line(
                text_of_area(area_verdicts.area), tuple(map(Text, [*cells, detectable_text(area_verdicts.detectable)]))
            )
        )
    return lay_out([*verdicts, "detects"], lines, width, "metrics by area") if lines else []


def print_rows(
    rows: Sequence[ComparisonRow], headings: tuple[str, str], console: Console | None = None,
    capability: str = "capability",
) -> None:  # fmt: skip
    """Print a table of verdicts, the number of each verdict, and the smallest detectable change by area.

    A metric has one line for its capability, if it is known, and one line for its typical value. Metrics are sorted by
    the verdict on their capability, or on their typical value without a capability: SLOWER, FASTER, UNSURE,
    INCOMPARABLE, SAME. The column "ratio" is new ÷ base, "99 %" is the interval of the ratio, and "detects" is the
    smallest change that these runs would show. ``headings`` has the headings of the columns with the rows' ``base`` and
    ``new``, such as ("base", "new"). ``capability`` is the label of the capability lines. ``console`` is standard
    output by default.
    """
    console = console or make_console()
    _print_table(rows, headings, console, capability, {})
    console.print()
    for line in _conclusions(rows, capability):
        console.print(line)


def print_variants(rows: Sequence[ComparisonRow], report: Report, console: Console | None = None) -> None:
    """Print the comparison of two variants of ``nameplate ab``: the verdict, then both kinds of values of each metric.

    ``rows`` is from ``compare_variants`` for ``report``. The first metric has the verdict; the others have none, since
    they follow from the same samples. ``console`` is standard output by default.
    """
    console = console or make_console()
    sides = {name.upper(): next(result for result in report.results if result.summary.params.get("variant") == name)
             for name in "ab"}  # fmt: skip
    differing = {
        name: " ".join(filter(None, [result.summary.probe, differing_params(
            {key: value for key, value in result.summary.params.items() if key != "variant"}, rows[0].params)]))
        for name, result in sides.items()
    }  # fmt: skip
    for name, params in differing.items():
        console.print(Text(f"{name}: {params}"))
    shared = parameters(rows[0].params)
    if shared:
        console.print(Text(f"both: {shared}", style="dim"))
    n_rounds = min(len(result.round_values) for result in report.results)
    console.print(f"{count(n_rounds, 'round')} of both\n")
    columns = [heading.format("A", "B") for heading in _COLUMNS]
    lines = [line for row in rows for line in _of_variants(row, has_verdict=row is rows[0])]
    for text in lay_out(columns, lines, console.width):
        console.print(text)
    console.print("\nValues are medians over the rounds, and the ratio is the median of the rounds' ratios.")
    console.print("fast tenth: the value of a round that one in ten of its samples reaches")
    if len(rows) > 1:
        console.print(f"The verdict is on the {rows[0].metric}; the other metrics follow from the same samples.")


def _of_variants(row: ComparisonRow, has_verdict: bool) -> list[Line]:
    lines = _lines(row, "fast tenth", row.params)
    heading, *values = [replace(line, label=line.label.removeprefix(f"{row.probe} ")) for line in lines]
    if has_verdict:
        return [heading, *values]
    return [heading, *(replace(line, cells=(Text("–"), *line.cells[1:]), note="") for line in values)]


def _print_table(
    rows: Sequence[ComparisonRow], headings: tuple[str, str], console: Console, capability: str,
    common: Mapping[str, Mapping[str, Value]],
) -> None:  # fmt: skip
    columns = [heading.format(*headings) for heading in _COLUMNS]
    lines = [line for row in in_order(rows) for line in _lines(row, capability, common.get(row.probe, {}))]
    for text in lay_out(columns, lines, console.width):
        console.print(text)


def _common(rows: Sequence[ComparisonRow]) -> dict[str, dict[str, Value]]:
    """Return for each probe the parameters that all of its metrics share."""
    by_probe: dict[str, list[dict[str, Value]]] = {}
    for row in rows:
        by_probe.setdefault(row.probe, []).append(row.params)
    return {probe: shared_params(params) for probe, params in by_probe.items()}


def _lines(row: ComparisonRow, capability: str, common: Mapping[str, Value]) -> list[Line]:
    nothing = (Text(),) * len(_COLUMNS)
    fast = row.capability
    unit = DisplayUnit(row.unit)
    both = [Line(f"  {capability}", _cells(fast, unit), fast.reason)] if fast else []
    text = " ".join(filter(None, [row.probe, differing_params(row.params, common), row.metric]))
    return [Line(text, nothing), *both, Line("  typical", _cells(row, unit), row.reason)]


def _cells(seen: ComparisonRow | CapabilityChange, unit: DisplayUnit) -> tuple[Text, ...]:
    ratio = f"{seen.ratio:.3f}" if seen.ratio is not None else "–"
    values = [quantity(None if value is None else value * unit.per_base_unit, unit.name)
              for value in (seen.base, seen.new)]  # fmt: skip
    texts = [*values, ratio, ratio_interval_text(seen.ci),
             detectable_text(seen.detectable)]  # fmt: skip
    return (Text(seen.verdict, style=_STYLES.get(seen.verdict, "")), *map(Text, texts))


def _conclusions(rows: Sequence[ComparisonRow], capability: str) -> list[str]:
    """Return lines with the number of each verdict, on capability and on typical values, and the detectable change."""
    known = [row.capability for row in rows if row.capability]
    lines = [f"{capability}: {_counted(Counter(change.verdict for change in known))}"] if known else []
    lines.append(f"typical: {_counted(Counter(row.verdict for row in rows))}")
    areas = [verdicts for verdicts in verdicts_by_area(rows) if verdicts.detectable is not None]
    detectable = ", ".join(f"{verdicts.area} {detectable_text(verdicts.detectable)}" for verdicts in areas)
    return [*lines, f"smallest detectable change, median by area: {detectable}"] if detectable else lines


def _counted(counts: Mapping[Verdict, int]) -> str:
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICT_ORDER if counts.get(verdict))


def print_several(rows: Sequence[MultiRunComparison], names: Sequence[str], console: Console | None = None) -> None:
    """Print a table with a row per metric and a column per run, in which ``*`` marks the best values of each row.

    A value that is not significantly worse than the best value is marked, too. If runs cannot be compared in a metric,
    the reason is printed below the row. ``names`` has the heading of each run, in the order of ``values`` in each row.
    ``console`` is standard output by default.
    """
    console = console or make_console()
    lines = [Line(metric_text(row.probe, row.params, row.metric), _of_several(row), row.reason) for row in rows]
    for text in lay_out(names, lines, console.width):
        console.print(text)
    console.print("\n*: the best value, or not distinguishable from it", style="dim")


def _of_several(row: MultiRunComparison) -> tuple[Text, ...]:
    return tuple(
        Text(quantity(value, row.unit) + (" *" if index in row.best else "  "), "bold" if index in row.best else "")
        for index, value in enumerate(row.values)
    )


def print_false_positives(counts: Sequence[FalsePositiveCount], console: Console | None = None) -> None:
    """Print for each metric how often the machine was called FASTER or SLOWER than itself, and the total rate.

    ``counts`` is from ``count_false_positives`` with the default ``window`` of six rounds and is not empty. The total
    rate is a percentage of all pairs, printed with its upper bound (95 % confidence, ``upper_bound``). ``console`` is
    standard output by default.
    """
    console = console or make_console()
    lines = [
        Line(metric_text(row.probe, row.params, row.metric),
             tuple(map(Text, map(str, (row.pairs, row.wrong, row.same, row.unsure)))))
        for row in counts
    ]  # fmt: skip
    for text in lay_out(("pairs", "FASTER or SLOWER", "SAME", "UNSURE"), lines, console.width):
        console.print(text)
    wrong, pairs = sum(row.wrong for row in counts), sum(row.pairs for row in counts)
    bound = upper_bound(wrong, pairs)
    console.print(
        f"\n{wrong} of {pairs} pairs of six rounds were called FASTER or SLOWER than the same machine: "
        f"{wrong / pairs * 100:.2f} %, at most {bound * 100:.2f} % (95 % confidence) if the pairs are independent"
    )


def _print_settings(settings: Sequence[SettingDifference], console: Console) -> None:
    if settings:
        console.print(
            Text(f"\n{count(len(settings), 'setting')} {'differs' if len(settings) == 1 else 'differ'}", style="bold")
        )
    for setting in settings:
        console.print(Text(f"  {setting.name}: {setting.base} → {setting.new}"))
