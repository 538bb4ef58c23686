"""Find a limit that sets in during a run, such as when the burst credits of a cloud's disk or CPU are spent.

Other programs come and go, and leave a varying rest of the resource. A limit lasts until the end of the run, and never
allows more than its rate. ``bench/statistics/capability.py limits`` counts how often traces without such a limit seem
to have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

# Below that, other programs and a clock that falls slow a machine down as steadily.
MIN_DROP = 1.3
# Fewer rounds in a row are alike by chance.
MIN_STEADY_ROUNDS = 6
# No round is better than the rate of the limit by more than this factor, and only a quarter may be worse.
STEADY_WITHIN = 1.05
_MIN_STEADY_SHARE = 0.75


def rounds_before_limit(values: Sequence[float], higher_is_better: bool) -> int:
    """Return the number of rounds before a limit set in that lasted to the end of the run; 0 without such a limit.

    ``values`` has one value per round in order of time, above 0: the total work of the round per total time (or the
    inverse), not a median, since a limit may let single samples through. ``higher_is_better`` is True for a rate and
    False for a time. A limit is found if, of the last six or more rounds, none is better than their median by more than
    5 %, and at most a quarter is worse by more than 5 %. Each earlier round must be better than that median by 30 % or
    more, except the last one of them, in which the limit may have set in.
    """
    times = [1 / value if higher_is_better else value for value in values]
    return next((n for n in range(1, len(times) - MIN_STEADY_ROUNDS + 1) if _sets_in_after(times, n)), 0)


def _sets_in_after(times: Sequence[float], n_rounds: int) -> bool:
    after = times[n_rounds:]
    # The round in which the limit sets in has a part of both.
    before = times[: n_rounds - 1] if n_rounds > 1 else times[:n_rounds]
    rate = median(after)
    if max(before) * MIN_DROP > rate or min(after) * STEADY_WITHIN < rate or times[n_rounds - 1] > rate:
        return False
    return sum(time <= rate * STEADY_WITHIN for time in after) >= _MIN_STEADY_SHARE * len(after)
