"""Measure how often `compare` finds a slowdown of known size, and how often it accuses what did not change.

    bench/statistics/power.py [PAIRS]     default: 1000 pairs for each size and area

Two runs are drawn from a recorded trace (bench/statistics/traces), each of six rounds in 50 s, at any two times. The
second one is made slower in one area by scaling its samples, as a program with more instructions or a slower disk would
be, so that both the capability and the typical value must move. All metrics are judged together, as `compare` does.
Rates have exact 95 % bounds (Clopper and Pearson 1934), which assume that pairs are independent."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

import numpy as np
from _traces import Floats, Trace, are_whole_periods, load, names, with_capability
from scipy.stats import binomtest

from nameplate.comparison.doubts import is_hidden
from nameplate.comparison.run_to_run import RUN_TO_RUN, Resource
from nameplate.statistics.capability import capability
from nameplate.statistics.capability_change import CapabilityPair, Estimate, usable
from nameplate.statistics.difference import judge_differences
from nameplate.statistics.two_samples import Rounds, judge
from nameplate.statistics.verdict import Verdict

ROUNDS = 6
SAMPLES = 60
# A trace of half an hour has room for this many runs of 50 s.
RUNS_IN_A_TRACE = 36
SIZES = (0.0, 0.05, 0.1, 0.2)
AREAS = ("cpu", "memory", "disk", "net")


@dataclass(frozen=True)
class Side:
    """One experiment in one run: the estimate of its capability, and the typical time of each round.

    ``cpu_share`` is the share of the CPU time that could be used and was got, as it bears on the experiment
    (``doubts.share_for``); 1 if it is not known.
    """

    estimate: Estimate | None
    rounds: list[float]
    cpu_share: float = 1.0


def side(rounds: Sequence[Floats], cpu_share: float) -> Side:
    """Return what a run measured, from the logarithms of the times of its samples in each round."""
    times = [np.exp(own[:SAMPLES]).tolist() for own in rounds]
    found = capability(times, higher_is_better=False, are_whole_periods=are_whole_periods(rounds))
    estimate = usable(found.value, found.ci, len(times)) if found else None
    return Side(estimate, [float(np.median(own)) for own in times], cpu_share)


def slower(side: Side, size: float) -> Side:
    """Return the same measurement with every time longer by ``size``, a share."""
    factor = 1 + size
    found = side.estimate
    scaled = (
        Estimate(found.value * factor, (found.ci[0] * factor, found.ci[1] * factor), found.rounds) if found else None
    )
    return Side(scaled, [value * factor for value in side.rounds], side.cpu_share)


def resource(experiment: str) -> Resource:
    """Return what limits an experiment of a trace; none has arrays that fit the L1 cache."""
    area = experiment.partition("_")[0]
    by_area: dict[str, Resource] = {"cpu": "core", "disk": "disk", "net": "network"}
    return by_area.get(area, "memory")


def _spread(n_rounds: int) -> Iterator[slice]:
    """Yield the rounds of runs of six rounds each, at equal distances in about 50 s, as those of `quick`."""
    step = max(1, round(n_rounds / RUNS_IN_A_TRACE / ROUNDS))
    length = step * ROUNDS
    for at in range(0, n_rounds - length + 1, length):
        yield slice(at, at + length, step)


def _own_shares(trace: Trace) -> list[float | None]:
    """Return the share of the CPU time that the workers of each run got; None if it is not known."""
    shares, runs = trace.cpu_shares(), _spread(len(trace.rounds()))
    return [None if shares is None else mean(shares[own]) for own in runs]


def runs_of(traces: Sequence[Trace]) -> list[list[Side]]:
    """Return the runs of each experiment of a trace."""
    own = [_own_shares(trace) for trace in traces]
    widest = max(trace.threads for trace in traces)
    on_all_cpus = [shares for trace, shares in zip(traces, own, strict=True)
                   if trace.experiment.startswith("cpu") and trace.threads == widest]  # fmt: skip
    of_run = [median([share for share in at if share is not None] or [1.0]) for at in zip(*on_all_cpus, strict=False)]
    found = []
    for trace, shares in zip(traces, own, strict=True):
        rounds = trace.rounds()
        is_of_core = resource(trace.experiment) == "core"
        found.append([
            side(rounds[which], share if is_of_core and share is not None else of_run[min(place, len(of_run) - 1)])
            for place, (which, share) in enumerate(zip(_spread(len(rounds)), shares, strict=True))
        ])  # fmt: skip
    return found


def unless_hidden(verdict: Verdict, base: Side, new: Side) -> Verdict:
    """Return a verdict on the capability, UNSURE if the worse side did not get the CPU time that it asked for."""
    return "UNSURE" if is_hidden(verdict, (base.cpu_share, new.cpu_share)) else verdict


def verdicts(experiments: Sequence[str], base: Sequence[Side], new: Sequence[Side]) -> tuple[list[str], list[str]]:
    """Return the verdicts on the capability and on what was typical; "" for a metric without a capability."""
    families = [name.partition("_")[0] for name in experiments]
    differences = [
        CapabilityPair(b.estimate, n.estimate, "lower", family, RUN_TO_RUN[resource(name)]).difference()
        if b.estimate and n.estimate
        else None
        for name, family, b, n in zip(experiments, families, base, new, strict=True)
    ]
    judged = iter(judge_differences([each for each in differences if each]))
    capable = [unless_hidden(next(judged).verdict, b, n) if each else ""
               for each, b, n in zip(differences, base, new, strict=True)]  # fmt: skip
    rounds = [Rounds(b.rounds, n.rounds, "lower", f) for b, n, f in zip(base, new, families, strict=True)]
    return capable, [each.verdict for each in judge(rounds)]


def rate(count: int, total: int) -> str:
    """Return a share with its exact 95 % bounds."""
    if total == 0:
        return "none"
    bounds = binomtest(count, total).proportion_ci(0.95, "exact")
    return f"{count / total:5.1%} ({bounds.low:.1%} to {bounds.high:.1%})"


@dataclass(frozen=True)
class Recorded:
    """The runs of a trace by experiment."""

    experiments: list[str]
    runs: list[list[Side]]

    def pair(self, source: np.random.Generator) -> tuple[list[Side], list[Side]]:
        """Return two runs at any two times, which are at the same times for all experiments."""
        first, second = (source.random() for _ in range(2))
        at = [(int(first * len(own)), int(second * len(own))) for own in self.runs]
        return [own[i] for own, (i, _) in zip(self.runs, at, strict=True)], [
            own[j if j != i else (j + 1) % len(own)] for own, (i, j) in zip(self.runs, at, strict=True)
        ]


def print_rates(recorded: Recorded, area: str, size: float, pairs: int) -> None:
    """Print how often an area that is slower by ``size`` was found, and how often others were called changed."""
    source = np.random.default_rng(int(1000 * size) + AREAS.index(area))
    found: Counter[tuple[str, bool, str]] = Counter()
    for _ in range(pairs):
        base, new = recorded.pair(source)
        changed = [name.partition("_")[0] == area for name in recorded.experiments]
        new = [slower(each, size) if own else each for each, own in zip(new, changed, strict=True)]
        for question, found_verdicts in zip(
            ("capability", "typical"), verdicts(recorded.experiments, base, new), strict=True
        ):
            found.update((question, own, verdict) for own, verdict in zip(changed, found_verdicts, strict=True))
    for question in ("capability", "typical"):
        own, others = (
            {
                verdict: count
                for (asked, is_own, verdict), count in found.items()
                if asked == question and is_own is which
            }
            for which in (True, False)
        )
        total, wrong = sum(own.values()), others.get("SLOWER", 0) + others.get("FASTER", 0)
        print(
            f"  {area:6} slower by {size:3.0%}, {question:10}: SLOWER {rate(own.get('SLOWER', 0), total)}, "
            f"FASTER {rate(own.get('FASTER', 0), total)}, SAME {own.get('SAME', 0) / total:.0%}; "
            f"other areas changed {rate(wrong, sum(others.values()))}",
            flush=True,
        )


def main() -> None:
    """Print the rates of each trace, area and size."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name in names():
        traces = with_capability(load(name))
        recorded = Recorded([trace.experiment for trace in traces], runs_of(traces))
        print(
            f"{name}: {math.comb(max(map(len, recorded.runs)), 2)} different pairs of runs, {pairs} drawn for each line"
        )
        there = {trace.experiment.partition("_")[0] for trace in traces}
        for area in (each for each in AREAS if each in there):
            for size in SIZES:
                print_rates(recorded, area, size, pairs)


if __name__ == "__main__":
    main()
