"""Implement ``nameplate versus``."""

from __future__ import annotations

import os
import random
import sys
import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from nameplate.commands._tools import Search, usual_launch
from nameplate.errors import UsageError
from nameplate.execution.core_process import describe_core
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import launch_with
from nameplate.planning.sweep import nearest
from nameplate.probes import load_probes
from nameplate.records.atomic_write import write_whole
from nameplate.records.machine_record import Machine
from nameplate.records.outputs import check_output
from nameplate.records.plan_record import Experiment
from nameplate.records.run_record import SCHEMA
from nameplate.report.terminal.paired import print_rows
from nameplate.report.terminal.progress import make_progress
from nameplate.tools.external import load_references
from nameplate.tools.paired import DEFAULT_PAIRS, MIN_PAIRS, Bench, PairedComparison, PairedRow, scratch
from nameplate.tools.reference_tool import ReferenceTool
from nameplate.units import parse_duration

Option = Annotated[str | None, Parameter(show_default=False)]


def command(  # noqa: PLR0913 (the options of the command line)
    *names: str,
    pairs: int = DEFAULT_PAIRS,
    time: str = "2s",
    mpi: Option = None,
    seed: int | None = None,
    json: bool = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    force: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Compare nameplate with the installed reference tools on the same work, in paired rounds.

    Files of the tools go to a temporary folder in the current directory, which is removed at the end.

    Parameters
    ----------
    names
        Tools (fio, iperf3, likwid …) or probes (disk_block …) to compare. Default: all installed tools.
    pairs
        The number of times that both are run, at least 5. An interval needs at least 6.
    time
        The duration of each run in whole seconds. Tools with a fixed amount of work take as long as that needs.
    mpi
        The launcher of MPI tools and probes, in quotes. Default: "mpirun -n 2".
    seed
        The seed of the shuffled order. Default: a random one.
    json
        Print the values of every pair as JSON instead of a table.
    output
        Also write the JSON to this file.
    force
        Replace the file of -o if it exists. Run files are never replaced.
    quiet
        Do not show progress.
    """
    if pairs < MIN_PAIRS:
        raise UsageError(f"--pairs {pairs}: too few; use {MIN_PAIRS} or more")
    seconds = parse_duration(time)
    if seconds < 1 or seconds != int(seconds):
        raise UsageError(f"--time {time}: not a whole number of seconds, which the tools need; use 1s or more")
    chosen, probes = _chosen(names)
    launch = launch_with(mpi) if mpi is not None else usual_launch()
    core = describe_core()
    check_output("-o", output, force=force)
    with scratch(Path.cwd()) as folder:
        search = Search(folder, launch, core, int(seconds), probes)
        comparisons, others = search.all(chosen)
        interrupted = _measure(comparisons, search, pairs, seed, quiet)
    rows = [row for comparison in comparisons for row in comparison.rows()]
    text = _document([*rows, *others], core.machine)
    if json:
        print(text)
    else:
        print_rows([*rows, *others])
    if output is not None:
        write_whole(f"{text}\n".encode(), output, force)
    return 3 if interrupted or any(comparison.reason for comparison in comparisons) else 0


def _chosen(names: Sequence[str]) -> tuple[list[ReferenceTool], frozenset[str]]:
    """Return the chosen tools and probes; an empty set of probes means all."""
    references = load_references()
    for name in names:
        if name not in references and name not in load_probes():
            raise UsageError(f"unknown tool or probe '{name}': {nearest(name, [*references, *load_probes()])}")
    named = [references[name] for name in names if name in references]
    return named or [*references.values()], frozenset(name for name in names if name not in references)


def _measure(comparisons: list[PairedComparison], search: Search, pairs: int, seed: int | None, quiet: bool) -> bool:
    """Run the pairs, and return whether Ctrl-C stopped them; the pairs measured before are kept."""
    keeper = FileDescriptorCache()
    progress = make_progress(quiet, is_series=False)
    began = clock.monotonic()

    def tell(share: float, words: str) -> None:
        left_s = (clock.monotonic() - began) * (1 - share) / share if share else 0.0
        progress.begin(int(share * pairs) + 1, Experiment(words, "", {}), share, left_s)

    bench = Bench(sorted(os.sched_getaffinity(0)), search.machine, search.launch, search.seconds, keeper, tell)
    try:
        with progress:
            bench.run(comparisons, pairs, random.SystemRandom().randrange(2**32) if seed is None else seed)
    except KeyboardInterrupt:
        print("nameplate: stopped; the table shows the pairs measured so far", file=sys.stderr)
        return True
    finally:
        keeper.close()
    return False


def _document(rows: Sequence[PairedRow], machine: Machine) -> str:
    # The document is passed on, so the host name is left out.
    names = ("cpu", "topology", "memory", "kernel", "distribution", "hypervisor", "emulator", "container")
    kept = {name: getattr(machine, name) for name in names}
    whole = {"schema": SCHEMA, "machine": kept, "rows": rows}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()
