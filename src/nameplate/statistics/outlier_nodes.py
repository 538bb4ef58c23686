"""Find the slow nodes of a cluster from metrics that were measured on all of them. Pure functions.

A node is slow if its value is more than four robust standard deviations worse than the median of its hardware class, by
at least 3 % and by at least twice the standard error of its own value, and if this is significant with a false
discovery rate of 1 % (Benjamini and Hochberg 1995). The p-value is computed from the externally studentised residual
(Cook and Weisberg 1982, 2.2.1): the deviation from the nodes that are not outliers, leaving the node itself out. This
p-value is valid for four nodes as well as for ten thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics.benjamini_hochberg import benjamini_hochberg
from nameplate.statistics.constants import FALSE_DISCOVERY_RATE, MAD_TO_SD, MEDIAN_TO_MEAN_ERROR, MIN_CHANGE

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

MIN_NODES = 4
MIN_ROUNDS = 3
FARTHEST_Z = -4.0
MIN_SPREADS = 2.0
# A node that is further away than this is not used to judge others.
OUTLYING_Z = 5.0


@dataclass(frozen=True)
class NodeValues:
    """One metric of every node of a cluster, in all rounds.

    ``experiment`` is the id of the experiment and ``metric`` the name of the metric; both are only copied to results.
    ``values`` has a row per round and a column per node, above 0 and in the unit ``unit``, nan where a node was not
    measured. ``spread`` is the standard error of each node's value as a share of the value; with None it is estimated
    from the rounds. A node whose given spread is nan is judged by the variation between the nodes alone: each was
    measured once, so this variation includes that of the measurement. ``minimum`` and ``maximum`` have the lowest and
    highest value of each node's repeats, for display only; set both or neither. Nothing is checked.
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

    ``measured`` is the input. ``value`` is the value of a node without the drift of its class: the median over the
    rounds of the class's median, times the median of the node's ratios to the class's median. For a node that is not
    judged, ``value`` is the median of its rounds. ``gap`` is the share (0.05 is 5 %) by which ``value`` is worse than
    the median of its class, negative if it is better. ``z`` is the distance of the node from that median in robust
    standard deviations, negative if the node is worse. ``spread`` is the relative standard error of ``value``, as given
    or estimated; an estimate is nan with fewer than three rounds. ``probability`` is the p-value: the probability that
    a node like the others is at least as much worse. ``z`` is infinite if more than half of the class has exactly the
    same value and the node has a different one. ``is_slow`` is False for a node that is not judged.
    """

    measured: NodeValues
    value: Floats
    gap: Floats
    z: Floats
    spread: Floats
    probability: Floats
    is_slow: Flags


def judge(metrics: Sequence[NodeValues], classes: Sequence[str]) -> list[Judgement]:
    """Return the judgement of every node by each metric, in the order of ``metrics``.

    All metrics of a run must be judged together, since the false discovery rate is controlled over all of them.
    ``classes`` has the hardware class of each node, in the order of the columns of ``values``: nodes with the same text
    are compared with each other. Classes of fewer than four measured nodes are not judged, since it is unknown which
    node is normal. With fewer than three rounds and no given ``spread``, the variation of a node is unknown, and no
    node is slow. The module's docstring has the conditions for a slow node.
    """
    judged = [_measured(metric, np.asarray(classes)) for metric in metrics]
    if not judged:
        return []
    probabilities = np.concatenate([judged_metric.probability for judged_metric in judged])
    parts = np.split(benjamini_hochberg(probabilities, FALSE_DISCOVERY_RATE), len(judged))
    return [_decided(judged_metric, part) for judged_metric, part in zip(judged, parts, strict=True)]


def _decided(judged: Judgement, is_improbable: Flags) -> Judgement:
    spread = judged.spread if judged.measured.spread is None else np.nan_to_num(judged.spread)
    with np.errstate(invalid="ignore"):
        is_wide = judged.gap >= np.maximum(MIN_CHANGE, MIN_SPREADS * spread)
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
        members = np.flatnonzero((classes == name) & ~np.isnan(metric.values).all(axis=0))
        if len(members) < MIN_NODES:
            continue
        measured = heights[:, members][~np.isnan(heights[:, members]).all(axis=1)]
        # A drift from round to round affects all nodes, and cancels in ratios to the class's median.
        levels = np.nanmedian(measured, axis=1, keepdims=True)
        relative = measured - levels
        height = np.nanmedian(relative, axis=0)
        value[members] = np.exp((height + np.median(levels)) * (1.0 if metric.better == "higher" else -1.0))
        middle = np.median(value[members])
        gap[members] = 1 - (value[members] / middle if metric.better == "higher" else middle / value[members])
        z[members] = robust_z(height)
        probability[members] = probability_below(height, z[members])
        if metric.spread is None:
            spread[members] = _median_spread(relative)
    return Judgement(metric, value, gap, z, spread, probability, np.zeros(nodes, bool))


def _median_by_node(values: Floats) -> Floats:
    measured = ~np.isnan(values).all(axis=0)
    medians = np.full(values.shape[1], np.nan)
    medians[measured] = np.nanmedian(values[:, measured], axis=0)
    return medians


def _median_spread(rounds: Floats) -> Floats:
    """Return the standard error of the median of each column; nan if there are too few rounds."""
    count = np.sum(~np.isnan(rounds), axis=0)
    deviation = np.nanmedian(np.abs(rounds - np.nanmedian(rounds, axis=0)), axis=0)
    error = MEDIAN_TO_MEAN_ERROR * MAD_TO_SD * deviation / np.sqrt(count)
    return np.where(count >= MIN_ROUNDS, error, np.nan)


def robust_z(values: Floats) -> Floats:
    """Return the distance of each value from the median in standard deviations, negative below the median.

    ``values`` has at least one value and no nan. The standard deviation is 1.4826 times the median absolute deviation.
    If the standard deviation is 0, the distance of values other than the median is ``inf`` or ``-inf``.
    """
    away = values - np.median(values)
    scale = MAD_TO_SD * np.median(np.abs(away))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(away == 0, 0.0, away / scale)


def probability_below(values: Floats, z: Floats) -> Floats:
    """Return for each value the probability that a value like the others is at least as low.

    ``values`` have no nan, and lower values are worse. ``z`` is the result of ``robust_z`` for ``values``. Each value
    is compared by Student's t with the other values whose absolute ``z`` is at most 5; there must be at least two of
    them: the externally studentised residual of Cook and Weisberg (1982, 2.2.1).
    """
    from scipy.special import stdtr  # noqa: PLC0415 (a quarter of a second, which only this function takes)

    is_inlier = np.abs(z) <= OUTLYING_Z
    inliers = values[is_inlier]
    n_rest = len(inliers) - is_inlier.astype(float)
    mean = (inliers.sum() - np.where(is_inlier, values, 0.0)) / n_rest
    about = inliers - inliers.mean()
    squares = (about**2).sum() - np.where(is_inlier, (values - inliers.mean()) * (values - mean), 0.0)
    error = np.sqrt(np.maximum(squares, 0.0) / (n_rest - 1) * (1 + 1 / n_rest))
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(values == mean, 0.0, (values - mean) / error)
    return np.asarray(stdtr(n_rest - 1, distance))
