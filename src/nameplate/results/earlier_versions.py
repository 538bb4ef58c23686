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
    the earlier version always used (``Recorded.params_of_earlier_versions``). The result is {} if none is missing.
    """
    earlier = probe_of(probe).recorded.params_of_earlier_versions
    if not earlier:
        return {}
    return {name: value for name, value in earlier.items() if name not in params}


def completed_plan(run: Run, missing: Mapping[str, Mapping[str, Value]]) -> Run:
    """Return a run whose plan has further parameters, so that the experiments can be repeated as they were measured.

    ``missing`` has the additional parameters by the id of the experiment, which replace parameters of the same name. If
    it is empty, ``run`` itself is returned.
    """
    if not missing:
        return run
    experiments = [
        replace(experiment, params={**experiment.params, **missing.get(experiment.id, {})})
        for experiment in run.plan.experiments
    ]
    return replace(run, plan=replace(run.plan, experiments=experiments))
