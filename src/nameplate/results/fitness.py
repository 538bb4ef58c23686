"""Whether a machine is fit to be measured on: what about its state spoils figures. Pure functions.

A grade says how far figures may be off, or apart from one run to the next: A not at all, B by a percent or two, C by
several, D by ten or more; F: they say little. The environment's is the worst of its findings': one of them is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nameplate.statistics.stats import median, percentile

Grade = Literal["A", "B", "C", "D", "F"]

# "Quiet" means: no steal, and a control spin loop whose spread stays below this.
QUIET_SPREAD = 0.01
# The spread from which a grade is worse than the one before it.
_SPREADS: tuple[tuple[float, Grade], ...] = ((0.10, "F"), (0.05, "D"), (0.02, "C"), (QUIET_SPREAD, "B"))
_SHARES: tuple[tuple[float, Grade], ...] = ((0.50, "F"), (0.20, "D"), (0.05, "C"), (0.01, "B"))
# The boost of a clock that one core may have and all together may not.
_LARGE_BOOST = 1.1


@dataclass(frozen=True)
class Finding:
    """One thing looked at: how it is, what it costs, and what would mend it (both empty where nothing is wrong)."""

    grade: Grade
    what: str
    state: str
    cost: str = ""
    advice: str = ""


def judge_machine(machine: Mapping[str, Any]) -> list[Finding]:
    """From what nameplate-core knows about the machine."""
    return [judge(machine) for judge in _JUDGES]


def overall(findings: Sequence[Finding]) -> Grade:
    """The worst of them."""
    return max((finding.grade for finding in findings), default="A")


def judge_spins(burst_s: Sequence[float]) -> Finding:
    """From the times of a control spin loop."""
    spread = (percentile(burst_s, 0.95) - percentile(burst_s, 0.05)) / median(burst_s)
    state = f"a control loop's time spreads by {spread:.1%}"
    grade = _graded(spread, _SPREADS)
    if grade == "A":
        return Finding("A", "quiet", state)
    return Finding(grade, "quiet", state, "every sample varies by as much",
                   "something else runs, or the clock moves: stop it, or ask for more rounds")  # fmt: skip


def judge_steal(steal_s: float, elapsed_s: float) -> Finding:
    """From what the hypervisor gave to others meanwhile, over all CPUs."""
    taken = steal_s / elapsed_s if elapsed_s else 0.0
    if taken == 0:
        return Finding("A", "steal", "nothing was stolen in a second")
    return Finding(max("B", _graded(taken, _SHARES)), "steal", f"{taken:.1%} of a second was stolen",
                   "so much of the CPU time, when it is wanted", "another host, or another hour")  # fmt: skip


def judge_others(busy: Mapping[int, float], has_smt: bool) -> Finding:
    """From how busy each CPU was while one of them measured, as a share: the busiest is taken for that one."""
    others = sorted(busy.values())[:-1]
    share = sum(others) / len(others) if others else 0.0
    busiest = max(others, default=0.0)
    state = f"other CPUs were busy for {share:.1%} of the time, the busiest for {busiest:.1%}"
    grade = _graded(busiest, _SHARES)
    if grade == "A":
        return Finding("A", "other work", state)
    cost = "competes for memory, caches and the clock" + (", and as an SMT sibling for half a core" if has_smt else "")
    return Finding(grade, "other work", state, cost, "wait for it, or stop it: top shows what it is")


def busy_shares(before: str, after: str) -> dict[int, float]:
    """By CPU the share of time in which it was not idle, from two readings of /proc/stat (proc(5))."""
    first, second = _times(before), _times(after)
    shares = {}
    for cpu in first.keys() & second.keys():
        idle, whole = (second[cpu][i] - first[cpu][i] for i in (0, 1))
        shares[cpu] = 1 - idle / whole if whole > 0 else 0.0
    return shares


def _times(text: str) -> dict[int, tuple[int, int]]:
    """By CPU its idle ticks, waiting for disks among them, and all."""
    times = {}
    for line in text.splitlines():
        name, _, numbers = line.partition(" ")
        if name.startswith("cpu") and name[3:].isdigit():
            ticks = [int(number) for number in numbers.split()]
            times[int(name[3:])] = (ticks[3] + ticks[4], sum(ticks[:8]))
    return times


def _graded(share: float, steps: Sequence[tuple[float, Grade]]) -> Grade:
    return next((grade for least, grade in steps if share >= least), "A")


def _guest(machine: Mapping[str, Any]) -> Finding:
    if machine["hypervisor"] is None:
        return Finding("A", "virtualisation", "no hypervisor to be seen")
    return Finding(
        "B", "virtualisation", f"a guest of {machine['hypervisor']}",
        "neighbours take part unseen; a disk is a virtual one, with the host's cache behind it",
        "compare within one run; compare two runs with compare, which asks how much each one moved",
    )  # fmt: skip


def _hidden_caches(machine: Mapping[str, Any]) -> Finding:
    if machine["hypervisor"] is None:
        return Finding("A", "caches", "as the system lists them")
    return Finding(
        "B", "caches", "listed by the hypervisor, which may list what it likes, and shares the last with neighbours",
        "efficiency of a cache may be that of another size", "the measured sizes: nameplate run cpu_workset",
    )  # fmt: skip


def _governor(machine: Mapping[str, Any]) -> Finding:
    governor = machine["cpu"]["governor"]
    if governor is None:
        return Finding("B", "governor", "not shown", "the host decides about the clock",
                       "each figure has the clock that it was measured at: nameplate run cpu_clock")  # fmt: skip
    if governor == "performance":
        return Finding("A", "governor", governor)
    return Finding("C", "governor", governor, "a core that was idle begins at a low clock",
                   "cpupower frequency-set -g performance")  # fmt: skip


def _turbo(machine: Mapping[str, Any]) -> Finding:
    cpu = machine["cpu"]
    if not cpu["turbo"]:
        return Finding("A", "turbo", "not shown" if cpu["turbo"] is None else "off")
    base_hz, top_hz = cpu["base_frequency_hz"], cpu["maximum_frequency_hz"]
    boost = top_hz / base_hz if base_hz and top_hz else 0.0
    state = f"on, up to {boost:.2f} times the base clock" if boost else "on"
    return Finding("C" if boost > _LARGE_BOOST else "B", "turbo", state,
                   "the clock depends on heat and on how many cores work",
                   "for steady figures: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or "
                   "echo 0 > /sys/devices/system/cpu/cpufreq/boost")  # fmt: skip


def _smt(machine: Mapping[str, Any]) -> Finding:
    topology = machine["topology"]
    if topology["threads"] <= topology["cores"]:
        return Finding("A", "SMT", "one thread a core, as far as can be seen")
    return Finding("A", "SMT", "on; one worker a core by default")


def _huge_pages(machine: Mapping[str, Any]) -> Finding:
    pages = machine["memory"]["transparent_huge_pages"]
    if pages in ("always", "madvise"):
        return Finding("A", "huge pages", pages)
    return Finding("C", "huge pages", pages or "not there",
                   "a large array shows the translation buffers: nameplate run memory_latency pages=small,huge",
                   "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")  # fmt: skip


def _mitigations(machine: Mapping[str, Any]) -> Finding:
    mitigated = machine.get("mitigated", [])
    if not mitigated:
        return Finding("A", "mitigations", "none is at work")
    return Finding("A", "mitigations", f"against {', '.join(mitigated)}",
                   "system calls take longer: small blocks and messages; arithmetic and memory do not",
                   "leave them on; compare machines that have the same")  # fmt: skip


def _limits(machine: Mapping[str, Any]) -> Finding:
    limits = machine["limits"]
    if limits["cpus"] is None:
        memory = limits["memory_bytes"]
        return Finding("A", "cgroup", "no CPU quota" + (f", {memory / 2**30:.1f} GiB of memory" if memory else ""))
    is_whole = limits["cpus"] == int(limits["cpus"]) and limits["cpus"] >= 1
    return Finding(
        "C" if is_whole else "D", "cgroup",
        f"{limits['cpus']:g} CPUs allowed, {machine['default_threads']} workers by default",
        "a quota lets work go on in bursts and then stops it", "a cpuset of whole CPUs instead",
    )  # fmt: skip


def _swap(machine: Mapping[str, Any]) -> Finding:
    memory = machine["memory"]
    used = memory.get("swap_used_bytes", 0)
    if used == 0:
        return Finding("A", "swap", "nothing is swapped out" if memory["swap_bytes"] else "there is none")
    return Finding("B", "swap", f"{used / 2**20:.0f} MiB are swapped out",
                   "memory was short: what is wanted again stalls",
                   "stop what took it, then: swapoff -a && swapon -a")  # fmt: skip


def _power(machine: Mapping[str, Any]) -> Finding:
    power = machine.get("power") or {}
    profile = power.get("profile")
    if power.get("on_battery"):
        return Finding("D", "power", "on battery", "the firmware holds the clock down", "plug it in")
    if profile == "low-power":
        return Finding("D", "power", f"profile {profile}", "the firmware holds the clock down",
                       "echo performance > /sys/firmware/acpi/platform_profile")  # fmt: skip
    return Finding("A", "power", f"profile {profile}" if profile else "nothing that holds it down is shown")


_JUDGES: tuple[Callable[[Mapping[str, Any]], Finding], ...] = (
    _guest, _hidden_caches, _governor, _turbo, _smt, _huge_pages, _mitigations, _limits, _swap, _power,
)  # fmt: skip
