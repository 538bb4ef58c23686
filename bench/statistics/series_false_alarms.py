"""Measure the rate of false events in long series without any, and of detected rare dips: docs/series.md.

python bench/statistics/series_false_alarms.py [SERIES]     default: 1,000 series per kind
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from series_events import Source, wandering

from nameplate.statistics.change_points import Array
from nameplate.statistics.dip_shape import DipShape
from nameplate.statistics.series_findings import Findings, find_events

STEPS = 600
NOISE = 0.03
DIPS_DEPTH = 0.12
# Period and length of the dips in steps, and the standard deviation of the noise.
DIPS = ((60.0, 1.0, 0.02), (60.0, 1.0, 0.05), (60.0, 3.0, 0.05), (30.0, 1.0, 0.05), (7.3, 1.0, 0.05))

KINDS: dict[str, Callable[[Source], Array]] = {
    "normal": lambda source: source.standard_normal(STEPS),
    "Student's t with 3 degrees of freedom": lambda source: source.standard_t(3, STEPS) / np.sqrt(3),
    "log-normal, skewed downwards": lambda source: -source.lognormal(0, 0.8, STEPS),
    "AR(1), 0.9 from step to step": lambda source: wandering(source, STEPS, 0.9),
    "AR(1), 0.99": lambda source: wandering(source, STEPS, 0.99),
    "normal and a drift of AR(1), 0.99": lambda source: source.standard_normal(STEPS) + wandering(source, STEPS, 0.99),
}


def events_of(findings: Findings) -> dict[str, bool]:
    """Return which kinds of events were found."""
    kinds = {
        "levels": len(findings.levels) > 1,
        "drifts": bool(findings.drifts),
        "dips": findings.dips is not None,
        "single": bool(findings.runs),
    }
    return kinds | {"any": any(kinds.values()), "steady": findings.verdict == "steady"}


def false_alarms(kind: Callable[[Source], Array], number: int) -> dict[str, float]:
    """Return the share of the series without events in which each kind of event was found."""
    events = [events_of(find_events(1 + NOISE * kind(np.random.default_rng(seed)))) for seed in range(number)]
    return {name: float(np.mean([event[name] for event in events])) for name in events[0]}


def detected_share(period: float, length: float, noise: float, number: int) -> float:
    """Return the share of the series in which dips are found with a period within 3 % of the true one."""
    hits = 0
    for seed in range(number):
        source = np.random.default_rng(seed)
        cover = DipShape(period, source.random() * period, length, DIPS_DEPTH).cover(STEPS)
        dips = find_events((1 + noise * source.standard_normal(STEPS)) * (1 - DIPS_DEPTH * cover)).dips
        hits += dips is not None and abs(dips.shape.period / period - 1) < 0.03
    return hits / number


def main() -> None:
    """Print a line per kind of noise, then a line per kind of dips."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name, kind in KINDS.items():
        shares = false_alarms(kind, number)
        print(f"{name:40}", "  ".join(f"{event} {share:.1%}" for event, share in shares.items()), flush=True)
    for period, length, noise in DIPS:
        share = detected_share(period, length, noise, max(1, number * 3 // 10))
        print(f"dips every {period:g} for {length:g}, noise {noise:.0%}: found {share:.1%}", flush=True)


if __name__ == "__main__":
    main()
