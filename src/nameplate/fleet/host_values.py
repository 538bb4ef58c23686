"""Read run files as the machines of a fleet: one row per machine, with its newest run of the fleet's plan."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from nameplate.errors import FileError
from nameplate.expectations.machine_class import class_of
from nameplate.probes.shared.job import nodes_of
from nameplate.process_pool import map_batches, uncollected
from nameplate.records.fleet_record import FleetHost, LeftOut
from nameplate.records.machine_record import binding_quota_cpus
from nameplate.records.run_record import MetricKey
from nameplate.results.digest import digest_of, values_version
from nameplate.results.run_file import read_digest, read_header, read_run

OnFiles: TypeAlias = Callable[[int, int], None]
# For each value: the indices of the host and of the metric, the value, and its standard error as a share of it.
VALUES = np.dtype([("host", "<i4"), ("metric", "<i4"), ("value", "<f8"), ("error", "<f8")])
_BATCH = 50
_UNKNOWN = float("nan")


class HostMetric(msgspec.Struct, frozen=True):
    """A metric of an experiment of a plan.

    ``key`` has the parameters that automatic values resolved to on the first machine that was read; machines of another
    class may have other ones.
    """

    experiment: str
    key: MetricKey

    @property
    def name(self) -> tuple[str, str]:
        """Return the id of the experiment and the name of the metric, which are the same on every machine."""
        return self.experiment, self.key.metric


class HostRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run file as a machine of a fleet, or the ``reason`` why it is none; then only ``path`` is set as well.

    ``hardware`` is the machine's class as text (``class_of``). ``plan`` and ``version`` are those of the run. The other
    fields are as in ``FleetHost``.
    """

    path: str
    reason: str = ""
    hostname: str = ""
    boot_id: str = ""
    hardware: str = ""
    started: str = ""
    plan: str = ""
    version: str = ""
    slowed: str = ""


class FleetValues(msgspec.Struct, frozen=True):
    """The machines of a fleet and their values.

    ``hosts`` has the machines in the order of their names, ``classes`` the hardware class of each, and ``values`` rows
    of ``VALUES`` with indices in ``hosts`` and ``metrics``. ``left_out`` are the files that do not count.
    """

    hosts: list[FleetHost]
    classes: list[str]
    metrics: list[HostMetric]
    values: NDArray[np.void]
    left_out: list[LeftOut]


class _Batch(msgspec.Struct, frozen=True):
    runs: list[HostRun]
    metrics: list[HostMetric]
    values: bytes


def read_fleet(
    files: Mapping[Path, str], addresses: Mapping[Path, str] | None = None, on_files: OnFiles = lambda _, __: None
) -> FleetValues:  # fmt: skip
    """Return the machines of run files that were measured separately, with the value of each metric on each machine.

    ``files`` has the reason why a file cannot be read, "" if that is not known yet (``run_files_of``).

    A machine is the address in ``addresses``, by which a controller reached it. For a file without an address it is the
    host name together with the boot id, since different machines may have the same name. Each machine counts once, with
    its newest run. The plan and the version of nameplate that most machines have are those of the fleet; runs of others
    are left out, as are files that cannot be read, runs of several nodes, older runs, and runs that other programs
    slowed down. ``on_files`` is called after each batch with the number of files read so far and the number of files.
    Many files are read by several processes.
    """
    readable = [path for path, why in files.items() if not why]
    runs: list[HostRun] = []
    metrics: dict[tuple[str, str], tuple[int, HostMetric]] = {}
    rows = []
    for batch in map_batches(_read_batch, readable, _BATCH):
        values = np.frombuffer(batch.values, VALUES).copy()
        values["host"] += len(runs)
        indices = [metrics.setdefault(metric.name, (len(metrics), metric))[0] for metric in batch.metrics]
        values["metric"] = np.asarray(indices, dtype=np.int32)[values["metric"]]
        rows.append(values)
        runs += batch.runs
        on_files(len(runs), len(readable))
    runs += [HostRun(path=str(path), reason=why.removeprefix(f"{path}: ")) for path, why in files.items() if why]
    given = {str(path): name for path, name in (addresses or {}).items()}
    hosts, left_out = _hosts(runs, given)
    position = np.full(len(runs), -1, dtype=np.int32)
    position[[index for index, _ in hosts]] = np.arange(len(hosts))
    values = np.concatenate(rows) if rows else np.empty(0, VALUES)
    values = values[position[values["host"]] >= 0]
    values["host"] = position[values["host"]]
    return FleetValues(
        [host for _, host in hosts], [runs[index].hardware for index, _ in hosts],
        [metric for _, metric in metrics.values()], values, left_out,
    )  # fmt: skip


