"""Measure how often dips are found in simulated series, and the verdicts where they are not: docs/series.md.

python bench/statistics/series_events.py [SERIES]     default: 200 series per kind
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from nameplate.statistics.change_points import Array
from nameplate.statistics.dip_shape import DipShape
from nameplate.statistics.series_findings import Findings, find_events

Source = np.random.Generator
Base = Callable[[Source, int], Array]

PERIOD_S, LENGTH_S = 10.0, 1.0
DEPTHS = (0.0, 0.12, 0.5)
SERIES = ((0.5, 60.0), (1.0, 60.0), (1.0, 600.0))


def quiet(noise: float) -> Base:
    """Return a level with normal noise."""
    return lambda source, count: 1 + noise * source.standard_normal(count)


def bursts(share: float, smallest: float) -> Base:
    """Return a level from which a share of the intervals falls by at least the smallest loss, with a heavy tail."""

    def base(source: Source, count: int) -> Array:
        lost = np.minimum(0.95, smallest * (1 + source.pareto(1.5, count)))
        return np.where(source.random(count) < share, 1 - lost, 1.0) + 0.01 * source.standard_normal(count)

    return base


def wandering(source: Source, count: int, memory: float) -> Array:
    """Return values of an AR(1) process with the coefficient ``memory`` and normal noise."""
    values = source.standard_normal(count + 300)
    for index in range(1, len(values)):
        values[index] = memory * values[index - 1] + np.sqrt(1 - memory**2) * values[index]
    return values[300:]


BASES: dict[str, tuple[str, Base]] = {
    "quiet, 0.3 %": ("quiet", quiet(0.003)),
    "quiet, 1 %": ("quiet", quiet(0.01)),
    "normal, 5 %": ("noisy", quiet(0.05)),
    "normal, 20 %": ("noisy", quiet(0.2)),
    "bursts over 10 % in 1 of 4": ("noisy", bursts(0.25, 0.1)),
    "bursts over 30 % in 1 of 2": ("noisy", bursts(0.5, 0.3)),
    "0.06 to 6 GFLOP/s": ("noisy", lambda source, count: 6 * np.exp(-np.abs(1.5 * wandering(source, count, 0.9)))),
    "slow random drift of 15 %": ("drifting", lambda source, count: 1 + 0.15 * wandering(source, count, 0.99)),
    "line from 1 to 0.6": (
        "drifting",
        lambda source, count: np.linspace(1, 0.6, count) + 0.01 * source.standard_normal(count),
    ),
}


@dataclass
class Tally:
    """The findings in the series of one kind."""

    said: Counter[str] = field(default_factory=Counter)
    lengths_s: list[float] = field(default_factory=list)
    depths: list[float] = field(default_factory=list)

    def add(self, findings: Findings, interval_s: float) -> None:
        """Count one series: its verdict, its dips and whether their period is right."""
        self.said[findings.verdict] += 1
        self.said["levels"] += len(findings.levels) > 1
        self.said["drift"] += bool(findings.drifts)
        self.said["single"] += bool(findings.runs)
        if findings.dips is None:
            return
        shape = findings.dips.shape
        is_right = abs(shape.period * interval_s / PERIOD_S - 1) < 0.03
        self.said["dips" if is_right else "other dips"] += 1
        if is_right:
            self.lengths_s.append(shape.length * interval_s)
            self.depths.append(shape.depth)

    def row(self) -> str:
        """Return a line of the table, with the 5th, 50th and 95th percentiles of length and depth."""
        count = sum(self.said[verdict] for verdict in ("steady", "events", "too noisy"))
        kinds = ("dips", "other dips", "levels", "drift", "single", "too noisy", "steady")
        shares = " ".join(f"{self.said[kind] / count:8.1%}" for kind in kinds)
        if not self.lengths_s:
            return shares
        length, depth = (np.percentile(values, [5, 50, 95]) for values in (self.lengths_s, self.depths))
        return f"{shares}  length {'/'.join(f'{x:.2f}' for x in length)}  depth {'/'.join(f'{x:.2f}' for x in depth)}"


def tally(base: Base, interval_s: float, total_s: float, depth: float, number: int) -> Tally:
    """Simulate a number of series with dips at a random phase and return the findings in them."""
    result, count = Tally(), round(total_s / interval_s)
    for seed in range(number):
        source = np.random.default_rng(seed)
        start = source.random() * PERIOD_S / interval_s
        cover = DipShape(PERIOD_S / interval_s, start, LENGTH_S / interval_s, depth).cover(count)
        result.add(find_events(base(source, count) * (1 - depth * cover)), interval_s)
    return result


def main() -> None:
    """Print a line per base, length of series and depth of dips."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{'':52}    dips  other d.  levels    drift   single  t.noisy   steady")
    for name, (kind, base) in BASES.items():
        for interval_s, total_s in SERIES:
            for depth in DEPTHS:
                label = f"{kind}: {name}, {total_s:g} s/{interval_s:g} s, {depth:.0%}"
                print(f"{label:52}", tally(base, interval_s, total_s, depth, number).row(), flush=True)


if __name__ == "__main__":
    main()
