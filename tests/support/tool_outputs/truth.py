"""What is known about a generated output of a tool, and what an import of it is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from nameplate.records.plan_record import Value
from nameplate.records.result import Report, Result

# The values that a tool prints are rounded; an importer may also convert units in another order than a generator.
TOLERANCE = 1e-9


class Reading(Enum):
    """Whether an importer has to read an output."""

    MUST = "must be read"
    MAY = "may be refused"
    NEVER = "must be refused"


@dataclass(frozen=True)
class Expected:
    """A value that an output tells, in the SI base unit of the metric, between ``low`` and ``high``.

    An importer may claim the parameters in ``params`` and no others, and must claim those that ``required`` names. It
    may leave out an optional value. ``rounding`` is half a step of the last digit that the tool prints, as a share of
    the number; 0 for numbers with many digits.
    """

    metric: str
    params: Mapping[str, Value]
    low: float
    high: float
    required: frozenset[str] = frozenset()
    is_optional: bool = False
    rounding: float = 0.0

    def agrees(self, params: Mapping[str, Value]) -> bool:
        """Return whether an importer may claim these parameters for the value."""
        return self.required <= params.keys() and all(
            name in self.params and self.params[name] == value for name, value in params.items()
        )

    def contains(self, value: float) -> bool:
        """Return whether an imported value is this one, but for rounding."""
        return self.low * (1 - TOLERANCE) <= value <= self.high * (1 + TOLERANCE)


@dataclass(frozen=True)
class Remark:
    """An option that changes the work, or a row that is not read, which a report on the values must name.

    ``option`` is its name, or several from which any will do, separated by "|". It need not be named if all values have
    ``parameter``, or, with ``is_claimed`` false, if none has it.
    """

    option: str
    parameter: str = ""
    is_claimed: bool = False

    def is_made(self, notes: str, values: Sequence[Result]) -> bool:
        """Return whether the notes name the option, or the parameters of the values express it."""
        if any(name.lower() in notes.lower() for name in self.option.split("|")):
            return True
        claims = [self.parameter in value.summary.params for value in values]
        return bool(self.parameter) and (all(claims) if self.is_claimed else not any(claims))


@dataclass(frozen=True)
class ToolOutput:
    """An output as a tool prints it.

    ``kinds`` name what is particular about it. ``quoted`` is the tool's own error, which a refusal should quote.
    ``max_rounds`` is the number of runs in the output.
    """

    tool: str
    content: bytes
    reading: Reading
    expected: Sequence[Expected]
    kinds: Sequence[str]
    remarks: Sequence[Remark] = ()
    quoted: str = ""
    max_rounds: int = 1
    name: str = "output.txt"


def half_step(text: str) -> float:
    """Return half a step of the last digit of a number without an exponent, as a share of the number."""
    return float(0.5 * 10 ** -len(text.partition(".")[2]) / float(text)) if float(text) else 0.0


def faults(output: ToolOutput, report: Report) -> list[str]:
    """Return what is wrong with the values that were read from an output, a line each; the kind comes first."""
    values = [result for result in report.results if result.summary.value is not None]
    if values and output.reading is Reading.NEVER:
        return [f"read though it must be refused: {_text(values[0])}"]
    lines = [line for result in values if (line := _fault(output, result))]
    notes = " ".join(report.notes)
    return lines + [
        f"not named: {remark.option}" for remark in output.remarks if values and not remark.is_made(notes, values)
    ]


def missing(output: ToolOutput, report: Report) -> list[Expected]:
    """Return the expected values that were not read."""
    return [
        expected
        for expected in output.expected
        if not expected.is_optional
        and not any(
            result.summary.metric == expected.metric and expected.agrees(result.summary.params)
            for result in report.results
            if result.summary.value is not None
        )
    ]


def _fault(output: ToolOutput, result: Result) -> str:
    value = result.summary.value
    assert value is not None
    same_metric = [expected for expected in output.expected if expected.metric == result.summary.metric]
    agreeing = [expected for expected in same_metric if expected.agrees(result.summary.params)]
    if any(expected.contains(value) for expected in agreeing):
        if not any(abs(result.rounding - expected.rounding) <= TOLERANCE for expected in agreeing):
            return f"wrong rounding: {result.rounding:.3g}, not {agreeing[0].rounding:.3g}: {_text(result)}"
        if result.summary.rounds <= output.max_rounds:
            return ""
        return f"too many rounds: {result.summary.rounds}, {_text(result)}"
    if agreeing:
        return f"wrong value: {_text(result)} is {agreeing[0].low:.9g} to {agreeing[0].high:.9g}"
    if not same_metric:
        return f"invented metric: {_text(result)}"
    return f"wrong parameter: {_difference(result, same_metric)}: {_text(result)}"


def _difference(result: Result, same_metric: Sequence[Expected]) -> str:
    """Return the parameters that are wrong or missing, compared with the expected value that has the fewest of them."""
    claimed = result.summary.params
    candidates: list[list[str]] = []
    for expected in same_metric:
        wrong = [
            f"{name}={value}, not {expected.params.get(name, 'claimable')}"
            for name, value in claimed.items() if expected.params.get(name) != value
        ]  # fmt: skip
        lacking = [f"no {name}={expected.params[name]}" for name in sorted(expected.required - claimed.keys())]
        candidates.append(wrong + lacking)
    return "; ".join(sorted(candidates, key=len)[0])


def _text(result: Result) -> str:
    params = " ".join(f"{name}={value}" for name, value in result.summary.params.items())
    return f"{result.summary.metric} {result.summary.value:.9g} ({params})"
