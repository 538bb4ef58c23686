"""Plans: what is measured in one run. Shipped ones stand in ``plans/``, a user's own is a TOML file of the same shape.

summary = "what it is for"
budget = "60s"
precision = "2%"            # optional, as are rounds, samples, time and warmup
cells = "quick"             # every probe's own cells of that name, or:

[[experiment]]
probe = "cpu_flops"
slice = "250ms"             # optional: its time in each round
threads = [1, 2]            # parameters as on the command line; lists are swept
where = "block <= size"     # optional: of the swept cells only those
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from nameplate.errors import FileError, NameplateError, UsageError
from nameplate.model import Experiment, Limits, Plan
from nameplate.probes import Cells, load_probes, probe_of
from nameplate.sweep import ProbeInfo, experiments, find_probe, nearest
from nameplate.units import parse_count, parse_duration, parse_fraction

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SHIPPED = Path(__file__).parent / "plans"
DEFAULT_SLICE_S = 0.25
DEFAULT_PRECISION = 0.02
DEFAULT_BUDGET_S = 60.0
DEFAULT_PROBE_BUDGET_S = 30.0
# Six independent values are the fewest whose minimum and maximum cover the median with 95 %.
FEWEST_ROUNDS = 6
# The points of a curve hold each other up.
CURVE_PRECISION = "5%"
# A working set that no cache holds: STREAM's rule, and a floor for systems that list no cache or too small a one.
BEYOND_CACHES = 4
SMALLEST_BEYOND = 128 << 20
_LIMIT_KEYS = ("budget", "precision", "rounds", "samples", "time", "warmup", "series")


class PlanText(msgspec.Struct, frozen=True):
    """A plan as it is written: not yet checked against any probe."""

    name: str
    summary: str
    cells: str
    limits: dict[str, str]
    experiments: list[dict[str, Any]]


def shipped_plans() -> dict[str, Path]:
    """The plans that come with nameplate, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def read_plan(name: str) -> PlanText:
    """A shipped plan, or a file where ``name`` is a path. Raises FileError or UsageError."""
    path = Path(name) if name.endswith(".toml") or "/" in name else shipped_plans().get(name)
    if path is None:
        raise UsageError(f"unknown plan '{name}': {nearest(name, shipped_plans())}")
    try:
        text = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: {error}") from None
    return _check_shape(path, text)


def _check_shape(path: Path, text: dict[str, Any]) -> PlanText:
    known = {"summary", "cells", "experiment", *_LIMIT_KEYS}
    for key in text:
        if key not in known:
            raise FileError(f"{path}: unknown key '{key}': {nearest(key, known)}")
    entries = text.get("experiment", [])
    if not isinstance(entries, list) or not all(
        isinstance(e, dict) and isinstance(e.get("probe"), str) for e in entries
    ):
        raise FileError(f'{path}: write each experiment as a table [[experiment]] with its probe = "name"')
    if not entries and "cells" not in text:
        raise FileError(f'{path}: measures nothing: it needs an [[experiment]] table, or cells = "quick"')
    limits = {key: str(text[key]) for key in _LIMIT_KEYS if key in text}
    return PlanText(path.stem, str(text.get("summary", "")), str(text.get("cells", "")), limits, entries)


def build_plan(
    text: PlanText, probes: Mapping[str, ProbeInfo], options: Mapping[str, str], machine: Mapping[str, Any]
) -> Plan:
    """Checks a plan against the probes that are there. ``options`` are the command line's and go before the plan's."""
    stand_ins = _stand_ins(machine)
    cells = _own_cells(text.cells, probes, stand_ins) if text.cells else []
    for entry in text.experiments:
        try:
            cells += _written_cells(entry, probes, stand_ins)
        except UsageError as error:
            raise UsageError(f"plan {text.name}: {error}") from None
    unique = {(cell.probe, frozenset(cell.params.items())): cell for cell in cells}
    return Plan(text.name, list(unique.values()), make_limits({**text.limits, **options}))


