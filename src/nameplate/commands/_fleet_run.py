"""Measure the hosts of a fleet with an engine, and judge them, for ``nameplate fleet``."""

from __future__ import annotations

import hashlib
import secrets
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic

import msgspec

from nameplate.commands._ab_commands import split_command
from nameplate.commands._exit_codes import SLOW, slow_code
from nameplate.commands._expected import ExpectationSource, expectation_source
from nameplate.commands._fleet_options import QUICK, FleetOptions, check_options
from nameplate.commands._learning import learn_site
from nameplate.commands._machine_check import check_machines
from nameplate.commands._node_view import print_view, view_of
from nameplate.comparison.recheck import findings, suspects_of
from nameplate.errors import CoreError, FileError, Interrupted, UsageError
from nameplate.execution.core_process import describe_core
from nameplate.fleet.cores import read_cores
from nameplate.fleet.engines.kubernetes import LABEL as POD_LABEL
from nameplate.fleet.engines.kubernetes import KubernetesEngine, PodWork, job_of, manifest_of, read_nodes
from nameplate.fleet.engines.launcher import LauncherEngine
from nameplate.fleet.engines.srun import NAME as SRUN_NAME
from nameplate.fleet.engines.srun import allocated_hosts, srun_command
from nameplate.fleet.engines.ssh import SshEngine
from nameplate.fleet.fleet_folder import FLEET_FILE, SCHEMA, FleetFolder, FleetStart
from nameplate.fleet.fleet_plan import GRACE_S, FleetPlan, HostRequest, HostRequests, fleet_plan
from nameplate.fleet.host_outcome import CoreEnd, HostOutcome, failed_text
from nameplate.fleet.hosts import check_addresses, groups_of, parse_hosts
from nameplate.fleet.remote import RemoteRun
from nameplate.records.atomic_write import write_atomically
from nameplate.records.outputs import check_output
from nameplate.report.content.format import count
from nameplate.report.content.slow_nodes import slow_nodes
from nameplate.report.terminal.console import make_console
from nameplate.report.terminal.nodes import print_findings, print_nodes
from nameplate.results.run_file import read_run
from nameplate.units import duration_text, parse_duration

# The default budget of the plan that the core has built in. Its records are the log of a pod, of which the kubelet
# keeps 10 MiB; those of a minute have 9 MB, and more on a faster machine.
_QUICK_BUDGET, _QUICK_BUDGET_IN_POD = "60s", "20s"
_ROUND_S = 30.0
# The arguments of the core for a request file, relative to its directory.
_BATCH = ["batch", "../request"]
_LINE_EVERY_S, _REDRAW_EVERY_S = 60.0, 0.2
# The name of the folder in which the processes of a launcher exchange files with this command.
_EXCHANGE = ".exchange-"


def run_fleet(options: FleetOptions) -> int:
    """Measure the hosts of a fleet, judge and print them as the action says, and return the exit code of the command.

    Raises:
        UsageError: an option is wrong.
        FileError: the folder, a site file or a core cannot be read or written.
        Interrupted: the user stopped the run; what was measured is in the folder.
    """
    check_options(options)
    if options.manifest is not None:
        return _write_manifest(options, options.manifest)
    if options.action == "recheck":
        return _recheck(options)
    if options.learn is not None:
        check_output("--learn", options.learn)
    source = expectation_source(options.expect, "", False) if options.action == "check" and not options.learn else None
    if options.resumes:
        folder = FleetFolder.resume(options.folder)
        if options.removes and folder.start.engine != "ssh":
            raise UsageError("--remove: only ssh leaves the core on hosts; leave it out")
    else:
        if options.engine != "kubernetes" and not options.installed:
            read_cores(options.cores)  # rejects a wrong one before the folder exists
        folder = FleetFolder.create(options.folder, _start_of(options))
    _measure(folder, options)
    if options.learn is not None:
        learn_site([*folder.addresses], options.learn, False, options.quiet)
        _print_failed(folder, options)
        return CoreError.exit_code if folder.failed else 0
    return _show(folder, options) if source is None else _check(folder, source, options)


def _measure(folder: FleetFolder, options: FleetOptions) -> None:
    """Measure the hosts of a fleet that have no run yet. Raises CoreError if no host has one at the end."""
    check_addresses(folder.start.hosts)
    is_sent = folder.start.engine != "kubernetes" and not folder.start.installed
    cores = read_cores([Path(path) for path in folder.start.cores]) if is_sent else {}
    progress = _Progress(folder, options.quiet)
    try:
        try:
            folder.check_collected(progress.checked)  # those of a command that was killed
            _start_engine(folder, cores, progress, options.removes)
        finally:
            folder.check_collected(progress.checked)
            progress.end()
    except KeyboardInterrupt:
        raise Interrupted(f"stopped; continue with: {_resume_command(folder, options)}") from None
    if not folder.addresses:
        failed = failed_text(folder.failed[0]) if folder.failed else "no host announced itself"
        raise CoreError(f"none of {count(len(folder.hosts), 'host')} was measured: {failed}")


