"""Compare estimators of what a machine is capable of, on recorded traces and on samples with a known truth.

python bench/statistics/capability.py [traces] [sampling] [halves] [limits] [synthetic]     default: all

From each trace, runs are drawn as a quick run would take its samples. Two runs of one trace differ only by chance and
interference, so an estimator is the better the more of them agree. The truth of synthetic samples is known: it gives
the bias of the estimators, and the coverage of the interval.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from _traces import Floats, Trace, are_full_periods, load, names, with_capability
from scipy.stats import norm

from nameplate.statistics.capability import REACHED_BY, capability
from nameplate.statistics.paired_change import capability_of_round
from nameplate.statistics.spent_burst import rounds_before_limit

ROUNDS = 6
# Within these shares, two values agree.
NEAR = (0.03, 0.10)
# A round of the traces takes 2.4 s.
ROUNDS_IN_A_MINUTE = 24
MIXTURE_STEPS = 60
# Rounds of runs of about a minute.
RUN_LENGTHS = (7, 10, 15, 24)
# Two variants of a round need samples enough for a tenth of each half.
MIN_HALVED, PAIRED_ROUNDS = 24, 12

Rounds = Sequence[Floats]
Estimator = Callable[[Rounds], float]


def _pooled(share: float) -> Estimator:
    return lambda rounds: float(np.quantile(np.concatenate(rounds), share))


def _best_mean(share: float) -> Estimator:
    def estimate(rounds: Rounds) -> float:
        ordered = np.sort(np.concatenate(rounds))
        return float(ordered[: max(2, int(share * len(ordered)))].mean())

    return estimate


def half_sample_mode(rounds: Rounds) -> float:
    """Return the mode by halving the samples to the densest half (Robertson and Cryer 1974)."""
    values = np.sort(np.concatenate(rounds))
    while len(values) > 3:
        half = (len(values) + 1) // 2
        first = int(np.argmin(values[half - 1 :] - values[: len(values) - half + 1]))
        values = values[first : first + half]
    return float(np.median(values))


def mixture(rounds: Rounds) -> float:
    """Return the middle of the clean part of a normal distribution and a wider one above it, fitted by EM."""
    values = np.concatenate(rounds)
    middle, width, share = float(np.quantile(values, 0.1)), float(np.std(values)) / 3 + 1e-6, 0.5
    scale = float(np.mean(values)) - middle + 1e-6
    for _ in range(MIXTURE_STEPS):
        clean = share * norm.pdf(values, middle, width)
        excess = np.maximum(values - middle, 0)
        slow = (1 - share) * np.where(values > middle, np.exp(-excess / scale) / scale, 1e-12)
        weight = clean / (clean + slow + 1e-300)
        share = float(np.clip(weight.mean(), 0.01, 0.99))
        middle = float(np.average(values, weights=weight + 1e-12))
        width = max(1e-5, float(np.sqrt(np.average((values - middle) ** 2, weights=weight + 1e-12))))
        scale = max(1e-5, float(np.average(excess, weights=1 - weight + 1e-12)))
    return middle


def capability_of(rounds: Rounds) -> float:
    """Return the logarithm of nameplate's capability."""
    estimate = capability([np.exp(values).tolist() for values in rounds], False, are_full_periods(rounds))
    return float(np.log(estimate.value)) if estimate else float("nan")


ESTIMATORS: dict[str, Estimator] = {
    "median of the round medians": lambda rounds: float(np.median([np.median(samples) for samples in rounds])),
    "10 % quantile": _pooled(0.10),
    "5 % quantile": _pooled(0.05),
    "2 % quantile": _pooled(0.02),
    "best": _pooled(0.0),
    "mean of the best 5 %": _best_mean(0.05),
    "second best of the round bests": lambda rounds: float(np.sort([samples.min() for samples in rounds])[1]),
    "median of the round 10 % quantiles": lambda rounds: float(np.median([np.quantile(e, 0.1) for e in rounds])),
    "half-sample mode": half_sample_mode,
    "mixture": mixture,
    "capability": capability_of,
}


def _undisturbed(trace: Trace) -> Trace:
    """Return the samples of a trace without evidence of a disturbance: flags, or a burst more than 3 % too long."""
    typical = np.quantile(trace.burst, 0.1)
    clean = (trace.flags == 0) & (trace.burst < typical + 0.03)
    return Trace(trace.experiment, trace.slowness[clean], trace.round[clean], trace.burst[clean], trace.flags[clean])


def _runs(trace: Trace) -> list[Rounds]:
    """Return runs of six neighbouring rounds each."""
    rounds = [values for values in trace.rounds() if len(values)]
    return [rounds[at : at + ROUNDS] for at in range(0, len(rounds) - ROUNDS + 1, ROUNDS)]


