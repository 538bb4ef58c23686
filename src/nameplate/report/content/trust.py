"""Say how far the values of a run can be trusted, and why."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from nameplate.planning.budget import MIN_ROUNDS
from nameplate.records.result import Report, Result
from nameplate.report.content.experiments import headlines, is_derived
from nameplate.report.content.format import count
from nameplate.statistics.rounding import COARSE, rounding_text

Level: TypeAlias = Literal["high", "medium", "low"]

# An experiment with a larger share of disturbed samples counts as disturbed.
DISTURBED = 0.1
# Up to these shares of disturbed experiments, and half widths of the median interval, trust is high or medium.
MAX_DISTURBED = {"high": 0.1, "medium": 0.3}
MAX_HALF_WIDTH = {"high": 0.03, "medium": 0.1}


class Trust(msgspec.Struct, frozen=True):
    """How far the values of a run can be trusted: ``level``, and ``why`` as text without a full stop.

    ``disturbed`` of ``experiments`` have more than 10 % disturbed samples. ``rounds`` is the smallest number of rounds
    of an experiment. ``half_width`` is the median half width of the 95 % intervals of the typical values as a share of
    the value, and ``widest`` the largest; both are None if fewer than half of the experiments have an interval.
    """

    level: Level
    why: str
    experiments: int = 0
    disturbed: int = 0
    rounds: int = 0
    half_width: float | None = None
    widest: float | None = None


def trust_in(report: Report) -> Trust:
    """Return how far the typical values of a run can be trusted.

    Trust is low without intervals, which need six rounds, in a run that did not end, and on an emulated processor.
    Otherwise it depends on how many experiments had more than 10 % disturbed samples, and on the median half width of
    the 95 % intervals. The widest one is named if it is more than twice as wide, and the largest rounding of numbers
    that another tool printed if it left them two digits or fewer.
    """
    measured = [result for result in headlines(report.results) if result.summary.value is not None]
    own = [result for result in measured if not is_derived(result)]
    if not own:
        return Trust("low", "nothing was measured")
    disturbed = sum(result.summary.disturbed > DISTURBED for result in own)
    rounds = min(result.summary.rounds for result in own)
    widths = _half_widths(own)
    level: Level
    if len(widths) < len(own) / 2:
        width, widest, level, why = None, None, "low", f"95 % intervals need {MIN_ROUNDS} rounds (got {rounds})"
    else:
        width, widest = statistics.median(widths), max(widths)
        level = level_of(disturbed / len(own), width)
        wide = f", widest ±{widest * 100:.0f} %" if widest > 2 * width else ""
        why = f"{disturbed} of {count(len(own), 'experiment')} disturbed; median interval ±{width * 100:.1f} %{wide}"
    rounding = max(result.rounding for result in own)
    why += f"; {rounding_text(rounding)}" if rounding > COARSE else ""
    if report.truncated or report.interrupted:
        level, why = "low", "the run did not reach its end"
    if report.machine and report.machine.emulator:
        level, why = "low", "the processor is emulated"
    return Trust(level, why, len(own), disturbed, rounds, width, widest)


def level_of(disturbed: float, half_width: float = 0.0) -> Level:
    """Return the level for a share of disturbed experiments and a median half width, both as shares."""
    for level in ("high", "medium"):
        if disturbed <= MAX_DISTURBED[level] and half_width <= MAX_HALF_WIDTH[level]:
            return level
    return "low"


def _half_widths(results: Sequence[Result]) -> list[float]:
    return [(row.ci[1] - row.ci[0]) / 2 / abs(row.value)
            for row in (result.summary for result in results) if row.ci and row.value]  # fmt: skip
