"""t_s, t_w and break points, from curves whose true lines are known."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from nameplate.statistics.piecewise_linear import Lines, bound_lines, fit_lines, halve_jumps

# The grid of the study, with more sizes below 2,000 B and some that are not on the grid.
OFF_GRID = {1, 16, 64, 128, 256, 512, 768, 1250, 1500, 1750, 3333, 7777, 20480, 51111, 65536}
SIZES = sorted({*range(0, 100_001, 1000), *OFF_GRID})
STEP = 1000
ROUNDS = 6
ROUND_SPREAD = (0.99, 0.995, 0.998, 1.002, 1.005, 1.01)
# The number of curves. For a thorough test, set NAMEPLATE_MANY_CURVES=1000.
CURVES = int(os.environ.get("NAMEPLATE_MANY_CURVES", "60"))


@dataclass(frozen=True)
class Truth:
    """One line or two: t_s and t_w of each, and where the second begins."""

    lines: tuple[tuple[float, float], ...]
    position: float | None = None

    def times(self) -> Any:
        sizes = np.array(SIZES, float)
        first, last = self.lines[0], self.lines[-1]
        beyond = sizes > (self.position or np.inf)
        return np.where(beyond, last[0] + last[1] * sizes, first[0] + first[1] * sizes)


def some_truth(source: np.random.Generator, kind: str) -> Truth:
    """Return start-up times, costs per byte and breaks that are typical of clusters of the last 25 years."""
    startup, per_byte = source.uniform(20e-6, 200e-6), source.uniform(2e-9, 120e-9)
    if kind == "one line":
        return Truth(((startup, per_byte),))
    position = source.uniform(15_000, 85_000)
    before = startup + per_byte * position
    after = before * source.uniform(1.3, 2) if kind != "lines that meet" else before
    slope = per_byte * source.choice([0.4, 0.5, 2, 3]) if kind != "a jump" else per_byte
    return Truth(((startup, per_byte), (after - slope * position, slope)), position)


def measured(source: np.random.Generator, truth: Truth) -> Any:
    """Return values by size and round with 5 % of noise, of which one in a hundred is 2 to 10 times as long."""
    values = truth.times()[:, None] * (1 + 0.05 * source.standard_normal((len(SIZES), ROUNDS)))
    return np.where(source.random(values.shape) < 0.01, values * source.uniform(2, 10, values.shape), values)


def fitted(source: np.random.Generator, truth: Truth) -> Lines:
    return fit_lines(SIZES, np.median(measured(source, truth), axis=1).tolist())


@pytest.mark.parametrize(
    ("kind", "share", "within"),
    # If the lines only meet, 5 % of noise leaves the place of the break uncertain by more than a step.
    [("a jump", 0.95, STEP), ("a jump and another slope", 0.95, STEP), ("lines that meet", 0.95, 5 * STEP)],
)
def test_a_break_is_located(kind: str, share: float, within: float) -> None:
    source = np.random.default_rng(7)
    right = false = 0
    for _ in range(CURVES):
        truth = some_truth(source, kind)
        assert truth.position is not None
        errors = [abs(item.at_bytes - truth.position) for item in fitted(source, truth).breaks]
        right += bool(errors) and min(errors) <= within
        false += len(errors) > 1
    print(f"{kind}: right {right / CURVES:.1%}, more than one {false / CURVES:.1%}")
    assert right >= share * CURVES
    assert false <= 0.05 * CURVES


def efficient_share(truth: Truth) -> float:
    """Return how often the break is within a step for a fit at the Cramér–Rao bound that knows the outliers."""
    assert truth.position is not None
    (_, before), (_, after) = truth.lines
    sizes = np.array(SIZES, float)
    beyond = np.maximum(sizes - truth.position, 0)
    by_position = np.where(beyond > 0, before - after, 0)
    errors = 0.05 * truth.times() / np.sqrt(0.99 * ROUNDS)
    slopes = np.stack([np.ones_like(sizes), sizes, beyond, by_position]) / errors
    slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
    deviation = np.sqrt(np.linalg.inv(slopes @ slopes.T)[3, 3]) / np.linalg.norm(by_position / errors)
    return math.erf(STEP / deviation / math.sqrt(2))


def test_the_meeting_point_of_two_lines_is_located_nearly_optimally() -> None:
    source = np.random.default_rng(7)
    within, efficient = [], []
    for _ in range(CURVES):
        truth = some_truth(source, "lines that meet")
        actual = fitted(source, truth).breaks
        within.append(min((abs(item.at_bytes - (truth.position or 0)) for item in actual), default=math.inf) <= STEP)
        efficient.append(efficient_share(truth))
    print(f"within a step {np.mean(within):.1%}, of an efficient fit {np.mean(efficient):.1%}")
    assert np.mean(within) >= 0.85 * np.mean(efficient)


def test_one_line_has_no_break_and_its_two_costs_are_right() -> None:
    source = np.random.default_rng(8)
    false = 0
    startup_error, per_byte_error = [], []
    for _ in range(CURVES):
        truth = some_truth(source, "one line")
        lines = fitted(source, truth)
        false += bool(lines.breaks)
        startup_error.append(abs(lines.lines[0].startup_s / truth.lines[0][0] - 1))
        per_byte_error.append(abs(lines.lines[0].per_byte_s / truth.lines[0][1] - 1))
    print(f"false {false / CURVES:.1%}, t_s {np.median(startup_error):.2%}, t_w {np.median(per_byte_error):.2%}")
    assert false <= 0.05 * CURVES
    assert np.median(startup_error) < 0.02
    assert np.median(per_byte_error) < 0.01


def test_costs_on_both_sides_of_a_break_are_right() -> None:
    source = np.random.default_rng(9)
    startup_error, per_byte_error = [], []
    for _ in range(CURVES):
        truth = some_truth(source, "a jump and another slope")
        lines = fitted(source, truth)
        if len(lines.breaks) != 1:
            continue
        startup_error.append(abs(lines.lines[0].startup_s / truth.lines[0][0] - 1))
        per_byte_error += [
            abs(line.per_byte_s / per_byte - 1) for line, (_, per_byte) in zip(lines.lines, truth.lines, strict=True)
        ]
    print(f"both sides: t_s {np.median(startup_error):.2%}, t_w {np.median(per_byte_error):.2%}")
    assert len(startup_error) >= 0.9 * CURVES
    assert np.median(startup_error) < 0.02
    assert np.median(per_byte_error) < 0.01


def test_intervals_contain_the_true_values() -> None:
    source = np.random.default_rng(10)
    held = []
    for _ in range(10):
        truth = some_truth(source, "a jump and another slope")
        rounds = measured(source, truth)
        lines = fit_lines(SIZES, np.median(rounds, axis=1).tolist())
        if len(lines.breaks) != 1:
            continue
        bounds = bound_lines(SIZES, rounds.tolist(), lines)
        (startup, per_byte), _ = bounds.lines
        held += [
            startup[0] <= truth.lines[0][0] <= startup[1],
            per_byte[0] <= truth.lines[0][1] <= per_byte[1],
            bounds.breaks[0][0] <= (truth.position or 0) <= bounds.breaks[0][1],
        ]
    assert len(held) >= 24
    assert np.mean(held) >= 0.8


def test_a_cost_of_a_byte_is_never_negative() -> None:
    """This happens if small messages take the same time and noise makes the larger ones a little faster."""
    falling = [20e-6 - 1e-9 * size for size in range(0, 1000, 100)]
    rising = [19e-6 + 40e-9 * (size - 900) for size in range(1000, 21_000, 1000)]
    sizes = [*range(0, 1000, 100), *range(1000, 21_000, 1000)]
    lines = fit_lines(sizes, [*falling, *rising])
    assert len(lines.lines) > 1
    assert lines.lines[0].per_byte_s == 0
    assert all(line.per_byte_s >= 0 for line in lines.lines)
    bounds = bound_lines(sizes, [[time * spread for spread in ROUND_SPREAD] for time in (*falling, *rising)], lines)
    assert all(0 <= low <= high for interval in bounds.lines for low, high in interval)


def test_a_start_up_time_of_zero_has_an_upper_bound() -> None:
    """This happens with a token bucket: the second line would begin below zero."""
    truth = Truth(((10e-6, 40e-9), (-2.5e-3, 80e-9)), 62_750)
    noise = 1 + 0.01 * np.random.default_rng(5).standard_normal((len(SIZES), ROUNDS))
    rounds = truth.times()[:, None] * noise
    lines = fit_lines(SIZES, np.median(rounds, axis=1).tolist())
    assert lines.lines[-1].startup_s == 0
    low, high = bound_lines(SIZES, rounds.tolist(), lines).lines[-1][0]
    assert low == 0
    assert 1e-6 < high < 1e-3


def test_rounds_that_differ_as_a_whole_widen_the_intervals() -> None:
    """Three of six rounds took 30 % longer, so t_w is uncertain by 30 %."""
    truth = Truth(((20e-6, 10e-9),))
    noise = 1 + 0.01 * np.random.default_rng(6).standard_normal((len(SIZES), ROUNDS))
    rounds = truth.times()[:, None] * noise * np.array([1, 1.3, 1, 1.3, 1, 1.3])
    lines = fit_lines(SIZES, np.median(rounds, axis=1).tolist())
    low, high = bound_lines(SIZES, rounds.tolist(), lines).lines[0][1]
    assert low <= 10e-9
    assert high >= 13e-9 * 0.99


def test_a_lack_of_fit_widens_the_intervals() -> None:
    """Every round gives the same curve, which is not linear: its slope depends on the choice of sizes."""
    sizes = list(range(0, 10_000, 1000))
    times = [20e-6 + 10e-9 * size + 10e-6 * math.sin(size / 1000) for size in sizes]
    lines = fit_lines(sizes, times)
    (low, high), *_ = [per_byte for _, per_byte in bound_lines(sizes, [[time] * 6 for time in times], lines).lines]
    assert high - low > 0.1e-9


@pytest.mark.parametrize("seed", [14, 18, 24])
def test_the_uncertainty_of_a_break_widens_the_intervals_of_its_lines(seed: int) -> None:
    """With these seeds, the intervals of the lines miss the truth unless the uncertainty of the break is included."""
    truth = Truth(((20e-6, 10e-9), (20e-6 - 20_000 * 2e-9, 12e-9)), 20_000)
    source = np.random.default_rng(seed)
    rounds = truth.times()[:, None] * (1 + 0.02 * source.standard_normal((len(SIZES), ROUNDS)))
    lines = fit_lines(SIZES, np.median(rounds, axis=1).tolist())
    assert len(lines.breaks) == 1
    bounds = bound_lines(SIZES, rounds.tolist(), lines)
    assert bounds.lines[0][1][0] <= 10e-9 <= bounds.lines[0][1][1]
    assert bounds.lines[1][1][0] <= 12e-9 <= bounds.lines[1][1][1]
    assert bounds.breaks[0][0] <= 20_000 <= bounds.breaks[0][1]


def test_a_start_up_time_is_never_negative() -> None:
    lines = fit_lines(range(1000, 21_000, 1000), [1e-9 * (size - 500) for size in range(1000, 21_000, 1000)])
    assert all(line.startup_s >= 0 for line in lines.lines)


def test_the_published_curve_gives_its_published_costs() -> None:
    """The study of workstations: 181.6 µs + 0.1509 µs/B below 1,500 B, and 275.2 µs + 0.0918 µs/B above."""
    truth = Truth(((181.6e-6, 0.1509e-6), (275.2e-6, 0.0918e-6)), 1500)
    lines = fit_lines(SIZES, truth.times().tolist())
    assert len(lines.breaks) == 1
    assert 1460 <= lines.breaks[0].at_bytes <= 1750
    assert lines.lines[0].startup_s == pytest.approx(181.6e-6, rel=0.01)
    assert lines.lines[1].per_byte_s == pytest.approx(0.0918e-6, rel=0.01)


def test_few_points_give_one_line() -> None:
    assert fit_lines([0, 100, 200], [1.0, 2.0, 3.0]).breaks == ()


def test_a_jump_is_halved_down_to_the_candidates() -> None:
    """A run does this: one more size in each round, until there is no candidate between the points around the jump."""
    truth = Truth(((20e-6, 1e-9), (50e-6, 1e-9)), 20_000)
    candidates = range(64, 100_001, 64)

    def time(size: int) -> float:
        startup, per_byte = truth.lines[size > 20_000]
        return startup + per_byte * size

    known = {size: time(size) for size in SIZES}
    for _ in range(6):
        for size in halve_jumps(candidates, known):
            known[size] = time(size)
    assert max(size for size in known if size <= 20_000) == 20_000
    assert min(size for size in known if size > 20_000) == 20_032
    assert halve_jumps(candidates, known) == set()


def test_nothing_is_halved_where_lines_meet() -> None:
    truth = Truth(((20e-6, 1e-9), (0.0, 2e-9)), 20_000)
    assert halve_jumps(range(64, 100_001, 64), dict(zip(SIZES, truth.times().tolist(), strict=True))) == set()


def test_a_curve_without_values_needs_no_more_sizes() -> None:
    assert halve_jumps(SIZES, {}) == set()