def agreement(traces: Sequence[Trace], estimate: Estimator) -> dict[str, tuple[float, ...]]:
    """Return the median difference of two runs and the shares that agree within ``NEAR``, by area and for all."""
    by_area: dict[str, list[float]] = {}
    for trace in traces:
        values = [estimate(run) for run in _runs(trace)]
        differences = [abs(a - b) for a, b in combinations(values, 2)]
        by_area.setdefault(trace.experiment.split("_")[0], []).extend(differences)
    by_area["all"] = [recorded for traces_of_area in by_area.values() for recorded in traces_of_area]
    return {
        area: (
            float(np.median(differences_of_area)),
            *(float(np.mean(np.asarray(differences_of_area) <= np.log1p(near))) for near in NEAR),
        )
        for area, differences_of_area in by_area.items()
        if differences_of_area
    }


def compare_on_traces() -> None:
    """Print for each trace and estimator how well two runs agree, by area: within 3 % / within 10 %."""
    for name in names():
        traces = with_capability(load(name))
        n_runs = max(len(_runs(trace)) for trace in traces)
        n_rounds = len(_runs(traces[0])[0])
        print(f"\n{name}: {n_runs} runs of {n_rounds} rounds")
        rows = [(label, traces, estimate) for label, estimate in ESTIMATORS.items()]
        clean = [_undisturbed(trace) for trace in traces]
        rows += [(f"undisturbed: {label}", clean, ESTIMATORS[label]) for label in ("median of the round medians",
                                                                                   "5 % quantile")]  # fmt: skip
        for label, which, estimate in rows:
            agreed = agreement(which, estimate)
            if not agreed:  # under a quota every sample was stopped
                print(f"  {label:46} none")
                continue
            middle, *shares = agreed.pop("all")
            areas = "  ".join(f"{area} {near:.0%}/{far:.0%}" for area, (_, near, far) in agreed.items())
            print(f"  {label:46} {middle:6.1%}  {shares[0]:4.0%} {shares[1]:4.0%}   {areas}", flush=True)


