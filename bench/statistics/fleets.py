"""Simulate fleets of machines, and count the healthy ones that learned ranges judge BELOW and the slow ones they find.

Healthy machines differ by 1 %, with normally distributed values, with long tails (Student's t with 5 degrees of
freedom), or skewed to the slow side (a gamma distribution). Up to one in ten is slow, by 3, 5, 10, 20 or 50 %.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nameplate.expectations.learning import FALSE_POSITIVE_RATE
from nameplate.statistics.tolerance_interval import tolerance_interval

Floats: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[np.random.Generator, int], Floats]

SPREAD = 0.01
METRICS = 12
SLOW_BY = (0.03, 0.05, 0.1, 0.2, 0.5)
LOSSES = (0.05, 0.1, 0.2)
SHAPES: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(0, SPREAD, n),
    "long tails": lambda rng, n: rng.standard_t(5, n) * SPREAD / math.sqrt(5 / 3),
    "skewed": lambda rng, n: (4 - rng.gamma(4, 1, n)) / 2 * SPREAD,
}
LATER = 2000


def simulate(draw: Draw, machines: int, slow: float, fleets: int, seed: int) -> tuple[float, list[float]]:
    """Return the shares of healthy machines that one range judges BELOW, and of slow ones that it finds, by loss."""
    rng = np.random.default_rng(seed)
    below, detected = [], []
    for _ in range(fleets):
        fleet = draw(rng, machines)
        n_slow = round(slow * machines)
        fleet[:n_slow] += np.log1p(-rng.choice(SLOW_BY, n_slow))
        interval = tolerance_interval([[math.exp(value)] for value in fleet], FALSE_POSITIVE_RATE / METRICS)
        assert interval is not None
        later = np.exp(draw(rng, LATER))
        below.append(float(np.mean(later < interval.low)))
        detected.append([float(np.mean(later * (1 - loss) < interval.low)) for loss in LOSSES])
    return float(np.mean(below)), [float(value) for value in np.mean(detected, axis=0)]


def main() -> int:
    """Print the table of all shapes and sizes, as Markdown."""
    print("| healthy values | machines | slow | false | found: 5 % | 10 % | 20 % |")
    print("|---|---|---|---|---|---|---|")
    for name, draw in SHAPES.items():
        for machines in (20, 50, 200, 1000, 5000):
            for slow in (0.0, 0.1):
                fleets = max(100, min(1000, 100_000 // machines))
                below, detected = simulate(draw, machines, slow, fleets, machines)
                shares = " | ".join(f"{share * 100:.0f} %" for share in detected)
                print(f"| {name} | {machines} | {slow * 100:.0f} % | {below * METRICS * 100:.2f} % | {shares} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
