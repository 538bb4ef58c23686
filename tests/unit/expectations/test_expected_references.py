"""Expected ranges as reference values."""

from __future__ import annotations

import msgspec
import pytest

from machines import machine_with
from nameplate.expectations.expectation import Expectation
from nameplate.expectations.expected_range import MAX_VALUE, ExpectedRange, Kind
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
        peers=["the median of 12 machines of this class"],
        ranges=[ExpectedRange(**given)],  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "share", "interval"), [("typical", 0.8, (0.76, 0.84)), ("capability", 0.9, (0.88, 0.92))]
)
def test_the_middle_of_a_range_is_compared_with_the_value_of_its_kind(
    kind: Kind, share: float, interval: tuple[float, float]
) -> None:
    one = with_summary(unrated(), capability=45e9, capability_ci=(44e9, 46e9))
    (actual,) = with_references(report([one]), expected(one, kind=kind)).results
    assert (actual.summary.rated, actual.summary.efficiency, actual.summary.reason) == (50e9, share, "")
    assert actual.efficiency_ci == pytest.approx(interval)
    peers = "the median of 12 machines of this class"
    assert actual.rated == Rated(
        50e9, f"{kind} value of site.toml", is_ceiling=False, kind="site", compared_with=kind, peers=peers
    )


def test_an_unknown_capability_has_no_share() -> None:
    one = unrated()
    (actual,) = with_references(report([one]), expected(one)).results
    assert (actual.summary.rated, actual.summary.efficiency, actual.efficiency_ci) == (50e9, None, None)


def test_the_floor_of_a_health_check_is_no_reference() -> None:
    one = unrated()
    floor = expected(one, low=30e9, typical=30e9, high=MAX_VALUE)
    assert with_references(report([one]), floor).results == [one]


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
