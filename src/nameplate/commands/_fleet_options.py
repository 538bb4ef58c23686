"""The options of ``nameplate fleet run``, and which of them are possible together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from nameplate.errors import UsageError
from nameplate.fleet.fleet_folder import Engine

# How a fleet that was measured is judged: by its other hosts, by expected ranges, or by a second measurement.
Action: TypeAlias = Literal["run", "check", "recheck"]
# The plan that the core has built in.
QUICK = "quick"


@dataclass(frozen=True, kw_only=True)
class FleetOptions:
    """The options of ``nameplate fleet run``.

    ``hosts`` is "" if the engine knows the hosts, or if the fleet ``resumes``. ``launcher`` is the command of a
    launcher, "" for none; ``image`` is the container image for Kubernetes. With ``manifest`` the Jobs for Kubernetes
    are written to this file, and nothing is measured. ``expect`` is the site file of the action check, and ``learn``
    the one to write.
    """

    action: Action
    plan: str
    arguments: Sequence[str]
    engine: Engine
    launcher: str
    image: str
    manifest: Path | None
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
    expect: Path | None
    learn: Path | None
    as_json: bool
    quiet: bool


def check_options(options: FleetOptions) -> None:
    """Raise UsageError for options that are impossible, or impossible together."""
    in_kubernetes = options.engine == "kubernetes"
    has_launcher = options.launcher != "" or options.engine != "ssh"
    first = (options.plan, options.budget, options.rounds, options.at_once, options.per_group, options.cores)
    names_file = options.plan.endswith(".toml") or "/" in options.plan
    rules = (
        (options.action != "recheck" and (options.hosts != "" or has_launcher) == options.resumes,
         "fleet run: give --hosts, --engine srun, --engine kubernetes or --launcher, or --resume FOLDER to continue a "
         "fleet"),
        (options.action == "recheck" and (options.hosts != "" or has_launcher or options.resumes or options.as_json or (
            options.installed != "" or options.arguments != () or first[1:] != (None, None, None, None, ()))),
         "fleet recheck FOLDER measures with the options of this fleet: leave out the others"),
        (options.resumes and (first != (QUICK, None, None, None, None, ()) or options.installed != ""),
         "--resume continues with the options of the first command: leave out the others"),
        (options.action != "check" and (options.expect is not None or options.learn is not None),
         f"fleet {options.action}: --expect and --learn are for fleet check"),
        (options.expect is not None and options.learn is not None, "--learn writes a site file: leave out --expect"),
        (options.launcher != "" and options.engine != "ssh",
         f"--launcher and --engine {options.engine}: leave out one of them"),
        (in_kubernetes != (options.image != ""),
         "--image REGISTRY/nameplate:VERSION and --engine kubernetes: give both or none"),
        (in_kubernetes and bool(options.cores or options.installed or options.per_group),
         "--engine kubernetes: the image has the core; leave out --core, --in-place and --per-group"),
        (in_kubernetes and names_file,
         f"{options.plan}: the image does not have this file; name a plan of nameplate, or a probe"),
        (options.manifest is not None and not in_kubernetes, "--write is for --engine kubernetes: leave it out"),
        (options.removes and has_launcher, "--remove: only ssh leaves the core on hosts; leave it out"),
        (options.per_group is not None and options.launcher != "" and options.hosts == "",
         "--per-group and --per-rack need the names of the hosts: add --hosts"),
        (options.at_once is not None and options.at_once < 1,
         f"--at-once {options.at_once}: not a number of hosts; use 1 or more"),
        (options.rounds is not None and options.rounds < 1,
         f"--rounds {options.rounds}: not a number of rounds; use 1 or more"),
    )  # fmt: skip
    for is_broken, message in rules:
        if is_broken:
            raise UsageError(message)
