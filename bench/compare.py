"""How often `compare` is wrong: real rounds put beside each other, as they are and with one side made 5 % worse.

    bench/compare.py [RUN.jsonl ...]     default: the plan quick for 200 rounds, half an hour

Each pair is two stretches of rounds of the same metric of the same run, so every FASTER or SLOWER is false. Stretches
are neighbours (a run and the next one), or lie anywhere in the recording. Every pair is a family of its own, which is
the least that a comparison corrects for. Pairs overlap, so the bound is of this recording, not of all machines.
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
from nameplate.records.model import Result
from nameplate.results.run_file import read_run
from nameplate.results.summarise import summarise
from nameplate.statistics.constants import MAD_TO_SD
from nameplate.statistics.two_samples import Rounds, judge

ROUNDS = 200
PAIRS = 10_000
WINDOWS = (6, 12)
LOSS = 0.05
# The noise within which such a loss is to be found, as a round's robust standard deviation.
QUIET = 0.01


def results_of(path: Path) -> list[Result]:
    """Return the results with a value in every round.

    There is one per experiment, since bandwidth and its latency are one measurement.
    """
    first: dict[str, Result] = {}
    for result in summarise(read_run(path)).results:
        if len(result.round_values) >= 2 * max(WINDOWS) and min(result.round_values) > 0:
            first.setdefault(result.id, result)
    return list(first.values())


def stretches(results: Sequence[Result], window: int, near: bool) -> Iterator[tuple[Result, int, int]]:
    """Where two stretches of a metric begin, drawn at random from all."""
    rng = np.random.default_rng(window + near)
    for _ in range(PAIRS):
        result = results[int(rng.integers(len(results)))]
        last = len(result.round_values) - window
        begin = int(rng.integers(last - window + 1))
        other = begin + window if near else int(rng.integers(begin + window, last + 1))
        yield result, begin, other


def judged(result: Result, begin: int, other: int, window: int, factor: float = 1.0) -> str:
    """The verdict on two stretches, of which the second is changed by a factor."""
    base = result.round_values[begin : begin + window]
    new = [value * factor for value in result.round_values[other : other + window]]
    return judge([Rounds(base, new, result.better)])[0].verdict


def share(found: Counter[str], *verdicts: str) -> str:
    """Of all verdicts."""
    return f"{sum(found[v] for v in verdicts) / found.total():.2%}"


def report_false_positives(results: Sequence[Result]) -> None:
    """How often a metric was called faster or slower than itself, and which."""
    for window in WINDOWS:
        for near in (True, False):
            found: Counter[str] = Counter()
            wrong: Counter[str] = Counter()
            for result, begin, other in stretches(results, window, near):
                verdict = judged(result, begin, other, window)
                found[verdict] += 1
                wrong[result.id] += verdict in {"FASTER", "SLOWER"}
            n_false = found["FASTER"] + found["SLOWER"]
            bound = upper_bound(n_false, PAIRS)
            print(
                f"{window} rounds beside {window} {'next ones' if near else 'anywhere'}: {n_false} of {found.total()} "
                f"pairs FASTER or SLOWER ({share(found, 'FASTER', 'SLOWER')}, at most {bound:.2%}), "
                f"SAME {share(found, 'SAME')}, UNSURE {share(found, 'UNSURE')}"
            )
            for name, count in wrong.most_common(4):
                if count:
                    print(f"    {count:5d}  {name}")


def spread(values: Sequence[float]) -> float:
    """The robust standard deviation, relative."""
    logarithms = np.log(np.asarray(values))
    return MAD_TO_SD * float(np.median(np.abs(logarithms - np.median(logarithms))))


def report_found(results: Sequence[Result]) -> None:
    """Only where both stretches have the noise that is asked for."""
    window = max(WINDOWS)
    found: Counter[str] = Counter()
    for result, begin, other in stretches(results, window, near=True):
        values = result.round_values
        if max(spread(values[begin : begin + window]), spread(values[other : other + window])) <= QUIET:
            factor = 1 - LOSS if result.better == "higher" else 1 / (1 - LOSS)
            found[judged(result, begin, other, window, factor)] += 1
    print(f"a loss of {LOSS:.0%} within {QUIET:.0%} of noise, {window} rounds: found in {share(found, 'SLOWER')} of "
          f"{found.total()} pairs, UNSURE {share(found, 'UNSURE')}")  # fmt: skip


def main() -> None:
    """Prints the rates."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(argument) for argument in sys.argv[1:]]
        if not paths:
            paths = [Path(folder) / "run.jsonl"]
            command = ["nameplate", "run", "quick", "--rounds", str(ROUNDS), "--quiet", "-o", str(paths[0])]
            subprocess.run([sys.executable, "-m", *command], check=True)
        results = [result for path in paths for result in results_of(path)]
    print(f"{len(results)} metrics, {sum(len(result.round_values) for result in results)} rounds of them")
    report_false_positives(results)
    report_found(results)


if __name__ == "__main__":
    main()
