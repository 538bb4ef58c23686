"""Keep track of where a run is, for the displays of its progress."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from nameplate.probes import probe_of
from nameplate.probes.shared.areas import label_of_area, order_of_area
from nameplate.records.plan_record import Experiment
from nameplate.records.run_record import Sample
from nameplate.report.content.format import parameters, quantity
from nameplate.report.content.trust import DISTURBED, level_of
from nameplate.results.summarise import is_disturbed

_BAR = 4
_STYLES = {"high": "green", "medium": "yellow", "low": "red"}


class Position:
    """The place in a run: the experiment in its round, the time left, the last result, and how much was disturbed."""

    def __init__(self, experiments: Sequence[Experiment]) -> None:
        """Count the experiments of each area; without any, as for other tools, there are no areas to show."""
        self._planned = Counter(_area(experiment) for experiment in experiments if not experiment.dense)
        self._seen: Counter[str] = Counter()
        self._round = 0
        self._left_s = 0.0
        self._words = ""
        self._sample: Sample | None = None
        self._before = ""
        self._samples = [0, 0]
        self._experiments = [0, 0]

    def begin(self, round_number: int, experiment: Experiment, left_s: float) -> None:
        """Count an experiment that begins in a round, which ends the experiment before it."""
        if round_number != self._round:
            self._seen.clear()
        self._end_experiment()
        self._round, self._left_s, self._words = round_number, left_s, words_of(experiment)
        self._seen[_area(experiment)] += 1

    def sample(self, sample: Sample) -> None:
        """Count a sample of the experiment that began last."""
        self._samples[0] += 1
        self._samples[1] += is_disturbed(sample, oversubscribed=False, usual_burst_s=math.inf)
        # It is formatted once at the end, since that takes CPU time away from the measurement.
        self._sample = sample

    def _end_experiment(self) -> None:
        taken, disturbed = self._samples
        if taken:
            self._experiments[0] += 1
            self._experiments[1] += disturbed > DISTURBED * taken
        self._samples = [0, 0]
        if self._sample is not None:
            work, unit = work_of(self._sample)
            self._before = f"before: {self._words}, {quantity(work / self._sample.elapsed_s, unit)}"
        self._sample = None

    def line(self) -> str:
        """Return the place as a line for a log: ``round 2, 45 of 70: Memory latency size=4MiB; at most 20 s left``."""
        place = f", {self._count()}" if self._planned else ""
        return f"round {self._round}{place}: {self._words}; at most {left_s(self._left_s)} s left"

    def lines(self) -> list[Text]:
        """Return the place as two or three lines for a terminal.

        The first has a bar for the part of each area that is done in this round, the time left, and how far to trust
        the samples so far: only what disturbed them counts here. The others have the experiment, and the one before it
        with the work per second of its last sample.
        """
        first = Text(f"round {self._round} ", no_wrap=True, overflow="ellipsis")
        for area in sorted(self._planned, key=order_of_area):
            done = round(_BAR * min(1.0, self._seen[area] / self._planned[area]))
            first.append(f" {label_of_area(area)} {'█' * done}{'░' * (_BAR - done)}")
        first.append(f"  {self._count()}" if self._planned else "")
        first.append(f"  ≤ {left_s(self._left_s)} s")
        ended, disturbed = self._experiments
        if ended:
            level = level_of(disturbed / ended)
            first.append("  trust ").append(level, style=_STYLES[level])
        below = [f"now: {self._words}", self._before]
        return [first, *(Text(words, style="dim", no_wrap=True, overflow="ellipsis") for words in below if words)]

    def _count(self) -> str:
        seen = self._seen.total()
        return f"{seen} of {max(seen, self._planned.total())}"


def words_of(experiment: Experiment) -> str:
    """Return an experiment in words: the title of its probe and its parameters, or its id if it has no probe."""
    if not experiment.probe:
        return experiment.id
    return f"{probe_of(experiment.probe).title} {parameters(experiment.params)}".strip()


def left_s(estimate_s: float) -> int:
    """Return the seconds left, rounded up, so that it is never 0 while work remains."""
    return max(1, math.ceil(estimate_s))


def work_of(sample: Sample) -> tuple[int, str]:
    """Return the work of a sample, and the unit of work per second: FLOP/s if it has any, else B/s, else op/s."""
    work = sample.work
    return next(
        ((done, unit) for done, unit in ((work.flops, "FLOP/s"), (work.bytes, "B/s")) if done), (work.ops, "op/s")
    )


def _area(experiment: Experiment) -> str:
    return probe_of(experiment.probe).area
