"""What a run says of its machine: the verdict in one sentence, and the remarks on it."""

from __future__ import annotations

from collections.abc import Sequence

from nameplate.records.model import Report, Result
from nameplate.report.aliases import name_of
from nameplate.report.cells import headlines, is_derived, title_of
from nameplate.report.format import count, parameters, quantity, share
from nameplate.report.terminal.nodes import found_slow
from nameplate.results.summarise import CEILING_TOLERANCE

# A share of disturbed samples from which a machine was not quiet enough to be judged by them.
NOT_QUIET = 0.1


def verdict(report: Report) -> str:
    """What the machine delivers of its nameplate, in one sentence, from those figures alone that have a rated value."""
    judged = judged_by(report)
    who = name_of(report)
    if not judged:
        return f"What {who} delivers of its nameplate is not known: nothing that was measured has a rated value."
    delivered = [_share_of_rated(result) for result in judged if result.better == "higher"]
    taken = [_share_of_rated(result) for result in judged if result.better == "lower"]
    parts = ["delivers " + _listed(delivered)] * bool(delivered) + ["takes " + _listed(taken)] * bool(taken)
    return f"{who[:1].upper()}{who[1:]} {' and '.join(parts)}."


def remarks(report: Report) -> list[str]:
    """What the verdict rests on, and what stands against it: unknown, missing and doubtful figures."""
    lines = [_basis(result) for result in judged_by(report)]
    if report.nodes:
        lines.append(f"Of the nodes: {found_slow(report.nodes)}.")
    lines += _unknown(report)
    lines += _missing(report)
    if report.truncated:
        lines.append("The run was cut off before its end: only what was measured until then is shown.")
    elif report.interrupted:
        lines.append("The run was interrupted: only what was measured until then is shown.")
    return lines + _doubts(report)


def judged_by(report: Report) -> list[Result]:
    """For each probe the cell with the highest nameplate value: that is what the machine as a whole promises.

    What is derived from all cells is not judged: a cache that is smaller than listed delivers no less of its speed.
    """
    by_probe: dict[str, list[Result]] = {}
    for result in _cells(report):
        if result.summary.efficiency is not None:
            by_probe.setdefault(result.summary.probe, []).append(result)
    return [_most_promised(results) for results in by_probe.values()]


def _cells(report: Report) -> list[Result]:
    return headlines(result for result in report.results if not is_derived(result))


def _most_promised(results: list[Result]) -> Result:
    """Where several promise the same, as all cells of a bandwidth do, the one that keeps most of it.

    Of latencies it is the one of the largest region: a nameplate means the memory's, and caches are quicker.
    """
    own = [result for result in results if not result.oversubscribed] or results
    if own[0].better == "higher":
        return max(own, key=lambda result: (result.summary.rated or 0.0, result.summary.efficiency or 0.0))
    return min(own, key=lambda result: (result.summary.rated or 0.0, -result.facts.get("touched_bytes", 0.0)))


def _share_of_rated(result: Result) -> str:
    interval = result.efficiency_ci
    between = f" (95 % interval: {interval[0] * 100:.1f} to {share(interval[1])})" if interval else ""
    return f"{share(result.summary.efficiency)}{between} of its rated {_noun(result)}"


def _noun(result: Result) -> str:
    title = title_of(result.summary.probe)
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)


def _basis(result: Result) -> str:
    row = result.summary
    unsure = "" if result.efficiency_ci else " Too few rounds for an interval."
    return (
        f"{title_of(row.probe)}: {quantity(row.value, row.unit)} with {parameters(row.params)}; "
        f"rated {quantity(row.rated, row.unit)} = {result.rated.source}.{unsure}"
    )


def _unknown(report: Report) -> list[str]:
    rated = {result.summary.probe for result in judged_by(report)}
    measured: dict[str, list[Result]] = {}
    for result in _cells(report):
        if result.summary.value is not None and result.summary.probe not in rated:
            measured.setdefault(result.summary.probe, []).append(result)
    return [
        f"{title_of(probe)}: measured, but without a rated value: {_why_unknown(results)}."
        for probe, results in measured.items()
    ]


def _why_unknown(results: Sequence[Result]) -> str:
    """Of several reasons rather one that a user can mend, by giving the value."""
    return next((result for result in results if result.rated.can_be_given), results[0]).rated.source


def _missing(report: Report) -> list[str]:
    first = _cells(report)
    words = {
        "invalid": "computed a wrong result, so no number is shown",
        "failed": "could not be measured",
        "skipped": "skipped",
    }
    lines = []
    for ending, said in words.items():
        cells = [result.id for result in first if result.summary.outcome == ending]
        lines += [f"{count(len(cells), 'cell')} {said}: {_some(cells)}."] if cells else []
    known = {result.id for result in first}
    never = sum(not cell.dense and cell.id not in known for cell in report.run.plan.experiments)
    return lines + ([f"{count(never, 'cell')} of the plan not measured at all."] if never > 0 else [])


def _some(cells: Sequence[str], limit: int = 3) -> str:
    more = f" and {len(cells) - limit} more" if len(cells) > limit else ""
    return "; ".join(cells[:limit]) + more


def _doubts(report: Report) -> list[str]:
    shown = [result for result in _cells(report) if result.summary.value is not None]
    noisy = [result for result in shown if result.summary.disturbed > NOT_QUIET]
    over = [
        result for result in shown
        if result.rated.is_ceiling and result.efficiency_ci and result.efficiency_ci[0] > 1 + CEILING_TOLERANCE
    ]  # fmt: skip
    lines = []
    if noisy:
        lines.append(
            f"The machine was not quiet: in {len(noisy)} of {len(shown)} cells more than {NOT_QUIET * 100:.0f} % of "
            "the samples were disturbed (steal, throttling, preemption or a slower clock). It may do better."
        )
    if over:
        lines.append(f"{len(over)} measured over the ceiling: measurement or rated value is wrong there.")
    return lines
