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

from nameplate.commands._tools import Search, default_launch
from nameplate.errors import UsageError
from nameplate.execution.core_process import describe_core
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import launch_with
from nameplate.probes import load_probes
from nameplate.records.atomic_write import write_atomically
from nameplate.records.machine_record import Machine
from nameplate.records.outputs import check_output
from nameplate.records.plan_record import Experiment
from nameplate.records.run_record import SCHEMA
from nameplate.report.terminal.progress import make_progress
from nameplate.report.terminal.versus import print_rows
from nameplate.suggestion import nearest
from nameplate.tools.external import load_references
from nameplate.tools.paired import DEFAULT_PAIRS, MIN_PAIRS, Bench, PairedComparison, PairedRow, scratch
from nameplate.tools.reference_tool import ReferenceTool
from nameplate.units import parse_duration

GROUP = "Measure"

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
        The number of pairs, each with one run of the tool and one of nameplate, at least 5. An interval needs 6.
    time
        The duration of each run in whole seconds. Tools with a fixed amount of work take as long as they need.
    mpi
        The launcher of MPI tools and probes, in quotes. Default: "mpirun -n 2".
    seed
        The random seed for the order of the pairs. Default: a random seed.
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
    launch = launch_with(mpi) if mpi is not None else default_launch()
    core = describe_core()
    check_output("-o", output, force=force)
    with scratch(Path.cwd()) as folder:
        search = Search(folder, launch, core, int(seconds), probes)
        comparisons, rest = search.all(chosen)
        interrupted = _measure(comparisons, search, pairs, seed, quiet)
    rows = [row for comparison in comparisons for row in comparison.rows()]
    text = _document([*rows, *rest], core.machine)
    if json:
        print(text)
    else:
        print_rows([*rows, *rest])
    if output is not None:
        write_atomically(f"{text}\n".encode(), output, force)
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

    def tell(share: float, text: str) -> None:
        left_s = (clock.monotonic() - began) * (1 - share) / share if share else 0.0
        progress.start(int(share * pairs) + 1, Experiment(text, "", {}), share, left_s)

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
    # Users pass the document on, so the host name is left out.
    names = ("cpu", "topology", "memory", "kernel", "distribution", "hypervisor", "emulator", "container")
    facts = {name: getattr(machine, name) for name in names}
    document = {"schema": SCHEMA, "machine": facts, "rows": rows}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
