"""Find groups of parties that are close to each other, from the distances of their pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

# Distances within and between groups differ by at least this factor; noise makes smaller gaps.
MIN_GAP = 1.5


def find_groups(n_parties: int, distances: Sequence[tuple[int, int, float]]) -> list[list[int]]:
    """Return groups of parties such that every distance within a group is below every one between groups.

    ``distances`` has (index of one party, index of the other, distance) with indices from 0 to ``n_parties`` − 1 and
    distances above 0 in any unit. Each pair occurs at most once, and pairs may be missing. The distances are split at
    the widest gap of at least ``MIN_GAP`` (a ratio) at which the short distances connect no two parties that are far
    apart (single linkage whose clusters are cliques). Groups, and the indices in them, are in ascending order. The list
    is empty if no gap yields two groups of two or more parties: a single party that is far from all others is slow, not
    a group.
    """
    ascending = sorted({distance for *_, distance in distances})
    gaps = [(longer / shorter, shorter) for shorter, longer in pairwise(ascending) if longer >= MIN_GAP * shorter]
    for _, longest in sorted(gaps, reverse=True):
        links = [(one, other) for one, other, distance in distances if distance <= longest]
        # Two groups have at most this number of pairs. Single outliers of a large job are rejected quickly.
        if len(links) > math.comb(n_parties - 2, 2) + 1:
            continue
        group_of = _connected(n_parties, links)
        if any(distance > longest and group_of[one] == group_of[other] for one, other, distance in distances):
            continue
        groups: dict[int, list[int]] = {}
        for party, group in enumerate(group_of):
            groups.setdefault(group, []).append(party)
        if sum(len(members) > 1 for members in groups.values()) > 1:
            return list(groups.values())
    return []


def _connected(n_parties: int, links: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each party the lowest index of the parties that links connect it with (union–find)."""
    parents = list(range(n_parties))

    def root_of(party: int) -> int:
        while parents[party] != party:
            parents[party] = party = parents[parents[party]]
        return party

    for one, other in links:
        low, high = sorted((root_of(one), root_of(other)))
        parents[high] = low
    return [root_of(party) for party in range(n_parties)]
