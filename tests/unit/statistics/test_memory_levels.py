"""Levels of a memory hierarchy, from curves whose true levels are known and from a recorded guest."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from nameplate.planning.sweep import coarse
from nameplate.statistics.memory_levels import (
    Curve,
    MemoryLevel,
    find_levels,
    find_mtu,
    fragments_of,
    level_values,
    refine,
    step_across,
)
from nameplate.statistics.stats import median

KIB, MIB = 2**10, 2**20
# Eight sizes per octave, from 4 KiB to 512 MiB.
GRID = tuple(round(2 ** (12 + k / 8)) for k in range(17 * 8 + 1))
# The number of curves. For a thorough test, set NAMEPLATE_MANY_CURVES=1000.
CURVES = int(os.environ.get("NAMEPLATE_MANY_CURVES", "150"))


@dataclass(frozen=True)
class Truth:
    """The true levels: where each ends, the factor to the next one, and the length of the ramp to it, in octaves."""

    ends: Sequence[float]
    ratios: Sequence[float]
    ramps: Sequence[float]
    last_lean: float = 0.0

    @property
    def levels(self) -> int:
        return len(self.ends) + 1

    def value(self, size: float) -> float:
        """Return the latency at a size, which is 1 in the first level."""
        x = math.log2(size)
        log = sum(
            math.log(ratio) * (min(1.0, max(0.0, (x - end) / ramp)) if ramp else float(x > end))
            for end, ratio, ramp in zip(self.ends, self.ratios, self.ramps, strict=True)
        )
        start = self.ends[-1] + self.ramps[-1] if self.ends else math.log2(GRID[0])
        return math.exp(log + self.last_lean * max(0.0, x - start))


def some_truth(source: random.Random) -> Truth:
    """Return 1 to 4 levels whose ends are at least a factor of 4 apart, with plateaus of at least 3/4 octave."""
    count = source.randint(0, 3)
    ends = [0.0] * 2
    while any(after - before < 2 for before, after in pairwise(ends)):
        ends = sorted(source.uniform(14, 26) for _ in range(count))
    room = [after - before - 0.75 for before, after in pairwise([*ends, 99.0])]
    ramps = [min(source.choice([0.0, source.uniform(0, 2)]), most) for most in room]
    return Truth(ends, [source.uniform(1.5, 5) for _ in ends], ramps, math.log(source.uniform(1, 1.25)) / 3)


def measured(
    value: Callable[[float], float],
    source: random.Random,
    *,
    rounds: int = 7,
    noise: float = 0.05,
    sizes: Sequence[int] = GRID,
) -> Curve:
    """Return noisy latencies: one value in twenty, and sometimes all values of a round, are 30 % slower."""
    slow_round = source.randrange(rounds) if rounds > 5 and source.random() < 0.3 else None

    def one(size: int, index: int) -> float:
        slow = index == slow_round or source.random() < 0.05
        return value(size) * math.exp(source.gauss(0, noise)) * (1.3 if slow else 1)

    return Curve(tuple(sizes), tuple(tuple(one(size, index) for index in range(rounds)) for size in sizes))


def inverse(curve: Curve) -> Curve:
    """Return the rates that correspond to latencies."""
    return Curve(curve.size_bytes, tuple(tuple(1 / value for value in values) for values in curve.values))


def medians(curve: Curve) -> dict[int, float]:
    return {size: median(values) for size, values in zip(curve.size_bytes, curve.values, strict=True)}


def only(curve: Curve, sizes: set[int]) -> Curve:
    retained = [(size, values) for size, values in zip(curve.size_bytes, curve.values, strict=True) if size in sizes]
    return Curve(tuple(size for size, _ in retained), tuple(values for _, values in retained))


def adaptive(curve: Curve) -> Curve:
    """Return the points of a curve that remain if it is measured on the coarse grid first."""
    first = coarse(curve.size_bytes)
    return only(curve, first | refine(curve.size_bytes, medians(only(curve, first))))


def ends(levels: Sequence[MemoryLevel]) -> list[float]:
    return [level.size_bytes for level in levels if level.size_bytes is not None]


def intervals(levels: Sequence[MemoryLevel]) -> list[tuple[float, float]]:
    return [level.size_ci for level in levels if level.size_ci is not None]


@cache
def many() -> list[tuple[Truth, Curve, list[MemoryLevel]]]:
    """Return random curves, every other one of rates, with their true levels and the levels found."""
    result = []
    for seed in range(CURVES):
        source = random.Random(seed)
        truth = some_truth(source)
        curve = measured(truth.value, source, rounds=source.randint(6, 8))
        rising = seed % 2 == 0
        result.append((truth, curve, find_levels(curve if rising else inverse(curve), rising=rising)))
    return result


@pytest.mark.slow
def test_the_number_of_levels_is_right() -> None:
    right = [len(levels) == truth.levels for truth, _, levels in many()]
    assert sum(right) / len(right) >= 0.95


def test_the_intervals_of_sizes_cover_the_truth_and_the_neighbouring_sizes() -> None:
    hits = []
    for truth, curve, levels in many():
        if len(levels) == truth.levels:
            for end, size, (low, high) in zip(truth.ends, ends(levels), intervals(levels), strict=True):
                hits.append(low <= 2**end <= high)
                assert low <= max(s for s in curve.size_bytes if s <= size)
                assert high >= min(s for s in curve.size_bytes if s > size)
    assert sum(hits) / len(hits) >= 0.93


def test_values_are_those_of_the_plateaus() -> None:
    for seed in range(0, CURVES, 10):
        truth, curve, levels = many()[seed]
        for level in levels[:-1]:
            assert level.value_ci[0] <= level.value <= level.value_ci[1]
            assert level.value == pytest.approx(truth.value(math.sqrt(level.first_bytes * level.last_bytes)), rel=0.1)
            assert {level.first_bytes, level.last_bytes} <= set(curve.size_bytes)
            assert level.size_bytes is not None
            assert level.first_bytes <= level.last_bytes <= level.size_bytes
            assert level.p_value is not None
            assert level.p_value < 0.01
        assert (levels[-1].size_bytes, levels[-1].size_ci, levels[-1].p_value) == (None, None, None)
        assert all(before.last_bytes < after.first_bytes for before, after in pairwise(levels))


def test_an_adaptive_sweep_finds_the_same_levels() -> None:
    same, shares = [], []
    for truth, curve, _ in many()[::2][:40]:
        sparse = adaptive(curve)
        actual = find_levels(sparse, rising=True)
        covered = [low <= 2**end <= high for end, (low, high) in zip(truth.ends, intervals(actual), strict=False)]
        same.append(len(actual) == truth.levels and all(covered))
        shares.append(len(sparse.size_bytes) / len(curve.size_bytes))
    assert sum(same) / len(same) >= 0.95
    assert sum(shares) / len(shares) < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_sharp_steps_are_located_exactly(seed: int) -> None:
    truth = Truth([math.log2(48 * KIB), 21], [3.2, 3.6], [0, 0])
    levels = find_levels(measured(truth.value, random.Random(seed)), rising=True)
    assert len(levels) == 3
    for true, width, (low, high) in zip((48 * KIB, 2 * MIB), (1.12, 1.15), intervals(levels), strict=True):
        assert low <= true <= high
        assert high / low <= width**2


def sapphire_rapids(size: float) -> float:
    """Return the latency in nanoseconds, as measured on a guest."""
    if size <= 9 * MIB:
        return 1.7 if size <= 48 * KIB else 5.4 if size <= 2.2 * MIB else 19.5
    octaves = math.log2(size / (9 * MIB))
    return 19.5 * math.pow(49 / 19.5, min(1.0, octaves / 1.2)) * (1 + 0.05 * max(0.0, octaves - 2))


def zen4(size: float) -> float:
    """Return the latency with an L3 that rises from 13 to 25 ns, after a ramp that begins below 1 MiB."""
    if size <= 900 * KIB:
        return 1.1 if size <= 32 * KIB else 3.8
    l3 = 13 * math.pow(2, 0.21 * max(0.0, math.log2(size / (1.5 * MIB))))
    if size <= 24 * MIB:
        return 3.8 * math.pow(l3 / 3.8, min(1.0, math.log2(size / (900 * KIB)) / 0.8))
    return 25 * math.pow(100 / 25, min(1.0, math.log2(size / (24 * MIB)) / 1.5))


def random_replacement(size: float) -> float:
    """Return the latency with caches that replace lines at random, whose ramps end slowly."""
    return 1.7 + sum(
        cost * max(0.0, 1 - capacity / size) for cost, capacity in ((3.7, 48 * KIB), (14, 2 * MIB), (80, 12 * MIB))
    )


@pytest.mark.parametrize("noise", [0.003, 0.02, 0.05])
@pytest.mark.parametrize(
    ("value", "sizes"),
    [
        (sapphire_rapids, (48 * KIB, 2.2 * MIB, 9 * MIB)),
        (zen4, (32 * KIB, 900 * KIB, 24 * MIB)),
        (random_replacement, (48 * KIB, 2 * MIB, 12 * MIB)),
    ],
)
def test_shapes_of_real_machines(value: Callable[[float], float], sizes: Sequence[float], noise: float) -> None:
    levels = find_levels(measured(value, random.Random(5), noise=noise), rising=True)
    assert ends(levels) == [pytest.approx(size, rel=0.25) for size in sizes]


def uneven(value: Callable[[float], float], source: random.Random, deviation: float) -> Callable[[float], float]:
    """Return a function with noise that depends on the size only, the same in all rounds."""
    of_size: dict[float, float] = {size: math.exp(source.gauss(0, deviation)) for size in GRID}
    return lambda size: value(size) * of_size[size]


def test_parts_of_curved_ramps_are_not_levels() -> None:
    right = []
    for seed in range(30):
        source = random.Random(seed)
        value = uneven(random_replacement, source, 0.03 if seed % 3 == 0 else 0)
        right.append(len(find_levels(measured(value, source, noise=0.02 + 0.002 * seed), rising=True)) == 4)
    assert sum(right) >= 27


# Nanoseconds at 8 sizes per octave from 4 KiB, the medians of six processes on a busy Zen 4 guest: its L1 is shared
# with other work, its L3 with other guests, and its ramps have no simple shape.
GUEST = [
    1.16, 1.2, 1.18, 1.18, 1.15, 1.14, 1.17, 1.13, 1.1, 1.1, 1.12, 1.13, 1.1, 1.1, 1.1, 1.1, 1.1, 1.12, 1.19, 1.37,
    1.16, 1.3, 1.5, 2.37, 3.16, 3.81, 4.09, 3.96, 4.02, 4.22, 4.05, 4.05, 3.98, 4.04, 4.03, 4.05, 4.25, 4.14, 4.17,
    4.12, 4.26, 4.39, 4.12, 4.21, 4.12, 4.27, 4.17, 4.33, 4.66, 4.61, 4.59, 4.99, 5.31, 5.14, 5.98, 6.74, 6.75, 7.86,
    7.24, 8.53, 10.23, 9.95, 11.32, 13.67, 13.24, 13.95, 13.61, 14.48, 14.42, 14.31, 15.54, 15.55, 15.58, 15.88,
    16.11, 16.06, 16.63, 16.22, 16.04, 16.47, 17.92, 21.64, 25.28, 32.63, 142, 137, 140, 144, 143, 145, 145, 148, 151,
    151, 151, 155, 161, 159, 164, 159, 160, 160, 166, 159, 161, 164, 161, 161, 161, 165, 163, 164, 166, 166, 167, 169,
    170, 169, 173, 172, 175, 176, 174, 175, 174,
]  # fmt: skip


def test_a_busy_guest() -> None:
    curve = Curve(GRID[: len(GUEST)], tuple((value,) for value in GUEST))
    for levels in (find_levels(curve, rising=True), find_levels(adaptive(curve), rising=True)):
        assert [level.value for level in levels] == [pytest.approx(value, rel=0.1) for value in (1.1, 4.1, 15, 162)]
        l1, l2, l3 = ends(levels)
        assert 17 * KIB < l1 < 32 * KIB
        assert 130 * KIB < l2 < 420 * KIB
        assert 3.4 * MIB < l3 < 5.2 * MIB


TWO = Truth([15.3, 20.1], [3, 2.5], [0, 0.7], 0.05)


@pytest.mark.parametrize("factor", [0.6, 1.4, 3.5])
def test_single_outlying_sizes_are_not_levels(factor: float) -> None:
    for seed in range(4):
        source = random.Random(seed)
        curve = measured(TWO.value, source)
        values = list(curve.values)
        for position, count in (
            (source.randrange(2, 20), 1),
            (source.randrange(35, 60), 2),
            (source.randrange(80, 110), 2),
        ):
            for index in range(position, position + count):
                values[index] = tuple(value * factor for value in values[index])
        levels = find_levels(replace(curve, values=tuple(values)), rising=True)
        assert ends(levels) == [pytest.approx(2**end, rel=0.2) for end in TWO.ends]


def beside_a_neighbour(source: random.Random) -> Curve:
    """Return a curve of which most samples were taken while another program used 10 to 60 % of the first cache."""

    def one(size: int) -> float:
        left = 1.0 if source.random() < 0.3 else source.uniform(0.4, 0.9)
        return TWO.value(size / left if size < 100 * KIB else size) * math.exp(abs(source.gauss(0, 0.03)))

    samples = [[[one(size) for _ in range(4)] for _ in range(5)] for size in GRID]
    return Curve(
        GRID,
        tuple(tuple(map(median, rounds)) for rounds in samples),
        tuple(min(map(min, sample)) for sample in samples),
    )


def test_the_best_samples_show_the_cache_without_a_neighbour() -> None:
    complete = round(2 ** TWO.ends[0])
    for seed in range(10):
        curve = beside_a_neighbour(random.Random(seed))
        levels = find_levels(curve, rising=True)
        (low, high), _ = intervals(levels)
        assert low <= complete <= high
        assert high / low < 1.2
        typical = find_levels(replace(curve, best=()), rising=True)
        assert intervals(typical)[0][1] < complete
        assert levels[0].value == pytest.approx(typical[0].value, rel=0.02), "what a load takes is what it mostly took"
        assert levels[0].best < levels[0].value


@pytest.mark.parametrize("seed", range(8))
def test_one_round_and_few_rounds(seed: int) -> None:
    source = random.Random(seed)
    curve = measured(TWO.value, source)
    uneven = Curve(GRID, tuple(values[: source.randint(1, 7)] for values in curve.values))
    single = Curve(GRID, tuple(values[:1] for values in curve.values))
    for item in (uneven, single):
        levels = find_levels(item, rising=True)
        assert len(levels) == 3
        assert all(
            low / 1.05 <= 2**end <= high * 1.05 for end, (low, high) in zip(TWO.ends, intervals(levels), strict=True)
        )
    inside = [value for (value,) in single.values][: GRID.index(levels[0].last_bytes) + 1]
    assert levels[0].value_ci == (min(inside), max(inside))


@pytest.mark.parametrize("rising", [True, False])
def test_noise_around_a_slope_is_one_level(rising: bool) -> None:
    for seed in range(8):
        source = random.Random(seed)
        lean = Truth([], [], [], source.uniform(0, 0.1))
        curve = measured(lean.value, source, rounds=source.randint(1, 8), noise=source.uniform(0.001, 0.1))
        (level,) = find_levels(curve if rising else inverse(curve), rising=rising)
        assert (level.first_bytes, level.last_bytes) == (GRID[0], GRID[-1])


def test_a_small_step_is_not_a_level_and_a_larger_one_is() -> None:
    def level_ends(ratio: float) -> list[int]:
        truth = Truth([16, 22], [3, ratio], [0, 0])
        curves = [measured(truth.value, random.Random(seed), noise=0.02) for seed in range(10)]
        return [len(find_levels(inverse(curve), rising=False)) for curve in curves]

    assert level_ends(1.1) == [2] * 10
    assert level_ends(1.22) == [3] * 10


def test_a_step_in_the_wrong_direction_is_ignored() -> None:
    curve = measured(Truth([18], [2], [0]).value, random.Random(1))
    assert len(find_levels(curve, rising=False)) == 1


def test_a_step_within_the_noise_is_ignored() -> None:
    sizes = [2**k for k in range(12, 24)]
    curves = [measured(lambda _: 1, random.Random(s), rounds=1, noise=0.3, sizes=sizes) for s in range(50)]
    assert sum(len(find_levels(curve, rising=True)) > 1 for curve in curves) <= 3


def test_a_plateau_that_the_last_size_cuts_off() -> None:
    truth = Truth([15.3, 20.1], [3, 4], [0, 2])
    for last in (21.0, 22.0, 22.5):
        sizes = [size for size in GRID if math.log2(size) <= last]
        levels = find_levels(measured(truth.value, random.Random(3), sizes=sizes), rising=True)
        assert ends(levels) == [pytest.approx(2**end, rel=0.2) for end in truth.ends]
        assert levels[-1].last_bytes == sizes[-1]


@pytest.mark.parametrize("count", range(6))
def test_a_handful_of_sizes_is_at_most_one_level(count: int) -> None:
    curve = Curve(GRID[:count], tuple((1.0 + 2 * (index > 2),) for index in range(count)))
    levels = find_levels(curve, rising=True)
    assert [(level.first_bytes, level.last_bytes) for level in levels] == (
        [(GRID[0], GRID[count - 1])] if count else []
    )


def test_the_same_seed_gives_the_same_levels() -> None:
    curve = measured(TWO.value, random.Random(1), noise=0.15)
    assert find_levels(curve, rising=True, seed=4) == find_levels(curve, rising=True, seed=4)


def test_wrong_best_values_are_rejected() -> None:
    for best in ((1.0,), (1.0, 0.0)):
        with pytest.raises(ValueError, match="a curve"):
            Curve((1, 2), ((1.0,), (2.0,)), best)


@pytest.mark.parametrize(
    ("sizes", "values"),
    [((1, 2), ((1.0,),)), ((2, 1), ((1.0,), (1.0,))), ((0,), ((1.0,),)), ((1,), ((),)), ((1,), ((1.0, 0.0),))],
)
def test_an_invalid_curve_is_rejected(sizes: tuple[int, ...], values: tuple[tuple[float, ...], ...]) -> None:
    with pytest.raises(ValueError, match="a curve"):
        Curve(sizes, values)


LEVELS = [
    MemoryLevel(48.0 * KIB, (45.0 * KIB, 50.0 * KIB), 1.7, (1.6, 1.8), 1.7, 4 * KIB, 45 * KIB, 0.001),
    MemoryLevel(2.0 * MIB, (1.9 * MIB, 2.1 * MIB), 5.4, (5.3, 5.5), 5.4, 50 * KIB, 1900 * KIB, 0.001),
    MemoryLevel(None, None, 50, (49, 51), 50, 4 * MIB, 64 * MIB, None),
]


def test_values_of_another_curve_are_taken_well_inside_the_levels() -> None:
    sizes = (2 * KIB, 8 * KIB, 16 * KIB, 44 * KIB, 52 * KIB, 256 * KIB, 1850 * KIB, 5 * MIB, 32 * MIB, 512 * MIB)
    rates = (1.0, 90.0, 92.0, 60.0, 50.0, 40.0, 20.0, 15.0, 9.0, 8.0)
    curve = Curve(sizes, tuple((rate, rate * 1.1, rate * 0.9) for rate in rates))
    actual = level_values(LEVELS, curve)
    # With three rounds, the interval is the range of all values at 8 and 16 KiB, at 256 KiB, and at 32 and 512 MiB.
    for item, value, low, high in zip(actual, (91, 40, 8.5), (81, 36, 7.2), (101.2, 44, 9.9), strict=True):
        assert item is not None
        assert (item[0], *item[1]) == pytest.approx((value, low, high))
    assert level_values(LEVELS, only(curve, {2 * KIB, 44 * KIB, 256 * KIB})) == [None, actual[1], None]


def test_six_rounds_give_an_interval_over_rounds() -> None:
    curve = Curve((8 * KIB, 16 * KIB), ((1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 5, 26)))
    assert level_values(LEVELS, curve)[0] == (3.5, (1, 16))


def test_the_step_across_a_size() -> None:
    curve = measured(TWO.value, random.Random(2), noise=0.02)
    at_step, beside = (step_across(curve, 2**octaves) for octaves in (TWO.ends[0], 17.5))
    assert at_step is not None
    assert beside is not None
    assert at_step[1] / at_step[0] == pytest.approx(3, rel=0.05)
    assert beside[1] / beside[0] == pytest.approx(1, rel=0.05)
    assert step_across(curve, 2 * GRID[-1]) is None
    assert step_across(curve, GRID[0]) is None


def test_refining_adds_the_sizes_around_a_step_and_one_interval_before() -> None:
    sizes = list(range(1, 42))
    steps = {size: 1.0 if size <= 21 else 1.5 for size in coarse(sizes)}
    assert refine(sizes, steps) == {18, 19, 20, 22, 23, 24}
    assert refine(sizes, {size: 1.04 if size % 8 == 1 else 1.0 for size in coarse(sizes)}) == set()
    assert refine(sizes, {size: 1.5 if size == 21 else 1.0 for size in coarse(sizes)}) == set()
    assert refine(sizes, {}) == set()


def test_a_gentle_step_is_refined_by_a_lower_threshold() -> None:
    sizes = list(range(1, 42))
    values = {size: 1.0 if size <= 21 else 1.06 for size in coarse(sizes)}
    assert refine(sizes, values) == set()
    assert refine(sizes, values, threshold=0.05) == {18, 19, 20, 22, 23, 24}


PAYLOADS = list(range(512, 6145, 64))


def times(mtu: int, step: float, rounds: int = 6, seed: int = 1) -> list[list[float]]:
    """Return datagram times: each fragment after the first costs two steps, the first cut three more.

    The noise is one-sided.
    """
    source = np.random.default_rng(seed)
    return [
        [
            10.0 + 0.001 * payload
            + step * (2 * (fragments_of(payload, mtu) - 1) + 3 * (fragments_of(payload, mtu) > 1))
            + float(source.exponential(0.3))
            for _ in range(rounds)
        ]
        for payload in PAYLOADS
    ]  # fmt: skip


def test_fragments_are_counted_as_in_rfc_791() -> None:
    """RFC 791: a packet of 1,500 bytes has 1,480 bytes after its header, of which 8 in the first packet are UDP's."""
    assert [fragments_of(payload, 1500) for payload in (1, 1472, 1473, 2952, 2953, 65507)] == [1, 1, 2, 2, 3, 45]
    # 1,450 minus 20 is no multiple of eight, so only the last fragment may be full.
    assert [fragments_of(payload, 1450) for payload in (1422, 1423, 2846, 2847)] == [1, 2, 2, 3]


