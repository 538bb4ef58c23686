"""Compare nameplate with a reference tool: both do the same work in pairs, directly one after the other.

Each pass runs every work once in a shuffled order. Within a pair, the order alternates from pass to pass (ABBA), so
that a drift of the machine affects both sides equally. The result is the median of the pairs' ratios with its exact
interval.
"""

from __future__ import annotations

import fcntl
import os
import random
import shlex
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from nameplate.errors import CoreError, FileError, NameplateError, ToolFailed, Unreadable
from nameplate.execution.core_process import CoreProcess, make_request
from nameplate.execution.file_keeper import FileDescriptorCache
from nameplate.execution.launch import Launch, alone, core_path
from nameplate.interruption import handled
from nameplate.planning.file_size import room_bytes
from nameplate.planning.sweep import experiment_id
from nameplate.probes import Metric, ResolvedExperiment, probe_of
from nameplate.probes.shared.served import PAGE_CACHE, served_by
from nameplate.records.inputs import files_in
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Limits, Value
from nameplate.records.replaceable import is_work_folder, mark_work_folder
from nameplate.records.run_record import Header, Outcome, Sample
from nameplate.tools.page_cache import check_cached, warm
from nameplate.tools.pairing import measure_pair, paired_ratio
from nameplate.tools.process import free_port, loopback_host, on_cpus, read_output, run_tool, serving
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork
from nameplate.units import size_text

# Six pairs are the minimum for an interval; a seventh allows for one outlier.
DEFAULT_PAIRS = 7
MIN_PAIRS = 5
# A smaller difference is not reported.
MIN_EFFECT = 0.05
GRACE_S = 30.0
# The time limit of tools that do a fixed amount of work.
DEADLINE_S = 300.0
_SCRATCH = ".nameplate-versus-"

Verdict: TypeAlias = Literal["same", "more", "less", "unsure", "other work", "none"]


class PairedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of a reference tool compared with nameplate's, or the reason why a tool or a work is not compared.

    - ``version``, ``command``: the tool's version and command line; ``work``: the tool's run and metric in words
    - ``probe``, ``params``, ``metric``, ``unit``: nameplate's metric and its SI unit; the parameter ``file`` is left
      out
    - ``ours``, ``theirs``: the values of nameplate and of the tool in that unit, in the order of the pairs
    - ``ratio``: the median of the pairs' ratios; above 1 nameplate is better (a higher rate, a lower time). ``ci``: its
      95 % interval (low, high), None with fewer than six pairs
    - ``verdict``: ``verdict_of`` the ratio, or "other work" if the two did not do exactly the same
    - ``reason``: why there is no ratio, why no more pairs were measured, or what differs; empty otherwise.
      ``install``: how to install a missing tool

    A row of a tool or work that is not compared has no ratio and no values; the other texts are empty as far as they
    are not known.
    """

    tool: str
    reason: str
    version: str = ""
    command: str = ""
    work: str = ""
    probe: str = ""
    params: dict[str, Value] = {}
    metric: str = ""
    unit: str = ""
    ours: list[float] = []
    theirs: list[float] = []
    ratio: float | None = None
    ci: tuple[float, float] | None = None
    verdict: Verdict = "none"
    install: str = ""


@dataclass
class PairedComparison:
    """A work of a reference tool and its pairs so far.

    ``version`` is that of the tool. Each of ``pairs`` has nameplate's values and the tool's values, in this order, both
    in the order of ``work.metrics`` and in SI units. ``reason`` is empty, or the error for which the work is not
    measured any more.
    """

    reference: ReferenceTool
    version: str
    work: ToolWork
    setting: ToolSetting
    pairs: list[tuple[list[float], list[float]]] = field(default_factory=list)
    reason: str = ""

    def rows(self) -> list[PairedRow]:
        """Return a row for each of the work's metrics, in their order.

        Without pairs, the ratio of a row is None and its verdict "none". Nothing is measured.
        """
        return [self._row(index, compared) for index, compared in enumerate(self.work.metrics)]

    def _row(self, index: int, compared: ComparedMetric) -> PairedRow:
        metric = metric_of(compared)
        ours, theirs = ([pair[side][index] for pair in self.pairs] for side in (0, 1))
        ratios = [_ratio(metric, *pair) for pair in zip(ours, theirs, strict=True)]
        found = paired_ratio(ratios) if ratios else None
        ratio, ci = (found.median, found.ci) if found else (None, None)
        verdict = verdict_of(ratio, ci)
        return PairedRow(
            tool=self.reference.name,
            version=self.version,
            command=shlex.join(self.work.command),
            work=", ".join(words for words in (compared.name, self.work.name) if words),
            probe=compared.probe,
            params={name: value for name, value in compared.params.items() if name != "file"},
            metric=compared.metric,
            unit=metric.unit,
            ours=ours,
            theirs=theirs,
            ratio=ratio,
            ci=ci,
            verdict="other work" if compared.differs and ratio else verdict,
            reason=self.reason or compared.differs,
        )


def metric_of(compared: ComparedMetric) -> Metric:
    """Return the declaration of nameplate's metric that a tool's metric is compared with.

    Raises StopIteration if this version does not know the probe, or the probe has no metric ``compared.metric``.
    """
    return next(metric for metric in probe_of(compared.probe).metrics if metric.name == compared.metric)


def _ratio(metric: Metric, ours: float, theirs: float) -> float:
    return ours / theirs if metric.better == "higher" else theirs / ours


def verdict_of(ratio: float | None, ci: tuple[float, float] | None) -> Verdict:
    """Return what the median of the pairs' ratios and its 95 % interval (low, high) say about the two programs.

    A ratio above 1 means that nameplate is better.

    - "same": the interval is within 0.95 to 1.05
    - "more": the interval is above 1, and the median is at least 1.05
    - "less": the interval is below 1, and the median is at most 0.95
    - "unsure": none of these, or ``ci`` is None
    - "none": ``ratio`` is None
    """
    if ratio is None:
        return "none"
    if ci is None:
        return "unsure"
    low, high = ci
    if low >= 1 - MIN_EFFECT and high <= 1 + MIN_EFFECT:
        return "same"
    if low > 1 and ratio >= 1 + MIN_EFFECT:
        return "more"
    return "less" if high < 1 and ratio <= 1 - MIN_EFFECT else "unsure"


@dataclass
class Bench:
    """The place where pairs are measured.

    - ``cpus``: the numbers of the CPUs that may be used; a work of n threads is bound to the first n of them, a work
      with a server to the first one, and the servers to the second one
    - ``launch``: the MPI launch for probes that take the whole job; None only if there is no such work
    - ``seconds``: the time for which nameplate measures each metric
    - ``keeper``: keeps nameplate's test files from pair to pair; the caller closes it
    - ``tell``: called when a work begins, with the share of all pairs that are done (0 to 1) and the work's name
    """

    cpus: Sequence[int]
    machine: Machine
    launch: Launch | None
    seconds: int
    keeper: FileDescriptorCache
    tell: Callable[[float, str], None]

    def run(self, comparisons: Sequence[PairedComparison], pairs: int, seed: int) -> None:
        """Measure all pairs, and append them to the ``pairs`` of each comparison.

        ``pairs`` is the number of passes. Each measures every comparison once, in an order that ``seed`` determines;
        ``seed`` also determines which side of a comparison runs first in the first pass. A NameplateError in one work
        becomes its ``reason``: the work keeps its pairs and is not measured any more, and the others continue. A
        comparison that has a reason already is not measured.
        """
        order = random.Random(seed)
        first = {id(comparison): order.random() < 1 / 2 for comparison in comparisons}
        for number in range(pairs):
            shuffled = list(comparisons)
            order.shuffle(shuffled)
            for index, comparison in enumerate(shuffled):
                self.tell(
                    (number + index / len(shuffled)) / pairs, f"{comparison.reference.name}: {comparison.work.name}"
                )
                if not comparison.reason:
                    self._pair(comparison, ours_first=first[id(comparison)] == (number % 2 == 0))

    def theirs_alone(self, comparison: PairedComparison, deadline_s: float) -> list[float]:
        """Return the tool's own values from one run, in the order of the work's metrics and in SI units.

        The files of the work are written and its ``prepare`` is run first. All of it is ended after ``deadline_s``
        seconds. The comparison's ``pairs`` and ``reason`` are not changed.

        Raises:
            ToolError: the tool fails or does not end in time, or its output is not readable.
        """
        begin = time.monotonic()
        self._prepare(comparison, deadline_s)
        return self._theirs(comparison, max(0.0, deadline_s - (time.monotonic() - begin)))

    def _pair(self, comparison: PairedComparison, ours_first: bool) -> None:
        try:
            self._prepare(comparison)
            pair = measure_pair(partial(self._ours, comparison), partial(self._theirs, comparison), ours_first)
        except CoreError as error:
            comparison.reason = f"nameplate: {error}"
        except Unreadable as error:
            comparison.reason = f"{comparison.reference.name}: cannot read its output: {error}"
        except NameplateError as error:
            comparison.reason = f"{comparison.reference.name}: {error}"
        else:
            comparison.pairs.append(pair)

    def _prepare(self, comparison: PairedComparison, deadline_s: float = DEADLINE_S) -> None:
        work, folder = comparison.work, comparison.setting.folder
        _check_room(work, folder)
        for name, text in work.files.items():
            try:
                (folder / name).write_text(text, encoding="utf-8")
            except OSError as error:
                raise ToolFailed(f"cannot write {folder / name}: {error.strerror}") from None
        if work.prepare:
            run_tool(work.prepare, folder, deadline_s)

    def _theirs(self, comparison: PairedComparison, deadline_s: float = DEADLINE_S) -> list[float]:
        work, setting = comparison.work, comparison.setting
        output = comparison.reference.output
        with self._clients_bound(work), ExitStack() as stack:
            if output:
                # Otherwise an old output could be taken for that of this run.
                (setting.folder / output).unlink(missing_ok=True)
            if work.server:
                loopback_host()  # without one, the reason is this, and not that the server does not listen
                stack.enter_context(serving(work.server, setting.port, setting.folder, self._server_cpus()))
            if work.cached:
                warm(setting.folder / work.cached)
            text = run_tool(work.command, setting.folder, deadline_s, work.environment)
            if work.cached:
                check_cached(setting.folder / work.cached, "after")
        if output:
            text = read_output(setting.folder / output)
        return [compared.read(text) for compared in work.metrics]

    def _ours(self, comparison: PairedComparison) -> list[float]:
        work = comparison.work
        measured: dict[str, tuple[ResolvedExperiment, list[Sample]]] = {}
        for compared in work.metrics:
            name = experiment_id(compared.probe, compared.params)
            if name not in measured:
                with self._clients_bound(work):
                    measured[name] = self._measure(compared, comparison.setting)
        return [
            _metric_value(compared, *measured[experiment_id(compared.probe, compared.params)])
            for compared in work.metrics
        ]

    def _measure(self, compared: ComparedMetric, setting: ToolSetting) -> tuple[ResolvedExperiment, list[Sample]]:
        """Return nameplate's samples of one metric, measured in a fresh core."""
        samples: list[Sample] = []
        with self._core_options(compared, setting) as options:
            core = CoreProcess(lambda _: None, 0, self.keeper, options, self._launch(compared))
            try:
                outcome = core.measure(self._request(compared), self.seconds + GRACE_S, lambda r: _keep(samples, r))
                core.close()
            finally:
                core.kill()
        if outcome.ending != "ok":
            raise CoreError(f"{outcome.ending}: {outcome.reason}")
        experiment = ResolvedExperiment(outcome.params, outcome.facts, self.machine, outcome.labels)
        _check_served(experiment, samples)
        return experiment, samples

    def _request(self, compared: ComparedMetric) -> Mapping[str, Any]:
        experiment = Experiment("versus", compared.probe, dict(compared.params), sample_s=compared.sample_s)
        return make_request(experiment, Limits(self.seconds, 0.01), float(self.seconds))

    def _launch(self, compared: ComparedMetric) -> Launch:
        if not probe_of(compared.probe).takes_whole_job:
            return alone()
        assert self.launch is not None
        return self.launch

    @contextmanager
    def _core_options(self, compared: ComparedMetric, setting: ToolSetting) -> Iterator[list[str]]:
        """Yield options that place the peer of a network probe on the CPU of the servers, as for the tool."""
        if probe_of(compared.probe).area != "net":
            yield []
            return
        host = loopback_host()
        port = free_port(host)
        serve = [str(core_path()), "serve", "--listen", host, "--port", str(port)]
        with serving(serve, port, setting.folder, self._server_cpus()):
            yield ["--peer", f"[{host}]:{port}"]

    @contextmanager
    def _clients_bound(self, work: ToolWork) -> Iterator[None]:
        with on_cpus(self.cpus[: 1 if work.server else work.threads]):
            yield

    def _server_cpus(self) -> Sequence[int]:
        return self.cpus[1:2] or self.cpus


