"""Whether a machine is fit to be measured on: what about its state spoils figures. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nameplate.stats import median, percentile

Grade = Literal["good", "note", "bad"]

# "Quiet" means: no steal, and a control spin loop whose spread stays below this.
QUIET_SPREAD = 0.01


@dataclass(frozen=True)
class Finding:
    """One thing looked at: how it is, what it costs, and what would mend it (empty where nothing is wrong)."""

    grade: Grade
    what: str
    state: str
    advice: str = ""


def judge_machine(machine: dict[str, Any]) -> list[Finding]:
    """From what nameplate-core knows about the machine."""
    return [judge(machine) for judge in _JUDGES]


def judge_spins(burst_s: Sequence[float], steal_s: float) -> Finding:
    """From the times of a control spin loop and the time stolen meanwhile."""
    spread = (percentile(burst_s, 0.95) - percentile(burst_s, 0.05)) / median(burst_s)
    state = f"a control loop's time spreads by {spread:.1%}, {steal_s:.2f} s were stolen"
    if spread < QUIET_SPREAD and steal_s == 0:
        return Finding("good", "quiet", state)
    advice = "something else runs: stop it, or ask for more rounds; intervals will be wider"
    return Finding("bad" if spread > 10 * QUIET_SPREAD or steal_s > 0 else "note", "quiet", state, advice)


def _governor(machine: dict[str, Any]) -> Finding:
    governor = machine["cpu"]["governor"]
    if governor is None:
        return Finding("note", "governor", "not shown", "the host decides about the clock; compare within one run only")
    if governor == "performance":
        return Finding("good", "governor", governor)
    return Finding("note", "governor", governor, "the first samples may be slow: cpupower frequency-set -g performance")


def _turbo(machine: dict[str, Any]) -> Finding:
    turbo = machine["cpu"]["turbo"]
    if turbo is None:
        return Finding("note", "turbo", "not shown", "the clock is measured under each load instead")
    if not turbo:
        return Finding("good", "turbo", "off")
    return Finding(
        "note", "turbo", "on", "the clock depends on heat and on how many cores work: compare runs with care"
    )


def _smt(machine: dict[str, Any]) -> Finding:
    topology = machine["topology"]
    if topology["threads"] <= topology["cores"]:
        return Finding("good", "hyperthreads", "one thread a core, as far as can be seen")
    return Finding("good", "hyperthreads", "on; one worker a core by default")


def _load(machine: dict[str, Any]) -> Finding:
    load = machine["load_1min"]
    if load < 0.5:
        return Finding("good", "load", f"{load:g}")
    return Finding("note", "load", f"{load:g}", "other work competes for the cores: wait for it, or stop it")


def _huge_pages(machine: dict[str, Any]) -> Finding:
    pages = machine["memory"]["transparent_huge_pages"]
    if pages in ("always", "madvise"):
        return Finding("good", "huge pages", pages)
    advice = "large arrays will show the TLB: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    return Finding("note", "huge pages", pages or "not there", advice)


def _limits(machine: dict[str, Any]) -> Finding:
    cpus = machine["limits"]["cpus"]
    if cpus is None:
        return Finding("good", "cgroup", "no CPU quota")
    whole = cpus == int(cpus) and cpus >= 1
    state = f"{cpus:g} CPUs allowed, {machine['default_threads']} workers by default"
    return Finding(
        "note" if whole else "bad", "cgroup", state, "a quota throttles in bursts: use a cpuset of whole CPUs instead"
    )


def _guest(machine: dict[str, Any]) -> Finding:
    if machine["hypervisor"] is None:
        return Finding("good", "bare metal", "no hypervisor to be seen")
    return Finding(
        "note", "guest", f"on {machine['hypervisor']}", "neighbours and the host's caches cannot be seen from inside"
    )


_JUDGES: tuple[Callable[[dict[str, Any]], Finding], ...] = (
    _guest,
    _governor,
    _turbo,
    _smt,
    _load,
    _huge_pages,
    _limits,
)
