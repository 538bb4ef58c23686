"""Run ``nameplate fleet run`` after its options have been checked."""

from __future__ import annotations

import hashlib
import secrets
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from nameplate.commands._exit_codes import slow_code
from nameplate.commands._node_view import print_view, view_of
from nameplate.errors import CoreError, FileError, Interrupted, UsageError
from nameplate.execution.core_process import describe_core
from nameplate.execution.launch import core_path
from nameplate.fleet.engines.ssh import SshEngine
from nameplate.fleet.fleet_folder import FleetFolder, FleetStart
from nameplate.fleet.fleet_plan import GRACE_S, FleetPlan, HostRequests, fleet_plan
from nameplate.fleet.host_outcome import HostOutcome, failed_text
from nameplate.fleet.hosts import check_addresses, groups_of, parse_hosts
from nameplate.fleet.remote import RemoteRun
from nameplate.records.inputs import read_input
from nameplate.report.content.format import count
from nameplate.report.terminal.console import make_console
from nameplate.units import parse_duration

# The plan that the core has built in.
_QUICK, _QUICK_BUDGET = "quick", "60s"
_MAX_CORE_BYTES = 64 << 20
# The architecture of an ELF program (e_machine), as uname -m calls it.
_ELF = b"\x7fELF"
_ARCHITECTURES = {62: "x86_64", 183: "aarch64"}
_ROUND_S = 30.0
_LINE_EVERY_S = 60.0


@dataclass(frozen=True, kw_only=True)
class FleetOptions:
    """The options of ``nameplate fleet run``, of which either ``hosts`` or ``resumes`` is set."""

    plan: str
    arguments: Sequence[str]
    hosts: str
    folder: Path
    resumes: bool
    budget: str | None
    rounds: int | None
    at_once: int | None
    per_group: str | None
    cores: Sequence[Path]
    installed: str
    removes: bool
    as_json: bool
    quiet: bool


def run_fleet(options: FleetOptions) -> int:
    """Measure the hosts of a fleet, print its nodes, and return the exit code of the command.

    Raises:
        UsageError: an option is wrong.
        FileError: the folder or a core cannot be read or written.
        Interrupted: the user stopped the run; what was measured is in the folder.
    """
    folder = FleetFolder.open(options.folder) if options.resumes else None
    cores = _cores(options.cores if folder is None else [Path(path) for path in folder.start.cores])
    folder = folder or _new_folder(options)
    start = folder.start
    check_addresses(start.hosts)
    digests = {architecture: hashlib.sha256(core).hexdigest() for architecture, core in cores.items()}
    remote = RemoteRun(start.token, start.id, digests, start.arguments, start.installed, start.plan is not None)
    requests = HostRequests(start.plan, describe_core().probes) if start.plan else None
    progress = _Progress(folder, options.quiet)
    expected_s = _ROUND_S * start.rounds if start.rounds else start.budget_s
    engine = SshEngine(remote, cores, progress, expected_s, 2 * expected_s + GRACE_S, start.at_once,
                       start.groups, requests.request if requests else None)  # fmt: skip
    try:
        engine.measure(folder.missing(), sorted(folder.running))
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped; continue with: nameplate fleet run --resume {shlex.quote(str(folder.path))}"
        ) from None
    finally:
        progress.end()
    if options.removes:
        collected = [address for address, outcome in folder.outcomes.items() if outcome.file]
        SshEngine(remote, cores, progress, expected_s, expected_s).remove(collected)
    return _show(folder, options.as_json)


def _new_folder(options: FleetOptions) -> FleetFolder:
    hosts, plan = parse_hosts(options.hosts), _plan(options)
    budget_s = parse_duration(options.budget or _QUICK_BUDGET)
    quick = ["--rounds", f"{options.rounds}"] if options.rounds else ["--budget", f"{budget_s:g}s"]
    start = FleetStart(
        schema=1, id=secrets.token_hex(8), token=secrets.token_hex(16),
        arguments=["batch", "../request"] if plan else ["quick", *quick], hosts=hosts, budget_s=budget_s,
        rounds=options.rounds, installed=options.installed, at_once=options.at_once,
        cores=[str(path.resolve()) for path in options.cores], plan=plan,
        groups=groups_of(hosts, options.per_group) if options.per_group else {},
    )  # fmt: skip
    return FleetFolder.create(options.folder, start)


