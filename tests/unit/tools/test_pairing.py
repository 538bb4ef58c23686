from __future__ import annotations

import pytest

from nameplate.tools.pairing import measure_pairs, paired_ratio


def test_pairs_alternate_their_order_and_keep_their_sides() -> None:
    called: list[str] = []

    def run(name: str) -> int:
        called.append(name)
        return len(called)

    ours, theirs = measure_pairs(3, lambda: run("a"), lambda: run("b"))
    assert called == ["a", "b", "b", "a", "a", "b"]
    assert (ours, theirs) == ([1, 4, 5], [2, 3, 6])


@pytest.mark.parametrize(
    ("ratios", "median", "ci"), [([2.0], 2.0, None), ([1, 2, 3, 4, 5, 6], 3.5, (1, 6)), ([1, 1, 9], 1.0, None)]
)
def test_a_ratio_is_the_median_of_the_pairs(ratios: list[float], median: float, ci: tuple[float, float] | None) -> None:
    found = paired_ratio(ratios)
    assert (found.median, found.ci) == (median, ci)
