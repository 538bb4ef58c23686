"""Compare whole runs of an unchanged machine with each other: in a row, and hours apart.

    bench/statistics/complete_runs.py FOLDER [FOLDER ...]     each folder has the run files of one series, such as
        three of `quick`

For each series, and for each two of them, it prints how many metrics agree within 3 and 10 %, and the verdicts of
`compare` on the capability, of which every FASTER or SLOWER is false unless the machine did change. The shares of
verdicts are of all metrics that both runs have, also of those without a capability. The upper 95 % bound is by
bootstrap over the pairs of runs (Efron and Tibshirani, An Introduction to the Bootstrap, 1993); pairs with a run in
common are not independent.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path

from nameplate.commands._reading import read_report
from nameplate.comparison.metric_rows import ComparisonRow
from nameplate.comparison.run_comparison import compare_runs
from nameplate.records.result import Report

CLOSE = (0.03, 0.1)
CHANGED = ("FASTER", "SLOWER")
DRAWS = 10_000


def agreement(rows: Sequence[ComparisonRow]) -> str:
    """Return the shares of the capabilities, and of the typical values, that agree within 3 and 10 %."""
    texts = []
    for name, ratios in (
        ("capability", [row.capability.ratio for row in rows if row.capability]),
        ("typical", [row.ratio for row in rows if row.ratio]),
    ):
        differences = [abs(math.log(ratio)) for ratio in ratios]
        shares = (
            sum(difference <= math.log1p(limit) for difference in differences) / len(differences) for limit in CLOSE
        )
        texts.append(f"{name} of {len(ratios)}: {' / '.join(f'{share:.0%}' for share in shares)}")
    return ", ".join(texts)


def verdict_of(row: ComparisonRow) -> str:
    """Return the verdict on the capability, or "none" without one."""
    return row.capability.verdict if row.capability else "none"


def upper_bound(pairs: Sequence[Sequence[ComparisonRow]]) -> float:
    """Return the upper 95 % bound of the share of metrics that are called FASTER or SLOWER."""
    counts = [(sum(verdict_of(row) in CHANGED for row in rows), len(rows)) for rows in pairs]
    source = random.Random(1)
    shares = []
    for _ in range(DRAWS):
        drawn = source.choices(counts, k=len(counts))
        shares.append(sum(changed for changed, _ in drawn) / sum(total for _, total in drawn))
    return sorted(shares)[int(0.95 * DRAWS)]


def print_pairs(name: str, pairs: Sequence[tuple[Report, Report]]) -> None:
    """Print what was found in pairs of runs."""
    compared = [compare_runs(base, new).rows for base, new in pairs]
    rows = [row for rows_of_pair in compared for row in rows_of_pair]
    verdicts = Counter(map(verdict_of, rows))
    print(f"{name}, {len(pairs)} pairs of runs: {agreement(rows)}")
    shares = ", ".join(f"{verdict} {count} ({count / len(rows):.1%})" for verdict, count in verdicts.most_common())
    print(f"  of {len(rows)}: {shares}; FASTER or SLOWER at most {upper_bound(compared):.1%}")
    changed = Counter(f"{row.id}, {row.metric}" for row in rows if verdict_of(row) in CHANGED)
    for metric, count in changed.most_common():
        print(f"    {count} of {metric}")


def main() -> None:
    """Print each series, and each two of them."""
    series = {path: [read_report(run) for run in sorted(Path(path).glob("*.jsonl"))] for path in sys.argv[1:]}
    if not series or min(map(len, series.values())) < 2:
        raise SystemExit(__doc__)
    for name, runs in series.items():
        print_pairs(name, list(combinations(runs, 2)))
    for (first, ours), (second, theirs) in combinations(series.items(), 2):
        print_pairs(f"{first} and {second}", list(product(ours, theirs)))


if __name__ == "__main__":
    main()
