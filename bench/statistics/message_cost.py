"""Measure the coverage of the 95 % intervals of t_s, t_w and break points in simulated runs.

The results are in docs/probes/mpi_pingpong.md.

python bench/statistics/message_cost.py [CURVES]     default: 100 curves per kind
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nameplate.planning.sweep import Parameter, parse_values
from nameplate.probes.mpi_pingpong import PROBE
from nameplate.statistics.piecewise_linear import Bounds, Lines, bound_lines, fit_lines

Source = np.random.Generator
ROUNDS = 6
MBIT = 1e6 / 8
# A fitted line is compared with a true line if at least this share of its points lies on the true one.
MIN_POINTS = 0.8


@dataclass(frozen=True)
class Truth:
    """The lines (t_s, t_w) that a simulated message follows, and the sizes up to which each of them holds."""

    lines: tuple[tuple[float, float], ...]
    ends: tuple[float, ...]

    def line_of(self, sizes: Any) -> Any:
        """Return the index of the line that holds for each size."""
        return np.searchsorted(self.ends, sizes)

    def times(self, sizes: Any) -> Any:
        """Return the undisturbed time of each size."""
        startup, per_byte = np.array(self.lines).T
        line = self.line_of(sizes)
        return startup[line] + per_byte[line] * sizes


def swept_sizes() -> Any:
    """Return the message sizes of the probe's own sweep."""
    size = Parameter(name="size", type="size", summary="", default=None, automatic="", maximum=2**30)
    return np.array(sorted({int(value) for value in parse_values(size, PROBE.sweep[0].params["size"])}))


TRUTHS = {
    # The two published lines meet at 1,584 B.
    "the study: a change of slope at 1,584 B": Truth(((181.6e-6, 0.1509e-6), (275.2e-6, 0.0918e-6)), (1583.8,)),
    "eager limit: a jump at 20,000 B": Truth(((20e-6, 1e-9), (50e-6, 2e-9)), (20_000,)),
    # tbf at 100 Mbit/s: the bucket of 32 KiB refills while the answer is under way.
    "token bucket: changes of slope at 407 B and 64 KiB": Truth(
        ((10e-6, 20e-9), (1e-6, 1 / (190 * MBIT)), (-32768 / (95 * MBIT) + 0.9e-6, 1 / (95 * MBIT))),
        (407, 65_535),
    ),
}


def quiet(source: Source, times: Any, rounds: int) -> Any:
    """Return values with 2 % of noise each and 1 % per round, of which one in a hundred takes about twice as long."""
    common = 1 + 0.01 * source.standard_normal(rounds)
    values = times[:, None] * common * (1 + 0.02 * source.standard_normal((len(times), rounds)))
    return values * bursts(source, values.shape, 0.01)


def bursts(source: Source, shape: tuple[int, ...], share: float) -> Any:
    """Return factors of 1, except for a share of the values, whose factors exceed 1 by an exponential variate."""
    return 1 + np.where(source.random(shape) < share, source.exponential(1.0, shape), 0.0)


def common(source: Source, times: Any, rounds: int) -> Any:
    """Return values whose rounds differ as a whole, with a standard deviation of 10 %."""
    return quiet(source, times, rounds) * (1 + 0.1 * source.standard_normal(rounds))


def slow_rounds(source: Source, times: Any, rounds: int) -> Any:
    """Return values of which one round in four is 10 to 50 % slower as a whole."""
    slow = source.random(rounds) < 0.25
    return quiet(source, times, rounds) * np.where(slow, source.uniform(1.1, 1.5, rounds), 1.0)


def loaded_rounds(source: Source, times: Any, rounds: int) -> Any:
    """Return values of which half take longer in one round of three, with an exponential tail."""
    values = quiet(source, times, rounds)
    return values * np.where(source.random(rounds) < 1 / 3, bursts(source, values.shape, 0.5), 1.0)


def stalls(source: Source, times: Any, rounds: int) -> Any:
    """Return values of which half wait for a processor in one round of three, about 0.3 ms at every message size."""
    values = quiet(source, times, rounds)
    waits = np.where(source.random(values.shape) < 0.5, source.exponential(300e-6, values.shape), 0.0)
    return values + waits * (source.random(rounds) < 1 / 3)


NOISES: dict[str, Callable[[Source, Any, int], Any]] = {
    "quiet": quiet,
    "rounds differ by 10 %": common,
    "slow rounds": slow_rounds,
    "load in some rounds": loaded_rounds,
    "stalls in some rounds": stalls,
}


class Tally:
    """Counts how many intervals of each kind there were and how many of them contained the true value."""

    def __init__(self) -> None:
        self.held: dict[str, list[bool]] = {"t_s": [], "t_w": [], "break": []}
        self.right_number: list[bool] = []
        self.widths: list[float] = []

    def add(self, truth: Truth, sizes: Any, lines: Lines, bounds: Bounds) -> None:
        """Count one curve."""
        self.right_number.append(len(lines.lines) == len(truth.lines))
        for line, (startup, per_byte) in zip(lines.lines, bounds.lines, strict=True):
            inside = truth.line_of(sizes[(sizes >= line.first_bytes) & (sizes <= line.last_bytes)])
            modal = int(np.bincount(inside).argmax())
            if np.mean(inside == modal) >= MIN_POINTS:
                self.held["t_s"].append(startup[0] <= max(0.0, truth.lines[modal][0]) <= startup[1])
                self.held["t_w"].append(per_byte[0] <= truth.lines[modal][1] <= per_byte[1])
                self.widths.append((per_byte[1] - per_byte[0]) / 2 / truth.lines[modal][1])
        if self.right_number[-1]:
            pairs = zip(truth.ends, bounds.breaks, strict=True)
            self.held["break"] += [low <= end <= high for end, (low, high) in pairs]

    def text(self) -> str:
        """Return the counts as a line of text."""
        parts = [f"{name} {np.mean(held):6.1%} of {len(held)}" for name, held in self.held.items() if held]
        width = f"t_w typically ±{np.median(self.widths):.1%}"
        return f"{np.mean(self.right_number):4.0%} right number of lines; coverage: {', '.join(parts)}; {width}"


def simulated(truth: Truth, noise: Callable[[Source, Any, int], Any], curves: int) -> str:
    """Fit ``curves`` simulated curves and return how often their intervals contain the true values, as text."""
    sizes = swept_sizes()
    source = np.random.default_rng(1)
    tally = Tally()
    for _ in range(curves):
        values = noise(source, truth.times(sizes), ROUNDS)
        lines = fit_lines(sizes, np.median(values, axis=1))
        tally.add(truth, sizes, lines, bound_lines(sizes, values.tolist(), lines))
    return tally.text()


def main() -> None:
    """Print a line for every curve and kind of noise."""
    curves = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name, truth in TRUTHS.items():
        print(name)
        for kind, noise in NOISES.items():
            print(f"  {kind}: {simulated(truth, noise, curves)}", flush=True)


if __name__ == "__main__":
    main()
