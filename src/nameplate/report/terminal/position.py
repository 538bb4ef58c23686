"""Keep track of the current experiment and round of a run, for the displays of its progress."""

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
from nameplate.report.content.trust import DISTURBED
from nameplate.results.summarise import is_disturbed

_BAR = 4


class Position:
    """The progress of a run: the experiment, the round, the time left, the last sample, and disturbed experiments."""

    def __init__(self, experiments: Sequence[Experiment]) -> None:
        """Count the planned experiments of each area, so that ``lines`` can show the part of each area that is done.

        ``experiments`` are the experiments of the plan. If the list is empty, as for work that is not in a plan, no
        areas are shown.
        """
        self._planned = Counter(_area(experiment) for experiment in experiments if not experiment.dense)
        self._seen: Counter[str] = Counter()
        self._round = 0
        self._left_s = 0.0
        self._text = ""
        self._sample: Sample | None = None
        self._before = ""
        self._samples = [0, 0]
        self._experiments = [0, 0]

    def start(self, round_number: int, experiment: Experiment, left_s: float) -> None:
        """Count the start of an experiment, which ends the previous experiment.

        ``round_number`` counts from 1, and ``left_s`` is the maximum time until the end of the run in seconds.
        """
        if round_number != self._round:
            self._seen.clear()
        self._end_experiment()
        self._round, self._left_s, self._text = round_number, left_s, text_of(experiment)
        self._seen[_area(experiment)] += 1

    def sample(self, sample: Sample) -> None:
        """Count a sample of the experiment that ``start`` was called with last."""
        self._samples[0] += 1
        self._samples[1] += is_disturbed(sample, oversubscribed=False, typical_burst_s=math.inf)
        # Formatting takes CPU time away from the measurement, so only the last sample is formatted, at the end.
        self._sample = sample

    def _end_experiment(self) -> None:
        taken, disturbed = self._samples
        if taken:
            self._experiments[0] += 1
            self._experiments[1] += disturbed > DISTURBED * taken
        self._samples = [0, 0]
        if self._sample is not None:
            work, unit = work_of(self._sample)
            self._before = f"before: {self._text}, {quantity(work / self._sample.elapsed_s, unit)}"
        self._sample = None

    def line(self) -> str:
        """Return a line for a log, such as ``round 2, 45 of 70: Memory latency size=4MiB; at most 20 s left``.

        The numbers are the round, the experiments of the round that have begun, and the experiments of the plan; the
        latter two are left out if no experiments are planned.
        """
        progress = f", {self._count()}" if self._planned else ""
        return f"round {self._round}{progress}: {self._text}; at most {left_s(self._left_s)} s left"

    def lines(self) -> list[Text]:
        """Return two or three lines for a terminal.

        The first line has the round, a bar for the part of each area that has begun in this round, the maximum time
        left in seconds, and the number of experiments so far with more than 10 % disturbed samples. The second line has
        the current experiment. The third line, which is left out at first, has the previous experiment and the work per
        second of its last sample.
        """
        first = Text(f"round {self._round} ", no_wrap=True, overflow="ellipsis")
        for area in sorted(self._planned, key=order_of_area):
            done = round(_BAR * min(1.0, self._seen[area] / self._planned[area]))
            first.append(f" {label_of_area(area)} {'█' * done}{'░' * (_BAR - done)}")
        first.append(f"  {self._count()}" if self._planned else "")
        first.append(f"  ≤ {left_s(self._left_s)} s")
        ended, disturbed = self._experiments
        if ended:
            first.append(f"  {disturbed} of {ended} disturbed", style="yellow" if disturbed else "")
        below = [f"now: {self._text}", self._before]
        return [first, *(Text(text, style="dim", no_wrap=True, overflow="ellipsis") for text in below if text)]

    def _count(self) -> str:
        seen = self._seen.total()
        return f"{seen} of {max(seen, self._planned.total())}"


def text_of(experiment: Experiment) -> str:
    """Return the title of an experiment's probe and its parameters, or the experiment's id if it has no probe."""
    if not experiment.probe:
        return experiment.id
    return f"{probe_of(experiment.probe).title} {parameters(experiment.params)}".strip()


def left_s(estimate_s: float) -> int:
    """Return an estimate of the time left in whole seconds, rounded up and at least 1."""
    return max(1, math.ceil(estimate_s))


def work_of(sample: Sample) -> tuple[int, str]:
    """Return the work of a sample, and the unit of this work per second.

    The work is the number of floating-point operations (FLOP/s) if there are any, otherwise the number of bytes (B/s)
    if there are any, otherwise the number of other operations (op/s), which may be 0.
    """
    work = sample.work
    return next(
        ((done, unit) for done, unit in ((work.flops, "FLOP/s"), (work.bytes, "B/s")) if done), (work.ops, "op/s")
    )


def _area(experiment: Experiment) -> str:
    return probe_of(experiment.probe).area
