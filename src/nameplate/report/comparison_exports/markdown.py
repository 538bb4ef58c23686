"""Export a comparison as Markdown, for a comment on a pull request: at most 40 lines."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.comparison.metric_rows import ComparisonRow
from nameplate.comparison.run_comparison import RunComparison
from nameplate.probes.shared.areas import title_of_area
from nameplate.report.content.comparison_text import (
    VERDICT_ORDER,
    detectable_text,
    gate_sentences,
    has_changed,
    in_order,
    judged_side,
    meanings,
    metric_text,
    ratio_interval_text,
    verdicts_by_area,
)
from nameplate.report.content.format import count, first_few, quantity
from nameplate.report.formats.markdown_text import bold, plain, table_rows

_MAX_ROWS = 12
_MAX_NAMED = 3
_RULER = "---"


def export(comparison: RunComparison, _limit: float) -> str:
    """Return Markdown of at most 40 lines on what changed between two runs, whatever the size of the change.

    The paragraphs, in this order, are: the verdict on the machine and the losses that would have shown; a table of at
    most 12 changed metrics, main values first, then SLOWER ones; the number of further changed metrics; a table with
    the number of verdicts in each area; the settings that differ; the settings that were not recorded by both runs; the
    metrics that only one run has; and the notes on the inputs. A paragraph with nothing to say is left out. A row of
    the first table shows the capability of a metric, or its typical value if a run has no capability. Text from the
    runs is escaped. ``_limit``, the share from which a loss counts, is ignored, since the verdict has considered it.
    """
    verdict, *power = gate_sentences(comparison)
    paragraphs = [" ".join([bold(verdict), *power, *meanings(comparison)]) + "\n"]
    changed = in_order([row for row in comparison.rows if has_changed(row)])
    changed.sort(key=lambda row: not row.is_main)
    if changed:
        paragraphs.append(_changes(changed[:_MAX_ROWS]))
    if len(changed) > _MAX_ROWS:
        paragraphs.append(f"{count(len(changed) - _MAX_ROWS, 'further metric')} changed.\n")
    if comparison.rows:
        paragraphs.append(_areas(comparison.rows))
    return "\n".join([*paragraphs, *_remarks(comparison)])


def _remarks(comparison: RunComparison) -> list[str]:
    """Return paragraphs on settings that differ, values that are not compared, and notes on the inputs."""
    paragraphs = []
    if comparison.settings:
        text = ", ".join(plain(f"{setting.name}: {setting.base} → {setting.new}") for setting in comparison.settings)
        paragraphs.append(f"Settings that differ: {text}\n")
    if comparison.unchecked:
        paragraphs.append(f"Not recorded by both, so not compared: {plain(', '.join(comparison.unchecked))}\n")
    for name, only in (("the base", comparison.only_in_base), ("the new run", comparison.only_in_new)):
        if only:
            paragraphs.append(f"Only in {name}: {plain(first_few(only, _MAX_NAMED))}\n")
    if comparison.notes:
        paragraphs.append(f"Notes on {plain('; '.join(comparison.notes))}\n")
    return paragraphs


def _changes(rows: Sequence[ComparisonRow]) -> str:
    lines = [("metric", "", "verdict", "base", "new", "ratio", "99 %"), (*(_RULER,) * 3, *(f"{_RULER}:",) * 4)]
    for row in rows:
        seen = judged_side(row)
        name = metric_text(row.probe, row.params, row.metric)
        ratio = f"{seen.ratio:.3f}" if seen.ratio is not None else "–"
        kind = "capability" if row.capability else "typical"
        values = (plain(quantity(seen.base, row.unit)), plain(quantity(seen.new, row.unit)))
        is_of_machine = row.machine_verdict in ("SLOWER", "FASTER")
        verdicts = bold(row.machine_verdict) if is_of_machine else f"{row.machine_verdict}, typical {row.verdict}"
        lines.append((plain(name), kind, verdicts, *values, ratio, ratio_interval_text(seen.ci)))
    return table_rows(lines)


def _areas(rows: Sequence[ComparisonRow]) -> str:
    verdicts = [verdict for verdict in VERDICT_ORDER if any(row.machine_verdict == verdict for row in rows)]
    lines = [("area", *verdicts, "detects"), (_RULER, *(f"{_RULER}:",) * (len(verdicts) + 1))]
    for area_verdicts in verdicts_by_area(rows):
        counts = (str(area_verdicts.counts.get(verdict, 0)) for verdict in verdicts)
        lines.append((plain(title_of_area(area_verdicts.area)), *counts, detectable_text(area_verdicts.detectable)))
    return table_rows(lines)
