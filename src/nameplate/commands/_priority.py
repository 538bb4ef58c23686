"""Choose the scheduling priority of a run."""

from __future__ import annotations

import os

from msgspec import structs

from nameplate.errors import UsageError
from nameplate.execution.launch import Launch
from nameplate.records.plan_record import Plan
from nameplate.suggestion import nearest

HIGH_PRIORITY = -20


def nice_value(priority: str) -> int:
    """Return the nice value of a priority: 0 for "normal", -20 for "high".

    Raises UsageError for another priority, or if this process is not permitted to raise its priority.
    """
    if priority not in ("normal", "high"):
        raise UsageError(f"--priority {priority}: unknown; {nearest(priority, ('normal', 'high'))}")
    if priority == "normal":
        return 0
    # Try the priority on this process first, so that a refusal is reported in one line.
    before = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, HIGH_PRIORITY)
    except PermissionError:
        raise UsageError(
            "--priority high: permission denied; run as root, or raise the nice limit (RLIMIT_NICE)"
        ) from None
    os.setpriority(os.PRIO_PROCESS, 0, before)
    return HIGH_PRIORITY


def with_priority(plan: Plan, given: str | None, launch: Launch) -> tuple[Plan, str]:
    """Return the plan and the priority of the run: ``given``, or if that is None the priority of the plan.

    If the plan asks for high priority, but the user may not raise it or an MPI launcher starts the processes, the
    priority is "normal", and a note of the returned plan says why. ``launch`` is how the core is started.
    """
    if given is not None or plan.priority != "high":
        return plan, given or "normal"
    if launch.launcher:
        why = "the MPI launcher starts the processes"
    else:
        try:
            nice_value("high")
        except UsageError:
            why = "raising it needs root or a higher nice limit"
        else:
            return plan, "high"
    note = f"measured with normal priority although the plan asks for high priority: {why}"
    return structs.replace(plan, notes=[*plan.notes, note]), "normal"
