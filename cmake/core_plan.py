"""Write what ``nameplate-core quick`` measures and shows, as declared by the probes in ``src/nameplate/probes``.

    python core_plan.py OUTPUT.cpp        C++ source with the plan as JSON text
    python core_plan.py OUTPUT.json       the JSON text alone

The JSON text has the plan as a run file has it, and the lines of the first screen that the core can compute. The core
replaces a value in braces, such as ``{beyond_one}``, by a value of the machine (``planning/stand_ins.py``). If the core
cannot measure or compute a declaration, the program ends with an error in one line: the file, the declaration, and what
to do.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import msgspec

from nameplate.errors import NameplateError, UsageError
from nameplate.planning.plan_file import PlanText, make_limits, read_plan
from nameplate.planning.request_file import request_of
from nameplate.planning.sweep import Parameter, experiment_id, parse_values
from nameplate.probes import Metric, ParameterSweep, Probe, load_probes
from nameplate.probes.interface.screen_line import ScreenLine, is_any
from nameplate.probes.shared.areas import label_of_area, order_of_area
from nameplate.probes.shared.formulas import NoFormulaError, formula_of
from nameplate.records.plan_record import Experiment, Limits, Plan, Value
from nameplate.records.toml_text import parse_toml
from nameplate.suggestion import nearest

PLAN = "quick"
SIZE = Parameter(name="size", type="size", summary="", default=None, automatic="", maximum=float("inf"))
SOURCE = """// Made by cmake/core_plan.py from the declarations in src/nameplate/probes.
#include "batch/plan.h"

