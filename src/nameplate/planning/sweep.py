"""Parse ``name=value`` arguments into sweeps, checked against the description of nameplate-core.

``a,b,c`` lists values. ``1KiB..1GiB*2`` is a range by a factor, which may be a root as in ``*2^(1/8)``;
``0..100KB+1000`` is a range by a step. Ranges include both ends.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from nameplate.errors import UsageError
from nameplate.records.plan_record import Experiment, Value
from nameplate.units import geometric, parse_bit_rate, parse_count, parse_duration, parse_size

MAX_VALUES = 10_000
COARSE_STRIDE = 4
_READERS: Mapping[str, Callable[[str], Value]] = {
    "integer": parse_count, "size": parse_size, "duration": parse_duration, "bit_rate": parse_bit_rate,
}  # fmt: skip
_ROOT = re.compile(r"(\d+(?:\.\d+)?)\^\(1/(\d+)\)")
_RANGE = re.compile(r"((?:(?!\.\.).)+)\.\.([^*+]+)([*+])(.+)")


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of a probe, from ``nameplate-core --describe``.

    - ``default``: the value as text; None if the probe chooses it, as ``automatic`` says in words. ``automatic`` is
      empty if there is a default
    - ``choices``: the possible values of the type ``choice``, empty for other types; ``percent_of``: the choice that a
      percentage from 1 to 99 may follow, as in ``readwrite:70``, or empty
    - ``minimum``, ``maximum``: the limits of a number, both allowed; sizes are in bytes, durations in seconds and bit
      rates in bits per second. Both are 0, and not used, for choices and texts
    """

    name: str
    type: Literal["choice", "integer", "size", "duration", "text", "bit_rate"]
    summary: str
    default: str | None
    automatic: str
    choices: list[str] = []
    percent_of: str = ""
    minimum: float = 0
    maximum: float = 0


class Named(msgspec.Struct, frozen=True):
    """A counter or a fact that a probe records.

    ``name`` is its key in the records. ``unit`` is the SI base unit, empty for a plain number.
    """

    name: str
    unit: str
    summary: str


class ProbeInfo(msgspec.Struct, frozen=True):
    """A probe from ``nameplate-core --describe``.

    ``needs`` says in words what the machine must have; it is empty if that is nothing. ``counters`` are numbers of each
    sample, ``facts`` numbers that set-up determines once per round.
    """

    name: str
    summary: str
    needs: list[str]
    parameters: list[Parameter]
    counters: list[Named]
    facts: list[Named]


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name, as the end of a message, without a full stop.

    It is ``did you mean 'x'?`` with the most similar name of ``known``, or ``available: a, b`` if none is similar.
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean '{close[0]}'?" if close else f"available: {', '.join(names)}"


def find_probe(name: str, probes: Mapping[str, ProbeInfo]) -> ProbeInfo:
    """Return the probe with this name, where ``probes`` are those of the core by name.

    Raises:
        UsageError: there is none; the message suggests the nearest name.
    """
    if name not in probes:
        raise UsageError(f"unknown probe '{name}'; {nearest(name, probes)}")
    return probes[name]


def _range_values(parameter: Parameter, match: re.Match[str], text: str) -> list[Value]:
    read = parse_size if parameter.type == "size" else parse_count
    if parameter.type not in ("size", "integer"):
        raise UsageError(f"{parameter.name}={text}: not a list; only sizes and whole numbers have ranges")
    low, high = read(match[1]), read(match[2])
    if low > high:
        raise UsageError(f"{parameter.name}={text}: the range starts above its end")
    if match[3] == "+":
        step = read(match[4])
        if step < 1 or (high - low) // step > MAX_VALUES:
            raise UsageError(f"{parameter.name}={text}: the step gives no values, or more than {MAX_VALUES}")
        return sorted({*range(low, high + 1, step), high})
    factor = _factor(parameter, match[4], text)
    if low < 1:
        raise UsageError(f"{parameter.name}={text}: a range by a factor must start at 1 or above")
    return list(geometric(low, high, factor))


