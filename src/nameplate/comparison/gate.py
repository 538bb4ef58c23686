"""Decide whether a machine became worse, from the main values of two runs.

A comparison has hundreds of metrics. If each of them could fail a gate, an unchanged machine would fail it often: a
maximum, a percentile of few operations, or a point of a latency curve at the edge of a cache moves from run to run.
Only the main values decide, which are the values on the first screen. Their capabilities are compared, because a
typical value also moves with what else runs. ``statistics/loss_tests.py`` has the tests.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import groupby
from statistics import mean
from typing import NamedTuple

import msgspec

from nameplate.comparison.doubts import doubt_about
from nameplate.comparison.metric_rows import ComparisonRow, MetricPair
from nameplate.comparison.run_to_run import MIN_LOSS
from nameplate.probes import probe_of
from nameplate.probes.interface.screen_line import ScreenLine, preference
from nameplate.records.plan_record import Value
from nameplate.statistics.constants import MIN_CHANGE
from nameplate.statistics.estimate_change import EstimatePair
from nameplate.statistics.loss_tests import MIN_FREEDOM, Loss, area_means, detectable_loss, significant_losses
from nameplate.statistics.verdict import Verdict

NO_CAPABILITY = (
    "no main value has a capability in both runs, and typical values do not decide (they do with --gate all)"
)


class AreaLoss(msgspec.Struct, frozen=True):
    """A loss that shows in the mean of the values of an area: ``loss`` is a share, 0.05 for 5 % more time per work."""

    area: str
    loss: float


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on the machine in two runs, and what it rests on.

    - ``verdict``: SLOWER if a main value, or the mean of an area's main values, is worse; FASTER if one is better and
      none is worse; SAME if every main value is the SAME; INCOMPARABLE if none can be compared; otherwise UNSURE
    - ``reason``: why the machine is not judged, "" if it is
    - ``values``: the number of main values whose capabilities were compared
    - ``area_losses``: the areas whose mean is worse although no main value of the area is SLOWER
    - ``detectable``: for each area, the smallest loss that these runs would have shown with a probability of 80 %, as a
      share (0.05 is 5 % more time for the same work)
    """

    verdict: Verdict
    reason: str
    values: int
    area_losses: list[AreaLoss]
    detectable: dict[str, float]


def main_pairs(pairs: Sequence[MetricPair]) -> list[MetricPair]:
    """Return the pairs that decide, which are the values on the first screens of both runs.

    If no line of an area fits, the first metric of each of its experiments decides. ``pairs`` are in the order of the
    base run's results. If several experiments fit a line, the first screen's preference is applied to the mean of both
    runs: the best value of only one run is partly chance, and would look worse in the other run.
    """
    by_area: dict[str, list[list[MetricPair]]] = {}
    for probe, group in groupby(pairs, key=lambda pair: pair.key[0]):
        by_area.setdefault(probe_of(probe).area, []).append(list(group))
    return [pair for probes in by_area.values() for pair in _main_of_area(probes)]


def _main_of_area(probes: Sequence[Sequence[MetricPair]]) -> list[MetricPair]:
    declared = [pair for pairs in probes for pair in _declared(pairs)]
    return declared or list({pair.base.id: pair for pairs in probes for pair in reversed(pairs)}.values())


def _declared(pairs: Sequence[MetricPair]) -> list[MetricPair]:
    by_label: dict[tuple[Value | None, ...], MetricPair] = {}
    for line in probe_of(pairs[0].key[0]).screen:
        fitting = [pair for pair in pairs if pair not in by_label.values() and _fits(line, pair)]
        if fitting:
            best = max(fitting, key=_preference)
            names = re.findall(r"\{(\w+)\}", line.label)
            by_label.setdefault((line.label, *(best.base.summary.params.get(name) for name in names)), best)
    return list(by_label.values())


def _fits(line: ScreenLine, pair: MetricPair) -> bool:
    # The conditions of a line need facts that the outputs of other tools do not have.
    is_imported = "imported" in (pair.base.kind, pair.new.kind)
    return not is_imported and line.fits(pair.base) and line.fits(pair.new)


def _preference(pair: MetricPair) -> tuple[float, ...]:
    return tuple(map(mean, zip(preference(pair.base), preference(pair.new), strict=True)))


class MainTest(NamedTuple):
    """The test of a main value: its row, and its loss, whose name is ``name_of(row)``.

    ``doubt`` says why the loss or gain may have another cause than the machine, "" if no such cause is known.
    """

    row: ComparisonRow
    loss: Loss
    doubt: str


def gated(
    pairs: Sequence[MetricPair], rows: Sequence[ComparisonRow], min_loss: float = 0.0
) -> tuple[list[ComparisonRow], Gate]:
    """Return the rows with the gate's verdicts on the main values, and the verdict on the machine.

    ``rows`` are the rows of ``pairs``, in the same order. The verdict on the capability of a main value becomes that of
    the gate; the other rows never decide. ``min_loss`` is the smallest loss that matters, as a share of the performance
    (0.05 is 5 %), if it is above the smallest loss of the resource (``run_to_run.MIN_LOSS``).
    """
    comparable = [pair for pair, row in zip(pairs, rows, strict=True) if row.verdict != "INCOMPARABLE"]
    main = {id(pair) for pair in main_pairs(comparable)}
    rows = [msgspec.structs.replace(row, is_main=id(pair) in main) for pair, row in zip(pairs, rows, strict=True)]
    tests = [
        test for pair, row in zip(pairs, rows, strict=True) if row.is_main and (test := _test(pair, row, min_loss))
    ]
    return decide(rows, tests, area_means([test.loss for test in tests if not test.doubt]))


