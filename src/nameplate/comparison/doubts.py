"""Withhold a verdict on the capability where something else than the machine may have made the difference.

A capability is measured by the samples in which nothing else took part. Beside a program that never pauses there may be
none in a whole run, and the samples cannot tell: their best level is then a slow one (docs/decisions,
"Capability next to the typical value"). The CPU time that the workers did not get can. In a guest, the host may also
move the CPUs, to where they have other links to memory (docs/measurements, "CPUs that the host moves"). The guest can
measure how far they are from each other.
"""

from __future__ import annotations

import msgspec

from nameplate.comparison.metric_rows import CapabilityChange, MetricPair
from nameplate.comparison.run_to_run import resource_of
from nameplate.records.machine_record import Machine
from nameplate.records.result import Result
from nameplate.results.cpu_time import ENOUGH_CPU, share_of_experiment
from nameplate.results.line_round_trips import line_round_trips
from nameplate.statistics.verdict import Verdict
from nameplate.units import duration_text

# On the guest in docs/measurements, CPUs that share a cache were closer than others by a factor of six.
FARTHER = 1.5
# The calibration doubles the work of a sample until it is long enough, so that samples of one plan differ by up to 2.
MORE_WORK = 2.5
# If they do more work in nearly the same time, it is the machine that is faster.
LONGER = 1.5
_PLACE_OF_WORSE = {"FASTER": 0, "SLOWER": 1}


def share_for(result: Result, machine: Machine | None, of_run: float | None) -> float:
    """Return the share of the CPU time that a run could use and got, as it bears on a metric; 1 if it is not known.

    What only a core limits depends on the time of the experiment's own workers. Memory, disks and the network belong to
    the whole machine, so that a program on another CPU takes part too: the share ``of_run`` counts
    (``share_of_cpu_time``), None where it is not known.
    """
    if of_run is None:
        return 1.0
    own = share_of_experiment(result) if resource_of(result, machine) == "core" else of_run
    return of_run if own is None else own


def may_move(base: Machine | None, new: Machine | None) -> bool:
    """Return whether a host may have placed the CPUs of both machines: they are guests with the same CPU model.

    A machine that does not tell whether it is a guest may be one.
    """
    return bool(base and new and _may_be_guest(base) and _may_be_guest(new) and base.cpu.model == new.cpu.model)


def _may_be_guest(machine: Machine) -> bool:
    return machine.hypervisor is not None or not machine.is_hypervisor_known


def is_hidden(verdict: Verdict, shares: tuple[float, float]) -> bool:
    """Return whether the side that is worse by a verdict is one that other programs kept from running.

    ``shares`` are those of the base and of the new run (``share_for``). The better side is not in doubt: other programs
    only ever slow a run down.
    """
    return verdict in _PLACE_OF_WORSE and shares[_PLACE_OF_WORSE[verdict]] < ENOUGH_CPU


def unless_doubtful(change: CapabilityChange, typical: Verdict, pair: MetricPair) -> CapabilityChange:
    """Return the verdict on a capability, UNSURE with a reason if it is in doubt.

    SAME is in doubt only if the samples differ in length, which may hide a change as well as make one. ``typical`` is
    the verdict on what was typical.
    """
    worse = _PLACE_OF_WORSE.get(change.verdict)
    reason = _longer(change.verdict, pair)
    if worse is not None:
        is_typical = change.verdict == typical
        reason = _hidden(change.verdict, pair) or reason or _limited(worse, pair, is_typical) or _moved(pair)
    return msgspec.structs.replace(change, verdict="UNSURE", reason=reason) if reason else change


def _hidden(verdict: Verdict, pair: MetricPair) -> str:
    if not is_hidden(verdict, pair.cpu_shares):
        return ""
    worse = _PLACE_OF_WORSE[verdict]
    taken = (1 - pair.cpu_shares[worse]) * 100
    return (
        f"other programs took {taken:.0f} % of the CPU time that {pair.names[worse]} asked for: measure it again when "
        "they have ended"
    )


def _longer(verdict: Verdict, pair: MetricPair) -> str:
    """Return a sentence if a side has longer samples, which are disturbed more often, else "".

    They last longer and do more work as well: a slower machine takes longer for the same work, and a faster one does
    more in the same time. A change is not in doubt if the side with the shorter samples is worse. Whole periods of a
    limit are compared whatever their length.
    """
    sides = sorted(pair.sides, key=lambda side: side[1].sample_work)
    (_, shorter), (longer_name, longer) = sides
    has_more_work = 0 < MORE_WORK * shorter.sample_work <= longer.sample_work
    if shorter.limit or longer.limit or not has_more_work or longer.sample_s < LONGER * shorter.sample_s:
        return ""
    worse = {"FASTER": pair.names[0], "SLOWER": pair.names[1], "SAME": longer_name}.get(verdict)
    if worse != longer_name:
        return ""
    lengths = ", ".join(f"{duration_text(result.sample_s)} in {name}" for name, result in reversed(sides))
    return f"longer samples are disturbed more often: {lengths}; measure both with one version and the same --time"


def _limited(worse: int, pair: MetricPair, is_typical: bool) -> str:
    """Return a sentence if only the worse side has a limit that the other one may not have shown, else "".

    The other run may have ended before a burst was spent. If a processor was too hot, whole rounds count, which other
    programs slow down more than the best samples of the other side: the change must be typical, too.
    """
    (name, limited), (other_name, other) = pair.sides[worse], pair.sides[1 - worse]
    if limited.limit == other.limit:
        return ""
    if limited.limit == "burst":
        return (
            f"in {name} a steady limit set in, as if a burst had been spent: measure {other_name} until it has one, too"
        )
    if limited.limit == "heat" and not is_typical:
        return f"the processor was too hot in {name}, so that its whole rounds count: see the verdict on typical values"
    return ""


def _moved(pair: MetricPair) -> str:
    """Return a sentence if the CPUs of the two runs differ in their shortest or their longest distance, else "".

    Both count: if the CPUs moved during a run, its fast samples are from the place with the better links.
    """
    base, new = line_round_trips(pair.base), line_round_trips(pair.new)
    if not pair.cpus_may_move or base is None or new is None:
        return ""
    if all(max(ours / theirs, theirs / ours) < FARTHER for ours, theirs in zip(base, new, strict=True)):
        return ""
    return (
        f"the host placed the CPUs differently: a cache line took {_range_ns(base)} between them and back in "
        f"{pair.names[0]}, {_range_ns(new)} in {pair.names[1]}"
    )


def _range_ns(times_s: tuple[float, float]) -> str:
    low, high = (f"{time_s * 1e9:.0f}" for time_s in times_s)
    return f"{low} ns" if low == high else f"{low} to {high} ns"