@pytest.mark.parametrize("mtu", [1280, 1450, 1492, 1500, 4352])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_mtu_is_found_where_fragments_cost_time(mtu: int, seed: int) -> None:
    actual = find_mtu(PAYLOADS, times(mtu, 1.0, seed=seed))
    assert actual is not None
    assert actual.interval[0] <= mtu <= actual.interval[1]
    assert actual.interval[1] - actual.interval[0] <= 64


@pytest.mark.parametrize("further", [0.0, 0.3])
def test_the_interval_contains_every_mtu_that_the_payloads_cannot_distinguish(further: float) -> None:
    """In rounds without noise, a small step at 3,008 B that is not a fragment's made the interval begin at 1,532 B."""
    payloads = range(1024, 3073, 64)
    once = [10 + 0.001 * payload + 5 * (payload > 1472) + further * (payload > 3008) for payload in payloads]
    actual = find_mtu(payloads, [[time] * 4 for time in once])
    assert actual is not None
    low, high = actual.interval
    assert low <= 1500
    assert high >= 1563
    assert high - low <= 64


@pytest.mark.parametrize("mtu", [1400, 1450, 1500, 3000, 4000])
def test_the_interval_contains_the_mtu_where_only_fragmenting_at_all_is_expensive(mtu: int) -> None:
    source = np.random.default_rng(mtu)
    cut = np.array([fragments_of(payload, mtu) > 1 for payload in PAYLOADS])
    pages = np.array(PAYLOADS) // 1024 % 3
    rounds = (10 + 5 * cut + 0.5 * pages)[:, None] + source.exponential(0.1, (len(PAYLOADS), 4))
    actual = find_mtu(PAYLOADS, rounds.tolist())
    assert actual is not None
    assert actual.interval[0] <= mtu <= actual.interval[1]


