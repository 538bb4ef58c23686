"""Measure how often the gate of `compare` fails on an unchanged machine, and which slow-downs it finds.

    bench/statistics/gate.py

The runs are those of bench/statistics/slowdowns/recorded.jsonl with short samples. Unchanged runs of a guest are
compared in both orders, at any two times and within five blocks (about an hour). A slowed run is compared with the
unchanged run of its block. "Every metric" is the rule of `--gate all`: a metric that is SLOWER in capability, or in its
typical value without one. Rates over pairs have bounds by bootstrap over the runs (Efron and Tibshirani, An
Introduction to the Bootstrap, 1993), because pairs with a run in common are not independent.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from statistics import mean, median
from typing import TypeAlias

import msgspec
from _slowdowns import RECORDED, UNCHANGED, Line
from power import resource, verdicts
from slowdowns import side

from nameplate.comparison.gate import loss_of
from nameplate.comparison.run_to_run import MIN_LOSS, RUN_TO_RUN
from nameplate.results.cpu_time import ENOUGH_CPU
from nameplate.statistics.estimate_change import EstimatePair
from nameplate.statistics.loss_tests import Loss, area_means, detectable_loss, significant_losses

# A run: its lines by experiment.
Run: TypeAlias = Mapping[str, Line]
Rule: TypeAlias = Callable[[Run, Run], bool]

NEAR_BLOCKS = 5
DRAWS = 2000


def is_main(metric: str) -> bool:
    """Return whether the first screen of a run would show a metric of the recording."""
    return metric.endswith((" rate", " bandwidth")) or metric.startswith("memory_latency")


def losses(base: Run, new: Run) -> list[Loss]:
    """Return the losses of the main values that both runs have, and the means of their areas."""
    values = []
    for name, line in base.items():
        if name not in new or not is_main(name) or min(*line.rounds, *new[name].rounds) <= 0:
            continue
        ours, theirs = side(line), side(new[name])
        if ours.estimate is None or theirs.estimate is None or theirs.cpu_share < ENOUGH_CPU:
            continue
        kind = resource(name)
        pair = EstimatePair(ours.estimate, theirs.estimate, "lower", "", RUN_TO_RUN[kind])
        values.append(loss_of(name, name.partition("_")[0], pair, math.log1p(MIN_LOSS[kind])))
    return [*values, *area_means(values)]


def fails_gate(base: Run, new: Run) -> bool:
    """Return whether the main values fail the gate."""
    return bool(significant_losses(losses(base, new)))


def fails_for_any(base: Run, new: Run) -> bool:
    """Return whether any metric is SLOWER."""
    shared = [name for name in base if name in new and min(*base[name].rounds, *new[name].rounds) > 0]
    sides = [[side(run[name]) for name in shared] for run in (base, new)]
    return "SLOWER" in {capable or typical for capable, typical in zip(*verdicts(shared, *sides), strict=True)}


def rate(runs: Sequence[Run], pairs: Sequence[tuple[int, int]], fails: Rule) -> str:
    """Return the number of pairs that fail, with the bounds of the rate by bootstrap over the runs."""
    failed = {pair for pair in pairs if fails(runs[pair[0]], runs[pair[1]])}
    source = random.Random(1)
    shares = []
    for _ in range(DRAWS):
        weights: dict[int, int] = defaultdict(int)
        for index in source.choices(range(len(runs)), k=len(runs)):
            weights[index] += 1
        total = sum(weights[a] * weights[b] for a, b in pairs)
        shares.append(sum(weights[a] * weights[b] for a, b in failed) / total if total else 0.0)
    ordered = sorted(shares)
    bounds = f"{ordered[int(0.025 * DRAWS)]:.1%} to {ordered[int(0.975 * DRAWS)]:.1%}"
    return f"{len(failed)} of {len(pairs)}, {len(failed) / max(1, len(pairs)):.1%} ({bounds})"


def main() -> None:
    """Print the false alarms, the slow-downs that are found, and the losses that would have shown."""
    decode = msgspec.json.Decoder(Line).decode
    by_run: dict[tuple[str, int, str], dict[str, Line]] = defaultdict(dict)
    for text in RECORDED.read_bytes().splitlines():
        line = decode(text)
        if line.plan == "short_samples":
            by_run[line.recording, line.block, line.condition][line.experiment] = line
    keys = [key for key in by_run if key[2].startswith(UNCHANGED)]
    runs = [by_run[key] for key in keys]
    pairs = [pair for pair in permutations(range(len(keys)), 2) if keys[pair[0]][0] == keys[pair[1]][0]]
    near = [(a, b) for a, b in pairs if abs(keys[a][1] - keys[b][1]) <= NEAR_BLOCKS]
    rules: dict[str, Rule] = {"main values": fails_gate, "every metric": fails_for_any}
    for name, rule in rules.items():
        print(f"unchanged, {name}: {rate(runs, pairs, rule)}; within an hour {rate(runs, near, rule)}", flush=True)
    for condition in sorted({key[2] for key in by_run} - {key[2] for key in keys}):
        slowed = [(by_run[recording, block, UNCHANGED], run) for (recording, block, of), run in by_run.items()
                  if of == condition and (recording, block, UNCHANGED) in by_run]  # fmt: skip
        texts = [f"{name} {sum(rule(*pair) for pair in slowed)} of {len(slowed)}" for name, rule in rules.items()]
        print(f"{condition}: {', '.join(texts)}", flush=True)
    detectable: dict[str, list[float]] = defaultdict(list)
    for a, b in pairs:
        tests = losses(runs[a], runs[b])
        for area in {test.area for test in tests}:
            detectable[area].append(min(detectable_loss(test, len(tests)) for test in tests if test.area == area))
    texts = [f"{area} {median(sizes):.1%} ({mean(sizes):.1%})" for area, sizes in detectable.items()]
    print(f"smallest loss that shows, median (mean) over unchanged pairs: {', '.join(texts)}")


if __name__ == "__main__":
    main()