def _start_engine(folder: FleetFolder, cores: Mapping[str, bytes], progress: _Progress, removes: bool) -> None:
    # Only a launcher may know further hosts.
    is_done = folder.start.hosts and not folder.missing() and not folder.running
    if is_done and not removes:
        return
    if folder.start.engine == "ssh":
        _measure_over_ssh(folder, cores, progress, removes)
    elif folder.start.engine == "kubernetes":
        _measure_in_kubernetes(folder, progress)
    else:
        _measure_with_launcher(folder, cores, progress)


def _measure_over_ssh(folder: FleetFolder, cores: Mapping[str, bytes], progress: _Progress, removes: bool) -> None:
    start = folder.start
    digests = {architecture: hashlib.sha256(core).hexdigest() for architecture, core in cores.items()}
    remote = RemoteRun(start.token, start.id, digests, start.arguments, start.installed, start.plan is not None)
    engine = SshEngine(remote, cores, progress, start.expected_s, _deadline_s(start), start.at_once, start.groups,
                       _request_of(start))  # fmt: skip
    engine.measure(folder.missing(), dict(sorted(folder.running.items())))
    if removes:
        measured = [address for address, outcome in folder.outcomes.items() if outcome.file]
        SshEngine(remote, cores, progress, 0.0, 0.0).remove(sorted({*measured, *folder.collected}))


def _measure_with_launcher(folder: FleetFolder, cores: Mapping[str, bytes], progress: _Progress) -> None:
    start = folder.start
    # Processes of an earlier command that was killed look there.
    earlier = [*folder.path.glob(f"{_EXCHANGE}*")]
    for exchange in earlier:
        (exchange / "stop").touch()
    # Nothing of a killed launcher is collected later.
    folder.running.clear()
    missing = folder.missing()
    is_srun = start.engine == "srun"
    LauncherEngine(
        command=srun_command(missing) if is_srun else start.launcher, name=SRUN_NAME if is_srun else '"$(uname -n)"',
        exchange=folder.path.resolve() / f"{_EXCHANGE}{secrets.token_hex(4)}", installed=start.installed, cores=cores,
        arguments=start.arguments, sink=progress, deadline_s=_deadline_s(start), at_once=start.at_once,
        groups=start.groups, request_of=_request_of(start),
    ).measure(missing, folder.addresses.values())  # fmt: skip
    for exchange in earlier:
        shutil.rmtree(exchange, ignore_errors=True)


def _measure_in_kubernetes(folder: FleetFolder, progress: _Progress) -> None:
    # Jobs of an earlier command that was killed have another identity.
    folder.running.clear()
    if missing := folder.missing():
        KubernetesEngine(_pod_work(folder.start), progress, folder.start.at_once).measure(read_nodes(missing))


def _write_manifest(options: FleetOptions, path: Path) -> int:
    """Write the Jobs of a fleet in Kubernetes, print how to use them, and return the exit code."""
    start = _start_of(options)
    work = _pod_work(start)
    jobs = [job_of(index, node, work) for index, node in enumerate(read_nodes(start.hosts))]
    write_atomically(manifest_of(jobs).encode(), path)
    print(
        f"wrote {path}, with a Job for each of {count(len(jobs), 'node')}; start them with:\n"
        f"  kubectl create -f {shlex.quote(str(path))}\n"
        "and when they have ended, collect their records and read them with:\n"
        f"  mkdir runs; for pod in $(kubectl get pods -l {POD_LABEL}={work.identity} -o name); do\n"
        "    kubectl logs $pod | grep '^{' > runs/${pod#pod/}.jsonl; done; nameplate nodes runs"
    )
    return 0


def _pod_work(start: FleetStart) -> PodWork:
    return PodWork(secrets.token_hex(4), start.image, start.arguments, _deadline_s(start))


def _request_of(start: FleetStart) -> Callable[[bytes], HostRequest] | None:
    return HostRequests(start.plan, describe_core().probes).request_of if start.plan else None


def _deadline_s(start: FleetStart) -> float:
    return 2 * start.expected_s + GRACE_S