def decide(
    rows: Sequence[ComparisonRow], tests: Sequence[MainTest], means: Sequence[Loss]
) -> tuple[list[ComparisonRow], Gate]:
    """Return the rows with the verdicts of ``tests`` on their capabilities, and the verdict on the machine.

    ``rows`` are rows of a comparison with ``is_main`` set; their order is kept. ``tests`` has the tests of the main
    rows that have a capability, and ``means`` the mean losses of areas.
    """
    losses = [*(test.loss for test in tests), *means]
    worse = {loss.name for loss in significant_losses(losses)}
    better = {loss.name for loss in significant_losses([test.loss.reversed() for test in tests])}
    judged = {test.loss.name: _judged(test, worse, better, len(losses)) for test in tests}
    rows = [judged.get(name_of(row), row) if row.is_main else row for row in rows]
    slower = {probe_of(row.probe).area for row in rows if is_gate_loss(row)}
    detectable: dict[str, float] = {}
    for loss in losses:
        size = detectable_loss(loss, len(losses))
        detectable[loss.area] = min(size, detectable.get(loss.area, math.inf))
    area_losses = [AreaLoss(loss.area, math.expm1(loss.middle)) for loss in means
                   if loss.name in worse and loss.area not in slower]  # fmt: skip
    return rows, _gate([row for row in rows if row.is_main], len(tests), area_losses, detectable)


def is_gate_loss(row: ComparisonRow) -> bool:
    """Return whether a row fails the gate: a main value whose capability is SLOWER. A typical value never fails it."""
    return row.is_main and row.capability is not None and row.capability.verdict == "SLOWER"


def name_of(row: ComparisonRow) -> str:
    """Return the name of a row's value, such as "cpu_flops threads=2 rate"."""
    return f"{row.id} {row.metric}"


def _test(pair: MetricPair, row: ComparisonRow, min_loss: float) -> MainTest | None:
    change = pair.capabilities()
    if change is None:
        return None
    least = MIN_LOSS[pair.resource] if pair.resource else MIN_CHANGE
    loss = loss_of(name_of(row), probe_of(row.probe).area, change, max(math.log1p(least), -math.log1p(-min_loss)))
    return MainTest(row, loss, doubt_about("SLOWER" if loss.middle > 0 else "FASTER", row.verdict, pair))


def loss_of(name: str, area: str, change: EstimatePair, min_loss: float) -> Loss:
    """Return the loss of a main value, from its capabilities in two runs.

    ``name`` and ``area`` identify it, and ``change`` has the capabilities. ``min_loss`` is the smallest loss that
    counts, as the natural logarithm of a ratio of times for the same work (0.0488 for 5 % more time). The error
    includes the variation from run to run, but the degrees of freedom are those of the two estimates alone, since this
    variation is known only roughly.
    """
    difference, within = change.difference(), replace(change, run_to_run=0.0).difference()
    return Loss(
        name=name, area=area, middle=difference.middle if change.better == "lower" else -difference.middle,
        error=difference.error, freedom=max(within.freedom, MIN_FREEDOM), lasting=math.sqrt(2) * change.run_to_run,
        min_loss=min_loss, is_sequential=change.is_sequential,
    )  # fmt: skip


def _judged(test: MainTest, worse: Container[str], better: Container[str], n_tests: int) -> ComparisonRow:
    """Return the row of a main value with the gate's verdict on its capability."""
    capability = test.row.capability
    if capability is None:
        return test.row
    verdict, reason = capability.verdict, capability.reason
    significant: Verdict | None = (
        "SLOWER" if test.loss.name in worse else "FASTER" if test.loss.name in better else None
    )
    if significant:
        verdict, reason = ("UNSURE", test.doubt) if test.doubt else (significant, "")
    elif verdict in ("SLOWER", "FASTER"):
        verdict, reason = "UNSURE", "unchanged machines differ by as much from run to run"
    changed = msgspec.structs.replace(
        capability, verdict=verdict, reason=reason, detectable=detectable_loss(test.loss, n_tests)
    )
    return msgspec.structs.replace(test.row, capability=changed)


def _gate(
    rows: Sequence[ComparisonRow], values: int, area_losses: list[AreaLoss], detectable: dict[str, float]
) -> Gate:
    verdicts = {row.capability.verdict for row in rows if row.capability}
    if area_losses or "SLOWER" in verdicts:
        verdict: Verdict = "SLOWER"
    elif "FASTER" in verdicts:
        verdict = "FASTER"
    else:
        verdict = "SAME" if {row.machine_verdict for row in rows} == {"SAME"} else "UNSURE" if rows else "INCOMPARABLE"
    reason = NO_CAPABILITY if rows and not values else ""
    return Gate(verdict=verdict, reason=reason, values=values, area_losses=area_losses, detectable=detectable)


def without_verdicts(rows: Sequence[ComparisonRow], reason: str) -> tuple[list[ComparisonRow], Gate]:
    """Return the rows with every verdict UNSURE for ``reason``, and a gate with the same verdict and reason.

    The order of the rows is kept. Rows with the verdict INCOMPARABLE do not change.
    """
    rows = [_unsure(row, reason) if row.verdict != "INCOMPARABLE" else row for row in rows]
    return rows, Gate(verdict="UNSURE", reason=reason, values=0, area_losses=[], detectable={})


def _unsure(row: ComparisonRow, reason: str) -> ComparisonRow:
    capability = row.capability and msgspec.structs.replace(row.capability, verdict="UNSURE", reason=reason)
    return msgspec.structs.replace(row, verdict="UNSURE", reason=reason, capability=capability)
