"""Read plans, which say what a run measures. Shipped plans are in ``plans/``; a user's plan is a TOML file like them.

summary = "what it is for"
budget = "60s"
precision = "2%"            # optional, as are rounds, samples, time and warmup
experiments = "quick"       # every probe's own experiments of this name; or write [[experiment]] tables below

references = ["stream"]     # optional: reference tools to run for comparison, if they are installed
per_node = "at-once"        # optional: single-machine probes run on all nodes of an MPI job, "at-once" or "in-turn"
priority = "high"           # optional: raise the priority of the measuring processes, if permitted
fit = true                  # optional: shorten slices and series so that all rounds fit the budget; this is the
                            # default for a plan with rounds and a budget

[[experiment]]
probe = "cpu_flops"
slice = "250ms"             # optional: its time in each round
sample = "1ms"              # optional: minimum length of its samples, unless a time is given
series = "600s/1s"          # optional, instead of slice: one long series of samples without gaps
experiments = "sweep"       # optional, instead of parameters: what the probe declares for quick, full or sweep
from_budget = "10min"       # optional: left out if the budget is smaller
threads = [1, 2]            # parameters as on the command line; lists are swept
size = "{beyond_memory}"    # a test file larger than the memory if there is room and time, else 1280 MiB
where = "block <= size"     # optional: only these experiments; either side may be a product, "a * b <= 48"

[[reference]]               # optional: a reference tool with parameters of its work, as its adapter allows
tool = "iozone"
block = "8KiB,8MiB"
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from nameplate.errors import FileError, NameplateError, UsageError
from nameplate.planning import budget
from nameplate.planning.file_size import WRITTEN_BYTES_PER_S, file_beyond_memory
from nameplate.planning.quota import over_full_periods
from nameplate.planning.stand_ins import stand_ins_of, swept_nodes
from nameplate.planning.sweep import ProbeInfo, experiments, find_probe
from nameplate.probes import ParameterSweep, load_probes, probe_of
from nameplate.records.inputs import read_text
from nameplate.records.machine_record import Machine
from nameplate.records.plan_record import Experiment, Limits, PerNode, Plan, ReferenceWork
from nameplate.records.toml_text import parse_toml
from nameplate.suggestion import nearest
from nameplate.units import parse_count, parse_duration, parse_fraction

SHIPPED = Path(__file__).parent / "plans"
DEFAULT_SLICE_S = 0.25
DEFAULT_PRECISION = 0.02
DEFAULT_BUDGET_S = 60.0
DEFAULT_PROBE_BUDGET_S = 30.0
# The default precision of a curve: each point is supported by its neighbours.
CURVE_PRECISION = "5%"
# The keys of an experiment in a plan that are not parameters.
_ENTRY_KEYS = ("probe", "slice", "sample", "where", "series", "experiments", "from_budget")
_WORD = re.compile(r"[\w-]+")
MAX_BYTES = 128 << 10
# The error for a plan that was written for an earlier version.
_RENAMED = "the key cells is now called experiments: rename it"
LIMIT_KEYS = ("budget", "precision", "rounds", "samples", "time", "warmup", "series")


class PlanText(msgspec.Struct, frozen=True):
    """A plan as it is written, before its experiments are checked against the probes.

    - ``name``: the name of the plan's file without the suffix; ``summary``: the purpose of the plan, "" if the file has
      none
    - ``declared``: ``quick`` or ``full`` if the plan includes the experiments that the probes declare for this name,
      otherwise ""
    - ``limits``: the text of each of the keys ``budget``, ``precision``, ``rounds``, ``samples``, ``time``, ``warmup``
      and ``series`` that the file has
    - ``experiments``: the ``[[experiment]]`` tables as read from TOML
    - ``fit``: True if the plan asks to shorten slices so that all rounds end within the budget; False if it does not,
      or does not say. A plan with both ``rounds`` and ``budget`` is shortened in any case
    - ``references``: the names of reference tools that run with their default work; ``reference_works``: reference
      tools with parameters of their work
    - ``per_node``: how the nodes of a job run single-machine probes, "at-once" or "in-turn"; "" if the plan does not
      say
    - ``priority``: "high" if the plan asks for a higher priority of the measuring processes, otherwise ""
    - ``path``, ``text``: the path and the content of the file, for messages; ``text`` also shows whether the plan uses
      ``{beyond_memory}``
    - ``directory``: the directory of test files. Unless it is ".", it becomes the parameter ``file`` of each experiment
      that does not set ``file`` and whose probe has this parameter
    """

    name: str
    summary: str
    declared: str
    limits: dict[str, str]
    experiments: list[dict[str, Any]]
    fit: bool = False
    references: tuple[str, ...] = ()
    reference_works: tuple[ReferenceWork, ...] = ()
    per_node: PerNode = ""
    priority: Literal["", "high"] = ""
    path: str = ""
    text: str = ""
    directory: str = "."

    def location(self, number: int, message: str) -> str:
        """Return the file and line of an error in an experiment, such as ``my.toml, line 12``.

        ``number`` is the index of the ``[[experiment]]`` table, from 0, and ``message`` the text of the error. The line
        is that of the first key in the table that the message names, otherwise of the first value that the message
        quotes, otherwise of the table's head. If the file has no such table, the result is the file alone.
        """
        lines = self.text.splitlines()
        names = set(_WORD.findall(message))
        heads = [index for index, line in enumerate(lines) if line.strip() == "[[experiment]]"]
        if number >= len(heads):
            return self.path
        end = heads[number + 1] if number + 1 < len(heads) else len(lines)
        named = [
            index for index in range(heads[number] + 1, end)
            if (key := lines[index].partition("=")[0].strip())
            and key in names
        ]  # fmt: skip
        valued = [index for index in range(heads[number] + 1, end) if _value_in(lines[index], message)]
        return f"{self.path}, line {(named or valued or heads[number : number + 1])[0] + 1}"


def shipped_plans() -> dict[str, Path]:
    """Return the path of each plan that comes with nameplate, by the plan's name in alphabetical order."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def check_name(name: str, probes: Mapping[str, ProbeInfo]) -> None:
    """Check that ``name`` is a probe, a shipped plan, or the path of a plan file, which may not exist.

    Raises:
        UsageError: it is none of them; the message suggests the most similar name.
    """
    if not (name in probes or name in shipped_plans() or name.endswith(".toml") or "/" in name):
        raise UsageError(f"unknown plan or probe '{name}': {nearest(name, [*shipped_plans(), *probes])}")


