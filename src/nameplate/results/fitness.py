"""Judge whether a machine is fit to measure on. Pure functions.

A grade says by how much values may be wrong, or vary from run to run: A not at all, B by 1 or 2 %, C by several
percent, D by 10 % or more; with F the values mean little. "?" means that the system does not report the aspect. The
overall grade is the worst grade of all findings, where "?" is between C and D, since an unknown aspect may cost several
percent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from nameplate.records.machine_record import Machine
from nameplate.statistics.stats import median, percentile
from nameplate.units import memory_text, percent_text

KnownGrade = Literal["A", "B", "C", "D", "F"]
Grade = Literal[KnownGrade, "?"]

_FROM_BEST = "ABC?DF"

# A machine is quiet if it has no steal, and the times of a control loop vary by less than this.
QUIET_SPREAD = 0.01
# The lowest variation for each grade, and the lowest share of time for each grade.
_SPREADS: tuple[tuple[float, Grade], ...] = ((0.10, "F"), (0.05, "D"), (0.02, "C"), (QUIET_SPREAD, "B"))
_SHARES: tuple[tuple[float, Grade], ...] = ((0.50, "F"), (0.20, "D"), (0.05, "C"), (0.01, "B"))
# A clock boost above this ratio is usually available to a single core, but not to all of them.
_LARGE_BOOST = 1.1


class Finding(msgspec.Struct, frozen=True):
    """The grade of one aspect of the machine.

    ``grade`` is from "A", the best, to "F", or "?" if the system does not report the aspect. ``aspect`` is its name,
    such as "steal" or "governor". ``state`` describes the present state, ``cost`` how it affects measurements, and
    ``advice`` what to do about it. ``cost`` and ``advice`` are "" if there is nothing to report; a finding of grade "A"
    may have them.
    """

    grade: Grade
    aspect: str = msgspec.field(name="what")
    state: str
    cost: str = ""
    advice: str = ""


class Part(msgspec.Struct, frozen=True):
    """An optional part of the installation that nameplate can use, such as an MPI launcher.

    It may also be the check for files that killed runs left. ``is_there`` says whether the part is present and works;
    for the check, it says that no file was left. ``name`` is the name of the part, ``state`` describes it or says what
    is wrong, and ``advice`` says what to do, "" if nothing.
    """

    is_there: bool
    name: str = msgspec.field(name="what")
    state: str
    advice: str = ""


def judge_machine(machine: Machine) -> list[Finding]:
    """Return one finding for each of eleven aspects of a machine, from the facts of its record; nothing is measured.

    The aspects are virtualisation, container, caches, governor, turbo, SMT, huge pages, mitigations, cgroup, swap and
    power, in this order. Findings of grade "A" are included.
    """
    return [judge(machine) for judge in _JUDGES]


def rank(grade: Grade) -> int:
    """Return the rank of a grade, from 0 for "A" to 5 for "F"; "?" is between "C" and "D"."""
    return _FROM_BEST.index(grade)


def overall(findings: Sequence[Finding]) -> Grade:
    """Return the worst grade of the findings; "A" if there are none."""
    return max((finding.grade for finding in findings), key=rank, default="A")


def judge_spins(burst_s: Sequence[float]) -> Finding:
    """Judge the variation of the time of a control loop. The aspect of the finding is "noise".

    ``burst_s`` has the times of the loop in seconds, in any order; they must be above 0, and there must be at least
    one. The variation is the difference between the 95th and the 5th percentile, as a share of the median. The grade is
    A below 1 %, B from 1 %, C from 2 %, D from 5 % and F from 10 %.
    """
    spread = (percentile(burst_s, 0.95) - percentile(burst_s, 0.05)) / median(burst_s)
    state = f"the time of a control loop varies by {percent_text(spread)} (5th to 95th percentile)"
    grade = _graded(spread, _SPREADS)
    if grade == "A":
        return Finding("A", "noise", state)
    return Finding(grade, "noise", state, "every sample varies by this share",
                   "stop other programs, fix the clock, or measure more rounds")  # fmt: skip


def judge_steal(steal_s: float | None, elapsed_s: float, cpus: int) -> Finding:
    """Judge the CPU time that the hypervisor gave to other guests. The aspect of the finding is "steal".

    ``steal_s`` is the time in seconds that was stolen from all CPUs together, None if the system does not count it.
    ``elapsed_s`` is the time in seconds during which it was counted; the texts of the finding always say "one second".
    ``cpus`` is the number of CPUs, at least 1. The grade depends on ``steal_s`` ÷ (``elapsed_s`` × ``cpus``): A for 0,
    B above 0, C from 5 %, D from 20 % and F from 50 %. It is "?" if ``steal_s`` is None or ``elapsed_s`` is 0.
    """
    if steal_s is None or not elapsed_s:
        return _unknown("steal", _NO_COUNTS, "other guests may take CPU time unseen",
                        "repeat the measurement at another time and compare")  # fmt: skip
    taken = steal_s / (elapsed_s * cpus)
    if taken == 0:
        return Finding("A", "steal", "no CPU time was stolen in one second")
    return Finding(
        max("B", _graded(taken, _SHARES)), "steal", f"{percent_text(taken)} of the CPU time of one second was stolen",
        "programs lose this share of the CPU time", "use another host, or measure at another time",
    )  # fmt: skip


def judge_other_load(busy: Mapping[int, float], has_smt: bool) -> Finding:
    """Judge how busy other programs keep the CPUs. The aspect of the finding is "other work".

    ``busy`` has the share of time, 0 to 1, in which each CPU was busy, by the number of the CPU (``busy_shares``). The
    highest share is ignored, since nameplate itself causes it. The grade depends on the second highest share: A below 1
    %, B from 1 %, C from 5 %, D from 20 % and F from 50 %. It is A if ``busy`` has only one CPU, and "?" if it is
    empty. With ``has_smt``, the cost also says that an SMT sibling competes for a core.
    """
    if not busy:
        return _unknown("other work", _NO_COUNTS, "other programs may run unseen",
                        "look for other programs with top, or measure where /proc/stat can be read")  # fmt: skip
    busy_shares = sorted(busy.values())[:-1]
    share = sum(busy_shares) / len(busy_shares) if busy_shares else 0.0
    busiest = max(busy_shares, default=0.0)
    state = f"other CPUs were busy for {percent_text(share)} of the time, the busiest one for {percent_text(busiest)}"
    grade = _graded(busiest, _SHARES)
    if grade == "A":
        return Finding("A", "other work", state)
    cost = "it competes for memory, caches and the clock" + (", and as an SMT sibling for a core" if has_smt else "")
    return Finding(grade, "other work", state, cost, "wait until it ends, or stop it; top shows it")


def busy_shares(before: str, after: str) -> dict[int, float]:
    """Return the share of time, 0 to 1, in which each CPU was busy between two readings of /proc/stat, by CPU number.

    ``before`` and ``after`` are the text of the file (proc(5)) at the two times. Waiting for disks counts as idle,
    stolen time as busy. A CPU that one of the readings lacks, or that has no clock ticks between the readings, is left
    out. The result is empty if no share is known, for example in a sandbox that shows a file of zeros.
    """
    first, second = _times(before), _times(after)
    shares = {}
    for cpu in first.keys() & second.keys():
        idle, total = (second[cpu][i] - first[cpu][i] for i in (0, 1))
        if total > 0:
            shares[cpu] = 1 - idle / total
    return shares


def _times(text: str) -> dict[int, tuple[int, int]]:
    """Return the idle ticks, which include waiting for disks, and all ticks of each CPU."""
    times = {}
    for line in text.splitlines():
        name, _, numbers = line.partition(" ")
        if name.startswith("cpu") and name[3:].isdecimal():
            ticks = [int(number) for number in numbers.split() if number.isdecimal()]
            times[int(name[3:])] = (sum(ticks[3:5]), sum(ticks[:8]))
    return times


def _unknown(aspect: str, why: str, cost: str, advice: str) -> Finding:
    return Finding("?", aspect, f"unknown: {why}", cost, advice)


def _graded(share: float, steps: Sequence[tuple[float, Grade]]) -> Grade:
    return next((grade for low, grade in steps if share >= low), "A")


def _guest(machine: Machine) -> Finding:
    if machine.emulator is not None:
        return Finding(
            "F", "virtualisation", f"the processor is emulated by {machine.emulator}",
            "every value is that of the emulator, and is not rated", "measure on a processor of this architecture",
        )  # fmt: skip
    if not machine.is_hypervisor_known:
        return _unknown("virtualisation", "neither the processor nor the firmware shows whether there is a hypervisor",
                        "other guests may compete unseen", "measure where /proc/cpuinfo or /sys/class/dmi can be read",
                        )  # fmt: skip
    if machine.hypervisor is None:
        return Finding("A", "virtualisation", "no hypervisor detected")
    hypervisor = "an unknown hypervisor" if machine.hypervisor == "unknown" else machine.hypervisor
    return Finding(
        "B", "virtualisation", f"a guest of {hypervisor}",
        "other guests compete unseen, and the host's cache is behind every disk",
        "compare within one run, or compare runs with nameplate compare, which includes their variation",
    )  # fmt: skip


def _container(machine: Machine) -> Finding:
    where = f"in {machine.container}" if machine.container else "none detected"
    if not machine.blocked_calls:
        return Finding("A", "container", where)
    return Finding(
        "A", "container", f"{where}; blocked: {', '.join(machine.blocked_calls)}",
        "; ".join(_LOST_WITH[call] for call in machine.blocked_calls if call in _LOST_WITH),
        "allow these system calls in the seccomp profile of the container, or measure outside of it",
    )  # fmt: skip


def _hidden_caches(machine: Machine) -> Finding:
    if not machine.topology.caches:
        return _unknown("caches", "the system lists none", "no share of a cache can be given", _MEASURE_CACHES)
    if not machine.is_hypervisor_known:
        return _unknown("caches", "sizes may be those that a hypervisor lists",
                        "the share of a cache may refer to a wrong size", _MEASURE_CACHES)  # fmt: skip
    if machine.hypervisor is None:
        return Finding("A", "caches", "sizes listed by the system")
    return Finding(
        "B", "caches", "sizes listed by the hypervisor may be wrong, and other guests share the last level",
        "the share of a cache may refer to a wrong size", _MEASURE_CACHES,
    )  # fmt: skip


def _governor(machine: Machine) -> Finding:
    governor = machine.cpu.governor
    if governor is None:
        return Finding("B", "governor", "unknown", "the host sets the clock",
                       "measure the clock: nameplate run cpu_clock")  # fmt: skip
    if governor == "performance":
        return Finding("A", "governor", governor)
    return Finding("C", "governor", governor, "a core starts with a low clock after it was idle",
                   "cpupower frequency-set -g performance")  # fmt: skip


def _turbo(machine: Machine) -> Finding:
    cpu = machine.cpu
    if cpu.turbo is None:
        return Finding("B", "turbo", "unknown", "the clock may depend on the number of active cores",
                       "measure the clock: nameplate run cpu_clock")  # fmt: skip
    if not cpu.turbo:
        return Finding("A", "turbo", "off")
    base_hz, top_hz = cpu.base_frequency_hz, cpu.maximum_frequency_hz
    boost = top_hz / base_hz if base_hz and top_hz else 0.0
    state = f"on, up to {boost:.2f} times the base clock" if boost else "on"
    return Finding("C" if boost > _LARGE_BOOST else "B", "turbo", state,
                   "the clock depends on temperature and on the number of active cores",
                   "for a steady clock: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or "
                   "echo 0 > /sys/devices/system/cpu/cpufreq/boost")  # fmt: skip


def _smt(machine: Machine) -> Finding:
    topology = machine.topology
    if not topology.are_cores_listed:
        return _unknown("SMT", "the system does not show which hardware threads share a core",
                        "each counts as a core, so two workers may share one",
                        "compare threads=1 with more: nameplate run cpu_flops threads=1,2")  # fmt: skip
    if topology.threads <= topology.cores:
        return Finding("A", "SMT", "one thread per core")
    return Finding("A", "SMT", "on; one worker per core by default")


def _huge_pages(machine: Machine) -> Finding:
    pages = machine.memory.transparent_huge_pages
    if pages in ("always", "madvise"):
        return Finding("A", "huge pages", pages)
    if not pages:
        return _unknown("huge pages", "the system does not show whether it has them",
                        "large arrays may suffer TLB misses",
                        "measure it: nameplate run memory_latency pages=small,huge")  # fmt: skip
    return Finding("C", "huge pages", pages,
                   "large arrays suffer TLB misses: nameplate run memory_latency pages=small,huge",
                   "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")  # fmt: skip


def _mitigations(machine: Machine) -> Finding:
    mitigated = machine.mitigated
    if mitigated is None:
        return _unknown("mitigations", "the system lists no vulnerabilities",
                        "system calls may be slower, which matters for small blocks and messages",
                        "compare only with runs of the same kernel")  # fmt: skip
    if not mitigated:
        return Finding("A", "mitigations", "none active")
    return Finding("A", "mitigations", f"against {', '.join(mitigated)}",
                   "system calls are slower, which matters for small blocks and messages",
                   "keep them, and compare machines with the same ones")  # fmt: skip


def _limits(machine: Machine) -> Finding:
    limits = machine.limits
    if limits.are_visible is False and limits.cpus is None:
        return Finding("C", "cgroup", "limits are not visible: /sys/fs/cgroup shows no group, or no number as a limit",
                       "a CPU quota that nothing shows may stop the workers",
                       "mount /sys/fs/cgroup in the container, or measure outside of it")  # fmt: skip
    if limits.cpus is None:
        memory = limits.memory_bytes
        return Finding("A", "cgroup", "no CPU quota" + (f", {memory_text(memory)} of memory" if memory else ""))
    workers = "worker" if machine.default_threads == 1 else "workers"
    is_integer = limits.cpus == int(limits.cpus) and limits.cpus >= 1
    return Finding(
        "C" if is_integer else "D", "cgroup",
        f"{limits.cpus:g} CPUs allowed, {machine.default_threads} {workers} by default",
        "a quota stops the workers periodically", "use a cpuset of whole CPUs instead",
    )  # fmt: skip


def _swap(machine: Machine) -> Finding:
    memory = machine.memory
    used = memory.swap_used_bytes
    if used is None:
        return _unknown("swap", "the system does not show its swap space", "accesses to swapped memory stall",
                        "measure where /proc/meminfo can be read")  # fmt: skip
    if used == 0:
        return Finding("A", "swap", "nothing is swapped out" if memory.swap_bytes else "no swap")
    return Finding("B", "swap", f"{memory_text(used)} are swapped out",
                   "accesses to swapped memory stall",
                   "free memory, then: swapoff -a && swapon -a")  # fmt: skip


def _power(machine: Machine) -> Finding:
    profile = machine.power and machine.power.profile
    if machine.power and machine.power.on_battery:
        return Finding("D", "power", "on battery", "the firmware limits the clock", "plug it in")
    if profile == "low-power":
        return Finding("D", "power", f"profile {profile}", "the firmware limits the clock",
                       "echo performance > /sys/firmware/acpi/platform_profile")  # fmt: skip
    if machine.power and not machine.power.is_visible:
        return _unknown("power", "the system does not show its power supply", "the firmware may limit the clock",
                        "measure where /sys can be read")  # fmt: skip
    return Finding("A", "power", f"profile {profile}" if profile else "no limit reported")


_NO_COUNTS = "/proc/stat is not readable here, or counts nothing"
_MEASURE_CACHES = "measure the sizes: nameplate run cpu_workset"

# Experiments that cannot run where a system call is blocked.
_LOST_WITH = {
    "io_setup": "disk_block library=libaio is skipped",
    "io_uring_setup": "disk_block library=uring is skipped",
    "mbind": "memory on a chosen NUMA node is skipped",
}

_JUDGES: tuple[Callable[[Machine], Finding], ...] = (
    _guest, _container, _hidden_caches, _governor, _turbo, _smt, _huge_pages, _mitigations, _limits, _swap, _power,
)  # fmt: skip