def _start_of(options: FleetOptions) -> FleetStart:
    plan: FleetPlan | None = None
    default = _QUICK_BUDGET_IN_POD if options.engine == "kubernetes" else _QUICK_BUDGET
    budget_s = parse_duration(options.budget or default)
    quick = ["--rounds", f"{options.rounds}"] if options.rounds else ["--budget", f"{budget_s:g}s"]
    expected_s = _ROUND_S * options.rounds if options.rounds else budget_s
    arguments = ["quick", *quick]
    if options.plan != QUICK or options.arguments:
        core = describe_core()
        plan = fleet_plan(options.plan, options.arguments, _limits(options), secrets.randbits(32), core.probes)
        # This machine stands for the hosts: a plan that is impossible here is rejected before any host is asked.
        expected_s = HostRequests(plan, core.probes).request(core.machine).expected_s
        arguments = _BATCH
    hosts = _hosts(options)
    start = FleetStart(
        schema=SCHEMA, id=secrets.token_hex(8), token=secrets.token_hex(16), arguments=arguments, hosts=hosts,
        expected_s=expected_s, installed=options.installed, at_once=options.at_once,
        cores=[str(path.resolve()) for path in options.cores], plan=plan,
        groups=groups_of(hosts, options.per_group) if options.per_group else {},
        engine="launcher" if options.launcher else options.engine, launcher=_launcher(options.launcher),
        image=options.image,
    )  # fmt: skip
    if options.engine != "kubernetes":
        return start
    # The image has Python, so a pod makes the plan itself.
    limits = [text for name, value in _limits(options).items() for text in (f"--{name}", value)]
    command = ["nameplate", "run", options.plan, *options.arguments, *limits, "-o", "/dev/stdout"]
    return msgspec.structs.replace(start, plan=None, arguments=command if plan else ["nameplate-core", *arguments])


def _hosts(options: FleetOptions) -> list[str]:
    """Return the hosts that the user named, or else the hosts of the engine; empty if it knows no host."""
    if options.engine == "kubernetes":
        return [node.name for node in read_nodes(parse_hosts(options.hosts) if options.hosts else [])]
    if options.hosts:
        return parse_hosts(options.hosts)
    return allocated_hosts() if options.engine == "srun" else []


def _limits(options: FleetOptions) -> dict[str, str]:
    limits = {"budget": options.budget, "rounds": options.rounds}
    return {name: str(value) for name, value in limits.items() if value is not None}


def _launcher(text: str) -> list[str]:
    """Return the arguments of a launcher, none for an empty text.

    Raises UsageError if the launcher is not found.
    """
    argv = split_command(text)
    if argv and shutil.which(argv[0]) is None:
        raise UsageError(f"--launcher '{argv[0]}': not found on PATH; give its full path")
    return argv


