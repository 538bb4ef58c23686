"""Learn what healthy machines of each class deliver, from their runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.judged_results import judged_results, value_of
from nameplate.expectations.machine_class import MachineClass, class_of
from nameplate.expectations.site_file import MIN_MACHINES, ClassRanges, Site, make_site
from nameplate.records.machine_record import binding_quota_cpus
from nameplate.records.result import Report, Result
from nameplate.statistics.tolerance_interval import tolerance_interval

# The share of healthy machines that all ranges together may accuse.
ACCUSED = 0.001
# A range that reaches below this part of the typical value would accuse nothing, and is left out.
_WIDEST = 0.25
_DIGITS = 6


@dataclass
class _Seen:
    """The values of a metric by machine, and a result as an example."""

    example: Result
    by_host: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class _Class:
    runs: int = 0
    hosts: set[str] = field(default_factory=set)
    seen: dict[tuple[str, str], _Seen] = field(default_factory=dict)


class Learner:
    """The values of many runs, added one by one, and the ranges of healthy machines that follow from them."""

    def __init__(self) -> None:
        self._classes: dict[MachineClass, _Class] = {}

    def add(self, report: Report) -> str:
        """Add a run, and return "" or the reason why nothing can be learned from it."""
        why = _unusable(report)
        if why or report.machine is None:
            return why
        own = self._classes.setdefault(class_of(report.machine), _Class())
        own.runs += 1
        own.hosts.add(report.machine.hostname)
        for result in judged_results(report):
            if value_of(result) > 0:
                seen = own.seen.setdefault((result.id, result.summary.metric), _Seen(result))
                seen.by_host.setdefault(report.machine.hostname, []).append(value_of(result))
        return ""

    def site(self, learned: date) -> Site:
        """Return the ranges of each class of machines, outside of which at most ``ACCUSED`` of healthy ones lie.

        A metric that was measured once, or whose values differ by more than any range could use, has none. A class of
        fewer than ``MIN_MACHINES`` machines is provisional; with a single machine, its runs take the place of machines.
        """
        return make_site([_ranges(name, self._classes[name]) for name in sorted(self._classes)], learned)


def learn(reports: Iterable[Report], learned: date) -> Site:
    """Return the ranges of each class of machines that these runs have, as ``Learner.site`` does."""
    learner = Learner()
    for report in reports:
        learner.add(report)
    return learner.site(learned)


def _unusable(report: Report) -> str:
    if report.machine is None:
        return "it has no machine"
    if report.truncated or report.interrupted:
        return "it did not reach its end"
    if binding_quota_cpus(report.machine) is not None:
        return "a CPU quota limited it"
    if report.nodes is not None:
        return "it has several nodes, of which each needs a run of its own"
    return ""


def _ranges(name: MachineClass, seen: _Class) -> ClassRanges:
    found = [_range(key, each, len(seen.seen)) for key, each in seen.seen.items()]
    return ClassRanges(
        machine=name,
        machines=len(seen.hosts),
        runs=seen.runs,
        provisional=len(seen.hosts) < MIN_MACHINES,
        range=[each for each in found if each is not None],
    )


def _range(key: tuple[str, str], seen: _Seen, metrics: int) -> ExpectedRange | None:
    hosts = list(seen.by_host)
    # The runs of a single machine say at least what that machine does.
    groups = list(seen.by_host.values()) if len(hosts) > 1 else [[value] for value in seen.by_host[hosts[0]]]
    found = tolerance_interval(groups, ACCUSED / metrics)
    if found is None or found.low < _WIDEST * found.typical:
        return None
    return ExpectedRange(
        experiment=key[0],
        metric=key[1],
        unit=seen.example.summary.unit,
        low=_rounded(found.low),
        typical=_rounded(found.typical),
        high=_rounded(found.high),
        machines=found.machines if len(hosts) > 1 else 1,
        left_out=sorted(hosts[index] for index in found.left_out) if len(hosts) > 1 else [],
    )


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
