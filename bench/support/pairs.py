"""Support the paired comparisons: run nameplate once, run likwid-bench once, and summarise many pairs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from nameplate.execution.core_process import CoreProcess, OnRecord, make_request
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Limits, Value
from nameplate.records.run_record import Header, Outcome, Sample
from nameplate.tools.pairing import measure_pairs, middle_pair, paired_ratio

DEFAULT_PAIRS = 7


def asked_pairs() -> int:
    """Return the number of pairs to measure: the first command-line argument, or 7 without one."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_PAIRS


def measure(
    probe: str,
    params: Mapping[str, Value],
    slice_s: float,
    sample_s: float | None = None,
    start: Callable[[OnRecord], CoreProcess] = CoreProcess,
) -> tuple[Outcome, list[Sample], Machine]:
    """Run one experiment in a fresh core; return its outcome, its samples and the machine.

    ``slice_s`` is the time to sample and ``sample_s`` the length of a sample, both in seconds; None calibrates the
    length. ``start`` starts the core. Raises SystemExit if the experiment fails.
    """
    samples: list[Sample] = []
    headers: list[Header] = []

    def keep(record: Header | Sample | Outcome) -> None:
        if isinstance(record, Header):
            headers.append(record)
        elif isinstance(record, Sample):
            samples.append(record)

    core = start(keep)
    limits = Limits(60, 0.01, sample_s=sample_s)
    outcome = core.measure(make_request(Experiment("bench", probe, dict(params)), limits, slice_s), 120, keep)
    core.close()
    if outcome.ending != "ok":
        raise SystemExit(f"{probe} {params}: {outcome.ending}: {outcome.reason}")
    return outcome, samples, headers[0].machine


def likwid(test: str, size_bytes: int, threads: int, seconds: float, unit: str) -> float:
    """Run likwid-bench once on the first cores, and return its rate per second in the SI base unit.

    ``test`` is the name of the kernel, ``size_bytes`` the size of all arrays, and ``seconds`` the time to run, rounded
    down to whole seconds. ``unit`` is the unit of the rate in likwid-bench's output: MByte or MFlops without ``/s``.
    Each thread initialises its own part of the arrays.
    """
    command = ["likwid-bench", "-t", test, "-W", f"S0:{size_bytes // 1000}kB:{threads}", "-s", str(int(seconds))]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(rf"{unit}/s:\s+([\d.]+)", output)
    assert match, output
    return float(match[1]) * 1e6


def comparison(name: str, ours: Callable[[], float], theirs: Callable[[], float], pairs: int, unit: str) -> str:
    """Measure pairs in alternating order; return a line with the middle pair and the ratio of ``ours`` to ``theirs``.

    ``ours`` and ``theirs`` each measure a value in ``unit`` and return it. ``name`` is the name of the work, and
    ``pairs`` the number of pairs.
    """
    first, second = measure_pairs(pairs, ours, theirs)
    mine, its = middle_pair(first, second)
    return f"  {name}: {mine:.4g} {unit}, theirs {its:.4g}, ratio {ratio_of(first, second)}"


def ratio_of(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Return the ratio of two programs as text, from their values in each pair (see ``summary``)."""
    return summary([a / b for a, b in zip(ours, theirs, strict=True)])


def summary(ratios: Sequence[float]) -> str:
    """Return the median ratio of two programs with its 95 % interval as text, such as ``1.012 (0.987 to 1.031)``.

    ``ratios`` has the ratio of each pair. With fewer than 6 pairs there is no interval, and the text says so.
    """
    ratio = paired_ratio(ratios)
    text = f"{ratio.ci[0]:.3f} to {ratio.ci[1]:.3f}" if ratio.ci else f"95 % interval needs 6 pairs, got {len(ratios)}"
    return f"{ratio.median:.3f} ({text})"
