"""Export a comparison as Markdown, for a comment on a pull request: at most 40 lines."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.comparison.metric_rows import ComparisonRow
from nameplate.comparison.run_comparison import RunComparison
from nameplate.probes.shared.areas import title_of_area
from nameplate.report.content.comparison_words import (
    VERDICT_ORDER,
    detectable_text,
    has_changed,
    in_order,
    judged_side,
    meanings,
    metric_words,
    ratio_interval_text,
    summary,
    verdicts_by_area,
)
from nameplate.report.content.format import count, quantity
from nameplate.report.formats.markdown import bold, plain, table_rows

_MAX_ROWS = 12
_MAX_NAMED = 3
_RULER = "---"


def export(found: RunComparison, _limit: float) -> str:
    """Return Markdown of at most 40 lines: what changed, the number of verdicts by area, and the settings that differ.

    The last line has the notes on the inputs.

    The first line is a sentence on what changed. A row of the table is the capability of a metric, or its typical value
    where there is no capability; the first 12 that changed have rows, SLOWER first. Text from the runs is escaped.
    """
    paragraphs = [f"{bold(summary(found.rows))} {' '.join(meanings(found.rows))}".rstrip() + "\n"]
    changed = in_order([row for row in found.rows if has_changed(row)])
    if changed:
        paragraphs.append(_changes(changed[:_MAX_ROWS]))
    if len(changed) > _MAX_ROWS:
        paragraphs.append(f"{count(len(changed) - _MAX_ROWS, 'further metric')} changed.\n")
    if found.rows:
        paragraphs.append(_areas(found.rows))
    return "\n".join([*paragraphs, *_remarks(found)])


def _remarks(found: RunComparison) -> list[str]:
    """Return paragraphs on what differs, what is not compared, and what is not read."""
    paragraphs = []
    if found.settings:
        words = ", ".join(plain(f"{each.name}: {each.base} → {each.new}") for each in found.settings)
        paragraphs.append(f"Settings that differ: {words}\n")
    if found.unchecked:
        paragraphs.append(f"Not recorded by both, so not compared: {plain(', '.join(found.unchecked))}\n")
    for name, only in (("the base", found.only_in_base), ("the new run", found.only_in_new)):
        if only:
            more = f" and {len(only) - _MAX_NAMED} more" if len(only) > _MAX_NAMED else ""
            paragraphs.append(f"Only in {name}: {plain(', '.join(only[:_MAX_NAMED]))}{more}\n")
    if found.notes:
        paragraphs.append(f"Notes on {plain('; '.join(found.notes))}\n")
    return paragraphs


def _changes(rows: Sequence[ComparisonRow]) -> str:
    lines = [("metric", "", "verdict", "base", "new", "ratio", "99 %"), (*(_RULER,) * 3, *(f"{_RULER}:",) * 4)]
    for row in rows:
        seen = judged_side(row)
        name = metric_words(row.probe, row.params, row.metric)
        ratio = f"{seen.ratio:.3f}" if seen.ratio is not None else "–"
        kind = "capability" if row.capability else "typical"
        values = (plain(quantity(seen.base, row.unit)), plain(quantity(seen.new, row.unit)))
        lines.append((plain(name), kind, _verdicts(row), *values, ratio, ratio_interval_text(seen.ci)))
    return table_rows(lines)


def _verdicts(row: ComparisonRow) -> str:
    """Return the verdict on the machine, with the typical verdict if only that is SLOWER or FASTER."""
    if row.machine_verdict in ("SLOWER", "FASTER"):
        return bold(row.machine_verdict)
    return f"{row.machine_verdict}, typical {row.verdict}"


def _areas(rows: Sequence[ComparisonRow]) -> str:
    verdicts = [verdict for verdict in VERDICT_ORDER if any(row.machine_verdict == verdict for row in rows)]
    lines = [("area", *verdicts, "detects"), (_RULER, *(f"{_RULER}:",) * (len(verdicts) + 1))]
    for found in verdicts_by_area(rows):
        counts = (str(found.counts.get(verdict, 0)) for verdict in verdicts)
        lines.append((plain(title_of_area(found.area)), *counts, detectable_text(found.detectable)))
    return table_rows(lines)
