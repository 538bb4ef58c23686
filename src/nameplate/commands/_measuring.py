"""What commands share that measure: a run's first record, and the rounds that go to its file."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from types import FrameType
from typing import Any

from nameplate import __version__
from nameplate.errors import FileError, Interrupted, UsageError
from nameplate.execution.core_process import CoreProcess, OnRecord
from nameplate.execution.curve_refinement import refiner
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.session import Control, NodeTurns, Progress, Session
from nameplate.interruption import handled, say
from nameplate.planning.budget import overrun_s
from nameplate.probes.shared.job import nodes_of
from nameplate.records.model import SCHEMA, PerNode, Plan, Reference, Report, Run, check_moment
from nameplate.records.run_writer import RunWriter
from nameplate.results.digest import code_fingerprint, figures_of_report
from nameplate.results.run_file import RunFile, append_figures, read_run
from nameplate.results.summarise import headline, summarise


@dataclass(frozen=True)
class Place:
    """Where a run is measured: what is known of the machine, how a core is started there, and which nodes take it.

    ``said``: what reference tools said of it before the first round. ``began``: when the command began, by
    ``time.monotonic``, which is when the time of the budget begins; None: with the first round.
    """

    machine: dict[str, Any]
    start_core: Callable[[OnRecord, FileDescriptorCache], CoreProcess]
    nodes: NodeTurns | None
    said: Sequence[Reference] = ()
    began: float | None = None


def nodes_of_run(header: Run, machine: Mapping[str, Any]) -> NodeTurns | None:
    """All of the job's, where the run is of nodes."""
    return NodeTurns(range(len(nodes_of(machine))), header.per_node == "at-once") if header.per_node else None


def make_run(plan: Plan, seed: int | None, rated: dict[str, float], priority: str, per_node: PerNode) -> Run:
    """Return the first record of a run that begins now; without a seed a new one. Raises UsageError."""
    return Run(
        schema=SCHEMA,
        version=__version__,
        started=_now(),
        plan=plan,
        seed=random.SystemRandom().randrange(2**32) if seed is None else seed,
        rated=rated,
        priority=priority,
        per_node=per_node,
    )


def _now() -> str:
    """Return the date and time, in the local time zone where it is a possible one. Raises UsageError."""
    now = datetime.now(timezone.utc)
    try:
        text = now.astimezone().isoformat(timespec="seconds")
        check_moment(text)
    except ValueError:
        text = now.isoformat(timespec="seconds")
    try:
        check_moment(text)
    except ValueError:
        raise UsageError(f"this machine's clock says {text:.10}: set it, because runs are ordered by time") from None
    return text


def measure_to_file(
    header: Run, writer: RunWriter, earlier: RunFile | None, progress: Progress, place: Place
) -> Report:
    """Measure a plan, or what an earlier run of it lacks, until it is done or Ctrl-C ends it; return its results.

    ``writer`` has a new file, or that of the ``earlier`` run; it is closed at the end. Raises FileError.
    """
    code_fingerprint()  # at the end of a long run its files may be those of another version
    control = Control()
    keeper = FileDescriptorCache()

    session = Session(
        plan=header.plan,
        seed=header.seed,
        start_core=lambda on_record: place.start_core(on_record, keeper),
        write=writer.write,
        sync=writer.sync_if_due,
        headline_of=lambda measurement: headline(measurement, place.machine),
        progress=progress,
        control=control,
        refine=refiner(header.plan),
        nodes=place.nodes,
        began=place.began,
    )
    try:
        if earlier is None:
            writer.write(header)
            for record in place.said:
                writer.write(record)
        else:
            writer.truncate(earlier.whole_bytes)
            session.take_over(earlier.measurements)
        with _stoppable(control), _ended_with_budget(session):
            session.run()
        writer.check_in_place()
    finally:
        writer.close()
        keeper.close()
    file = read_run(writer.path)
    report = summarise(file)
    if file.stop is not None and not file.stop.interrupted:
        try:
            append_figures(file, figures_of_report(report))
        except FileError as error:  # only the history misses them
            print(f"nameplate: {error}", file=sys.stderr)
    return report


@contextmanager
def _ended_with_budget(session: Session) -> Iterator[None]:
    """End a slice that goes on although a budget with fixed rounds is spent: its set-up took longer than expected."""
    limits = session.plan.limits
    if not limits.budget_binds:
        yield
        return
    began = time.monotonic() if session.began is None else session.began
    ends = began + limits.budget_s + overrun_s(limits)
    timer = threading.Timer(min(max(0.0, ends - time.monotonic()), threading.TIMEOUT_MAX), session.end_slice)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _stoppable(control: Control) -> Iterator[None]:
    """Ctrl-C once: stop after the present sample; twice: leave now."""

    def stop(signum: int, frame: FrameType | None) -> None:
        second = control.stopped
        control.request()
        if second:
            raise Interrupted("stopped at once; what was measured before is kept")
        say("\nstopping after the present sample; once more to leave at once")

    with handled(stop):
        yield
