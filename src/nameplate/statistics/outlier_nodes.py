"""Which nodes of a cluster are slow, by figures that all of them were measured for. Pure functions.

A node is slow where its figure lies far below those of the other nodes of its hardware class: more than four robust
standard deviations, by at least 3 % and at least twice what its own figure varies by, and improbable enough, with the
share of false discoveries among all that are found held at 1 % (Benjamini, Hochberg 1995). The probability is that of
its deviation from the nodes that are no outliers, itself left out (the externally studentised residual; Cook, Weisberg
1982, 2.2.1): it holds for four nodes as for ten thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics.benjamini_hochberg import benjamini_hochberg

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

MIN_NODES = 4
MIN_ROUNDS = 3
FARTHEST_Z = -4.0
SMALLEST_GAP = 0.03
OWN_SPREADS = 2.0
FALSE_DISCOVERY_RATE = 0.01
# From so many robust standard deviations on a node is no yardstick for the others.
OUTLYING_Z = 5.0
# What makes the median of absolute deviations a standard deviation, and that of a median of a mean, for a normal
# distribution.
_MAD_TO_SD = 1.4826
_MEDIANS_ERROR = 1.2533


@dataclass(frozen=True)
class NodeFigures:
    """One metric of every node.

    ``values`` has a row for each round and a column for each node, nan where a node was not measured; ``spread`` is
    what a node's figure varies by, as a share of it, where the rounds do not tell. ``minimum`` and ``maximum`` of each
    node's repeats are shown, and nothing is judged by them.
    """

    experiment: str
    metric: str
    unit: str
    better: Literal["higher", "lower"]
    values: Floats
    spread: Floats | None = None
    minimum: Floats | None = None
    maximum: Floats | None = None


@dataclass(frozen=True)
class Judgement:
    """One metric's judgement of every node, by node; nan where there is none.

    ``value`` is what a node reaches at its class's usual level: the median over the rounds of the class's median, times
    the median of the node's ratios to it; of a node that is not judged, the median of its rounds. ``gap`` is the share
    by which ``value`` is worse than the median of those of its class, negative where it is better; ``z`` that distance
    in robust standard deviations, negative where it is worse; ``spread`` what its figure varies by, as a share of it;
    ``probability`` that of a node that is no slower than the others lying so far below them.
    """

    figures: NodeFigures
    value: Floats
    gap: Floats
    z: Floats
    spread: Floats
    probability: Floats
    is_slow: Flags


def judge(metrics: Sequence[NodeFigures], classes: Sequence[str]) -> list[Judgement]:
    """Judges every node by every metric; ``classes`` name each node's hardware.

    Classes of fewer than four nodes are not judged: nothing tells which of them is the usual one. With fewer than three
    rounds nothing tells what a node varies by, and none is slow.
    """
    judged = [_measured(figures, np.asarray(classes)) for figures in metrics]
    found = (
        benjamini_hochberg(np.concatenate([each.probability for each in judged]), FALSE_DISCOVERY_RATE)
        if judged
        else np.array([], bool)
    )
    parts = np.split(found, len(judged)) if judged else []
    return [_decided(each, part) for each, part in zip(judged, parts, strict=True)]


def _decided(judged: Judgement, is_improbable: Flags) -> Judgement:
    with np.errstate(invalid="ignore"):
        is_wide = judged.gap >= np.maximum(SMALLEST_GAP, OWN_SPREADS * judged.spread)
        is_slow = is_improbable & is_wide & (judged.z < FARTHEST_Z)
    return Judgement(judged.figures, judged.value, judged.gap, judged.z, judged.spread, judged.probability, is_slow)


def _measured(figures: NodeFigures, classes: NDArray[np.str_]) -> Judgement:
    """Everything but whether a node is slow."""
    nodes = figures.values.shape[1]
    heights = np.log(figures.values) * (1.0 if figures.better == "higher" else -1.0)
    gap, z, probability = (np.full(nodes, np.nan) for _ in range(3))
    value = _median_by_node(figures.values)
    spread = np.full(nodes, np.nan) if figures.spread is None else figures.spread
    for name in np.unique(classes):
        own = np.flatnonzero((classes == name) & ~np.isnan(figures.values).all(axis=0))
        if len(own) < MIN_NODES:
            continue
        measured = heights[:, own][~np.isnan(heights[:, own]).all(axis=1)]
        # What drifts from round to round does so for all nodes.
        levels = np.nanmedian(measured, axis=1, keepdims=True)
        relative = measured - levels
        height = np.nanmedian(relative, axis=0)
        value[own] = np.exp((height + np.median(levels)) * (1.0 if figures.better == "higher" else -1.0))
        gap[own] = _behind(value[own], figures.better)
        z[own] = robust_z(height)
        probability[own] = probability_below(height, z[own])
        if figures.spread is None:
            spread[own] = _median_spread(relative)
    return Judgement(figures, value, gap, z, spread, probability, np.zeros(nodes, bool))


def _behind(values: Floats, better: str) -> Floats:
    """Return the share of the median's speed that each value lacks."""
    middle = np.median(values)
    return np.asarray(1 - (values / middle if better == "higher" else middle / values))


def _median_by_node(values: Floats) -> Floats:
    measured = ~np.isnan(values).all(axis=0)
    found = np.full(values.shape[1], np.nan)
    found[measured] = np.nanmedian(values[:, measured], axis=0)
    return found


def _median_spread(rounds: Floats) -> Floats:
    """The standard deviation of the median of each column; nan where too few rounds tell it."""
    count = np.sum(~np.isnan(rounds), axis=0)
    deviation = np.nanmedian(np.abs(rounds - np.nanmedian(rounds, axis=0)), axis=0)
    error = _MEDIANS_ERROR * _MAD_TO_SD * deviation / np.sqrt(count)
    return np.where(count >= MIN_ROUNDS, error, np.nan)


def robust_z(values: Floats) -> Floats:
    """Distances from the median in standard deviations, as the median of absolute deviations gives them."""
    away = values - np.median(values)
    scale = _MAD_TO_SD * np.median(np.abs(away))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(away == 0, 0.0, away / scale)


def probability_below(values: Floats, z: Floats) -> Floats:
    """Of each value, that one drawn from where the others were lies so low: Student's t of its distance from them.

    Outliers by ``z`` are left out of the others.
    """
    from scipy.special import stdtr  # noqa: PLC0415 (a quarter of a second, which only this function takes)

    is_usual = np.abs(z) <= OUTLYING_Z
    usual = values[is_usual]
    others = len(usual) - is_usual.astype(float)
    mean = (usual.sum() - np.where(is_usual, values, 0.0)) / others
    about = usual - usual.mean()
    squares = (about**2).sum() - np.where(is_usual, (values - usual.mean()) * (values - mean), 0.0)
    error = np.sqrt(np.maximum(squares, 0.0) / (others - 1) * (1 + 1 / others))
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(values == mean, 0.0, (values - mean) / error)
    return np.asarray(stdtr(others - 1, distance))
