"""The plan of a fleet, from which the request file of each host is made for its machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import msgspec

from nameplate.control_characters import clean_json
from nameplate.errors import UsageError
from nameplate.planning.budget import longest_s
from nameplate.planning.file_size import OTHERWISE_BYTES
from nameplate.planning.plan_file import PlanText, build_plan, check_name, read_plan, sweep_plan
from nameplate.planning.request_file import request_file
from nameplate.planning.sweep import ProbeInfo, split_arguments
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Plan

# A round that has begun ends, and a host may be slow to start.
GRACE_S = 120.0
_FILE_SIZE = "{beyond_memory}"


class FleetPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan or probe that each host of a fleet measures.

    ``name`` is the name of a probe or plan. ``plan`` has the experiments if they do not depend on the machine;
    otherwise ``text`` is the text of the plan file, which stays as it was when the fleet began, and both are None for a
    probe. ``arguments`` are parameters of the probe as ``name=value``, and
    empty for a plan. ``options`` are limits of the command line as for ``make_limits``, and ``seed`` determines the
    order of the experiments.
    """

    name: str
    seed: int
    options: dict[str, str] = {}
    text: PlanText | None = None
    plan: Plan | None = None
    arguments: list[str] = []


def fleet_plan(
    name: str, arguments: Sequence[str], options: Mapping[str, str], seed: int, probes: Mapping[str, ProbeInfo]
) -> FleetPlan:  # fmt: skip
    """Return what the hosts of a fleet measure: a probe, a shipped plan, or a plan file.

    ``arguments`` are parameters of the probe as ``name=value``; a plan has only ``dir=DIRECTORY``, the directory of its
    test files on the hosts. ``probes`` are the probes of the core by name. The other arguments are as in ``FleetPlan``.

    Raises:
        FileError: the plan file cannot be read, or is not a plan.
        UsageError: there is no such plan or probe, or ``arguments`` are not valid for a plan.
    """
    check_name(name, probes)
    if name in probes:
        return FleetPlan(name=name, arguments=list(arguments), options=dict(options), seed=seed)
    text = msgspec.structs.replace(_with_small_files(read_plan(name)), directory=_directory(name, arguments))
    return FleetPlan(name=text.name, text=text, options=dict(options), seed=seed)


@dataclass(frozen=True)
class HostRequest:
    """The request file of a host, with the times in seconds after which it has probably ended, and must have ended."""

    text: bytes
    expected_s: float
    deadline_s: float


@dataclass
class HostRequests:
    """Makes the request files of a fleet's hosts. ``probes`` are the probes of the core by name."""

    plan: FleetPlan
    probes: Mapping[str, ProbeInfo]
    _requests: dict[bytes, HostRequest] = field(default_factory=dict)

    def request_of(self, record: bytes) -> HostRequest:
        """Return the request for a machine, given the record that its core prints with ``--machine``.

        Raises:
            UsageError: the record is not valid, or the plan cannot be measured with these options on this machine.
        """
        try:
            return self.request(msgspec.json.decode(clean_json(record), type=Machine))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise UsageError(f"its core does not describe the machine: {error}") from None
        # A valid machine may still have impossible values.
        except (ArithmeticError, LookupError, ValueError) as error:
            raise UsageError(f"its core describes an impossible machine: {error}") from None

    def request(self, machine: Machine) -> HostRequest:
        """Return the request for a machine.

        Raises:
            UsageError: the plan cannot be measured with these options on this machine.
        """
        # A plan depends on these facts, which are the same for most hosts.
        facts = msgspec.json.encode((machine.topology, machine.limits))
        if facts not in self._requests:
            plan = self._plan_for(machine)
            longest = longest_s(plan)
            expected_s = longest / 2 if plan.limits.rounds and not plan.limits.budget_binds else longest
            self._requests[facts] = HostRequest(
                request_file(plan, self.plan.seed), expected_s, 2 * expected_s + GRACE_S
            )
        return self._requests[facts]

    def _plan_for(self, machine: Machine) -> Plan:
        plan = self.plan
        if plan.plan is not None:
            return plan.plan
        if plan.text is None:
            return sweep_plan(plan.name, split_arguments(plan.arguments), self.probes, plan.options, machine)
        return build_plan(plan.text, self.probes, plan.options, machine)


def _with_small_files(text: PlanText) -> PlanText:
    """Return the plan with test files of 1280 MiB: the room for larger ones is not known here."""
    size = str(OTHERWISE_BYTES)
    experiments = [
        {key: value.replace(_FILE_SIZE, size) if isinstance(value, str) else value for key, value in entry.items()}
        for entry in text.experiments
    ]
    return msgspec.structs.replace(text, experiments=experiments, text=text.text.replace(_FILE_SIZE, size))


def _directory(plan: str, arguments: Sequence[str]) -> str:
    given = split_arguments(arguments)
    directory = given.pop("dir", ".")
    if given:
        raise UsageError(f"'{plan}' is a plan, whose only parameter is dir=DIRECTORY: leave out '{min(given)}'")
    if directory != "." and not PurePosixPath(directory).is_absolute():
        raise UsageError(f"dir={directory}: not an absolute path; the hosts need one")
    return directory
