"""Print comparisons of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from nameplate.comparison.best_of_several import Several
from nameplate.comparison.false_positives import FalsePositiveCount, upper_bound
from nameplate.comparison.machine_settings import SettingDifference
from nameplate.comparison.metric_rows import CapabilityChange, ComparisonRow
from nameplate.comparison.run_comparison import RunComparison
from nameplate.probes.shared.areas import words_of_area
from nameplate.records.plan_record import Value
from nameplate.report.content.comparison_words import (
    VERDICT_ORDER,
    detectable_text,
    has_changed,
    in_order,
    meanings,
    metric_words,
    ratio_interval_text,
    summary,
    verdicts_by_area,
)
from nameplate.report.content.experiments import own_params, shared_params
from nameplate.report.content.format import count, quantity
from nameplate.report.terminal.columns import Line, lay_out
from nameplate.report.terminal.console import make_console
from nameplate.statistics.verdict import Verdict

# Colours mean better and worse, never larger and smaller.
_STYLES: dict[Verdict, str] = {"FASTER": "green", "SLOWER": "red", "SAME": "dim", "UNSURE": "yellow"}
_MAX_NAMED = 6
MAX_CHANGED = 6
_COLUMNS = ("verdict", "{0}", "{1}", "ratio", "99 %", "detects")


def print_comparison(found: RunComparison, console: Console | None = None, has_all: bool = False) -> None:
    """Print what changed between two runs: a sentence, the metrics that changed, and the number of verdicts by area.

    The settings that differ follow, what only one of the runs recorded, the metrics that only one of the runs has, of
    which the first six are named, and the notes on the inputs. Of the metrics that changed, the first ``MAX_CHANGED``
    have rows. With ``has_all``, every metric has, in the order of ``print_rows``. Without ``console``, it prints to
    standard output.
    """
    console = console or make_console()
    for part in (summary(found.rows), *meanings(found.rows)):
        console.print(part)
    changed = [row for row in found.rows if has_changed(row)]
    shown = found.rows if has_all else changed[:MAX_CHANGED]
    if shown:
        console.print()
        _print_table(shown, ("base", "new"), console, "capability", {} if has_all else _common(found.rows))
    if len(shown) < len(changed):
        console.print(Text(f"  {count(len(changed) - len(shown), 'further metric')} changed: add --all", style="dim"))
    console.print()
    for line in area_lines(found.rows, console.width):
        console.print(line)
    _print_settings(found.settings, console)
    if found.unchecked:
        console.print(Text(f"\nnot recorded by both, so not compared: {', '.join(found.unchecked)}", style="dim"))
    for name, only in (("the base", found.only_in_base), ("the new run", found.only_in_new)):
        if only:
            more = f" and {len(only) - _MAX_NAMED} more" if len(only) > _MAX_NAMED else ""
            console.print(Text(f"\nonly in {name}: " + ", ".join(only[:_MAX_NAMED]) + more, style="dim"))
    print_notes(found.notes, console)


def print_notes(notes: Sequence[str], console: Console | None = None) -> None:
    """Print notes on the inputs of a comparison, a line each, after an empty one; nothing if there are none.

    Without ``console``, it prints to standard output.
    """
    console = console or make_console()
    if notes:
        console.print()
    for note in notes:
        console.print(Text(note, style="dim"))


def area_lines(rows: Sequence[ComparisonRow], width: int) -> list[Text]:
    """Return a table with the number of verdicts on the capability in each area, and the change that it would show."""
    verdicts = [verdict for verdict in VERDICT_ORDER if any(row.machine_verdict == verdict for row in rows)]
    lines = []
    for found in verdicts_by_area(rows):
        cells = [str(found.counts.get(verdict, 0)) for verdict in verdicts]
        lines.append(Line(words_of_area(found.area), tuple(map(Text, [*cells, detectable_text(found.detectable)]))))
    return lay_out([*verdicts, "detects"], lines, width, "metrics by area") if lines else []


def print_rows(
    rows: Sequence[ComparisonRow], headings: tuple[str, str], console: Console | None = None,
    capability: str = "capability",
) -> None:  # fmt: skip
    """Print a table of verdicts, the number of each verdict, and the smallest detectable change by area.

    A metric has a line for what the machine is capable of, if that is known, and one for its typical value. Metrics are
    in the order SLOWER, FASTER, UNSURE, INCOMPARABLE, SAME of their capability, or else of their typical value.
    ``headings`` are those of the columns with the rows' ``base`` and ``new``, such as ("base", "new"). The ratio is new
    ÷ base with its 99 % interval, and "detects" the smallest change that these runs would show. ``capability`` is the
    name of the lines with the rows' capability. Without ``console``, it prints to standard output.
    """
    console = console or make_console()
    _print_table(rows, headings, console, capability, {})
    console.print()
    for line in _conclusions(rows, capability):
        console.print(line)


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
    both = [Line(f"  {capability}", _cells(fast, row.unit), fast.reason)] if fast else []
    words = " ".join(filter(None, [row.probe, own_params(row.params, common), row.metric]))
    return [Line(words, nothing), *both, Line("  typical", _cells(row, row.unit), row.reason)]


def _cells(seen: ComparisonRow | CapabilityChange, unit: str) -> tuple[Text, ...]:
    ratio = f"{seen.ratio:.3f}" if seen.ratio is not None else "–"
    texts = [quantity(seen.base, unit), quantity(seen.new, unit), ratio, ratio_interval_text(seen.ci),
             detectable_text(seen.detectable)]  # fmt: skip
    return (Text(seen.verdict, style=_STYLES.get(seen.verdict, "")), *map(Text, texts))


def _conclusions(rows: Sequence[ComparisonRow], capability: str) -> list[str]:
    """Return the number of each verdict in each of the two questions, and what is detectable."""
    known = [row.capability for row in rows if row.capability]
    typical = Counter(row.verdict for row in rows)
    lines = [f"typical: {_counted(typical)}"]
    if known:
        lines.insert(0, f"{capability}: {_counted(Counter(each.verdict for each in known))}")
    return lines + _detectable(rows)


def _counted(counts: Mapping[Verdict, int]) -> str:
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICT_ORDER if counts.get(verdict))


def _detectable(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return a line with the change that these runs would show in half of the metrics of each area."""
    known = [found for found in verdicts_by_area(rows) if found.detectable is not None]
    shown = [f"{found.area} {detectable_text(found.detectable)}" for found in known]
    return [f"smallest detectable change, median by area: {', '.join(shown)}"] if shown else []


