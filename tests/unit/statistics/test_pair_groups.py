"""Groups of parties that are close to each other."""

from __future__ import annotations

from itertools import combinations

import pytest

from nameplate.statistics.pair_groups import find_groups


def distances(levels: dict[int, float], n_parties: int, furthest: float) -> list[tuple[int, int, float]]:
    """Return the distances of parties that share blocks of these sizes, with some noise."""
    return [
        (one, other, next((d for size, d in levels.items() if one // size == other // size), furthest) + one * 1e-3)
        for one, other in combinations(range(n_parties), 2)
    ]


@pytest.mark.parametrize("blocks", [2, 3, 8])
def test_blocks_are_found(blocks: int) -> None:
    groups = find_groups(4 * blocks, distances({4: 1.0}, 4 * blocks, 3.0))
    assert groups == [list(range(4 * block, 4 * block + 4)) for block in range(blocks)]


def test_of_two_levels_the_one_with_the_wider_gap_counts() -> None:
    assert len(find_groups(16, distances({4: 1.0, 8: 2.0}, 16, 8.0))) == 2
    assert len(find_groups(16, distances({4: 1.0, 8: 4.0}, 16, 8.0))) == 4


def test_groups_need_not_be_neighbours_and_pairs_may_be_missing() -> None:
    pairs = [(a, b, 1.0 if a % 2 == b % 2 else 5.0) for a, b in combinations(range(6), 2) if (a, b) != (0, 2)]
    assert find_groups(6, pairs) == [[0, 2, 4], [1, 3, 5]]


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [(a, b, 1.0 + 0.1 * a) for a, b in combinations(range(6), 2)],  # even
        [(a, b, 5.0 if 3 in (a, b) else 1.0) for a, b in combinations(range(6), 2)],  # one slow party
        [(a, b, 5.0 if (a, b) == (2, 3) else 1.0) for a, b in combinations(range(6), 2)],  # one slow link
        [(a, b, float(b - a)) for a, b in combinations(range(6), 2)],  # a chain
    ],
)
def test_without_groups_none_is_made_up(pairs: list[tuple[int, int, float]]) -> None:
    assert find_groups(6, pairs) == []