def _merged(rounds: Rounds, length: int) -> Rounds:
    """Return rounds in which ``length`` samples of equal work are one."""
    return [
        np.log(np.exp(values[: len(values) // length * length]).reshape(-1, length).mean(1))
        for values in rounds
        if len(values) >= length
    ]


def _spread(trace: Trace, n_rounds: int, n_samples: int) -> list[Rounds]:
    """Return runs of a minute with ``n_rounds`` rounds at equal distances, and the first samples of each."""
    rounds = [values for values in trace.rounds() if len(values)]
    in_a_minute = ROUNDS_IN_A_MINUTE
    starts = range(0, len(rounds) - in_a_minute + 1, in_a_minute)
    places = np.linspace(0, in_a_minute - 1, n_rounds).round().astype(int)
    return [[rounds[start + index][:n_samples] for index in places] for start in starts]


# In words, the rounds of a run of a minute, the samples of 1 ms in each, and how many of them are one.
SAMPLINGS = (
    *(
        (f"{n} rounds of {samples} samples of 1 ms", n, samples, 1)
        for n in (6, 12, ROUNDS_IN_A_MINUTE)
        for samples in (5, 10, 30, 60)
    ),
    *((f"6 rounds, samples of {length} ms", 6, 60, length) for length in (2, 5, 10)),
)


def compare_sampling() -> None:
    """Print how well the capability agrees with longer samples, and with samples spread over more rounds."""
    for name in names():
        traces = load(name)
        if any(are_full_periods(trace.rounds()) for trace in traces):
            continue
        print(f"\n{name}: two runs of a minute agree within 3 % / 10 %")
        for label, n_rounds, n_samples, length in SAMPLINGS:
            near: list[float] = []
            for trace in traces:
                estimates = [capability_of(_merged(run, length)) for run in _spread(trace, n_rounds, n_samples)]
                near += [abs(a - b) for a, b in combinations(estimates, 2)]
            shares = [float(np.mean(np.asarray(near) <= np.log1p(limit))) for limit in NEAR]
            print(f"  {label:38} {np.nanmedian(near):6.1%}  {shares[0]:4.0%} {shares[1]:4.0%}", flush=True)


# The ratio of two variants, from the logarithms of the times of each round.
PAIRED: dict[str, Callable[[Rounds, Rounds], float]] = {
    "capabilities of all rounds": lambda base, new: capability_of(new) - capability_of(base),
    "round medians, mean": lambda base, new: float(np.mean(_differences(base, new, np.median))),
    "round 10 % quantiles, mean": lambda base, new: float(np.mean(_differences(base, new, _fast_tenth))),
    "round 10 % quantiles, median": lambda base, new: float(np.median(_differences(base, new, _fast_tenth))),
}


def _differences(base: Rounds, new: Rounds, value: Callable[[Floats], float]) -> list[float]:
    return [value(b) - value(a) for a, b in zip(base, new, strict=True)]


def _fast_tenth(samples: Floats) -> float:
    return capability_of_round(samples.tolist(), "lower")


def compare_halves() -> None:
    """Print the median error of the ratio of two variants without a difference: the halves of the same rounds."""
    for name in names():
        ratios: dict[tuple[str, str], list[float]] = {}
        for trace in load(name):
            rounds = [values for values in trace.rounds() if len(values) >= MIN_HALVED]
            for at in range(0, len(rounds) - PAIRED_ROUNDS + 1, PAIRED_ROUNDS):
                run = rounds[at : at + PAIRED_ROUNDS]
                base, new = (
                    [values[: len(values) // 2] for values in run],
                    [values[len(values) // 2 :] for values in run],
                )
                for label, estimate in PAIRED.items():
                    key = (label, trace.experiment.split("_")[0])
                    ratios.setdefault(key, []).append(abs(estimate(base, new)))
        if not ratios:  # under a quota samples are long, and a round has few
            print(f"\n{name}: no round has the {MIN_HALVED} samples that its halves need")
            continue
        print(f"\n{name}: median error of the ratio after {PAIRED_ROUNDS} rounds")
        for (label, area), errors in sorted(ratios.items()):
            print(f"  {label:30} {area:8} {np.median(errors):7.2%}", flush=True)


def count_limits() -> None:
    """Print how often a limit of disk or network is found that does not exist, in runs of neighbouring rounds."""
    print("\nexperiments with disk and network in which a limit seems to set in")
    for name in names():
        traces = [trace for trace in load(name) if trace.experiment.startswith(("disk_", "net_"))]
        means_of_traces = [
            np.asarray([np.exp(values).mean() for values in trace.rounds() if len(values)]) for trace in traces
        ]
        shares = []
        for n_rounds in RUN_LENGTHS:
            runs = [
                means[at : at + n_rounds] for means in means_of_traces for at in range(0, len(means) - n_rounds + 1, 2)
            ]
            n_limited = sum(rounds_before_limit(run.tolist(), higher_is_better=False) > 0 for run in runs)
            shares.append(f"{n_rounds} rounds: {n_limited / len(runs):.2%} of {len(runs)}")
        print(f"  {name:16} {'  '.join(shares)}", flush=True)


def bursts(source: np.random.Generator, shape: tuple[int, int], share: float, length: float) -> Floats:
    """Return 1 for disturbed samples and 0 for others: a Markov chain in each round, in bursts of a mean length."""
    disturbed = np.zeros(shape)
    disturbed[:, 0] = source.random(shape[0]) < share
    leaves, enters = 1 / length, share / (1 - share) / length
    chance = source.random(shape)
    for i in range(1, shape[1]):
        disturbed[:, i] = np.where(disturbed[:, i - 1] > 0, chance[:, i] >= leaves, chance[:, i] < enters)
    return disturbed


def check_coverage(repeats: int = 1000) -> None:
    """Print the coverage of the interval, and the bias in units of the clean noise, for synthetic samples."""
    source = np.random.default_rng(1)
    noise = 0.01
    print("\nsynthetic samples: coverage of the 95 % interval / bias in standard deviations / width in these")
    for n_rounds, n_samples in ((6, 20), (6, 60), (12, 60)):
        for length, size in ((1, 0.3), (10, 0.3), (10, 0.03), (60, 0.3)):
            line = []
            for share in (0.0, 0.1, 0.2, 0.4):
                held, bias, width = 0, 0.0, 0.0
                for _ in range(repeats):
                    values = source.normal(1, noise, (n_rounds, n_samples))
                    values += bursts(source, values.shape, share, length) * source.exponential(size, values.shape)
                    estimate = capability(values.tolist(), higher_is_better=False)
                    assert estimate is not None
                    assert estimate.ci is not None
                    truth = 1 + noise * float(norm.ppf(REACHED_BY))
                    held += estimate.ci[0] <= truth <= estimate.ci[1]
                    bias += (estimate.value - truth) / noise / repeats
                    width += (estimate.ci[1] - estimate.ci[0]) / noise / repeats
                line.append(f"{share:3.0%}: {held / repeats:.3f} {bias:+.2f} {width:.2f}")
            print(f"  {n_rounds} x {n_samples}, bursts of {length:2}, +{size:4.0%}   " + "   ".join(line), flush=True)


def main() -> None:
    """Run the comparisons asked for."""
    asked = sys.argv[1:] or ["traces", "sampling", "halves", "limits", "synthetic"]
    if "synthetic" in asked:
        check_coverage()
    if "traces" in asked:
        compare_on_traces()
    if "sampling" in asked:
        compare_sampling()
    if "halves" in asked:
        compare_halves()
    if "limits" in asked:
        count_limits()


if __name__ == "__main__":
    main()
