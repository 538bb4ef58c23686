"""Say how far the values of a run can be trusted, and why."""

from __future__ import annotations

import statistics
from typing import Literal, TypeAlias

import msgspec

from nameplate.planning.budget import MIN_ROUNDS
from nameplate.records.fleet_record import Fleet
from nameplate.records.result import Report
from nameplate.report.content.experiments import headlines, is_derived
from nameplate.report.content.format import count
from nameplate.results.cpu_time import why_slowed
from nameplate.statistics.rounding import COARSE, rounding_text

Level: TypeAlias = Literal["high", "medium", "low"]

# An experiment with a larger share of disturbed samples counts as disturbed.
DISTURBED = 0.1
# Trust is high or medium up to these shares of disturbed experiments and these median half widths (0.03 is ±3 %).
MAX_DISTURBED = {"high": 0.1, "medium": 0.3}
MAX_HALF_WIDTH = {"high": 0.03, "medium": 0.1}


class Trust(msgspec.Struct, frozen=True):
    """How far the values of a run can be trusted: ``level``, and the reason ``why``, which has no full stop.

    ``experiments`` is the number of measured experiments, and ``disturbed`` the number of experiments with more than
    10 % disturbed samples. ``rounds`` is the smallest number of rounds of an experiment. ``half_width`` is the median,
    and ``widest`` the maximum, of the half widths of the 95 % intervals, as shares of the typical values (0.01 is
    ±1 %). Both are None if fewer than half of the experiments have an interval.
    """

    level: Level
    why: str
    experiments: int = 0
    disturbed: int = 0
    rounds: int = 0
    half_width: float | None = None
    widest: float | None = None


def trust_in(report: Report) -> Trust:
    """Return how far the typical values of a run can be trusted, and why.

    Trust is low if nothing was measured, if fewer than half of the experiments have a 95 % interval (which needs six
    rounds), if the run is incomplete, if a CPU quota or other programs slowed it down, and if the processor is
    emulated. For a fleet it depends on the share of machines that were slowed down. Otherwise the level depends on the
    share of experiments with more than 10 % disturbed samples and on the median half width of the intervals
    (``level_of``). ``why`` also has the widest interval if it is more than twice as wide as the median, and the
    rounding of values that another tool printed with two digits or fewer.
    """
    measured = [result for result in headlines(report.results) if result.summary.value is not None]
    not_derived = [result for result in measured if not is_derived(result)]
    if not not_derived:
        return Trust("low", "nothing was measured")
    rows = [result.summary for result in not_derived]
    if report.fleet:
        return _trust_in_fleet(report.fleet)
    disturbed = sum(row.disturbed > DISTURBED for row in rows)
    rounds = min(row.rounds for row in rows)
    widths = [(row.ci[1] - row.ci[0]) / 2 / abs(row.value) for row in rows if row.ci and row.value]
    level: Level
    if len(widths) < len(not_derived) / 2:
        width, widest, level, why = None, None, "low", f"95 % intervals need {MIN_ROUNDS} rounds (got {rounds})"
    else:
        width, widest = statistics.median(widths), max(widths)
        level = level_of(disturbed / len(not_derived), width)
        wide = f", widest ±{widest * 100:.0f} %" if widest > 2 * width else ""
        interval = f"median interval ±{width * 100:.1f} %{wide}"
        causes = [f"{disturbed} of {count(len(not_derived), 'experiment')} disturbed", interval]
        # The cause of the level comes first.
        is_wide = level_of(0.0, width) == level != "high"
        why = "; ".join(reversed(causes) if is_wide else causes)
    rounding = max(result.rounding for result in not_derived)
    why += f"; {rounding_text(rounding)}" if rounding > COARSE else ""
    if report.truncated or report.interrupted:
        level, why = "low", "the run is incomplete"
    if slowed := why_slowed(report):
        level, why = "low", f"{slowed}; {why}"
    if report.machine and report.machine.emulator:
        level, why = "low", "the processor is emulated"
    return Trust(level, why, len(not_derived), disturbed, rounds, width, widest)


def _trust_in_fleet(fleet: Fleet) -> Trust:
    """Return the trust in the medians of a fleet, by the share of its machines that a CPU quota slowed down."""
    slowed = sum(bool(host.slowed) for host in fleet.hosts)
    why = f"{slowed or 'none'} of {count(len(fleet.hosts), 'machine')} under a CPU quota"
    why += f", {len(fleet.left_out)} left out" if fleet.left_out else ""
    levels: tuple[Level, Level] = ("high", "medium")
    return Trust(next((level for level in levels if slowed / len(fleet.hosts) <= MAX_DISTURBED[level]), "low"), why)


def level_of(disturbed: float, half_width: float = 0.0) -> Level:
    """Return the level of trust in a run.

    ``disturbed`` is the share of experiments with more than 10 % disturbed samples (0 to 1), and ``half_width`` the
    median half width of the 95 % intervals as a share of the values (0.03 is ±3 %). The level is "high" up to 0.1 and
    0.03, "medium" up to 0.3 and 0.1, and otherwise "low"; but it is "medium" up to a half width of 0.03, however many
    samples were disturbed, since values that agree so well between rounds were hardly affected.
    """
    for level in ("high", "medium"):
        if disturbed <= MAX_DISTURBED[level] and half_width <= MAX_HALF_WIDTH[level]:
            return level
    return "medium" if half_width <= MAX_HALF_WIDTH["high"] else "low"
