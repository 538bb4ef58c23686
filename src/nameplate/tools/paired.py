"""Compare nameplate with a reference tool: both do the same work in pairs, directly one after the other.

Each pass measures one pair of every comparison, in a shuffled order. Within a pair, the order of the two programs
alternates from pass to pass (ABBA), so that a drift of the machine affects both programs equally. Each pair has a
ratio, which is above 1 if nameplate is better. The result of a comparison is the median of these ratios with the exact
95 % interval.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

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
from nameplate.tools.reference_tool import ComparedMetric, ReferenceTool, ToolSetting, ToolWork
from nameplate.tools.tool_process import free_port, loopback_host, on_cpus, read_output, run_tool, serving
from nameplate.units import size_text

# Six pairs are the minimum for an interval; a seventh allows for one outlier.
DEFAULT_PAIRS = 7
MIN_PAIRS = 5
# Smaller differences are not reported.
MIN_EFFECT = 0.05
# The time that nameplate's core has in addition to ``Bench.seconds`` before it is killed.
GRACE_S = 30.0
# The time limit of tools that do a fixed amount of work.
DEADLINE_S = 300.0
_SCRATCH = ".nameplate-versus-"

Verdict: TypeAlias = Literal["same", "more", "less", "unsure", "other work", "none"]


class PairedRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of a reference tool compared with nameplate's metric, or the reason why there is no comparison.

    - ``tool``: the name of the tool; ``version``, ``command``: its version and its command line
    - ``work``: a short description of the tool's run and metric, as shown in a table
    - ``probe``, ``params``, ``metric``, ``unit``: nameplate's probe, its parameters without ``file``, its metric, and
      the metric's SI unit
    - ``ours``, ``theirs``: the values of nameplate and of the tool in ``unit``, in the order of the pairs
    - ``ratio``: the median over the pairs of nameplate's value ÷ the tool's value for a rate, and of the tool's value ÷
      nameplate's value for a time; above 1 nameplate is better
    - ``ci``: the 95 % interval (low, high) of ``ratio``; None with fewer than six pairs
    - ``verdict``: the result of ``verdict_of``, or "other work" if the two programs did not do exactly the same work
    - ``reason``: why there is no ratio, why no more pairs were measured, or how the work differs; otherwise empty
    - ``install``: a command that installs a missing tool; otherwise empty

    For a tool or work that is not compared, ``ratio`` is None, ``verdict`` is "none", and fields that are not known are
    empty.
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
    """One work of a reference tool, with the pairs that have been measured.

    - ``reference``, ``version``: the tool, and the version of the installed program
    - ``work``, ``setting``: the tool's run, and the conditions for which its command was made
    - ``pairs``: one entry per pair, (values of nameplate, values of the tool); both lists are in SI units and in the
      order of ``work.metrics``
    - ``reason``: the error that ended the measurement of this work; empty if there was none
    """

    reference: ReferenceTool
    version: str
    work: ToolWork
    setting: ToolSetting
    pairs: list[tuple[list[float], list[float]]] = field(default_factory=list)
    reason: str = ""

    def rows(self) -> list[PairedRow]:
        """Return one row for each metric in ``work.metrics``, in the same order, from the pairs measured so far.

        Without pairs, a row has no values, its ``ratio`` is None, and its ``verdict`` is "none".
        """
        return [self._row(index, compared) for index, compared in enumerate(self.work.metrics)]

    def _row(self, index: int, compared: ComparedMetric) -> PairedRow:
        metric = metric_of(compared)
        ours, theirs = ([pair[side][index] for pair in self.pairs] for side in (0, 1))
        is_rate = metric.better == "higher"
        ratios = [
            value / reference if is_rate else reference / value for value, reference in zip(ours, theirs, strict=True)
        ]
        estimate = paired_ratio(ratios) if ratios else None
        ratio, ci = (estimate.median, estimate.ci) if estimate else (None, None)
        verdict = verdict_of(ratio, ci)
        return PairedRow(
            tool=self.reference.name,
            version=self.version,
            command=shlex.join(self.work.command),
            work=", ".join(part for part in (compared.name, self.work.name) if part),
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
    """Return nameplate's declaration of the metric that the tool's metric ``compared`` is compared with.

    Raises:
        StopIteration: this version does not know the probe ``compared.probe``, or the probe has no metric
            ``compared.metric``.
    """
    return next(metric for metric in probe_of(compared.probe).metrics if metric.name == compared.metric)


def verdict_of(ratio: float | None, ci: tuple[float, float] | None) -> Verdict:
    """Return the verdict of a paired comparison from its median ratio and the ratio's 95 % interval ``ci`` (low, high).

    A ratio above 1 means that nameplate is better. Differences of less than 5 % (``MIN_EFFECT``) are not reported.

    - "same": the interval is within 0.95 to 1.05
    - "more": the interval is above 1, and the median is at least 1.05
    - "less": the interval is below 1, and the median is at most 0.95
    - "unsure": none of these conditions holds, or ``ci`` is None
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
    """Measure paired comparisons: run nameplate and reference tools alternately on the same CPUs.

    - ``cpus``: the numbers of the CPUs to use. A work with ``threads`` n is bound to the first n CPUs, and is not bound
      if n is 0. A work with a server has its client on the first CPU and its server on the second one.
    - ``machine``: the description of this machine, from ``describe_core``; nameplate's metrics receive it
    - ``launch``: how to start an MPI job, for probes that take all ranks; None if no such probe is compared
    - ``seconds``: the time in seconds for which nameplate measures each metric in each pair
    - ``keeper``: keeps nameplate's test files open from pair to pair; the caller closes it
    - ``tell``: a callback for progress, called before each pair with the share of all pairs that are done (0 to 1) and
      the text "TOOL: WORK"
    """

    cpus: Sequence[int]
    machine: Machine
    launch: Launch | None
    seconds: int
    keeper: FileDescriptorCache
    tell: Callable[[float, str], None]

    def run(self, comparisons: Sequence[PairedComparison], pairs: int, seed: int) -> None:
        """Measure ``pairs`` pairs of each of ``comparisons``, and append them to the comparison's attribute ``pairs``.

        Each of the ``pairs`` passes measures every comparison once. The random ``seed`` determines the shuffled order
        of each pass, and which program of a comparison runs first in the first pass. If a work raises NameplateError,
        the message becomes its ``reason``, and the work is not measured again; its earlier pairs are kept, and other
        works continue. A comparison that has a ``reason`` before the call is not measured.
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
        """Run the tool once without nameplate, and return its values in SI units, in the order of ``work.metrics``.

        The input files of the work are written first, and its ``prepare`` command runs before the tool. The limit
        ``deadline_s``, in seconds, includes both; a command that is still running then is killed. The ``pairs`` and the
        ``reason`` of the comparison do not change.

        Raises:
            ToolError: the tool fails or exceeds the deadline, or its output cannot be read.
        """
        started = time.monotonic()
        self._prepare(comparison, deadline_s)
        return self._theirs(comparison, max(0.0, deadline_s - (time.monotonic() - started)))

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
                # Otherwise the output of an earlier run could be read.
                (setting.folder / output).unlink(missing_ok=True)
            if work.server:
                loopback_host()  # raises the actual reason if there is no loopback address
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
        """Return nameplate's resolved experiment and samples for one metric, measured in a fresh core process."""
        experiment = Experiment("versus", compared.probe, dict(compared.params), sample_s=compared.sample_s)
        request = make_request(experiment, Limits(self.seconds, 0.01), float(self.seconds))
        records: list[Header | Sample | Outcome] = []
        with self._core_options(compared, setting) as options:
            core = CoreProcess(lambda _: None, 0, self.keeper, options, self._launch(compared))
            try:
                outcome = core.measure(request, self.seconds + GRACE_S, records.append)
                core.close()
            finally:
                core.kill()
        if outcome.ending != "ok":
            raise CoreError(f"{outcome.ending}: {outcome.reason}")
        resolved = ResolvedExperiment(outcome.params, outcome.facts, self.machine, outcome.labels)
        samples = [record for record in records if isinstance(record, Sample)]
        _check_served(resolved, samples)
        return resolved, samples

    def _launch(self, compared: ComparedMetric) -> Launch:
        if not probe_of(compared.probe).takes_all_ranks:
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
    """Check that the tool's file leaves as much free space as nameplate's files do. Raises ToolFailed if it does not.

    Files in ``folder`` from the tool's previous run count as free space, because the tool replaces them.
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
    """Check that the page cache served the reads of an experiment with ``cache=warm``; other experiments pass.

    Raises CoreError if the page cache did not serve them, or if that is not known.
    """
    if experiment.params.get("cache") != "warm" or experiment.params["op"] != "read":
        return
    served = served_by(experiment, samples)
    if served != PAGE_CACHE and not experiment.facts["is_memory"]:
        raise CoreError(f"its reads were not served by the page cache, but by: {served}; free some memory")


def _metric_value(compared: ComparedMetric, experiment: ResolvedExperiment, samples: Sequence[Sample]) -> float:
    metric = metric_of(compared)
    if compared.take == "sustained":
        return metric.sustained(experiment, samples)
    values = [metric.value(experiment, sample) for sample in samples[1:] or samples]
    return max(values) if (metric.better == "higher") == (compared.take == "best") else min(values)


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """Create a temporary folder in ``parent``, yield its path, and remove it with all its contents afterwards.

    SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt in the context, so that the folder is removed even then. Folders
    that earlier, killed runs left in ``parent`` are removed as well, unless a running process holds their lock. Call
    this function in the main thread only, because it installs signal handlers.

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
    """Remove a marked work folder of this user that no running nameplate holds; leave every other folder unchanged."""
    with suppress(OSError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return
        with _locked(folder) as is_ours:
            if is_ours and is_work_folder(folder):
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Yield whether the folder's lock was free; if so, the lock is held until the context ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)
