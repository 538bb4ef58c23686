"""Add parameters to records of earlier versions of nameplate, whose probes did not have these parameters yet."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from nameplate.probes import probe_of
from nameplate.records.plan_record import Value
from nameplate.records.run_record import Run


def missing_params(probe: str, params: Mapping[str, Value]) -> dict[str, Value]:
    """Return the parameters that ``params`` lacks because an earlier version of the probe did not have them yet.

    ``probe`` is the name of the probe, and ``params`` are all parameters of a record. Each parameter has the value that
    the earlier version always used (``Recorded.params_of_earlier_versions`` and ``later_params``). The result is {} if
    none is missing.
    """
    recorded = probe_of(probe).recorded
    earlier = (*recorded.params_of_earlier_versions.items(), *recorded.later_params.items())
    return {name: value for name, value in earlier if name not in params}


def completed_plan(run: Run, missing: Mapping[str, Mapping[str, Value]]) -> Run:
    """Return a run whose plan has further parameters, so that the experiments can be repeated as they were measured.

    ``missing`` has the additional parameters by the id of the experiment, which replace parameters of the same name.
    Those with the default value are left out. If there are no others, ``run`` itself is returned.
    """
    needed = {
        experiment.id: {
            name: value
            for name, value in missing.get(experiment.id, {}).items()
            if name not in probe_of(experiment.probe).recorded.later_params
        }
        for experiment in run.plan.experiments
    }
    if not any(needed.values()):
        return run
    experiments = [
        replace(experiment, params={**experiment.params, **needed[experiment.id]})
        for experiment in run.plan.experiments
    ]
    return replace(run, plan=replace(run.plan, experiments=experiments))
