"""Estimate what a machine delivers without interference, from samples of which some were disturbed.

Interference only ever slows a program down. The fast side of the samples therefore shows the undisturbed machine, even
if most samples were disturbed. The capability is the value that one in twenty undisturbed samples reaches: a quantile,
so that it does not depend on a single lucky sample, and so near to the fast end that samples of a busy machine still
show it. At least two rounds must reach it: a value of only one round may be luck, since a host may place the CPUs of a
guest well by chance. ``docs/decisions/2026-11-24-capability.md`` compares it with other estimators.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import NormalDist

from nameplate.statistics.student_t import student_t

# The share of the undisturbed samples that reach the capability.
REACHED_BY = 0.05
# One lucky sample or round, or one glitch of a clock, must not decide: at least this many samples, and this many
# rounds, reach the capability.
MIN_REACHING = 2
# With fewer samples, two of them are not the fast side but a good part of all.
MIN_SAMPLES = 12
# Values of whole periods vary less, and there are fewer of them.
MIN_PERIODS = 6
# With fewer rounds, their variation is not known well enough for an interval.
MIN_ROUNDS = 5
# More groups of rounds would not make the interval better, and take more time.
MAX_GROUPS = 12

# The undisturbed part is taken to be normal between these two quantiles and a third one beyond them.
_LOW, _MIDDLE, _HIGH = 0.05, 0.25, 0.95
_NORMAL = NormalDist()
_REACH = (_NORMAL.inv_cdf(_HIGH) - _NORMAL.inv_cdf(_MIDDLE)) / (_NORMAL.inv_cdf(_MIDDLE) - _NORMAL.inv_cdf(_LOW))
_MAX_DISTURBED = 0.9
_ITERATIONS = 20
_MAX_LOG = 50.0
# The variance of independent samples is taken to be at least this share of that between rounds.
_MIN_INDEPENDENT = 1e-6


@dataclass(frozen=True)
class Capability:
    """The estimated value of the undisturbed machine, with its interval.

    ``value`` and its 95 % interval ``ci`` (lower, upper) are in the unit of the samples; ``ci`` is None with fewer than
    five rounds. ``disturbed`` is the estimated share of the samples that were disturbed, from 0 to 0.9.
    """

    value: float
    ci: tuple[float, float] | None
    disturbed: float


def capability(
    rounds: Sequence[Sequence[float]], higher_is_better: bool, are_full_periods: bool = False
) -> Capability | None:
    """Return the value that one in twenty undisturbed samples reaches, or None with too few samples.

    ``rounds`` has the values of the samples of each round, all in the same unit; rounds may differ in length and be
    empty. ``higher_is_better`` is True for a rate and False for a time. With ``are_full_periods``, each value is that
    of a whole period of a limit on the machine, such as a CPU quota. At least 12 samples are needed, or 6 full periods.
    With fewer than 40 samples the result is the value that two of them reach. Samples of at least two rounds must reach
    the result, unless there is only one round.

    The share of disturbed samples is estimated from the fast side (``disturbed_share``), and the quantile of all
    samples is adjusted to it. The interval is that of the quantile of independent samples. Since the samples of a round
    are neighbours in time, the interval is widened if the jackknife variance, which leaves out one round at a time, is
    larger (Shao and Tu, The Jackknife and Bootstrap, 1995).
    """
    # Negated rates ascend from good to bad, as times do.
    slow = [sorted(-value for value in values) if higher_is_better else sorted(values) for values in rounds if values]
    if sum(map(len, slow)) < (MIN_PERIODS if are_full_periods else MIN_SAMPLES):
        return None
    estimate = _estimate(slow)
    ends = _ends(slow, estimate) if len(slow) >= MIN_ROUNDS else None
    if not higher_is_better:
        return Capability(estimate.value, ends, estimate.disturbed)
    return Capability(-estimate.value, (-ends[1], -ends[0]) if ends else None, estimate.disturbed)


@dataclass(frozen=True)
class _Estimate:
    """The capability, the share of the samples that its quantile is below, and the share that was disturbed.

    ``ordered`` has all samples, ascending. ``limit`` is the best value that two rounds reach.
    """

    ordered: Sequence[float]
    share: float
    disturbed: float
    limit: float

    @property
    def value(self) -> float:
        return max(_quantile(self.ordered, self.share), self.limit)

    def ends(self, deviation: float) -> tuple[float, float]:
        """Return the values at ``share`` less ``deviation`` and at ``share`` plus ``deviation``.

        If ``limit`` binds, neither is better than ``limit``.
        """
        fast = _quantile(self.ordered, max(0.0, self.share - deviation))
        slow = _quantile(self.ordered, min(1.0, self.share + deviation))
        is_limited = self.value == self.limit
        return (self.limit, max(slow, self.limit)) if is_limited else (fast, slow)


def _estimate(rounds: Sequence[Sequence[float]]) -> _Estimate:
    ordered = sorted(chain.from_iterable(rounds))
    disturbed = disturbed_share(ordered)
    share = max(REACHED_BY * (1 - disturbed), MIN_REACHING / len(ordered))
    limit = sorted(values[0] for values in rounds)[min(MIN_REACHING, len(rounds)) - 1]
    return _Estimate(ordered, share, disturbed, limit)


def disturbed_share(ordered: Sequence[float]) -> float:
    """Return the estimated share of disturbed samples, from 0 to 0.9.

    ``ordered`` has one or more times, or negated rates, ascending. The undisturbed samples are assumed to be normally
    distributed. Two quantiles on their fast side determine the time below which nearly all of them lie; slower samples
    are disturbed. Since the quantiles depend on the share, the share is iterated to a fixed point. A disturbance that
    is smaller than the noise of the undisturbed samples is found only in part.
    """
    disturbed = 0.0
    for _ in range(_ITERATIONS):
        low = _quantile(ordered, _LOW * (1 - disturbed))
        middle = _quantile(ordered, _MIDDLE * (1 - disturbed))
        below = bisect_right(ordered, middle + _REACH * (middle - low)) / len(ordered)
        share = min(max(0.0, 1 - below / _HIGH), _MAX_DISTURBED)
        if abs(share - disturbed) < 1e-3:
            break
        disturbed = (disturbed + share) / 2
    return disturbed


def _ends(rounds: Sequence[Sequence[float]], estimate: _Estimate) -> tuple[float, float]:
    """Return the lower and the upper end of the 95 % interval, from ascending values of each round.

    The interval of the quantile of independent samples is widened by the variation of the rounds in excess of it. The
    excess has the degrees of freedom of the rounds; those of the total are by Satterthwaite.
    """
    degrees = min(len(rounds), MAX_GROUPS) - 1
    between = _jackknife_variance(rounds)
    z = _NORMAL.inv_cdf(0.975)
    deviation = math.sqrt(estimate.share * (1 - estimate.share) / len(estimate.ordered)) * z
    least = z * math.sqrt(_MIN_INDEPENDENT * between)
    fast, slow = estimate.ends(deviation)
    fast, slow = min(fast, estimate.value - least), max(slow, estimate.value + least)
    independent = ((slow - fast) / (2 * z)) ** 2
    widening = 1.0
    if 0 < independent < between / _significant_ratio(degrees):
        excess = between - independent
        widening = math.sqrt(between / independent) * student_t((between / excess) ** 2 * degrees, 0.975) / z
    return _widened(estimate.value, fast, widening), _widened(estimate.value, slow, widening)


def _jackknife_variance(rounds: Sequence[Sequence[float]]) -> float:
    """Return the variance of the estimate, by leaving out one of up to ``MAX_GROUPS`` groups of neighbouring rounds."""
    n_groups = min(len(rounds), MAX_GROUPS)
    limits = [len(rounds) * i // n_groups for i in range(n_groups + 1)]
    rests = [_estimate([*rounds[:a], *rounds[b:]]).value for a, b in pairwise(limits)]
    middle = math.fsum(rests) / n_groups
    return (n_groups - 1) / n_groups * math.fsum((rest - middle) ** 2 for rest in rests)


def _significant_ratio(degrees: int) -> float:
    """Return the 95 % quantile of a variance with these degrees of freedom, divided by its expected value.

    It is the quantile of chi-squared divided by the degrees, by the approximation of Wilson and Hilferty (1931).
    """
    step = 2 / (9 * degrees)
    return (1 - step + _NORMAL.inv_cdf(0.95) * math.sqrt(step)) ** 3


def _widened(value: float, end: float, widening: float) -> float:
    """Return an end of an interval moved away from the value, on a logarithmic scale, so that no rate is negative."""
    if value * end <= 0:
        return value + widening * (end - value)
    return value * math.exp(min(widening * math.log(end / value), _MAX_LOG))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the value at a share of the way through ascending values, by linear interpolation."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
