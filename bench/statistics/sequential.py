"""Measure the error rate of looking after every round, and how soon a change is found, on simulated rounds.

    bench/statistics/sequential.py [RUNS]     default: 2000 runs of each setting

A base run has 6 or 12 rounds; the new one up to 60, and is judged after each from the fifth on. Both runs differ by the
variation between runs, and their rounds by noise. The test that holds after every round is compared with a t-test.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nameplate.statistics import sequential_test, t_test

RISK = 0.01
FIRST, LAST = 5, 60
# The rounds of the base, the variation between runs, and the noise of a round.
SETTINGS = tuple((n, *errors) for n in (6, 12) for errors in ((0, 0.01), (0, 0.05), (0.01, 0.01), (0.02, 0.05)))
CHANGE = math.log(1.1)

Test = Callable[[float, float, float], float]


def detected_after(base: NDArray[np.float64], new: NDArray[np.float64], between: float, test: Test) -> int | None:
    """Return the number of rounds after which a change is found, or None if it never is."""
    variance = float(np.var(base, ddof=1)) / len(base)
    for n_rounds in range(FIRST, len(new) + 1):
        seen = new[:n_rounds]
        error = float(np.var(seen, ddof=1)) / n_rounds
        total = variance + error + 2 * between**2
        freedom = total**2 / (variance**2 / (len(base) - 1) + error**2 / (n_rounds - 1))
        if test(float(seen.mean() - base.mean()), math.sqrt(total), freedom) <= RISK:
            return n_rounds
    return None


def main() -> None:
    """Print a line for each setting."""
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    source = np.random.default_rng(1)
    print(f"risk {RISK:.0%}, looks after each of {FIRST} to {LAST} rounds, {n_runs} runs; found without a change:")
    for n_base, between, noise in SETTINGS:
        runs = [
            (source.normal(source.normal(0, between), noise, n_base),
             source.normal(source.normal(0, between), noise, LAST))
            for _ in range(n_runs)
        ]  # fmt: skip
        tests = (sequential_test.p_value, t_test.p_value)
        wrong = [sum(detected_after(*run, between, test) is not None for run in runs) / n_runs for test in tests]
        after = [detected_after(base, new + CHANGE, between, sequential_test.p_value) for base, new in runs]
        detected = [errors for errors in after if errors is not None]
        share, middle = len(detected) / n_runs, np.median(detected) if detected else math.nan
        print(
            f"  base of {n_base:2} rounds, runs vary by {between:.0%}, rounds by {noise:.0%}: "
            f"sequential {wrong[0]:.2%}, t-test {wrong[1]:.1%}; "
            f"a change by 10 % is found in {share:.0%}, half of these within {middle:.0f} rounds",
            flush=True,
        )


if __name__ == "__main__":
    main()