def _read_batch(files: Sequence[Path]) -> _Batch:
    runs: list[HostRun] = []
    metrics: dict[tuple[str, str], tuple[int, HostMetric]] = {}
    rows: list[tuple[int, int, float, float]] = []
    with uncollected():
        for index, path in enumerate(files):
            run, values = _read(path)
            runs.append(run)
            for metric, value, error in values:
                which, _ = metrics.setdefault(metric.name, (len(metrics), metric))
                rows.append((index, which, value, error))
    return _Batch(runs, [metric for _, metric in metrics.values()], np.array(rows, VALUES).tobytes())


_Value: TypeAlias = tuple[HostMetric, float, float]


def _read(path: Path) -> tuple[HostRun, list[_Value]]:
    """Return a run with its values, from its digest if that is current, otherwise from its records."""
    try:
        run, machine = read_header(path)
        digest = read_digest(path, values_version()) or digest_of(read_run(path))
        started = datetime.fromisoformat(digest.started).astimezone().isoformat()
        if machine is None:
            return HostRun(path=str(path), reason="it ended before its machine was described"), []
        if len(nodes_of(machine)) > 1:
            return HostRun(path=str(path), reason=f"it is a job of {len(nodes_of(machine))} nodes"), []
        kind = class_of(machine)
        if digest.slowed and binding_quota_cpus(machine) is None:
            return HostRun(path=str(path), reason=f"{digest.slowed}: measure it again when they have ended"), []
    except FileError as error:
        return HostRun(path=str(path), reason=str(error).removeprefix(f"{path}: ")), []
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        # Valid records may still be impossible together: a machine without a name, or an invalid time.
        return HostRun(path=str(path), reason=f"its records cannot be summarised: {error!r}"), []
    host = HostRun(
        path=str(path), hostname=machine.hostname, boot_id=machine.boot_id, started=started, plan=digest.plan,
        hardware=", ".join(filter(None, [kind.description, kind.product])), version=run.version, slowed=digest.slowed,
    )  # fmt: skip
    return host, [
        (HostMetric(item.experiment, item.key), item.value, _UNKNOWN if item.error is None else item.error)
        for item in digest.values
    ]


def _hosts(
    runs: Sequence[HostRun], addresses: Mapping[str, str]
) -> tuple[list[tuple[int, FleetHost]], list[LeftOut]]:  # fmt: skip
    """Return the runs that count as machines, each with its index in ``runs``, by name; and the files left out."""
    left_out = [LeftOut(run.path, run.reason) for run in runs if run.reason]
    readable = [index for index, run in enumerate(runs) if not run.reason]
    newest: dict[tuple[str, str], int] = {}
    by_time = sorted(readable, key=lambda index: datetime.fromisoformat(runs[index].started))
    # The plan and the version are counted by machine, not by file.
    latest = {(runs[index].hostname, runs[index].boot_id): runs[index] for index in by_time}
    kinds = Counter((run.plan, run.version) for run in latest.values())
    same = max(kinds, key=kinds.__getitem__, default=("", ""))
    for index in by_time:
        run = runs[index]
        if (run.plan, run.version) != same:
            left_out.append(LeftOut(run.path, _why_other(run, *same)))
            continue
        address = addresses.get(run.path)
        machine = (address, "") if address is not None else (run.hostname, run.boot_id)
        if machine in newest:
            left_out.append(LeftOut(runs[newest[machine]].path, "a newer run of this machine counts"))
        newest[machine] = index
    names = Counter[str]()
    hosts = []
    for (name, _), index in sorted(newest.items(), key=lambda item: (_natural(item[0][0]), item[0][1])):
        names[name] += 1
        label = f"{name} ({names[name]})" if names[name] > 1 else name
        run = runs[index]
        hosts.append((index, FleetHost(name=label, hostname=run.hostname, boot_id=run.boot_id, path=run.path,
                                       started=run.started, slowed=run.slowed)))  # fmt: skip
    return hosts, left_out


def _natural(name: str) -> list[tuple[str, int]]:
    """Return a key by which node2 is before node10."""
    return [(text, int(digits or -1)) for text, digits in re.findall(r"(\D*)(\d*)", name)]


def _why_other(run: HostRun, plan: str, version: str) -> str:
    if run.plan != plan:
        return f"it is a run of {run.plan}, and the fleet's are of {plan}"
    return f"nameplate {run.version} measured it, and {version} the fleet"