def read_plan(name: str) -> PlanText:
    """Return a shipped plan by its name, or a plan file if ``name`` ends with ``.toml`` or contains a slash.

    The values of the limits, the probes and their parameters are not checked; ``build_plan`` checks them.

    Raises:
        FileError: the file cannot be read, is larger than 128 KiB, or is not a plan.
        UsageError: no plan has this name.
    """
    path = Path(name) if name.endswith(".toml") or "/" in name else shipped_plans().get(name)
    if path is None:
        raise UsageError(f"unknown plan '{name}'; {nearest(name, shipped_plans())}")
    written = read_text(path, MAX_BYTES, "plan")
    return msgspec.structs.replace(_check_shape(path, parse_toml(path, written), written), path=str(path), text=written)


def _check_keys(path: Path, text: Mapping[str, Any], written: str) -> None:
    known = {"summary", "experiments", "experiment", "fit", "references", "reference", "per_node", "priority",
             *LIMIT_KEYS}  # fmt: skip
    for key in text:
        location = f"{path}, line {_line_of(key, written)}"
        if key == "cells":
            raise FileError(f"{location}: {_RENAMED}")
        if key not in known:
            raise FileError(f"{location}: unknown key '{key}'; {nearest(key, known)}")
    if not isinstance(text.get("experiments", ""), str):
        location = f"{path}, line {_line_of('experiments', written)}"
        raise FileError(
            f'{location}: experiments: not the name of a plan; use "quick", "full" or [[experiment]] tables'
        )