def test_payloads_that_were_disturbed_in_every_round_do_not_hide_the_mtu() -> None:
    """Measured while other programs ran: some payloads took three times as long, by more than the step itself."""
    payloads = range(1024, 3073, 64)
    disturbed = {1664: 18.1, 2176: 6.4, 2688: 5.1, 2944: 24.6}
    once = [12.5 + 8 * (payload > 1472) + disturbed.get(payload, 0.0) + payload % 5 / 5 for payload in payloads]
    actual = find_mtu(payloads, [[time] * 4 for time in once])
    assert actual is not None
    assert actual.interval == (1500, 1563)


@pytest.mark.parametrize("longer", [3.0, 7.0, 9.0])
@pytest.mark.parametrize("mtu", [1400, 1450, 1492, 1500])
def test_a_payload_before_the_step_that_was_disturbed_in_all_rounds_does_not_move_the_interval(
    mtu: int, longer: float
) -> None:
    """The payload seems to be fragmented, although it takes less or more time than fragmented ones."""
    source = np.random.default_rng(mtu)
    payloads = np.arange(1024, 3073, 64)
    cut = np.array([fragments_of(int(payload), mtu) > 1 for payload in payloads])
    once = 10 + 0.001 * payloads + 5 * cut
    once[np.flatnonzero(cut)[0] - 1] += longer
    actual = find_mtu(payloads.tolist(), (once[:, None] + source.exponential(0.15, (len(payloads), 4))).tolist())
    assert actual is not None
    assert actual.interval[0] <= mtu <= actual.interval[1]


def test_without_fragments_there_is_no_mtu() -> None:
    estimates = [find_mtu(PAYLOADS, times(65535, 1.0, seed=seed)) for seed in range(12)]
    assert sum(mtu is not None for mtu in estimates) <= 1


def test_a_step_that_chance_explains_gives_no_mtu() -> None:
    assert find_mtu(PAYLOADS, times(1500, 0.001)) is None
    assert find_mtu(PAYLOADS[:4], times(1500, 1.0)[:4]) is None
