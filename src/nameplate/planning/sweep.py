"""Parse ``name=value`` arguments into sweeps, checked against the description of nameplate-core.

``a,b,c`` lists values. ``1KiB..1GiB*2`` is a range by a factor, which may be a root as in ``*2^(1/8)``;
``0..100KB+1000`` is a range by a step. Ranges include both ends.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from nameplate.errors import UsageError
from nameplate.records.plan_record import Experiment, Value
from nameplate.suggestion import nearest
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

    - ``type``: the kind of the value, which decides how it is read (see ``parse_values``)
    - ``summary``: the meaning of the parameter, for help
    - ``default``: the default value as text; None if the probe chooses the value
    - ``automatic``: a sentence that says how the probe chooses the value; "" if there is a default
    - ``choices``: the possible values of the type ``choice``; empty for other types
    - ``percent_of``: the choice that may be followed by a percentage from 1 to 99, as in ``readwrite:70``; "" if there
      is none
    - ``minimum``, ``maximum``: the lowest and highest allowed number; sizes are in bytes, durations in seconds and bit
      rates in bits per second. Both are 0, and not used, for the types ``choice`` and ``text``
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

    ``name`` is the key in the records, and ``unit`` is the SI base unit, "" for a plain number.
    """

    name: str
    unit: str
    summary: str


class ProbeInfo(msgspec.Struct, frozen=True):
    """A probe, from ``nameplate-core --describe``.

    ``needs`` lists what the machine must have, in words; it is empty if the probe runs everywhere. ``counters`` are
    numbers that each sample has. ``facts`` are numbers that set-up determines once per round.
    """

    name: str
    summary: str
    needs: list[str]
    parameters: list[Parameter]
    counters: list[Named]
    facts: list[Named]


def find_probe(name: str, probes: Mapping[str, ProbeInfo]) -> ProbeInfo:
    """Return the probe with this name. ``probes`` are the core's probes by name.

    Raises:
        UsageError: no probe has this name; the message suggests the most similar one.
    """
    if name not in probes:
        raise UsageError(f"unknown probe '{name}'; {nearest(name, probes)}")
    return probes[name]


def _range_values(parameter: Parameter, match: re.Match[str], text: str) -> list[Value]:
    read = parse_size if parameter.type == "size" else parse_count
    if parameter.type not in ("size", "integer"):
        raise UsageError(f"{parameter.name}={text}: not a valid value; only sizes and whole numbers can have ranges")
    low, high = read(match[1]), read(match[2])
    if low > high:
        raise UsageError(f"{parameter.name}={text}: the range starts above its end; write the smaller value first")
    if match[3] == "+":
        step = read(match[4])
        if step < 1 or (high - low) // step > MAX_VALUES:
            raise UsageError(f"{parameter.name}={text}: the step gives no values, or more than {MAX_VALUES}; raise it")
        return sorted({*range(low, high + 1, step), high})
    factor = _factor(parameter, match[4], text)
    if low < 1:
        raise UsageError(f"{parameter.name}={text}: a range by a factor must start at 1 or above")
    return list(geometric(low, high, factor))


def _factor(parameter: Parameter, text: str, argument: str) -> float:
    root = _ROOT.fullmatch(text)
    try:
        factor = float(root[1]) ** (1 / int(root[2])) if root else float(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        factor = 0.0
    if not 1.0009 <= factor <= 1e9:
        raise UsageError(
            f"{parameter.name}={argument}: not a factor; use a number from 1.001, such as 2, 1.6 or 2^(1/8)"
        )
    return factor


def _one_value(parameter: Parameter, text: str) -> Value:
    if parameter.type == "text":
        return text
    if parameter.type == "choice":
        word, _, percent = text.partition(":")
        is_percentage = parameter.percent_of and word == parameter.percent_of and percent in map(str, range(1, 100))
        if text not in parameter.choices and not is_percentage:
            raise UsageError(f"{parameter.name}={text}: not a valid value; {nearest(text, parameter.choices)}")
        return text
    try:
        return _READERS[parameter.type](text)
    except UsageError as error:
        raise UsageError(f"{parameter.name}: {error}") from None


def parse_values(parameter: Parameter, text: str) -> list[Value]:
    """Return the values of a text such as ``1,2,4`` or ``1KiB..1GiB*2``, in its order and without repetitions.

    The type of ``parameter`` decides how each value is read (see ``nameplate.units``): integers, sizes in bytes and bit
    rates in bits per second become int, durations in seconds become float, and texts and choices stay str. Numbers have
    no sign, space or exponent. No value may contain a comma.

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
            raise UsageError(f"{parameter.name}: the sweep has more than {MAX_VALUES} values; give fewer")
    for value in values:
        if not isinstance(value, str) and not parameter.minimum <= value <= parameter.maximum:
            limits = f"{parameter.minimum:g} to {parameter.maximum:g}"
            raise UsageError(f"{parameter.name}={value:g}: out of range; use {limits}")
    return list(dict.fromkeys(values))


def expand(probe: ProbeInfo, given: Mapping[str, str]) -> list[dict[str, Value]]:
    """Return every combination of the given parameters' values, each as a mapping from parameter to value.

    ``given`` has the values of each parameter as text (see ``parse_values``). The mappings keep the order of ``given``;
    the values of the last parameter vary fastest. Parameters that are not in ``given`` are not in the mappings. If
    ``given`` is empty, the result is one empty mapping.

    Raises:
        UsageError: a parameter or a value is not possible, or there are more than 10,000 combinations.
    """
    parameters = {parameter.name: parameter for parameter in probe.parameters}
    for name in given:
        if name not in parameters:
            raise UsageError(f"{probe.name} has no parameter '{name}'; {nearest(name, parameters)}")
    lists = [parse_values(parameters[name], text) for name, text in given.items()]
    if len(given) and len(list(itertools.islice(itertools.product(*lists), MAX_VALUES + 1))) > MAX_VALUES:
        raise UsageError(f"{probe.name}: the sweep has more than {MAX_VALUES} experiments; give fewer values")
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
    """Return the experiments of a sweep, one for each combination of the values in ``given`` (see ``expand``).

    - ``slice_s``: the time of each experiment in a round, in seconds
    - ``sample_s``: the length of a sample in seconds; None for a calibrated length
    - ``curve``: a parameter in ``given``, with whole numbers, whose values are points of a curve; "" for none
    - ``between``: further values of ``curve`` as text; "" for none, and always "" without ``curve``

    A dense experiment is measured only where the curve changes. Without ``curve``, no experiment is dense. With
    ``between``, its values are dense and come last, and all values in ``given`` are always measured. Without
    ``between``, every fourth value in ``given`` and both ends are always measured (see ``coarse``), and the other
    values are dense.

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
    """Return every fourth value of ``sizes``, starting with the first one, and the last value; empty for no sizes.

    ``sizes`` must be in ascending order.
    """
    return {*sizes[::COARSE_STRIDE], *sizes[-1:]}


def split_arguments(arguments: Sequence[str]) -> dict[str, str]:
    """Return arguments such as ``["a=1", "b=2,3"]`` as a mapping from the name to the text after the first ``=``.

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
