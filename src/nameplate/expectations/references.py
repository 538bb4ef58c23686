"""Use expected ranges as the reference values of results that have no other."""

from __future__ import annotations

import msgspec

from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import MAX_VALUE, ExpectedRange
from nameplate.records.result import Rated, Report, Result


def with_references(report: Report, expectation: Expectation) -> Report:
    """Return a report in which results without a reference value have the typical value of their expected range.

    ``expectation`` has the expected ranges of the machine of ``report``. Existing reference values are kept, since a
    peak is a better reference than the values of other machines. Ranges without an upper end, which are floors of a
    health check, are ignored. The report of an emulated machine is returned unchanged.
    """
    if report.machine and report.machine.emulator:
        return report
    known = {
        (expected.experiment, expected.metric): (expected, origin, peers)
        for expected, origin, peers in zip(expectation.ranges, expectation.origins, expectation.peers, strict=True)
        # The floor of a health check says nothing about what other machines deliver.
        if expected.high < MAX_VALUE
    }
    results = []
    for result in report.results:
        reference = known.get((result.id, result.summary.metric))
        is_open = result.summary.rated is None and result.summary.value is not None
        if reference and is_open and reference[0].unit == result.summary.unit:
            expected, origin, peers = reference
            result = _with_reference(result, expected, Rated(  # noqa: PLW2901
                expected.typical, f"{expected.kind} value of {origin}", is_ceiling=False, kind=expectation.kind,
                compared_with=expected.kind, peers=peers,
            ))  # fmt: skip
        results.append(result)
    return msgspec.structs.replace(report, results=results)


def _with_reference(result: Result, expected: ExpectedRange, rated: Rated) -> Result:
    """Return the result with a reference value, and with a share of its value of the same kind, if that is known."""
    row = result.summary
    value, ci = (row.capability, row.capability_ci) if expected.kind == "capability" else (row.value, row.ci)
    efficiency = None if value is None else value / expected.typical
    summary = msgspec.structs.replace(row, rated=expected.typical, efficiency=efficiency, reason="")
    interval = (ci[0] / expected.typical, ci[1] / expected.typical) if ci else None
    return msgspec.structs.replace(result, summary=summary, rated=rated, efficiency_ci=interval)