class _Progress:
    """Writes to the fleet's folder what the engine learns, and shows how many hosts are done."""

    def __init__(self, folder: FleetFolder, quiet: bool) -> None:
        self._folder, self._quiet = folder, quiet
        self._printed_s = self._began_s = monotonic()
        self._is_terminal = sys.stderr.isatty()

    def started(self, address: str, deadline_s: float) -> None:
        """Note that the core runs on a host."""
        self._folder.started(address, deadline_s)
        self._print()

    def part(self, address: str) -> Path:
        """Return the path of the file to which the records of a host are to be written."""
        return self._folder.part(address)

    def collected(self, address: str, end: CoreEnd) -> None:
        """Note that the core of a host has ended, and that its records are complete."""
        self._folder.note_collected(address, end)
        self._print()

    def ended(self, outcome: HostOutcome) -> None:
        """Note the outcome of a host."""
        self._folder.ended(outcome)
        self._print()

    def not_removed(self, address: str, reason: str) -> None:
        """Print a warning that the core could not be removed from a host."""
        print(f"nameplate: the core remains on {address}: {reason}", file=sys.stderr)

    def checked(self, done: int, hosts: int) -> None:
        """Show how many of the hosts whose records were collected have been checked."""
        if self._is_terminal and not self._quiet:
            text = f"checking the records of {count(hosts, 'host')}: {done} done"
            print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Print the last state, so that nothing else is written on its line."""
        self._print(is_last=True)

    def _print(self, is_last: bool = False) -> None:
        if self._quiet:
            return
        pause_s = _REDRAW_EVERY_S if self._is_terminal else _LINE_EVERY_S
        if not is_last and monotonic() - self._printed_s < pause_s:
            return
        self._printed_s = monotonic()
        folder = self._folder
        measured = {*folder.addresses.values(), *folder.collected}
        failed = folder.outcomes.keys() - measured - folder.running.keys()
        text = (
            f"{count(len(folder.hosts), 'host')}: {len(measured)} measured, {len(folder.running)} running, "
            f"{len(failed)} failed"
        )
        if not is_last:
            text += f"; about {duration_text(self._left_s(len(measured) + len(failed)))} left"
        start, end = ("\r", "\033[K") if self._is_terminal else ("", "")
        print(f"{start}{text}{end}", end="\n" if is_last or not self._is_terminal else "", file=sys.stderr, flush=True)

    def _left_s(self, n_done: int) -> float:
        """Return the time in seconds that the rest probably takes, at least that of one host."""
        start, n_open = self._folder.start, len(self._folder.hosts) - n_done
        turns = -(-n_open // start.at_once) if start.at_once else 1
        spent_s = (monotonic() - self._began_s) if turns == 1 else 0.0
        return max(1.0, max(turns, 1) * start.expected_s - spent_s)


def _show(folder: FleetFolder, options: FleetOptions) -> int:
    """Print the nodes of the fleet and the hosts that failed; return 1 if one is slow, else 3 if one failed."""
    try:
        view = view_of([folder.path])
    except FileError as error:
        raise CoreError(f"no host can be judged: {error}") from None
    print_view(view, options.as_json)
    _print_failed(folder, options)
    return slow_code(view.nodes) or (CoreError.exit_code if folder.failed else 0)


def _check(folder: FleetFolder, source: ExpectationSource, options: FleetOptions) -> int:
    """Print the hosts by expected ranges; return 1 if one is BELOW, else 3 if one failed or could not be judged."""
    code = check_machines([folder.path], source, "json" if options.as_json else "table", False, False)
    _print_failed(folder, options)
    return CoreError.exit_code if folder.failed and code == 0 else code


def _print_failed(folder: FleetFolder, options: FleetOptions) -> None:
    if folder.failed and not options.as_json:
        how = _resume_command(folder, options)
        text = f"\n{count(len(folder.failed), 'host')} failed; to measure them again: {how}"
        make_console().print(text, soft_wrap=True)


def _recheck(options: FleetOptions) -> int:
    """Measure the slow hosts of a fleet again, one at a time, next to healthy ones, and print what was the cause."""
    first = FleetFolder.open(Path(options.plan))
    if first.start.engine == "kubernetes":
        raise UsageError("fleet recheck: not possible in Kubernetes; measure the nodes again with fleet run --hosts")
    nodes = view_of([first.path]).nodes
    if not slow_nodes(nodes):
        print_nodes(nodes)
        return 0
    paths = {address: path for path, address in first.addresses.items()}
    runs = [read_run(paths[name]).run for index in slow_nodes(nodes) if (name := nodes.names[index]) in paths]
    if not runs:
        raise UsageError(f"{first.path}: the slow runs below it are not those of its hosts; move them elsewhere")
    # Hosts of different hardware have experiments of different sizes.
    experiments = {experiment.id: experiment for run in runs for experiment in run.plan.experiments}
    plan = msgspec.structs.replace(runs[0].plan, experiments=[*experiments.values()])
    suspects = suspects_of(nodes, plan)
    start = msgspec.structs.replace(
        first.start, id=secrets.token_hex(8), token=secrets.token_hex(16), arguments=_BATCH, hosts=suspects.nodes,
        at_once=1, groups={}, plan=FleetPlan(name=plan.name, seed=secrets.randbits(32), plan=suspects.plan),
    )  # fmt: skip
    is_begun = (options.folder / FLEET_FILE).exists()
    second = FleetFolder.resume(options.folder) if is_begun else FleetFolder.create(options.folder, start)
    if second.start.hosts != start.hosts:
        raise UsageError(f"{options.folder} has a recheck of other hosts; name another folder with -o")
    _measure(second, options)
    was_alone = msgspec.structs.replace(runs[0], plan=plan, per_node="in-turn" if first.start.at_once == 1 else "")
    results = findings(nodes, suspects, view_of([second.path]).nodes, was_alone)
    print_findings(results)
    _print_failed(second, options)
    return SLOW if any(finding.label in ("persistent", "not measured") for finding in results) else 0


def _resume_command(folder: FleetFolder, options: FleetOptions) -> str:
    if options.action == "recheck":
        return shlex.join(["nameplate", "fleet", "recheck", options.plan, "-o", str(folder.path)])
    site = [
        text for name in ("expect", "learn") if (path := getattr(options, name)) for text in (f"--{name}", str(path))
    ]
    return shlex.join(["nameplate", "fleet", options.action, "--resume", str(folder.path), *site])
