"""Implement ``nameplate fleet``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from nameplate.errors import UsageError
from nameplate.extras import check_extra

GROUP = "Measure"
DEFAULT_PLAN, FAST_PLAN = "quick", "fast"

Option = Annotated[str | None, Parameter(show_default=False)]


def command(  # noqa: PLR0913 (the options of the command line)
    action: Literal["run", "check", "recheck"],
    plan_or_probe: str = DEFAULT_PLAN,
    /,
    *parameters: str,
    hosts: Option = None,
    engine: Literal["ssh", "srun", "kubernetes"] = "ssh",
    launcher: Annotated[str, Parameter(show_default=False)] = "",
    image: Annotated[str, Parameter(show_default=False)] = "",
    write: Annotated[Path | None, Parameter(show_default=False)] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], show_default=False)] = None,
    resume: Annotated[Path | None, Parameter(show_default=False)] = None,
    budget: Option = None,
    rounds: int | None = None,
    fast: bool = False,
    at_once: int | None = None,
    per_group: Option = None,
    per_rack: bool = False,
    core: Annotated[tuple[Path, ...], Parameter(show_default=False, consume_multiple=True)] = (),
    installed: Annotated[str, Parameter(name="--in-place", show_default=False)] = "",
    remove: bool = False,
    expect: Annotated[Path | None, Parameter(show_default=False)] = None,
    learn: Annotated[Path | None, Parameter(show_default=False)] = None,
    json: bool = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"])] = False,
) -> int:
    """Measure a plan or probe on many hosts, over ssh or with a launcher, and show which of them are slow.

    The hosts need no Python and no MPI. ssh must log in without a password; its configuration, agent and known hosts
    are used. The core is sent once to ~/.cache/nameplate on each host and started detached, so that a broken connection
    loses nothing. The exit code is 1 if a host is slow, otherwise 3 if one could not be measured.

    Parameters
    ----------
    action
        run: measure, and compare the hosts with each other. check: measure, and judge each host by expected ranges.
        recheck FOLDER: measure the slow hosts of a fleet again, one at a time, next to healthy ones.
    plan_or_probe
        A plan, such as quick, a probe, or a plan file (.toml), as for nameplate run. For recheck the fleet's folder.
    parameters
        Parameters of the probe as name=value, or dir=DIRECTORY of a plan, an absolute path on the hosts.
    hosts
        The hosts: web[001-400],db1, a group of ClusterShell such as @compute, or a file with names.
    engine
        How to reach the hosts: ssh, srun in an allocation of Slurm, whose hosts are the default, or kubernetes by
        kubectl, where the default is all nodes on which any pod may run.
    launcher
        A command that starts a program once on each host, such as 'flux exec -r all' or pbsdsh. All hosts must see the
        output folder under the same path.
    image
        The container image for Kubernetes, such as REGISTRY/nameplate:VERSION.
    write
        Only write the Jobs for Kubernetes to this file.
    output
        The folder for the run files. Default: fleet-DATE-TIME in the current directory.
    resume
        Measure the hosts of this folder that have no run yet, with the options of its first command.
    budget
        The time for each host; the first round is always complete. Default: that of the plan, 60 s
        for quick, and 20 s in Kubernetes.
    rounds
        Take exactly this number of rounds, whatever time they take.
    fast
        Measure the plan fast: a few values in 10 s.
    at_once
        The number of hosts that measure at the same time. Default: all of them.
    per_group
        Let one host of each group measure at a time. The groups are those of this source of ClusterShell, such as rack.
    per_rack
        The same as --per-group rack.
    core
        The nameplate-core to send, one for each architecture of the hosts. Default: those of
        the package nameplate-cores, or the one of this installation.
    installed
        The path of an installed nameplate-core on the hosts, so that none is sent.
    remove
        Delete the core from the hosts at the end.
    expect
        For check, the site file with the expected ranges. Default: the catalogue of cloud instance types.
    learn
        For check, write a site file with the ranges of these hosts instead.
    json
        Print the values of every host, and the hosts that failed, as JSON.
    quiet
        Do not show progress.
    """
    check_extra("fleet", f"fleet {action}")
    from nameplate.commands._fleet_options import FleetOptions  # noqa: PLC0415
    from nameplate.commands._fleet_run import run_fleet  # noqa: PLC0415 (the extra may be missing)

    if fast and (plan_or_probe, parameters) != (DEFAULT_PLAN, ()):
        raise UsageError(f"--fast measures the plan {FAST_PLAN}: leave out {plan_or_probe}, or --fast")
    if per_rack and per_group:
        raise UsageError(f"--per-rack is --per-group rack: leave out one of it and --per-group {per_group}")
    if resume is not None and output is not None:
        raise UsageError(f"--resume continues in its folder: leave out -o {output}")
    folder = Path(
        f"{plan_or_probe.rstrip('/')}-recheck" if action == "recheck" else f"fleet-{datetime.now():%Y%m%d-%H%M%S}"
    )
    options = FleetOptions(
        action=action, plan=FAST_PLAN if fast else plan_or_probe, arguments=parameters, engine=engine,
        launcher=launcher, image=image, manifest=write, hosts=hosts or "",
        folder=resume or output or folder, resumes=resume is not None,
        budget=budget, rounds=rounds, at_once=at_once, per_group="rack" if per_rack else per_group, cores=core,
        installed=installed, removes=remove, expect=expect, learn=learn, as_json=json, quiet=quiet,
    )  # fmt: skip
    return run_fleet(options)