def _check_room(work: ToolWork, folder: Path) -> None:
    """Check that a tool's file leaves the free space that nameplate's files leave. Raises ToolFailed if it does not.

    The file of the tool's previous run, which is replaced, may still be in the folder.
    """
    n_bytes = max((int(compared.params.get("size", 0)) for compared in work.metrics if compared.probe == "disk_block"),
                  default=0)  # fmt: skip
    room = room_bytes(folder) + sum(path.stat().st_size for path in files_in(folder))
    if n_bytes > room:
        raise ToolFailed(
            f"its file needs {size_text(n_bytes)}, but the file system has room for {size_text(max(room, 0))}: "
            "use a directory with more free space"
        )


def _check_served(experiment: ResolvedExperiment, samples: Sequence[Sample]) -> None:
    """Check that the page cache served reads that it was to serve. Raises CoreError if not, or if that is not known."""
    if experiment.params.get("cache") != "warm" or experiment.params["op"] != "read":
        return
    served = served_by(experiment, samples)
    if served != PAGE_CACHE and not experiment.facts["is_memory"]:
        raise CoreError(f"its reads were not served by the page cache, but by: {served}; free some memory")


def _keep(samples: list[Sample], record: Header | Sample | Outcome) -> None:
    if isinstance(record, Sample):
        samples.append(record)


