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
from _traces import Floats, Trace, are_full_periods, load, names, with_capability
from scipy.stats import binomtest

from nameplate.comparison.doubts import is_hidden
from nameplate.comparison.run_to_run import RUN_TO_RUN, Resource
from nameplate.statistics.capability import capability
from nameplate.statistics.difference import judge_differences
from nameplate.statistics.estimate_change import Estimate, EstimatePair, usable
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
    times = [np.exp(log_times[:SAMPLES]).tolist() for log_times in rounds]
    capability_of_side = capability(times, higher_is_better=False, are_full_periods=are_full_periods(rounds))
    estimate = usable(capability_of_side.value, capability_of_side.ci, len(times)) if capability_of_side else None
    return Side(estimate, [float(np.median(log_times)) for log_times in times], cpu_share)


def slower(side: Side, size: float) -> Side:
    """Return the same measurement with every time longer by ``size``, a share."""
    factor = 1 + size
    estimate = side.estimate
    scaled = (
        Estimate(estimate.value * factor, (estimate.ci[0] * factor, estimate.ci[1] * factor), estimate.rounds)
        if estimate
        else None
    )
    return Side(scaled, [value * factor for value in side.rounds], side.cpu_share)


def resource(experiment: str) -> Resource:
    """Return what limits an experiment of a trace; none has arrays that fit the L1 cache."""
    area = experiment.partition("_")[0]
    if area == "cpu":
        return "core" if "threads=1" in experiment else "cores"
    by_area: dict[str, Resource] = {"disk": "disk", "net": "network"}
    return by_area.get(area, "memory")


def _spread(n_rounds: int) -> Iterator[slice]:
    """Yield the rounds of runs of six rounds each, at equal distances in about 50 s, as those of `quick`."""
    step = max(1, round(n_rounds / RUNS_IN_A_TRACE / ROUNDS))
    length = step * ROUNDS
    for at in range(0, n_rounds - length + 1, length):
        yield slice(at, at + length, step)


def _shares_of_runs(trace: Trace) -> list[float | None]:
    """Return the share of the CPU time that the workers of each run got; None if it is not known."""
    shares, runs = trace.cpu_shares(), _spread(len(trace.rounds()))
    return [None if shares is None else mean(shares[run]) for run in runs]


def runs_of(traces: Sequence[Trace]) -> list[list[Side]]:
    """Return the runs of each experiment of a trace."""
    shares_of_traces = [_shares_of_runs(trace) for trace in traces]
    widest = max(trace.threads for trace in traces)
    on_all_cpus = [shares for trace, shares in zip(traces, shares_of_traces, strict=True)
                   if trace.experiment.startswith("cpu") and trace.threads == widest]  # fmt: skip
    of_run = [median([share for share in at if share is not None] or [1.0]) for at in zip(*on_all_cpus, strict=False)]
    runs = []
    for trace, shares in zip(traces, shares_of_traces, strict=True):
        rounds = trace.rounds()
        is_of_core = resource(trace.experiment) == "core"
        runs.append([
            side(rounds[which], share if is_of_core and share is not None else of_run[min(position, len(of_run) - 1)])
            for position, (which, share) in enumerate(zip(_spread(len(rounds)), shares, strict=True))
        ])  # fmt: skip
    return runs


def unless_hidden(verdict: Verdict, base: Side, new: Side) -> Verdict:
    """Return a verdict on the capability, UNSURE if the worse side did not get the CPU time that it asked for."""
    return "UNSURE" if is_hidden(verdict, (base.cpu_share, new.cpu_share)) else verdict


def verdicts(experiments: Sequence[str], base: Sequence[Side], new: Sequence[Side]) -> tuple[list[str], list[str]]:
    """Return the verdicts on the capability and on what was typical; "" for a metric without a capability."""
    families = [name.partition("_")[0] for name in experiments]
    differences = [
        EstimatePair(b.estimate, n.estimate, "lower", family, RUN_TO_RUN[resource(name)]).difference()
        if b.estimate and n.estimate
        else None
        for name, family, b, n in zip(experiments, families, base, new, strict=True)
    ]
    judged = iter(judge_differences([difference for difference in differences if difference]))
    capable = [unless_hidden(next(judged).verdict, b, n) if difference else ""
               for difference, b, n in zip(differences, base, new, strict=True)]  # fmt: skip
    rounds = [Rounds(b.rounds, n.rounds, "lower", f) for b, n, f in zip(base, new, families, strict=True)]
    return capable, [difference.verdict for difference in judge(rounds)]


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
        at = [(int(first * len(run)), int(second * len(run))) for run in self.runs]
        return [run[i] for run, (i, _) in zip(self.runs, at, strict=True)], [
            run[j if j != i else (j + 1) % len(run)] for run, (i, j) in zip(self.runs, at, strict=True)
        ]


def print_rates(recorded: Recorded, area: str, size: float, pairs: int) -> None:
    """Print how often an area that is slower by ``size`` was found, and how often others were called changed."""
    source = np.random.default_rng(int(1000 * size) + AREAS.index(area))
    counts: Counter[tuple[str, bool, str]] = Counter()
    for _ in range(pairs):
        base, new = recorded.pair(source)
        changed = [name.partition("_")[0] == area for name in recorded.experiments]
        new = [slower(pair, size) if is_changed else pair for pair, is_changed in zip(new, changed, strict=True)]
        for question, verdicts_of_question in zip(
            ("capability", "typical"), verdicts(recorded.experiments, base, new), strict=True
        ):
            counts.update(
                (question, is_changed, verdict)
                for is_changed, verdict in zip(changed, verdicts_of_question, strict=True)
            )
    for question in ("capability", "typical"):
        is_changed, rest = (
            {
                verdict: count
                for (asked, is_of_change, verdict), count in counts.items()
                if asked == question and is_of_change is which
            }
            for which in (True, False)
        )
        total, wrong = sum(is_changed.values()), rest.get("SLOWER", 0) + rest.get("FASTER", 0)
        print(
            f"  {area:6} slower by {size:3.0%}, {question:10}: SLOWER {rate(is_changed.get('SLOWER', 0), total)}, "
            f"FASTER {rate(is_changed.get('FASTER', 0), total)}, SAME {is_changed.get('SAME', 0) / total:.0%}; "
            f"other areas changed {rate(wrong, sum(rest.values()))}",
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
        for area in (named_area for named_area in AREAS if named_area in there):
            for size in SIZES:
                print_rates(recorded, area, size, pairs)


if __name__ == "__main__":
    main()
