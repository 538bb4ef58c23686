"""Measure how often a step or a drift is found in simulated histories with and without one: docs/history.md.

python bench/statistics/trends.py [SERIES]     default: 600 series per kind
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from nameplate.statistics.trends import Drift, Floats, find_trend

Source = np.random.Generator
RUNS = (8, 12, 20, 50, 200)
STEP, DRIFT = math.log(1.06), math.log(1.1)
WANDERING = 0.7


def wandering(source: Source, runs: int) -> Floats:
    """Return values of an AR(1) process with the coefficient ``WANDERING`` and normal noise."""
    values = source.standard_normal(runs)
    for run in range(1, runs):
        values[run] += WANDERING * values[run - 1]
    return values * math.sqrt(1 - WANDERING**2)


NOISES: dict[str, Callable[[Source, int], Floats]] = {
    "normal": lambda source, runs: source.standard_normal(runs),
    "heavy tail": lambda source, runs: source.standard_t(2, runs) / 1.5,
    "two modes": lambda source, runs: source.standard_normal(runs) - 4 * (source.random(runs) < 0.3),
    "wandering": wandering,
}


def finds(logs: Floats, at: int | None = None) -> bool:
    """Return whether a step is found within one run of ``at``, or without ``at`` whether any step or drift is found."""
    trend = find_trend(np.exp(logs), np.arange(len(logs), dtype=np.float64))
    if at is None:
        return bool(trend)
    return isinstance(trend, list) and any(abs(step.at - at) <= 1 for step in trend)


def rates(noise: Callable[[Source, int], Floats], spread: float, runs: int, series: int) -> str:
    """Return the rates of false and of correct findings as a line of text."""
    source = np.random.default_rng(runs)
    wrong = sum(finds(spread * noise(source, runs)) for _ in range(series))
    steps = drifts = 0
    for _ in range(series):
        at = int(source.integers(3, runs - 2))
        logs = spread * noise(source, runs)
        logs[at:] -= STEP
        steps += finds(logs, at)
        falling = spread * noise(source, runs) - np.linspace(0, DRIFT, runs)
        drifts += isinstance(find_trend(np.exp(falling), np.arange(runs, dtype=np.float64)), Drift)
    text = f"step of 6 % {steps / series:4.0%}  drift of 10 % {drifts / series:4.0%}"
    return f"{runs:5} runs: false {wrong / series:6.2%}  {text}"


def main() -> None:
    """Print the rates for every kind of noise, at 0.5 % and at 2 %."""
    series = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    for spread in (0.005, 0.02):
        for name, noise in NOISES.items():
            print(f"{name}, {spread:.1%}")
            for runs in RUNS:
                print(rates(noise, spread, runs, series), flush=True)


if __name__ == "__main__":
    main()