def _metric_value(compared: ComparedMetric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float:
    metric = metric_of(compared)
    if compared.take == "sustained":
        return metric.sustained(experiment, samples)
    values = [metric.value(experiment, sample) for sample in samples[1:] or samples]
    return max(values) if metric.better == "higher" else min(values)


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """Create a folder in ``parent``, yield its path, and remove it with all its contents afterwards.

    It is removed even if a signal asks the process to end (SIGINT, SIGTERM, SIGHUP), which raises KeyboardInterrupt in
    the context. Folders left in ``parent`` by killed runs, which are marked as such and whose lock nobody holds, are
    removed as well. Only the main thread can use it, because it handles signals.

    Raises:
        FileError: the folder cannot be created.
    """
    for left in parent.glob(f"{_SCRATCH}*"):
        _remove_left(left)
    with handled(signal.default_int_handler):
        try:
            made = tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=parent, ignore_cleanup_errors=True)
        except OSError as error:
            raise FileError(f"cannot create a folder for the tools' files in {parent}: {error.strerror}") from None
        with made as name, _locked(Path(name)):
            mark_work_folder(Path(name))
            yield Path(name)


def _remove_left(folder: Path) -> None:
    """Remove a work folder of this user that no running nameplate holds; leave all others with such a name alone."""
    with suppress(OSError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return
        with _locked(folder) as is_ours:
            if is_ours and is_work_folder(folder):
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Yield whether the folder's lock could be taken; if so, it is held in the meantime."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)