namespace nameplate {{

const char* const kQuickPlan = R"json({text})json";

}}  // namespace nameplate
"""


class PlanError(NameplateError):
    """An error in a declaration that nameplate-core cannot measure or compute; the message begins with its file."""


def error_of(probe: Probe, problem: str) -> PlanError:
    """Return an error in a probe's declaration; its message has the probe's file and ``problem``."""
    return PlanError(f"src/nameplate/probes/{probe.name}.py: {problem}")


def values_of(text: str) -> list[Value]:
    """Return the values of a parameter, whose ``text`` lists them as on the command line.

    Sizes and numbers become int, and other values stay str. A value of the machine, such as ``{beyond_one}``, is a
    single value and stays as it is.
    """
    if text.startswith("{"):
        return [text]
    try:
        return parse_values(SIZE, text)
    except UsageError:
        return [*text.split(",")]


def experiments_of(probe: Probe) -> Iterator[Experiment]:
    """Yield the experiments that a probe adds to the plan.

    Raises:
        PlanError: a sweep uses a feature that nameplate-core lacks, such as a curve.
    """
    for sweep in probe.quick:
        for key in ("probe", "curve", "between", "min_nodes"):
            if getattr(sweep, key) != getattr(ParameterSweep, key):
                raise error_of(probe, f"quick: {key}={getattr(sweep, key)!r}: nameplate-core measures lists of values "
                                      f"of one probe; leave out {key}, or move the sweep to full")  # fmt: skip
        yield from combinations_of(probe, sweep)


def combinations_of(probe: Probe, sweep: ParameterSweep) -> Iterator[Experiment]:
    """Yield an experiment for each combination of the values in a sweep."""
    lists = [values_of(text) for text in sweep.params.values()]
    for combination in itertools.product(*lists):
        params = dict(zip(sweep.params, combination, strict=True))
        yield Experiment(experiment_id(probe.name, params), probe.name, params, sweep.slice_s, sweep.sample_s,
                         overhead_s=sweep.overhead_s)  # fmt: skip


def with_unit(probe: Probe, metric: Metric) -> dict[str, Any]:
    """Return the formula of a metric (see ``formula_of``) with its SI base unit as ``unit``.

    Raises:
        PlanError: the core cannot compute the metric.
    """
    try:
        return {"unit": metric.unit, **formula_of(metric)}
    except NoFormulaError as error:
        raise error_of(probe, f"metric of a ScreenLine: {error}") from None


def lines_of(probe: Probe) -> Iterator[dict[str, Any]]:
    """Yield the lines of the first screen that the core shows for a probe; none if the probe is not in the plan.

    A line with a condition or a derived metric is left out, unless its ``in_core`` says how the core finds the value.

    Raises:
        PlanError: a line has a metric that the core cannot compute.
    """
    measured = {metric.name for metric in probe.metrics}
    for line in probe.screen if probe.quick else ():
        if line.in_core is not None:
            metric = line.in_core.metric
            if metric not in measured:
                raise error_of(probe, f"CoreLine of '{line.label}': no metric {metric}; {nearest(metric, measured)}")
            yield screen_row(
                probe, line, [metric], {name: values_of(text)[0] for name, text in line.in_core.params.items()}
            )
        elif line.when is is_any and measured.issuperset(line.metrics):
            yield screen_row(probe, line, line.metrics, {})


def screen_row(probe: Probe, line: ScreenLine, names: Sequence[str], given: dict[str, Value]) -> dict[str, Any]:
    """Return a line of the screen for JSON: the experiments that it may show, its metrics, and the lines below it.

    ``names`` are the names of the line's metrics, at least one. ``given`` has the parameters that the experiment has in
    the plan, while the line's ``params`` are compared with an outcome, in which automatic values are resolved. A line
    of ``below`` that has a derived metric is left out.
    """
    metrics = {metric.name: metric for metric in probe.metrics}
    return {
        "area": label_of_area(probe.area),
        "label": line.label,
        "probe": probe.name,
        "given": given,
        "params": dict(line.params),
        "better": metrics[names[0]].better,
        "metrics": [with_unit(probe, metrics[name]) for name in names],
        "unit": line.unit.name if line.unit else metrics[names[0]].unit,
        "per_base_unit": line.unit.per_base_unit if line.unit else 1.0,
        "below": [{"label": label, "metrics": [with_unit(probe, metrics[name]) for name in below]}
                  for label, below in line.below.items() if metrics.keys() >= {*below}],
    }  # fmt: skip


def limits_of(text: PlanText) -> Limits:
    """Return the limits of the plan ``quick``, which may have only limits, a summary and the probes' experiments.

    Raises:
        PlanError: the plan has another key, or other experiments.
        UsageError: a limit is not possible.
    """
    other = parse_toml(Path(text.path), text.text).keys() - {"summary", "experiments", *text.limits}
    if other or text.declared != PLAN:
        raise PlanError(
            f'{text.path}: {min(other, default="experiments")}: nameplate-core measures experiments = "{PLAN}" within '
            "limits; declare experiments in src/nameplate/probes, and leave out the rest"
        )
    return make_limits(text.limits)


def core_plan() -> dict[str, Any]:
    """Return the plan, the time limit of each experiment's set-up in seconds, and the lines of the screen, for JSON.

    Raises:
        PlanError: the plan or a probe declares what nameplate-core cannot measure or compute.
        FileError: the plan file cannot be read.
        UsageError: a limit of the plan is not possible.
    """
    probes = sorted(load_probes().values(), key=lambda probe: order_of_area(probe.area))
    limits = limits_of(read_plan(PLAN))
    plan = Plan(PLAN, [experiment for probe in load_probes().values() for experiment in experiments_of(probe)], limits)
    return {**request_of(plan), "lines": [line for probe in probes for line in lines_of(probe)]}


def main(output: Path) -> None:
    """Write the plan to ``output``, as C++ source if its suffix is ``.cpp``, otherwise as JSON.

    A file that already has this content is not written, so that nothing is compiled again.

    Raises:
        SystemExit: the plan or a probe declares what nameplate-core cannot measure or compute; the message says what.
    """
    try:
        plan = core_plan()
    except NameplateError as error:
        sys.exit(f"cmake/core_plan.py: {error}")
    text = msgspec.json.format(msgspec.json.encode(plan), indent=1).decode()
    written = SOURCE.format(text=text) if output.suffix == ".cpp" else text + "\n"
    if not output.exists() or output.read_text() != written:
        output.write_text(written)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
