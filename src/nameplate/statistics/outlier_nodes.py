"""Find the slow nodes of a cluster from metrics that were measured on all of them. Pure functions.

A node is slow if its value is more than four robust standard deviations below that of the other nodes of its hardware
class, by at least 3 % and by at least twice the standard error of its own value, and if this is significant with a
false discovery rate of 1 % (Benjamini and Hochberg 1995). The p-value is that of the externally studentised residual
(Cook and Weisberg 1982, 2.2.1): the deviation from the nodes that are not outliers, leaving the node itself out. It
holds for four nodes as well as for ten thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics.benjamini_hochberg import benjamini_hochberg
from nameplate.statistics.constants import FALSE_DISCOVERY_RATE, MAD_TO_SD, MIN_CHANGE

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

MIN_NODES = 4
MIN_ROUNDS = 3
FARTHEST_Z = -4.0
OWN_SPREADS = 2.0
# A node that is further away than this is not used to judge others.
OUTLYING_Z = 5.0
# For a normal distribution: standard error of a median / that of a mean.
_MEDIANS_ERROR = 1.2533


@dataclass(frozen=True)
class NodeValues:
    """One metric of every node of a cluster, in all rounds.

    ``experiment`` and ``metric`` are names, returned unchanged. ``values`` has a row per round and a column per node,
    above 0 and in the unit ``unit``, nan where a node was not measured. ``spread`` is the standard error of each node's
    value as a share of it; None means that it is estimated from the rounds. ``minimum`` and ``maximum`` have the lowest
    and highest value of each node's repeats. They are only shown, and are set both or neither. Nothing is checked.
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
    """The judgement of every node by one metric; arrays are by node, nan where there is no judgement.

    ``value`` is what a node reaches at its class's usual level: the median over the rounds of the class's median, times
    the median of the node's ratios to it. For a node that is not judged it is the median of its rounds. ``gap`` is the
    share by which ``value`` is worse than the median of its class, negative if it is better. ``z`` is the distance of
    the node from that median in robust standard deviations, with the opposite sign: negative if it is worse. ``spread``
    is the relative standard error of ``value``, as given or estimated; an estimate is nan with fewer than three rounds.
    ``probability`` is the p-value: the probability that a node like the others is at least as far below them. ``z`` is
    infinite if more than half of the class has exactly the same value and the node another one. ``is_slow`` is False
    for a node that is not judged.
    """

    measured: NodeValues
    value: Floats
    gap: Floats
    z: Floats
    spread: Floats
    probability: Floats
    is_slow: Flags


def judge(metrics: Sequence[NodeValues], classes: Sequence[str]) -> list[Judgement]:
    """Return the judgement of every node by each metric, in the order of ``metrics``; empty for no metrics.

    All metrics of a run must be judged together, since the false discovery rate is that of all of them. ``classes`` has
    the hardware class of each node, in the order of the columns of ``values``: nodes with the same text are compared
    with each other. Classes of fewer than four measured nodes are not judged, since nothing tells which node is normal.
    With fewer than three rounds and no given ``spread`` the variation of a node is not known, and none is called slow.
    The module's docstring has the conditions for a slow node.
    """
    judged = [_measured(metric, np.asarray(classes)) for metric in metrics]
    found = (
        benjamini_hochberg(np.concatenate([each.probability for each in judged]), FALSE_DISCOVERY_RATE)
        if judged
        else np.array([], bool)
    )
    parts = np.split(found, len(judged)) if judged else []
    return [_decided(each, part) for each, part in zip(judged, parts, strict=True)]


def _decided(judged: Judgement, is_improbable: Flags) -> Judgement:
    with np.errstate(invalid="ignore"):
        is_wide = judged.gap >= np.maximum(MIN_CHANGE, OWN_SPREADS * judged.spread)
        is_slow = is_improbable & is_wide & (judged.z < FARTHEST_Z)
    return Judgement(judged.measured, judged.value, judged.gap, judged.z, judged.spread, judged.probability, is_slow)


def _measured(metric: NodeValues, classes: NDArray[np.str_]) -> Judgement:
    """Return the judgement of every node, except whether it is slow."""
    nodes = metric.values.shape[1]
    heights = np.log(metric.values) * (1.0 if metric.better == "higher" else -1.0)
    gap, z, probability = (np.full(nodes, np.nan) for _ in range(3))
    value = _median_by_node(metric.values)
    spread = np.full(nodes, np.nan) if metric.spread is None else metric.spread
    for name in np.unique(classes):
        own = np.flatnonzero((classes == name) & ~np.isnan(metric.values).all(axis=0))
        if len(own) < MIN_NODES:
            continue
        measured = heights[:, own][~np.isnan(heights[:, own]).all(axis=1)]
        # A drift from round to round affects all nodes, and cancels in ratios to the class's median.
        levels = np.nanmedian(measured, axis=1, keepdims=True)
        relative = measured - levels
        height = np.nanmedian(relative, axis=0)
        value[own] = np.exp((height + np.median(levels)) * (1.0 if metric.better == "higher" else -1.0))
        gap[own] = _behind(value[own], metric.better)
        z[own] = robust_z(height)
        probability[own] = probability_below(height, z[own])
        if metric.spread is None:
            spread[own] = _median_spread(relative)
    return Judgement(metric, value, gap, z, spread, probability, np.zeros(nodes, bool))


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
    """Return the standard error of the median of each column; nan if there are too few rounds."""
    count = np.sum(~np.isnan(rounds), axis=0)
    deviation = np.nanmedian(np.abs(rounds - np.nanmedian(rounds, axis=0)), axis=0)
    error = _MEDIANS_ERROR * MAD_TO_SD * deviation / np.sqrt(count)
    return np.where(count >= MIN_ROUNDS, error, np.nan)


def robust_z(values: Floats) -> Floats:
    """Return the distance of each value from the median in standard deviations, negative below the median.

    ``values`` has at least one value and no nan. The standard deviation is 1.4826 times the median absolute deviation.
    If that is 0, values other than the median are infinitely far away (``inf`` or ``-inf``).
    """
    away = values - np.median(values)
    scale = MAD_TO_SD * np.median(np.abs(away))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(away == 0, 0.0, away / scale)


def probability_below(values: Floats, z: Floats) -> Floats:
    """Return for each value the probability that a value like the others is at least as low.

    ``values`` are such that lower is worse, without nan, and ``z`` are their distances as ``robust_z`` returns them.
    Each value is compared with the others that have an absolute ``z`` of at most 5, of which at least two must remain,
    by Student's t: the externally studentised residual of Cook and Weisberg (1982, 2.2.1).
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
