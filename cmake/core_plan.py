"""Write what ``nameplate-core quick`` measures and shows, as declared by the probes in ``src/nameplate/probes``.

    python core_plan.py OUTPUT.cpp        C++ source with the plan as JSON text
    python core_plan.py OUTPUT.json       the JSON text alone

The JSON text has the plan as a run file has it, and the lines of the first screen that the core can compute. A value in
braces, such as ``{beyond_one}``, is one of the machine (``planning/stand_ins.py``), which the core replaces.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import msgspec

from nameplate.errors import UsageError
from nameplate.planning.plan_file import make_limits, read_plan
from nameplate.planning.sweep import Parameter, experiment_id, parse_values
from nameplate.probes import Metric, ParameterSweep, Probe, load_probes
from nameplate.probes.shared.areas import label_of_area, order_of_area
from nameplate.probes.shared.formulas import formula_of
from nameplate.probes.shared.screen_line import ScreenLine, is_any
from nameplate.records.plan_record import Experiment, Plan, Value

PLAN = "quick"
SIZE = Parameter(name="size", type="size", summary="", default=None, automatic="", maximum=float("inf"))
SOURCE = """// Made by cmake/core_plan.py from the declarations in src/nameplate/probes.
#include "quick/plan.h"

namespace nameplate {{

const char* const kQuickPlan = R"json({text})json";

}}  // namespace nameplate
"""


def values_of(text: str) -> list[Value]:
    """Return the values of a parameter's text; sizes and numbers become int, a value in braces stays as it is."""
    if text.startswith("{"):
        return [text]
    try:
        return parse_values(SIZE, text)
    except UsageError:
        return [*text.split(",")]


def experiments_of(probe: Probe) -> Iterator[Experiment]:
    """Yield what a probe adds to the plan.

    Raises:
        ValueError: a sweep uses what the core's own plan lacks.
    """
    for sweep in probe.quick:
        if sweep.probe or sweep.curve or sweep.between or sweep.min_nodes > 1:
            raise ValueError(f"{probe.name}: the core's quick has no curves, other probes or minimum of nodes: {sweep}")
        yield from combinations_of(probe, sweep)


def combinations_of(probe: Probe, sweep: ParameterSweep) -> Iterator[Experiment]:
    """Yield an experiment for each combination of the sweep's values."""
    lists = [values_of(text) for text in sweep.params.values()]
    for combination in itertools.product(*lists):
        params = dict(zip(sweep.params, combination, strict=True))
        yield Experiment(experiment_id(probe.name, params), probe.name, params, sweep.slice_s, sweep.sample_s,
                         overhead_s=sweep.overhead_s)  # fmt: skip


def with_unit(metric: Metric) -> dict[str, Any]:
    """Return the formula of a metric, with its unit.

    Raises:
        NoFormulaError: the core cannot compute it.
    """
    return {"unit": metric.unit, **formula_of(metric)}


def lines_of(probe: Probe) -> Iterator[dict[str, Any]]:
    """Yield the lines of the first screen that the core shows for a probe, which must be part of the plan."""
    for line in probe.screen if probe.quick else ():
        if line.in_core is not None:
            given = {name: values_of(text)[0] for name, text in line.in_core.params.items()}
            yield shown(probe, line, [line.in_core.metric], given)
        elif line.when is is_any and line.metrics[0] in {metric.name for metric in probe.metrics}:
            yield shown(probe, line, line.metrics, {})


def shown(probe: Probe, line: ScreenLine, names: Sequence[str], given: dict[str, Value]) -> dict[str, Any]:
    """Return a line: which experiments of the plan it may show, the metrics, and the lines below it.

    ``names`` are those of the metrics, at least one. ``given`` are parameters of the plan, ``params`` those of an
    outcome, where automatic values are resolved.
    """
    metrics = {metric.name: metric for metric in probe.metrics}
    return {
        "area": label_of_area(probe.area),
        "label": line.label,
        "probe": probe.name,
        "given": given,
        "params": dict(line.params),
        "better": metrics[names[0]].better,
        "metrics": [with_unit(metrics[name]) for name in names],
        "unit": line.unit.name if line.unit else metrics[names[0]].unit,
        "per_base_unit": line.unit.per_base_unit if line.unit else 1.0,
        "below": [{"label": label, "metrics": [with_unit(metrics[name]) for name in below]}
                  for label, below in line.below.items()],
    }  # fmt: skip


def core_plan() -> dict[str, Any]:
    """Return the plan, the longest set-up in seconds of each of its experiments, and the lines of the screen.

    Raises:
        ValueError: a probe declares what nameplate-core cannot measure or compute.
    """
    probes = sorted(load_probes().values(), key=lambda probe: order_of_area(probe.area))
    limits = make_limits(read_plan(PLAN).limits)
    plan = Plan(PLAN, [experiment for probe in load_probes().values() for experiment in experiments_of(probe)], limits)
    return {
        "plan": msgspec.to_builtins(plan),
        "longest_setup_s": [load_probes()[e.probe].longest_setup_s(e.params) for e in plan.experiments],
        "lines": [line for probe in probes for line in lines_of(probe)],
    }


def main(output: Path) -> None:
    """Write the plan to a file, unless the file already has this content, so that nothing is compiled again."""
    text = msgspec.json.format(msgspec.json.encode(core_plan()), indent=1).decode()
    written = SOURCE.format(text=text) if output.suffix == ".cpp" else text + "\n"
    if not output.exists() or output.read_text() != written:
        output.write_text(written)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