def print_several(rows: Sequence[Several], names: Sequence[str], console: Console | None = None) -> None:
    """Print a table with a row per metric and a column per run, in which ``*`` marks the best values of each row.

    Below a metric that cannot be compared is the reason, and no value is marked. ``names`` are the headings of the
    runs, in the order of ``values`` in each row. Without ``console``, it prints to standard output.
    """
    console = console or make_console()
    lines = [Line(metric_words(row.probe, row.params, row.metric), _of_several(row), row.reason) for row in rows]
    for text in lay_out(names, lines, console.width):
        console.print(text)
    console.print("\n*: the best value, or not distinguishable from it", style="dim")


def _of_several(row: Several) -> tuple[Text, ...]:
    return tuple(
        Text(quantity(value, row.unit) + (" *" if place in row.best else "  "), "bold" if place in row.best else "")
        for place, value in enumerate(row.values)
    )


def print_false_positives(counts: Sequence[FalsePositiveCount], console: Console | None = None) -> None:
    """Print for each metric how often the machine was called faster or slower than itself, and the total rate.

    ``counts`` has at least one entry, from ``count_false_positives`` with its default ``window``. The total rate is
    printed with its upper bound (95 % confidence, ``upper_bound``). Without ``console``, it prints to standard output.
    """
    console = console or make_console()
    lines = [
        Line(metric_words(row.probe, row.params, row.metric),
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
