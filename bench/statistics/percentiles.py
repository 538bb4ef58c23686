"""Measure the coverage of the 95 % intervals of percentiles of all operations in simulated rounds.

python bench/statistics/percentiles.py [RUNS]     default: 500 runs per kind and number of rounds

The intervals of nameplate (``statistics/pooled_percentile.py``) are compared with those of the bootstrap over rounds,
both as plain percentiles of the replicates and moved outwards for few rounds (``expanded_interval``). The truth is the
percentile of very many rounds. The results are in docs/measurements/percentiles.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from nameplate.records.run_record import Histogram
from nameplate.statistics.bootstrap import expanded_interval, percentile_interval
from nameplate.statistics.pooled_percentile import percentile_interval_s
from nameplate.statistics.stats import MergedHistogram, histogram_percentile_s, merged, pooled

OPERATIONS = 500
TRUE_ROUNDS = 4000
REPLICATES = 1000
SHARES = (0.5, 0.9, 0.99)

Source = np.random.Generator
Times = NDArray[np.float64]


def independent(source: Source) -> Times:
    """Return the times in seconds of a round's operations, which are all independent."""
    return source.lognormal(-9, 0.5, OPERATIONS)


def with_levels(source: Source) -> Times:
    """Return the times of a round whose level differs from that of other rounds by about 20 %."""
    return source.lognormal(source.normal(-9, 0.2), 0.5, OPERATIONS)


def with_bursts(source: Source) -> Times:
    """Return the times of a round of which 0.2, 2 or 10 % of the operations are about seven times as slow."""
    times = source.lognormal(source.normal(-9, 0.05), 0.3, OPERATIONS)
    slow = source.random(OPERATIONS) < source.choice([0.002, 0.02, 0.1], p=[0.6, 0.3, 0.1])
    times[slow] *= source.lognormal(2, 0.5, int(slow.sum()))
    return times


def of_uneven_length(source: Source) -> Times:
    """Return the times of a round that has 44, 500 or 1,000 operations."""
    return source.lognormal(source.normal(-9, 0.1), 0.5, int(source.choice([44, OPERATIONS, 2 * OPERATIONS])))


KINDS: dict[str, Callable[[Source], Times]] = {
    "independent operations": independent,
    "levels of rounds differ by 20 %": with_levels,
    "bursts of slow operations": with_bursts,
    "rounds of 44 to 1,000 operations": of_uneven_length,
}


def histogram_of(times: Times) -> MergedHistogram:
    """Return the times in the buckets of nameplate-core."""
    counts: Counter[int] = Counter()
    for time_ns in (times * 1e9).astype(int):
        shift = max(0, int(time_ns).bit_length() - 9)
        counts[int(time_ns) >> shift << shift] += 1
    bounds = sorted(counts)
    return merged([Histogram(bounds, [counts[bound] for bound in bounds])])


def replicates(rounds: Sequence[MergedHistogram], share: float, source: Source) -> list[float]:
    """Return the percentile in resampled rounds."""
    bounds = np.array(sorted({bound for operations in rounds for bound in operations.lower_ns}))
    up_to = np.array([[operations.count_up_to(int(bound)) for bound in bounds] for operations in rounds])
    times = source.multinomial(len(rounds), [1 / len(rounds)] * len(rounds), size=REPLICATES) @ up_to
    buckets = (times >= np.ceil(share * times[:, -1:])).argmax(axis=1)
    width = [1 << max(0, int(bound).bit_length() - 9) for bound in bounds]
    middles = (bounds + (np.array(width) - 1) / 2) * 1e-9
    return list(middles[buckets])


def main() -> None:
    """Print a row for each kind of rounds, number of rounds and percentile."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    source = np.random.default_rng(56)
    print(f"{'':34}{'rounds':>7}{'':>5}  nameplate  (unknown)  bootstrap  moved out     width, bootstrap's")
    for kind, round_of in KINDS.items():
        true = np.concatenate([round_of(source) for _ in range(TRUE_ROUNDS)])
        for n_rounds in (6, 12, 30):
            covered = {share: [0, 0, 0] for share in SHARES}
            widths: dict[float, list[tuple[float, float]]] = {share: [] for share in SHARES}
            for _ in range(runs):
                rounds = [histogram_of(round_of(source)) for _ in range(n_rounds)]
                together = pooled(rounds)
                for share in SHARES:
                    truth = float(np.quantile(true, share))
                    values, estimate = replicates(rounds, share, source), histogram_percentile_s(together, share)
                    ours = percentile_interval_s(rounds, together, share)
                    moved = expanded_interval(values, estimate, n_rounds)
                    for index, interval in enumerate((ours, percentile_interval(values, estimate), moved)):
                        covered[share][index] += (
                            interval is not None and interval[0] <= truth * 1.004 and (truth <= interval[1] * 1.004)
                        )
                    if ours:
                        widths[share].append((np.log(ours[1] / ours[0]), np.log(moved[1] / moved[0])))
            for share in SHARES:
                known, rest = len(widths[share]), [100 * count / runs for count in covered[share][1:]]
                of_known = covered[share][0] / known if known else float("nan")
                width, of_bootstrap = np.median(widths[share], axis=0) if known else (float("nan"), float("nan"))
                print(
                    f"{kind:34}{n_rounds:7}  p{100 * share:<3.0f}"
                    f"{100 * of_known:9.1f} %{100 * (1 - known / runs):9.1f} %"
                    f"{rest[0]:9.1f} %{rest[1]:9.1f} %{100 * width:13.1f} %{100 * of_bootstrap:7.1f} %",
                    flush=True,
                )


if __name__ == "__main__":
    main()
