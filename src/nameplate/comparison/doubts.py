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
LONGER = 2.5


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
    """Return whether a host may have placed the CPUs of both machines: they are guests with the same CPU model."""
    return bool(base and new and base.hypervisor and new.hypervisor and base.cpu.model == new.cpu.model)


def is_hidden(verdict: Verdict, shares: tuple[float, float]) -> bool:
    """Return whether the side that is worse by a verdict is one that other programs kept from running.

    ``shares`` are those of the base and of the new run (``share_for``). The better side is not in doubt: other programs
    only ever slow a run down.
    """
    worse = {"FASTER": 0, "SLOWER": 1}.get(verdict)
    return worse is not None and shares[worse] < ENOUGH_CPU


def unless_doubtful(change: CapabilityChange, pair: MetricPair) -> CapabilityChange:
    """Return the verdict on a capability, UNSURE with a reason if it is in doubt.

    SAME is in doubt only if the samples differ in length, which may hide a change as well as make one.
    """
    reason = _longer(change.verdict, pair)
    if change.verdict in ("FASTER", "SLOWER"):
        reason = _hidden(change.verdict, pair) or reason or _spent(pair) or _moved(pair)
    return msgspec.structs.replace(change, verdict="UNSURE", reason=reason) if reason else change


def _hidden(verdict: Verdict, pair: MetricPair) -> str:
    if not is_hidden(verdict, pair.cpu_shares):
        return ""
    worse = 0 if verdict == "FASTER" else 1
    taken = (1 - pair.cpu_shares[worse]) * 100
    return (
        f"other programs took {taken:.0f} % of the CPU time that {pair.names[worse]} asked for: measure it again when "
        "they have ended"
    )


def _longer(verdict: Verdict, pair: MetricPair) -> str:
    """Return a sentence if a side has longer samples, which are undisturbed less often, else "".

    Longer are those that do more work: on a slower machine, the same work takes more time. A change is not in doubt if
    the side with the shorter samples is worse. Whole periods of a limit are compared whatever their length.
    """
    sides = sorted(pair.sides, key=lambda side: side[1].sample_work)
    (_, shorter), (longer_name, longer) = sides
    if shorter.limit or longer.limit or not 0 < LONGER * shorter.sample_work <= longer.sample_work:
        return ""
    worse = {"FASTER": pair.names[0], "SLOWER": pair.names[1], "SAME": longer_name}.get(verdict)
    if worse != longer_name:
        return ""
    lengths = ", ".join(f"{duration_text(result.sample_s)} in {name}" for name, result in reversed(sides))
    return f"longer samples see less of the machine: {lengths}; measure both alike"


def _spent(pair: MetricPair) -> str:
    """Return a sentence if a burst was spent in one run only, and the other may have been too short, else ""."""
    spent = [name for name, result in pair.sides if result.limit == "burst"]
    if len(spent) != 1:
        return ""
    return f"in {spent[0]} a steady limit set in, as if a burst had been spent: measure both for as long"


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