def _plan(options: FleetOptions) -> FleetPlan | None:
    """Return the plan of the hosts, None for the core's plan quick.

    Raises UsageError if it cannot be measured on this machine.
    """
    if options.plan == _QUICK and not options.arguments:
        return None
    limits = {"budget": options.budget, "rounds": options.rounds}
    given = {name: str(value) for name, value in limits.items() if value is not None}
    core = describe_core()
    plan = fleet_plan(options.plan, options.arguments, given, secrets.randbits(32), core.probes)
    HostRequests(plan, core.probes).request(core.machine)
    return plan


def _cores(paths: Sequence[Path]) -> dict[str, bytes]:
    """Return the cores by their architecture; by default that of this installation.

    Raises UsageError if a file is not a program for Linux, or if two are for the same architecture.
    """
    cores: dict[str, bytes] = {}
    for path in paths or [core_path()]:
        program = read_input(path, _MAX_CORE_BYTES, "program")
        architecture = _ARCHITECTURES.get(int.from_bytes(program[18:20], "little"))
        if not program.startswith(_ELF) or architecture is None:
            raise UsageError(f"--core {path}: not a program for {' or '.join(_ARCHITECTURES.values())}")
        if architecture in cores:
            raise UsageError(f"--core {path}: there is another core for {architecture}; leave out one of them")
        cores[architecture] = program
    return cores


class _Progress:
    """Writes to the fleet's folder what the engine learns, and shows how many hosts are done."""

    def __init__(self, folder: FleetFolder, quiet: bool) -> None:
        self._folder, self._quiet = folder, quiet
        self._printed_s = monotonic()
        self._is_terminal = sys.stderr.isatty()

    def started(self, address: str) -> None:
        """Note that the core runs on a host."""
        self._folder.started(address)
        self._print()

    def records(self, address: str, lines: Iterable[bytes]) -> HostOutcome:
        """Keep the records of a host, and return its outcome."""
        return self._folder.records(address, lines)

    def ended(self, outcome: HostOutcome) -> None:
        """Note the outcome of a host."""
        self._folder.ended(outcome)
        self._print()

    def not_removed(self, address: str, reason: str) -> None:
        """Print a warning that the core could not be removed from a host."""
        print(f"nameplate: the core remains on {address}: {reason}", file=sys.stderr)

    def end(self) -> None:
        """Print the last state, so that nothing else is written on its line."""
        self._print(is_last=True)

    def _print(self, is_last: bool = False) -> None:
        if self._quiet:
            return
        if not self._is_terminal and not is_last and monotonic() - self._printed_s < _LINE_EVERY_S:
            return
        self._printed_s = monotonic()
        folder = self._folder
        outcomes = Counter(outcome.outcome for outcome in folder.outcomes.values())
        n_measured = outcomes.pop("measured", 0)
        text = (
            f"{count(len(folder.start.hosts), 'host')}: {n_measured} measured, {len(folder.running)} running, "
            f"{sum(outcomes.values())} failed"
        )
        start, end = ("\r", "\033[K") if self._is_terminal else ("", "")
        print(f"{start}{text}{end}", end="\n" if is_last or not self._is_terminal else "", file=sys.stderr, flush=True)


def _show(folder: FleetFolder, as_json: bool) -> int:
    """Print the nodes of the fleet and the hosts that failed; return 1 if one is slow, else 3 if one failed."""
    failed = folder.failed
    if not folder.addresses:
        raise CoreError(f"none of {count(len(folder.start.hosts), 'host')} was measured: {failed_text(failed[0])}")
    try:
        view = view_of([folder.path])
    except FileError as error:
        raise CoreError(f"no host can be judged: {error}") from None
    print_view(view, as_json)
    if failed and not as_json:
        text = f"\n{count(len(failed), 'host')} failed; to measure them again: {_resume_command(folder)}"
        make_console().print(text, soft_wrap=True)
    return slow_code(view.nodes) or (CoreError.exit_code if failed else 0)


def _resume_command(folder: FleetFolder) -> str:
    return f"nameplate fleet run --resume {shlex.quote(str(folder.path))}"
