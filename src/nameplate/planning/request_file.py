"""Write a plan as a request file, which ``nameplate-core batch`` measures without Python."""

from __future__ import annotations

from typing import Any

import msgspec

from nameplate.planning.budget import full_slice_s
from nameplate.probes import probe_of
from nameplate.records.plan_record import Plan

_WITHOUT_DENSE = "curves have only their sparse points: the core does not look where they change"
_WITHOUT_TOOLS = "reference tools are left out"
_WITHOUT_PRIORITY = "the priority is not raised"


def request_of(plan: Plan) -> dict[str, Any]:
    """Return the plan and the time limit of each experiment's set-up in seconds, ready to encode as JSON."""
    return {
        "plan": msgspec.to_builtins(plan),
        "longest_setup_s": [probe_of(e.probe).longest_setup_s(e.params) for e in plan.experiments],
    }


def request_file(plan: Plan, seed: int) -> bytes:
    """Return the text of a request file with ``plan``, whose order in each round ``seed`` (0 or more) determines.

    Unlike a run of the Python package, the core ends no experiment early because it is precise enough, and runs no
    reference tool. Dense points of curves are left out. Notes of the plan in the file say what was changed. The time of
    each experiment in a round is its full slice, so a plan that is to fit a budget must have been shortened before.
    """
    dense = any(experiment.dense for experiment in plan.experiments)
    notes = [*plan.notes]
    notes += [_WITHOUT_DENSE] if dense else []
    notes += [_WITHOUT_TOOLS] if plan.references or plan.reference_works else []
    notes += [_WITHOUT_PRIORITY] if plan.priority else []
    experiments = [
        msgspec.structs.replace(experiment, slice_s=full_slice_s(experiment, plan.limits))
        for experiment in plan.experiments
        if not experiment.dense
    ]
    changed = msgspec.structs.replace(
        plan, experiments=experiments, notes=notes, references=[], reference_works=[], priority="", per_node=""
    )
    return msgspec.json.encode({**request_of(changed), "seed": seed})
