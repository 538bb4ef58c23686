"""Use expected ranges as the reference values of results that have no other."""

from __future__ import annotations

import msgspec

from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import ExpectedRange
from nameplate.records.result import Rated, Report, Result


def with_references(report: Report, expectation: Expectation) -> Report:
    """Return a report in which results without a reference value have the typical one of their expected range.

    A reference value that the probe or the user gave stays: a peak says more than what others reach. An emulated
    machine has none.
    """
    if report.machine and report.machine.emulator:
        return report
    known = {
        (each.experiment, each.metric): (each, origin)
        for each, origin in zip(expectation.ranges, expectation.origins, strict=True)
    }
    results = []
    for result in report.results:
        found = known.get((result.id, result.summary.metric))
        is_open = result.summary.rated is None and result.summary.value is not None
        if found and is_open and found[0].unit == result.summary.unit:
            result = _with_reference(result, found[0], Rated(  # noqa: PLW2901
                found[0].typical, f"{found[0].kind} value of {found[1]}", is_ceiling=False, kind=expectation.kind,
            ))  # fmt: skip
        results.append(result)
    return msgspec.structs.replace(report, results=results)


def _with_reference(result: Result, expected: ExpectedRange, rated: Rated) -> Result:
    row = result.summary
    value = row.value or 0.0
    summary = msgspec.structs.replace(row, rated=expected.typical, efficiency=value / expected.typical, reason="")
    ends = tuple(end / expected.typical for end in row.ci) if row.ci else None
    return msgspec.structs.replace(
        result, summary=summary, rated=rated, efficiency_ci=(ends[0], ends[1]) if ends else None
    )
