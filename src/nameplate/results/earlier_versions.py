"""Complete what earlier versions of nameplate recorded by the parameters that their probes did not have yet."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from nameplate.probes import probe_of
from nameplate.records.plan_record import Value
from nameplate.records.run_record import Run


def missing_params(probe: str, params: Mapping[str, Value]) -> dict[str, Value]:
    """Return the parameters that a complete record of a probe lacks, with the values that they had without a name.

    They are those of ``Recorded.params_of_earlier_versions``.
    """
    earlier = probe_of(probe).recorded.params_of_earlier_versions
    if not earlier:
        return {}
    return {name: value for name, value in earlier.items() if name not in params}


def completed_plan(run: Run, missing: Mapping[str, Mapping[str, Value]]) -> Run:
    """Return a run with further parameters of the experiments in its plan, so that they can be measured again as then.

    ``missing`` has the parameters by the id of the experiment.
    """
    if not missing:
        return run
    experiments = [replace(each, params={**each.params, **missing.get(each.id, {})}) for each in run.plan.experiments]
    return replace(run, plan=replace(run.plan, experiments=experiments))