def sweep_plan(
    name: str, given: Mapping[str, str], probes: Mapping[str, ProbeInfo], options: Mapping[str, str],
    machine: Mapping[str, Any],
) -> Plan:  # fmt: skip
    """The plan of ``nameplate run PROBE``: the probe's own sweep, with what is given in its place.

    Who gives the values of its curve, or a parameter that its sweep cannot do with, wants those and nothing else.
    """
    probe = probe_of(name)
    is_own = probe.sweep_with is None or given.keys() <= probe.sweep_with
    sweep = probe.sweep if is_own else ()
    has_curve = any(cells.curve for cells in sweep)
    if not sweep or any(cells.curve in given for cells in sweep):
        sweep, has_curve = (Cells({}, DEFAULT_SLICE_S),), False
    experiments: list[Experiment] = []
    for cells in sweep:
        info = find_probe(cells.probe or name, probes)
        params = cells.params if cells.probe else {**cells.params, **given}
        experiments += _experiments(info, replace(cells, params=params), _stand_ins(machine))
    # All cells six times, where nobody says how long it may take.
    certain = [e for e in experiments if not e.dense]
    whole_s = FEWEST_ROUNDS * sum(e.slice_s + probe_of(e.probe).overhead_s for e in certain)
    budget_s = max(DEFAULT_BUDGET_S if has_curve else DEFAULT_PROBE_BUDGET_S, whole_s)
    defaults = {"budget": f"{budget_s:.0f}s", **({"precision": CURVE_PRECISION} if has_curve else {})}
    unique = {experiment.id: experiment for experiment in reversed(experiments)}
    return Plan(name, list(reversed(unique.values())), make_limits({**defaults, **options}))


def _stand_ins(machine: Mapping[str, Any]) -> dict[str, str]:
    """What ``{name}`` in a value stands for on this machine."""
    caches = [c for c in machine["topology"]["caches"] if c["type"] != "instruction"]
    last = max((c["level"] for c in caches), default=0)
    last_level = sum(c["size_bytes"] * c["count"] for c in caches if c["level"] == last)
    nodes = machine["topology"]["numa_nodes"]
    return {
        "beyond": str(max(BEYOND_CACHES * last_level, SMALLEST_BEYOND)),
        "nodes": ",".join(str(node["index"]) for node in nodes) or "0",
        "pairs": ",".join(map(str, _pairs(machine.get("job")))),
    }