def _check_shape(path: Path, text: dict[str, Any], written: str) -> PlanText:
    _check_keys(path, text, written)
    entries = text.get("experiment", [])
    if not isinstance(entries, list) or not all(
        isinstance(e, dict) and isinstance(e.get("probe"), str) for e in entries
    ):
        raise FileError(f'{path}: an experiment is not a table with a probe; write [[experiment]] and probe = "name"')
    if not entries and "experiments" not in text:
        raise FileError(f'{path}: nothing to measure; add an [[experiment]] table, or experiments = "quick"')
    limits = {key: str(text[key]) for key in LIMIT_KEYS if key in text}
    fit = text.get("fit", False)
    if not isinstance(fit, bool):
        raise FileError(f"{path}: fit = {fit!r}: not a truth value; use true or false")
    references = text.get("references", [])
    if not isinstance(references, list) or not all(isinstance(name, str) for name in references):
        raise FileError(
            f'{path}: references = {references!r}: not a list of tools; use a list such as ["fio", "iperf3"]'
        )
    per_node = _one_of(path, text, "per_node", get_args(PerNode)[1:])
    priority = _one_of(path, text, "priority", ("high",))
    summary, declared = str(text.get("summary", "")), str(text.get("experiments", ""))
    works = _reference_works(path, text.get("reference", []))
    return PlanText(path.stem, summary, declared, limits, entries, fit, tuple(references), works, per_node, priority)


def _reference_works(path: Path, tables: object) -> tuple[ReferenceWork, ...]:
    if not isinstance(tables, list) or not all(isinstance(t, dict) and isinstance(t.get("tool"), str) for t in tables):
        raise FileError(f'{path}: a reference is not a table with a tool; write [[reference]] and tool = "name"')
    return tuple(
        ReferenceWork(table["tool"], {key: _as_argument(value) for key, value in table.items() if key != "tool"})
        for table in tables
    )


def _one_of(path: Path, text: Mapping[str, Any], key: str, allowed: Sequence[str]) -> Any:
    """Return the value of a key of the whole plan; "" if the plan does not have the key.

    Raises:
        FileError: the value is not one of ``allowed``.
    """
    value = text.get(key, "")
    if value not in ("", *allowed):
        raise FileError(f"{path}: {key} = {value!r}: not a valid value; use {' or '.join(allowed)}")
    return value


def _value_in(line: str, allowed: str) -> bool:
    """Return whether an error quotes the value in a line."""
    value = line.partition("=")[2].strip().strip("\"'")
    return bool(value) and f"'{value}'" in allowed


def _line_of(key: str, written: str) -> int:
    """Return the number of the line with a key of the whole plan, from 1."""
    match = re.search(rf"^[ \t]*\[?\[?{re.escape(key)}\b", written, re.MULTILINE)
    return written[: match.start()].count("\n") + 1 if match else 1


def build_plan(
    text: PlanText, probes: Mapping[str, ProbeInfo], options: Mapping[str, str], machine: Machine,
    turns: int = 1, reserved_s: float = 0.0,
) -> Plan:  # fmt: skip
    """Return the plan that a text describes, checked against the available probes and fitted to a binding budget.

    - ``probes``: the core's probes by name; MPI probes of the plan that the core lacks are left out
    - ``options``: limits of the command line as for ``make_limits``, which override the limits of the plan
    - ``machine``: the machine that gives the values of ``{name}`` (see ``stand_ins_of``) and the size of test files,
      and whose CPU quota lengthens samples and slices of ``quick`` and ``full`` (see ``quota.py``). The free space of
      the current directory also limits test files
    - ``turns``: the number of nodes that run a single-machine probe one after another, by which the budget is
      multiplied (see ``budget.with_turns``)
    - ``reserved_s``: the part of the budget in seconds for reference tools

    The notes of the plan say which experiments of the text are left out or shortened, and why.

    Raises:
        UsageError: a value of the text or of ``options`` is not possible, nothing is left to measure, or the budget is
            too short. If an experiment or a limit of the text is at fault, the message has the file and the line.
    """
    limits = _limits_of(text, options)
    stand_ins, notes = stand_ins_of(machine), []
    folder = Path.cwd() / text.directory
    if "{beyond_memory}" in text.text:
        file_bytes, why_smaller = file_beyond_memory(machine, folder, limits.budget_s)
        reserved_s += file_bytes / WRITTEN_BYTES_PER_S
        stand_ins["beyond_memory"] = str(file_bytes)
        notes += [why_smaller] if why_smaller else []
    declared = _declared_experiments(text.declared, probes, stand_ins) if text.declared else []
    experiments = over_full_periods(declared, machine)
    notes += _note_of_nodes(experiments, machine)
    for number, entry in enumerate(text.experiments):
        try:
            without = _why_without(entry, probes, limits)
            experiments += [] if without else _written_experiments(entry, probes, stand_ins)
        except UsageError as error:
            raise UsageError(f"{text.location(number, str(error))}: {error}") from None
        notes += [without] if without and without not in notes else []
    if not experiments:
        raise UsageError(f"plan {text.name} has nothing to measure: {'; '.join(notes)}")
    if text.directory != ".":
        experiments = [_in_directory(experiment, text.directory, probes) for experiment in experiments]
    unique = {(e.probe, e.interval_s, frozenset(e.params.items())): e for e in experiments}
    plan = Plan(
        text.name, _with_unique_ids(list(unique.values())), limits, notes, list(text.references), text.per_node,
        text.priority, list(text.reference_works),
    )  # fmt: skip
    return budget.fit(budget.with_turns(plan, turns, options), turns, reserved_s)