def _factor(parameter: Parameter, text: str, whole: str) -> float:
    root = _ROOT.fullmatch(text)
    try:
        factor = float(root[1]) ** (1 / int(root[2])) if root else float(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        factor = 0.0
    if not 1.0009 <= factor <= 1e9:
        raise UsageError(f"{parameter.name}={whole}: not a factor; use a number from 1.001, such as 2, 1.6 or 2^(1/8)")
    return factor


def _one_value(parameter: Parameter, text: str) -> Value:
    if parameter.type == "text":
        return text
    if parameter.type == "choice":
        if text not in parameter.choices and not _is_percentage(parameter, text):
            raise UsageError(f"{parameter.name}={text}: not possible; {nearest(text, parameter.choices)}")
        return text
    try:
        return _READERS[parameter.type](text)
    except UsageError as error:
        raise UsageError(f"{parameter.name}: {error}") from None


def _is_percentage(parameter: Parameter, text: str) -> bool:
    word, _, percent = text.partition(":")
    return bool(parameter.percent_of) and word == parameter.percent_of and percent in map(str, range(1, 100))


def parse_values(parameter: Parameter, text: str) -> list[Value]:
    """Return the values of a text such as ``1,2,4`` or ``1KiB..1GiB*2``, in its order and without repetitions.

    The type of ``parameter`` decides how each value is read (``nameplate.units``): integers, sizes in bytes and bit
    rates in bits per second become int, durations in seconds float; texts and choices stay as they are. Numbers have no
    sign, space or exponent. No value may contain a comma.

    Only integers and sizes have ranges, which include both ends and ascend. ``1KiB..1GiB*2`` is a range by a factor of
    at least 1.001, which may be a root as in ``*2^(1/8)``; ``0..100KB+1000`` is a range by a step.

    Raises:
        UsageError: a value or a range is not possible for the parameter, or there are more than 10,000 values.
    """
    values: list[Value] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part) if parameter.type != "text" else None
        values += _range_values(parameter, match, part) if match else [_one_value(parameter, part)]
        if len(values) > MAX_VALUES:
            raise UsageError(f"{parameter.name}: the sweep has more than {MAX_VALUES} values")
    for value in values:
        if not isinstance(value, str) and not parameter.minimum <= value <= parameter.maximum:
            limits = f"{parameter.minimum:g} to {parameter.maximum:g}"
            raise UsageError(f"{parameter.name}={value:g}: out of range; use {limits}")
    return list(dict.fromkeys(values))


def expand(probe: ProbeInfo, given: Mapping[str, str]) -> list[dict[str, Value]]:
    """Return every combination of the given parameters' values, each as a mapping from parameter to value.

    ``given`` has the values of each parameter as text (``parse_values``). Parameters keep its order, and the values of
    the last one vary fastest. Parameters that are not given are missing from the mappings. If ``given`` is empty, there
    is one empty combination.

    Raises:
        UsageError: a parameter or a value is not possible, or there are more than 10,000 combinations.
    """
    parameters = {parameter.name: parameter for parameter in probe.parameters}
    for name in given:
        if name not in parameters:
            raise UsageError(f"{probe.name} has no parameter '{name}'; {nearest(name, parameters)}")
    lists = [parse_values(parameters[name], text) for name, text in given.items()]
    if len(given) and len(list(itertools.islice(itertools.product(*lists), MAX_VALUES + 1))) > MAX_VALUES:
        raise UsageError(f"{probe.name}: the sweep has more than {MAX_VALUES} experiments")
    return [dict(zip(given, combination, strict=True)) for combination in itertools.product(*lists)]


def experiment_id(probe: str, params: Mapping[str, Value]) -> str:
    """Return the identifier of an experiment, such as ``cpu_flops isa=avx2 threads=2``.

    The parameters are in the order of ``params``. Numbers have no unit: sizes are in bytes, durations in seconds.
    """
    return " ".join([probe, *(f"{name}={value}" for name, value in params.items())])


def experiments(
    probe: ProbeInfo, given: Mapping[str, str], slice_s: float, sample_s: float | None = None, curve: str = "",
    between: str = "",
) -> list[Experiment]:  # fmt: skip
    """Return the experiments of a sweep, one for each combination of the values in ``given`` (``expand``).

    ``slice_s`` is the time of each in a round, ``sample_s`` the length of a sample in seconds (None: calibrated).
    ``curve`` is one of the given parameters, with whole numbers, whose values are points of a curve. If it is empty, no
    experiment is dense, and ``between`` must be empty, too. A dense experiment is measured only where the curve
    changes. Without ``between``, every fourth value and both ends are always measured (``coarse``), and the other
    experiments are dense. ``between`` has further values of ``curve`` as text: all values of ``given`` are then always
    measured, and the experiments of the further values, which come last, are dense.

    Raises:
        UsageError: a parameter or a value is not possible, or there are more than 10,000 combinations.
    """
    combinations = expand(probe, given)
    values = sorted({int(params[curve]) for params in combinations}) if curve else []
    certain = {*values} if between else coarse(values) if curve else set()
    if between:
        combinations += [params for params in expand(probe, {**given, curve: between}) if params[curve] not in certain]
    return [
        Experiment(
            id=experiment_id(probe.name, params), probe=probe.name, params=params, slice_s=slice_s, sample_s=sample_s,
            dense=bool(curve) and params[curve] not in certain,
        )
        for params in combinations
    ]  # fmt: skip


def coarse(sizes: Sequence[int]) -> set[int]:
    """Return every fourth value of a dense grid from the first one on, and the last one; empty for an empty grid.

    ``sizes`` is the grid in ascending order.
    """
    return {*sizes[::COARSE_STRIDE], *sizes[-1:]}


def split_arguments(arguments: Sequence[str]) -> dict[str, str]:
    """Return arguments such as ``["a=1", "b=2,3"]`` as a mapping from name to text.

    A text may contain further equals signs.

    Raises:
        UsageError: an argument is not name=value, either side is empty, or a name occurs twice.
    """
    given: dict[str, str] = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not equals or not name or not text:
            raise UsageError(f"'{argument}': not a parameter; use name=value")
        if name in given:
            raise UsageError(f"'{name}' is given twice; list its values as {name}=a,b")
        given[name] = text
    return given
