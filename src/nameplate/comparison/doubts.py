"""Withhold a verdict on the capability if something other than the machine may have caused the difference.

A capability is estimated from the samples without interference. If another program never pauses, a whole run may have
no such sample, and the samples do not show it: their best level is then a slow one (docs/decisions, "Capability next to
the typical value"). Only the CPU time that the workers did not receive shows such a program. In a guest, the host may
also move the virtual CPUs to cores with other links to memory (docs/measurements, "CPUs that the host moves"); the time
that a cache line takes between the CPUs shows that.
"""

from __future__ import annotations

import msgspec

from nameplate.comparison.metric_rows import CapabilityChange, MetricPair
from nameplate.comparison.run_to_run import CORES, resource_of
from nameplate.records.machine_record import Machine
from nameplate.records.result import Result
from nameplate.results.cpu_time import ENOUGH_CPU, share_of_experiment
from nameplate.results.line_round_trips import line_round_trips
from nameplate.statistics.verdict import Verdict
from nameplate.units import duration_text

# On the guest in docs/measurements, CPUs that share a cache were closer than others by a factor of six.
FARTHER = 1.5
# The calibration doubles the work of a sample until it is long enough, so that samples of one plan differ by a factor
# of up to 2.
MORE_WORK = 2.5
# Samples that do more work in less than this multiple of the time show a faster machine.
LONGER = 1.5
_INDEX_OF_WORSE = {"FASTER": 0, "SLOWER": 1}


def share_for(result: Result, machine: Machine | None, of_run: float | None) -> float:
    """Return the share of CPU time that counts for the capability of one metric, from 0 to about 1; 1 if unknown.

    A share is the CPU time that workers received, divided by the CPU time that they could use. ``result`` is the result
    of the metric. If only a core limits the metric (``resource_of``), the result is the share of the experiment's own
    workers (``share_of_experiment``). Memory, disks and the network are shared by the whole machine, so that a program
    on another CPU interferes as well: for them, the result is ``of_run``, the share of the whole run
    (``share_of_cpu_time``), None if unknown. ``machine`` lists the caches, None if it was not recorded.
    """
    if of_run is None:
        return 1.0
    share_of_result = share_of_experiment(result) if resource_of(result, machine) in CORES else of_run
    return of_run if share_of_result is None else share_of_result


def may_move(base: Machine | None, new: Machine | None) -> bool:
    """Return whether a host may have placed the virtual CPUs of two runs on different cores.

    This is so if ``base`` and ``new`` are guests with the same CPU model; a machine that does not report whether it is
    a guest may be one. The result is False if either machine was not recorded.
    """
    return bool(base and new and _may_be_guest(base) and _may_be_guest(new) and base.cpu.model == new.cpu.model)


def _may_be_guest(machine: Machine) -> bool:
    return machine.hypervisor is not None or not machine.is_hypervisor_known


def is_hidden(verdict: Verdict, shares: tuple[float, float]) -> bool:
    """Return whether other programs kept the run that is worse by ``verdict`` from running.

    ``shares`` are the shares of CPU time of the base run and of the new run (``share_for``); below ``ENOUGH_CPU``
    (0.9), a run was kept from running. The better run is not examined, since other programs only ever slow a run down.
    A verdict other than FASTER and SLOWER gives False.
    """
    return verdict in _INDEX_OF_WORSE and shares[_INDEX_OF_WORSE[verdict]] < ENOUGH_CPU


def unless_doubtful(change: CapabilityChange, typical: Verdict, pair: MetricPair) -> CapabilityChange:
    """Return ``change``, with the verdict UNSURE and the reason if its verdict is in doubt (``doubt_about``).

    ``typical`` is the verdict on the typical values of ``pair``.
    """
    reason = doubt_about(change.verdict, typical, pair)
    return msgspec.structs.replace(change, verdict="UNSURE", reason=reason) if reason else change


def doubt_about(verdict: Verdict, typical: Verdict, pair: MetricPair) -> str:
    """Return why a verdict on the capability may have another cause than the machine, or "" if no cause is known.

    ``typical`` is the verdict on the typical values of ``pair``. FASTER and SLOWER are in doubt if other programs took
    CPU time of the worse run, the samples of the worse run are longer, only the worse run reached a limit, or the host
    moved the CPUs. SAME is in doubt only if the samples differ in length, which may hide a change. Other verdicts are
    never in doubt.
    """
    worse = _INDEX_OF_WORSE.get(verdict)
    reason = _longer(verdict, pair)
    if worse is None:
        return reason
    return _hidden(verdict, pair) or reason or _limited(worse, pair, verdict == typical) or _moved(pair)


def _hidden(verdict: Verdict, pair: MetricPair) -> str:
    if not is_hidden(verdict, pair.cpu_shares):
        return ""
    worse = _INDEX_OF_WORSE[verdict]
    taken = (1 - pair.cpu_shares[worse]) * 100
    return (
        f"other programs took {taken:.0f} % of the CPU time that {pair.names[worse]} asked for: measure it again when "
        "they have ended"
    )


def _longer(verdict: Verdict, pair: MetricPair) -> str:
    """Return a sentence if one side has longer samples, which are disturbed more often, else "".

    Its samples must last longer and also do more work: a slower machine takes longer for the same work, and a faster
    one does more work in the same time. A change is not in doubt if the side with the shorter samples is worse. Whole
    periods of a limit are compared regardless of their length.
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
    return f"longer samples are disturbed more often: {lengths}; measure both with the same version and the same --time"


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
            f"in {name} a steady limit set in, as if burst credits had been spent: measure {other_name} until its "
            "credits are spent, too"
        )
    if limited.limit == "heat" and not is_typical:
        return (
            f"the processor was too hot in {name}, so its capability is that of whole rounds: see the verdict on "
            "typical values"
        )
    return ""


def _moved(pair: MetricPair) -> str:
    """Return a sentence if the CPUs of the two runs differ in their shortest or their longest distance, else "".

    Both distances count: if the CPUs moved during a run, its fast samples were taken where the links were better.
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
