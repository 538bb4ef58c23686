"""Expected ranges as reference values."""

from __future__ import annotations

import msgspec
import pytest

from machines import machine_with
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import ExpectedRange
from nameplate.expectations.references import with_references
from nameplate.records.result import Rated, Result
from report_samples import report, result, with_summary


def unrated(value: float = 40e9) -> Result:
    made = result({"op": "read", "threads": 2}, value, probe="memory_stream")
    bare = with_summary(made, metric="bandwidth", unit="B/s", rated=None, efficiency=None, ci=(38e9, 42e9),
                        reason="rated: no table")  # fmt: skip
    return msgspec.structs.replace(bare, rated=Rated(None, "no table"), efficiency_ci=None)


def expected(one: Result, **changes: object) -> Expectation:
    given = {"experiment": one.id, "metric": "bandwidth", "kind": "capability", "unit": "B/s", "low": 40e9,
             "typical": 50e9, "high": 60e9, "machines": 12, **changes}  # fmt: skip
    return Expectation(
        kind="site", machine="M", provisional=False, origins=["site.toml"],
        ranges=[ExpectedRange(**given)],  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_typical_value_becomes_the_reference() -> None:
    one = unrated()
    (found,) = with_references(report([one]), expected(one)).results
    assert (found.summary.rated, found.summary.efficiency, found.summary.reason) == (50e9, 0.8, "")
    assert found.efficiency_ci == pytest.approx((0.76, 0.84))
    assert found.rated == Rated(50e9, "capability value of site.toml", is_ceiling=False, kind="site")


@pytest.mark.parametrize("changes", [{"unit": "s"}, {"metric": "other"}, {"experiment": "other"}])
def test_other_values_are_untouched(changes: dict[str, object]) -> None:
    one = unrated()
    assert with_references(report([one]), expected(one, **changes)).results == [one]


def test_a_reference_value_stays() -> None:
    rated = with_summary(unrated(), rated=60e9, efficiency=0.67)
    assert with_references(report([rated]), expected(rated)).results == [rated]


def test_a_result_without_a_value_stays() -> None:
    failed = with_summary(unrated(), value=None)
    assert with_references(report([failed]), expected(failed)).results == [failed]


def test_an_emulated_machine_has_none() -> None:
    one = unrated()
    emulated = msgspec.structs.replace(report([one]), machine=machine_with(emulator="QEMU (TCG)"))
    assert with_references(emulated, expected(one)).results == [one]