def _in_directory(experiment: Experiment, directory: str, probes: Mapping[str, ProbeInfo]) -> Experiment:
    names = {parameter.name for parameter in probes[experiment.probe].parameters}
    if "file" not in names or "file" in experiment.params:
        return experiment
    params = {**experiment.params, "file": directory}
    return msgspec.structs.replace(experiment, params=params, id=f"{experiment.id} file={directory}")


def _with_unique_ids(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Return the experiments; ids of series that differ only in the interval have the interval appended."""
    times = Counter(experiment.id for experiment in experiments)
    return [
        msgspec.structs.replace(planned, id=f"{planned.id} of {planned.interval_s:g} s")
        if times[planned.id] > 1
        else planned
        for planned in experiments
    ]


def _note_of_nodes(experiments: Sequence[Experiment], machine: Machine) -> list[str]:
    """Return a list with a note if only some NUMA nodes are measured from each other; otherwise an empty list."""
    swept, present = swept_nodes(machine), len(machine.topology.numa_nodes)
    if len(swept) == present or not any("memory_node" in experiment.params for experiment in experiments):
        return []
    return [f"of {present} NUMA nodes, {', '.join(map(str, swept))} are measured from each other"]


def _limits_of(text: PlanText, options: Mapping[str, str]) -> Limits:
    """Return a plan's limits. The limits in the plan file are checked separately, so that errors name the file.

    The budget is binding if it was given together with fixed rounds, or if the plan must fit it.
    """
    try:
        make_limits(text.limits)
    except UsageError as error:
        key = str(error).partition(":")[0]
        raise UsageError(f"{text.path}, line {_line_of(key, text.text)}: {error}") from None
    limits = make_limits({**text.limits, **options})
    fixed = limits.rounds is not None and "budget" in text.limits and not options.keys() & {"rounds", "series"}
    binds = text.fit or fixed or (limits.rounds is not None and "budget" in options)
    return msgspec.structs.replace(limits, budget_binds=binds)


def _why_without(entry: Mapping[str, Any], probes: Mapping[str, ProbeInfo], limits: Limits) -> str:
    """Return why an experiment of a plan is left out; "" if it is measured."""
    name = str(entry["probe"])
    if name not in probes and name in load_probes() and probe_of(name).takes_all_ranks:
        return f'{name} is left out: it needs an MPI launcher; add --mpi "mpirun -n 2"'
    min_budget = entry.get("from_budget")
    if min_budget is not None and limits.budget_s < _duration_of("from_budget", str(min_budget)):
        argv = " ".join(f"{key}={_as_argument(value)}" for key, value in entry.items() if key not in _ENTRY_KEYS)
        return f"{name} {argv} is left out: it needs --budget {min_budget} or more"
    return ""


def sweep_plan(
    name: str, given: Mapping[str, str], probes: Mapping[str, ProbeInfo], options: Mapping[str, str],
    machine: Machine, turns: int = 1,
) -> Plan:  # fmt: skip
    """Return the plan of ``nameplate run PROBE``: the probe's own sweep, in which given parameters are replaced.

    - ``name``: the probe; ``given``: the values of its parameters as text (see ``parse_values``)
    - ``probes``: the core's probes by name
    - ``options``: limits of the command line as for ``make_limits``
    - ``machine``: the machine that gives the values of ``{name}`` (see ``stand_ins_of``)
    - ``turns``: the number of nodes that run a single-machine probe one after another, by which the budget is
      multiplied (see ``budget.with_turns``)

    Only the given values are measured if the probe has no sweep, or if ``given`` has the parameter of the sweep's curve
    or a parameter that is not in ``Probe.sweep_with``. The default budget is the time of six rounds, but at least 30 s,
    or 60 s for a curve. The default precision of a curve is 5 %.

    Raises:
        UsageError: a parameter, a value or a limit is not possible, the core lacks ``name`` or another probe of the
            sweep, or the budget is too short.
    """
    probe = probe_of(name)
    is_declared_sweep = probe.sweep_with is None or given.keys() <= probe.sweep_with
    sweeps = probe.sweep if is_declared_sweep else ()
    has_curve = any(sweep.curve for sweep in sweeps)
    if not sweeps or any(sweep.curve in given for sweep in sweeps):
        sweeps, has_curve = (ParameterSweep({}, DEFAULT_SLICE_S),), False
    experiments: list[Experiment] = []
    for sweep in sweeps:
        info = find_probe(sweep.probe or name, probes)
        params = sweep.params if sweep.probe else {**sweep.params, **given}
        experiments += _experiments(info, replace(sweep, params=params), stand_ins_of(machine))
    # By default there is time for six rounds of all experiments.
    certain = [e for e in experiments if not e.dense]
    limits = make_limits(options)
    total_s = budget.MIN_ROUNDS * sum(e.slice_s + budget.overhead_s(e, limits) for e in certain)
    budget_s = max(DEFAULT_BUDGET_S if has_curve else DEFAULT_PROBE_BUDGET_S, total_s)
    defaults = {"budget": f"{budget_s:.0f}s", **({"precision": CURVE_PRECISION} if has_curve else {})}
    unique = {experiment.id: experiment for experiment in reversed(experiments)}
    # With fixed rounds or a series, only a budget that the user gave is binding.
    budget_binds = "budget" in options and bool(options.keys() & {"rounds", "series"})
    limits = msgspec.structs.replace(make_limits({**defaults, **options}), budget_binds=budget_binds)
    plan = Plan(name, list(reversed(unique.values())), limits)
    return budget.fit(budget.with_turns(plan, turns, options), turns)


def _experiments(info: ProbeInfo, sweep: ParameterSweep, stand_ins: Mapping[str, str]) -> list[Experiment]:
    if stand_ins["nodes"].count(",") + 1 < sweep.min_nodes:
        return []
    params = {name: _filled_in(text, stand_ins) for name, text in sweep.params.items()}
    expanded = experiments(info, params, sweep.slice_s, sweep.sample_s, sweep.curve, sweep.between)
    return [msgspec.structs.replace(experiment, overhead_s=sweep.overhead_s) for experiment in expanded]


def _filled_in(text: str, stand_ins: Mapping[str, str]) -> str:
    for name, value in stand_ins.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _declared_experiments(
    which: str, probes: Mapping[str, ProbeInfo], stand_ins: Mapping[str, str]
) -> list[Experiment]:
    if which not in ("quick", "full"):
        raise UsageError(f"experiments = '{which}': not a valid value; {nearest(which, ('quick', 'full'))}")
    result = []
    for name, probe in load_probes().items():
        if name not in probes and probe.takes_all_ranks:
            continue
        sweeps: Sequence[ParameterSweep] = probe.quick if which == "quick" else probe.full
        for sweep in sweeps:
            result += _experiments(find_probe(name, probes), sweep, stand_ins)
    return result


def _duration_of(key: str, text: str) -> float:
    try:
        return parse_duration(text)
    except UsageError as error:
        raise UsageError(f"{key} = {error}") from None


def _written_experiments(
    entry: Mapping[str, Any], probes: Mapping[str, ProbeInfo], stand_ins: Mapping[str, str]
) -> list[Experiment]:
    info = find_probe(entry["probe"], probes)
    if "cells" in entry:
        raise UsageError(_RENAMED)
    if "experiments" in entry:
        return _named_experiments(entry, probes, stand_ins)
    params = {key: _as_argument(value) for key, value in entry.items() if key not in _ENTRY_KEYS}
    slice_s = _duration_of("slice", str(entry["slice"])) if "slice" in entry else DEFAULT_SLICE_S
    sample_s = _duration_of("sample", str(entry["sample"])) if "sample" in entry else None
    expanded = _experiments(info, ParameterSweep(params, slice_s, sample_s), stand_ins)
    if "series" in entry:
        length_s, interval_s = parse_series(str(entry["series"]))
        expanded = [
            msgspec.structs.replace(e, id=f"{e.id} series", slice_s=length_s, interval_s=interval_s) for e in expanded
        ]
    return _where(_filled_in(str(entry["where"]), stand_ins), expanded) if "where" in entry else expanded


def _named_experiments(
    entry: Mapping[str, Any], probes: Mapping[str, ProbeInfo], stand_ins: Mapping[str, str]
) -> list[Experiment]:
    """Return the experiments that the probe declares for ``quick``, ``full`` or ``sweep``."""
    which = str(entry["experiments"])
    probe = probe_of(entry["probe"])
    kinds: Mapping[str, Sequence[ParameterSweep]] = {"quick": probe.quick, "full": probe.full, "sweep": probe.sweep}
    extra = entry.keys() - {"probe", "experiments", "from_budget"}
    if which not in kinds:
        raise UsageError(f"experiments = '{which}': not a valid value; {nearest(which, kinds)}")
    if extra:
        raise UsageError(f"experiments = '{which}': takes no parameters; leave out {min(extra)}")
    expanded: list[Experiment] = []
    for sweep in kinds[which]:
        expanded += _experiments(find_probe(sweep.probe or entry["probe"], probes), sweep, stand_ins)
    return expanded


def _where(condition: str, experiments: Sequence[Experiment]) -> list[Experiment]:
    """Return the experiments that meet a condition: a product of parameters and numbers is <= another product."""
    smaller, _, greater = condition.partition("<=")
    try:
        return [
            experiment for experiment in experiments if _product(smaller, experiment) <= _product(greater, experiment)
        ]
    except ValueError:
        raise UsageError(
            f"where = '{condition}': not a condition; use two swept numbers or products of them, such as 'block <= "
            "size'"
        ) from None


def _product(text: str, experiment: Experiment) -> float:
    """Return the product of numbers and parameters.

    Raises:
        ValueError: a factor is neither a parameter of the experiment nor a number.
    """
    factors = [factor.strip() for factor in text.split("*")]
    return math.prod(float(experiment.params.get(factor, factor)) for factor in factors)


def _as_argument(value: object) -> str:
    return ",".join(str(item) for item in value) if isinstance(value, list) else str(value)


def make_limits(options: Mapping[str, str]) -> Limits:
    """Return the limits of a run, parsed from ``options``, which has the text of each limit by name.

    A limit that is missing has its default:

    - ``budget``: a duration above 0, such as ``10min``; by default 60 s
    - ``precision``: a share above 0 and up to 1, such as ``2%`` or ``0.02``; by default 2 %
    - ``rounds``, ``samples``: whole numbers above 0; by default None, which means no limit, but one round with
      ``series``
    - ``time``: the duration of a sample, above 0; by default None, which means the duration of the experiment's
      samples, or a calibrated one
    - ``warmup``: a duration, which may be 0; by default 20 ms
    - ``series``: LENGTH/INTERVAL as for ``parse_series``; by default no series

    Durations are as for ``parse_duration``: a number without a unit is in seconds. Other keys are ignored.
    ``budget_binds`` of the result is always False.

    Raises:
        UsageError: a text is not a valid value; the message begins with the key.
    """

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
    above_0 = {
        "budget": limits.budget_s, "rounds": limits.rounds, "samples": limits.samples, "time": limits.sample_s,
    }  # fmt: skip
    for key, value in above_0.items():
        if value is not None and value <= 0:
            raise UsageError(f"{key}: must be above 0")
    return limits


def parse_series(text: str) -> tuple[float, float]:
    """Return the length and the interval of a series such as ``600s/1s``, both in seconds.

    Both are durations as for ``parse_duration``: a number without a unit is in seconds.

    Raises:
        UsageError: the text is not LENGTH/INTERVAL, or the interval is below 10 ms or above the length.
    """
    length, slash, interval = text.partition("/")
    if not slash:
        raise UsageError(f"'{text}': not a series; use LENGTH/INTERVAL, such as 600s/1s")
    length_s, interval_s = parse_duration(length), parse_duration(interval)
    if not 0.01 <= interval_s <= length_s:
        raise UsageError(f"'{text}': not a series; the interval must be at least 10ms and at most the length")
    return length_s, interval_s
