from __future__ import annotations

import pytest

from nameplate.tools.pairing import measure_pairs, middle_pair, paired_ratio


def test_pairs_alternate_their_order_and_keep_their_sides() -> None:
    called: list[str] = []

    def run(name: str) -> int:
        called.append(name)
        return len(called)

    ours, theirs = measure_pairs(3, lambda: run("a"), lambda: run("b"))
    assert called == ["a", "b", "b", "a", "a", "b"]
    assert (ours, theirs) == ([1, 4, 5], [2, 3, 6])


@pytest.mark.parametrize(
    ("ratios", "median", "ci"), [([2.0], 2.0, None), ([1, 2, 3, 12, 15, 16], 6, (1, 16)), ([1, 1, 9], 1.0, None)]
)
def test_a_ratio_is_the_median_of_the_pairs(ratios: list[float], median: float, ci: tuple[float, float] | None) -> None:
    actual = paired_ratio(ratios)
    assert actual.median == pytest.approx(median)
    assert actual.ci == ci


@pytest.mark.parametrize(
    ("ours", "theirs", "middle"),
    [
        ([5.0], [2.0], (5.0, 2.0)),
        ([10.0, 1.0, 6.0], [1.0, 2.0, 3.0], (6.0, 3.0)),  # the medians are 6 and 2, whose ratio is 3
        ([10.0, 1.0, 6.0, 8.0], [1.0, 2.0, 3.0, 1.0], (48**0.5, 3**0.5)),
    ],
)
def test_the_middle_pair_has_the_median_ratio(
    ours: list[float], theirs: list[float], middle: tuple[float, float]
) -> None:
    first, second = middle_pair(ours, theirs)
    assert (first, second) == pytest.approx(middle)
    ratio = paired_ratio([a / b for a, b in zip(ours, theirs, strict=True)]).median
    assert first / second == pytest.approx(ratio)
    inverse = paired_ratio([b / a for a, b in zip(ours, theirs, strict=True)]).median
    assert second / first == pytest.approx(inverse)


def test_a_middle_pair_needs_pairs() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        middle_pair([], [])