def _pairs(job: Mapping[str, Any] | None) -> list[int]:
    """How many pairs of ranks exchange messages at once: 1, 2, 4 and so on, and as many as there are."""
    most = max(1, int(job["ranks"]) // 2) if job else 1
    return [*(1 << power for power in range(most.bit_length()) if 1 << power < most), most]


def _experiments(info: ProbeInfo, cells: Cells, stand_ins: Mapping[str, str]) -> list[Experiment]:
    if stand_ins["nodes"].count(",") + 1 < cells.fewest_nodes:
        return []
    params = {name: _filled_in(text, stand_ins) for name, text in cells.params.items()}
    return experiments(info, params, cells.slice_s, cells.sample_s, cells.curve, cells.between)


def _filled_in(text: str, stand_ins: Mapping[str, str]) -> str:
    for name, value in stand_ins.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _own_cells(which: str, probes: Mapping[str, ProbeInfo], stand_ins: Mapping[str, str]) -> list[Experiment]:
    if which not in ("quick", "full"):
        raise UsageError(f"cells = '{which}' is not possible: {nearest(which, ('quick', 'full'))}")
    result = []
    for name, probe in load_probes().items():
        if name not in probes and probe.takes_whole_job:
            continue
        own: Sequence[Cells] = probe.quick if which == "quick" else probe.full
        for cells in own:
            result += _experiments(find_probe(name, probes), cells, stand_ins)
    return result


def _written_cells(
    entry: Mapping[str, Any], probes: Mapping[str, ProbeInfo], stand_ins: Mapping[str, str]
) -> list[Experiment]:
    slice_s = parse_duration(str(entry["slice"])) if "slice" in entry else DEFAULT_SLICE_S
    params = {key: _as_argument(value) for key, value in entry.items() if key not in ("probe", "slice", "where")}
    cells = _experiments(find_probe(entry["probe"], probes), Cells(params, slice_s), stand_ins)
    return _where(str(entry["where"]), cells) if "where" in entry else cells


def _where(condition: str, cells: Sequence[Experiment]) -> list[Experiment]:
    """The cells in which one parameter is not greater than another."""
    smaller, _, greater = (word.strip() for word in condition.partition("<="))
    try:
        return [cell for cell in cells if float(cell.params[smaller]) <= float(cell.params[greater])]
    except (KeyError, ValueError):
        raise UsageError(f"where = '{condition}' is not possible: write two swept numbers, 'block <= size'") from None


def _as_argument(value: object) -> str:
    return ",".join(str(item) for item in value) if isinstance(value, list) else str(value)


def make_limits(options: Mapping[str, str]) -> Limits:
    """From the texts of ``budget``, ``precision``, ``rounds``, ``samples``, ``time``, ``warmup`` and ``series``."""

    def read(key: str, parse: Any, default: Any = None) -> Any:
        try:
            return parse(options[key]) if key in options else default
        except NameplateError as error:
            raise UsageError(f"{key}: {error}") from None

    series_s, interval_s = read("series", parse_series, (None, None))
    limits = Limits(
        budget_s=read("budget", parse_duration, DEFAULT_BUDGET_S),
        precision=read("precision", parse_fraction, DEFAULT_PRECISION),
        rounds=read("rounds", parse_count, 1 if series_s else None),
        samples=read("samples", parse_count),
        sample_s=read("time", parse_duration),
        warmup_s=read("warmup", parse_duration, 0.02),
        series_s=series_s,
        interval_s=interval_s,
    )
    for key, value in (("budget", limits.budget_s), ("rounds", limits.rounds), ("samples", limits.samples)):
        if value is not None and value <= 0:
            raise UsageError(f"{key}: must be more than 0")
    return limits


def round_s(plan: Plan, turns: int = 1, with_dense: bool = False) -> float:
    """How long a round takes in seconds, as its probes say; dense points are measured in some rounds only.

    ``turns``: how many nodes take a single machine's probe one after the other.
    """
    limits = plan.limits
    each_s = limits.series_s or (limits.samples or 1) * (limits.sample_s or 0.0)
    return sum(
        (1 if probe_of(e.probe).takes_whole_job else turns) * (max(each_s, e.slice_s) + probe_of(e.probe).overhead_s)
        for e in plan.experiments
        if with_dense or not e.dense
    )


def in_turns(plan: Plan, turns: int, options: Mapping[str, str]) -> Plan:
    """As many times the budget as nodes take turns, unless the user gave one."""
    if options.keys() & {"budget", "rounds"} or all(probe_of(e.probe).takes_whole_job for e in plan.experiments):
        return plan
    return msgspec.structs.replace(
        plan, limits=msgspec.structs.replace(plan.limits, budget_s=plan.limits.budget_s * turns)
    )


def longest_s(plan: Plan, turns: int = 1) -> float:
    """How long a run takes at most in seconds; where its rounds are fixed, twice what the probes say."""
    limits = plan.limits
    return 2 * limits.rounds * round_s(plan, turns, with_dense=True) if limits.rounds else limits.budget_s


def parse_series(text: str) -> tuple[float, float]:
    """``600s/1s`` as (length, interval) in seconds. Raises UsageError."""
    length, slash, interval = text.partition("/")
    if not slash:
        raise UsageError(f"'{text}' is not a series: write LENGTH/INTERVAL, such as 600s/1s")
    length_s, interval_s = parse_duration(length), parse_duration(interval)
    if not 0.01 <= interval_s <= length_s:
        raise UsageError(f"'{text}' is not a series: the interval must be 10ms or more and not above the length")
    return length_s, interval_s
