"""Measure the error rates of `compare` on recorded rounds, unchanged and with one side made 5 % worse.

    bench/statistics/compare.py [RUN.jsonl ...]     default: measure the plan quick for 200 rounds (30 minutes)

Each pair consists of two windows of rounds of the same metric of the same run, so every verdict FASTER or SLOWER is a
false positive. The second window either follows the first directly, as one run follows another, or lies anywhere later.
Each pair is tested as a family of its own, which is the weakest correction that a comparison applies. Windows overlap,
so the upper bound holds for this recording and not for all machines.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from nameplate.comparison.false_positives import upper_bound
from nameplate.records.result import Result
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.statistics.constants import MAD_TO_SD
from nameplate.statistics.two_samples import Rounds, judge

ROUNDS = 200
PAIRS = 10_000
WINDOWS = (6, 12)
LOSS = 0.05
# The highest noise at which the loss must be found: the robust relative standard deviation of the rounds.
QUIET = 0.01


def long_results(path: Path) -> list[Result]:
    """Return the results of a run that have enough rounds, one per experiment.

    An experiment counts once, since its bandwidth and its latency come from the same measurement.
    """
    first: dict[str, Result] = {}
    for result in summarise(read_run(path)).results:
        if len(result.round_values) >= 2 * max(WINDOWS) and min(result.round_values) > 0:
            first.setdefault(result.id, result)
    return list(first.values())


def windows(results: Sequence[Result], window: int, near: bool) -> Iterator[tuple[Result, int, int]]:
    """Yield random pairs of windows: the result, and the index of the first round of each window."""
    rng = np.random.default_rng(window + near)
    for _ in range(PAIRS):
        result = results[int(rng.integers(len(results)))]
        last = len(result.round_values) - window
        start = int(rng.integers(last - window + 1))
        other = start + window if near else int(rng.integers(start + window, last + 1))
        yield result, start, other


def judged(result: Result, start: int, other: int, window: int, factor: float = 1.0) -> str:
    """Return the verdict on two windows, after multiplying the values of the second by a factor."""
    base = result.round_values[start : start + window]
    new = [value * factor for value in result.round_values[other : other + window]]
    return judge([Rounds(base, new, result.better)])[0].verdict


def share(counts: Counter[str], *verdicts: str) -> str:
    """Return the share of these verdicts among all verdicts, as text."""
    return f"{sum(counts[v] for v in verdicts) / counts.total():.2%}"


def print_false_positives(results: Sequence[Result]) -> None:
    """Print how often a result was called faster or slower than itself, and which results were."""
    for window in WINDOWS:
        for near in (True, False):
            counts: Counter[str] = Counter()
            wrong: Counter[str] = Counter()
            for result, start, other in windows(results, window, near):
                verdict = judged(result, start, other, window)
                counts[verdict] += 1
                wrong[result.id] += verdict in {"FASTER", "SLOWER"}
            falses = counts["FASTER"] + counts["SLOWER"]
            bound = upper_bound(falses, PAIRS)
            print(
                f"{window} rounds against {'the next' if near else 'any later'} {window}: {falses} of {counts.total()} "
                f"pairs FASTER or SLOWER ({share(counts, 'FASTER', 'SLOWER')}, at most {bound:.2%}), "
                f"SAME {share(counts, 'SAME')}, UNSURE {share(counts, 'UNSURE')}"
            )
            for name, count in wrong.most_common(4):
                if count:
                    print(f"    {count:5d}  {name}")


def spread(values: Sequence[float]) -> float:
    """Return the robust relative standard deviation, from the median absolute deviation of the logarithms."""
    logarithms = np.log(np.asarray(values))
    return MAD_TO_SD * float(np.median(np.abs(logarithms - np.median(logarithms))))


def print_detected_losses(results: Sequence[Result]) -> None:
    """Print how often the loss was found, among the pairs whose two windows are both quiet enough."""
    window = max(WINDOWS)
    counts: Counter[str] = Counter()
    for result, start, other in windows(results, window, near=True):
        values = result.round_values
        if max(spread(values[start : start + window]), spread(values[other : other + window])) <= QUIET:
            factor = 1 - LOSS if result.better == "higher" else 1 / (1 - LOSS)
            counts[judged(result, start, other, window, factor)] += 1
    print(f"a loss of {LOSS:.0%}, noise of at most {QUIET:.0%}, {window} rounds: found in {share(counts, 'SLOWER')} of "
          f"{counts.total()} pairs, UNSURE {share(counts, 'UNSURE')}")  # fmt: skip


def main() -> None:
    """Print the rates of false positives and of losses found."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(argument) for argument in sys.argv[1:]]
        if not paths:
            paths = [Path(folder) / "run.jsonl"]
            command = ["nameplate", "run", "quick", "--rounds", str(ROUNDS), "--quiet", "-o", str(paths[0])]
            subprocess.run([sys.executable, "-m", *command], check=True)
        results = [result for path in paths for result in long_results(path)]
    print(f"{len(results)} results with {sum(len(result.round_values) for result in results)} rounds in all")
    print_false_positives(results)
    print_detected_losses(results)


if __name__ == "__main__":
    main()
