"""Show what a run would do, for ``nameplate run --dry-run``."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from nameplate.commands._tools import asked_references, references_take_s
from nameplate.errors import UsageError
from nameplate.execution.measuring import nodes_of_run
from nameplate.planning.budget import MIN_ROUNDS, closing_s, round_s
from nameplate.probes import probe_of
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Plan
from nameplate.records.run_record import Run
from nameplate.report.content.format import count
from nameplate.units import size_text


def check_room(experiments: Sequence[Experiment]) -> None:
    """Check that the test file of each disk experiment fits its file system; other experiments are ignored.

    Raises:
        UsageError: a file system has less free space than ``size``, or the directory of ``file`` does not exist.
    """
    for experiment in experiments:
        path, size = str(experiment.params.get("file", ".")), experiment.params.get("size")
        if probe_of(experiment.probe).area != "disk" or not isinstance(size, int):
            continue
        directory = Path(path) if Path(path).is_dir() else Path(path).parent
        if not directory.is_dir():
            raise UsageError(f"file={path}: there is no directory {directory}")
        free = shutil.disk_usage(directory).free
        if size > free:
            raise UsageError(f"size={size_text(size)}: the file system of {directory} has only {size_text(free)} free")


def check_peer(peer: str | None) -> None:
    """Check that the host of ``--peer`` has an address. Raises UsageError if it has none; nothing is sent to it."""
    if peer is None:
        return
    host = peer.strip("[]") if peer.count(":") > 1 and not peer.startswith("[") else urlsplit(f"//{peer}").hostname
    try:
        socket.getaddrinfo(host, None)
    except OSError as error:
        raise UsageError(f"--peer {peer}: cannot resolve the host: {error.strerror}") from None


def print_plan(header: Run, peer: str | None, mpi: str | None, machine: Machine) -> None:
    """Print the experiments of a run, its time, and what it writes to disk and sends over the network.

    ``header`` is the first record of the run, with its plan. ``peer`` and ``mpi`` are the command-line options of these
    names, or None. ``machine`` is the machine that would measure. Nothing is measured.
    """
    plan, nodes = header.plan, nodes_of_run(header, machine)
    limits = plan.limits
    certain = [experiment for experiment in plan.experiments if not experiment.dense]
    n_rounds = limits.rounds or MIN_ROUNDS
    is_limited = limits.rounds is None or limits.budget_binds
    measured_s = limits.budget_s - closing_s(limits, len(plan.experiments))
    longest = (
        f"; measuring ends within {measured_s:.0f} s, the run within about {limits.budget_s:g} s" if is_limited else ""
    )
    min_s = n_rounds * round_s(plan, nodes.turns if nodes else 1)
    take = f"{count(n_rounds, 'round')} take{'s' if n_rounds == 1 else ''} about {min_s:.0f} s"
    print(f"{plan.name}: {count(len(certain), 'experiment')}; {take}{longest}")
    if references_s := references_take_s(asked_references(plan), machine):
        print(f"  reference tools run first and take about {references_s:.0f} s of the budget")
    if len(certain) < len(plan.experiments):
        print(f"  and up to {len(plan.experiments) - len(certain)} more, at sizes where these values change")
    for experiment in certain:
        print(f"  {experiment.id}")
    print("writes to disk: the run file" + "".join(f"; {use}" for use in _disk_use(plan)))
    print("network: " + ("; ".join(_network_use(plan, peer, mpi)) or "nothing"))


def _network_use(plan: Plan, peer: str | None, mpi: str | None) -> Iterator[str]:
    """Yield a text for each probe that sends data over the network."""
    rounds = plan.limits.rounds or MIN_ROUNDS
    to_peer = f"to {peer}" if peer else "over loopback, to a peer on this machine"
    for name in dict.fromkeys(experiment.probe for experiment in plan.experiments):
        use = probe_of(name).network_use([e for e in plan.experiments if e.probe == name], rounds)
        if use:
            yield f"{name}: {use}, {f'among the ranks of {mpi}' if probe_of(name).takes_all_ranks else to_peer}"


def _disk_use(plan: Plan) -> Iterator[str]:
    """Yield the texts of each probe that writes to disk."""
    rounds = plan.limits.rounds or MIN_ROUNDS
    for name in dict.fromkeys(experiment.probe for experiment in plan.experiments):
        experiments = [experiment for experiment in plan.experiments if experiment.probe == name]
        yield from probe_of(name).disk_use(experiments, rounds)
