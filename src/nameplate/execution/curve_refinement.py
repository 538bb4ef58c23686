"""Choose the dense points of a curve that are worth measuring, from the values measured so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nameplate.execution.session import Refine
from nameplate.probes import probe_of
from nameplate.records.plan_record import Experiment, Plan, Value
from nameplate.statistics.stats import median


def refiner(plan: Plan) -> Refine:
    """Return a function that chooses the dense points (``Experiment.dense``) of a plan to measure, between rounds.

    The function takes the round values so far by experiment id, and returns the ids of the dense points to measure; an
    experiment whose id is missing or has no values counts as not measured. Experiments of a curve differ only in the
    parameter that their probe's sweep declares as ``curve``. If the probe has a method ``refine``, this method chooses;
    otherwise ``memory_levels.refine`` chooses from the median of each sparse point, which must be above 0. A curve
    without dense points adds no ids.
    """
    curves = _curves(plan)

    def refine(main_values: Mapping[str, Sequence[float]]) -> set[str]:
        return {identity for curve in curves for identity in _worth_measuring(curve, main_values)}

    return refine


def _curves(plan: Plan) -> list[dict[int, Experiment]]:
    """Return the experiments of each curve by size; experiments of a curve differ only in their size."""
    curves: dict[tuple[str, frozenset[tuple[str, Value]]], dict[int, Experiment]] = {}
    for experiment in plan.experiments:
        name = next((sweep.curve for sweep in probe_of(experiment.probe).sweep if sweep.curve), "")
        if name in experiment.params:
            rest = frozenset((key, value) for key, value in experiment.params.items() if key != name)
            curve = curves.setdefault((experiment.probe, rest), {})
            curve[int(experiment.params[name])] = experiment
    return [curve for curve in curves.values() if any(experiment.dense for experiment in curve.values())]


def _worth_measuring(curve: Mapping[int, Experiment], main_values: Mapping[str, Sequence[float]]) -> set[str]:
    refine_sizes = probe_of(next(iter(curve.values())).probe).refine
    if refine_sizes is not None:
        measured = {size: median(main_values[e.id]) for size, e in curve.items() if main_values.get(e.id)}
        return {curve[size].id for size in refine_sizes(sorted(curve), measured)}
    from nameplate.statistics.memory_levels import refine  # noqa: PLC0415 (numpy takes a tenth of a second to import)

    medians = {size: median(main_values[e.id]) for size, e in curve.items() if main_values.get(e.id) and not e.dense}
    sizes = refine(sorted(curve), medians)
    return {curve[size].id for size in sizes if curve[size].dense}
