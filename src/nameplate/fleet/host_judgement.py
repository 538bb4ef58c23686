"""Judge each machine of a fleet by its expected ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import msgspec

from nameplate.errors import NothingExpected, ReadError
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.judging import ORDER, JudgedValue, Verdict, areas_of, judge
from nameplate.process_pool import map_batches
from nameplate.records.fleet_record import FleetHost
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment
from nameplate.results.digest import read_judgeable

UNKNOWN: Verdict = "UNKNOWN"
_BATCH = 20

Source: TypeAlias = Callable[[Machine, Sequence[Experiment]], Expectation]


class HostJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement on a machine of a fleet.

    ``machine`` is its name in the fleet. ``verdict`` is the most severe verdict of its values; None means that the
    machine cannot be judged, for the reason ``why_not``. ``values`` has the judged values, the most severe of each area
    first; it is empty without a verdict.
    """

    machine: str
    verdict: Verdict | None
    why_not: str = ""
    values: list[JudgedValue] = []


def judged_hosts(
    hosts: Sequence[FleetHost], source: Source, on_hosts: Callable[[int, int], None] = lambda _, __: None
) -> Iterator[HostJudgement]:  # fmt: skip
    """Yield the judgement on each machine, in the order of ``hosts``.

    ``source`` returns what is expected of a machine; it must be picklable, since many machines are judged by several
    processes. ``on_hosts`` is called after each batch with the number of machines judged so far and their number.

    Raises:
        FileError: the source of the ranges is not valid.
    """
    done = 0
    for judgements in map_batches(partial(_judged, source), hosts, _BATCH):
        done += len(judgements)
        on_hosts(done, len(hosts))
        yield from judgements


def _judged(source: Source, hosts: Sequence[FleetHost]) -> list[HostJudgement]:
    return [_judgement(host, source) for host in hosts]


def _judgement(host: FleetHost, source: Source) -> HostJudgement:
    try:
        run = read_judgeable(Path(host.path))
    except ReadError as error:  # it was readable before
        return HostJudgement(machine=host.name, verdict=None, why_not=str(error))
    if run.why_not or run.machine is None:
        return HostJudgement(machine=host.name, verdict=None, why_not=run.why_not)
    try:
        expectation = source(run.machine, run.run.plan.experiments)
    except NothingExpected as error:
        return HostJudgement(machine=host.name, verdict=None, why_not=str(error))
    areas = areas_of(judge(run, expectation.ranges))
    values = [value for values_of_area in areas.values() for value in values_of_area]
    verdict = min((value.verdict for value in values), key=ORDER.index, default=UNKNOWN)
    return HostJudgement(machine=host.name, verdict=verdict, values=values)
