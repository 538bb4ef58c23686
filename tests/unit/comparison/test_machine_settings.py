"""The settings of two machines that differ."""

from __future__ import annotations

from typing import Any

import pytest

from machines import MACHINE, machine_with
from nameplate.comparison.machine_settings import differing_machine_settings


def names_of_differences(**changes: Any) -> list[str]:
    differing, unchecked = differing_machine_settings(MACHINE, machine_with(MACHINE, **changes))
    assert unchecked == []
    return [item.name for item in differing]


@pytest.mark.parametrize(
    "changes",
    [
        {"cpu": {"listed_frequency_hz": 8e8}},
        {"cpu": {"listed_frequency_hz": None}},
        {"load_1min": 12.4},
        {"memory": {"available_bytes": 1, "swap_used_bytes": 2**20}},
        {"limits": {"memory_available_bytes": 1}},
    ],
)
def test_a_value_of_the_moment_is_no_setting(changes: dict[str, Any]) -> None:
    assert names_of_differences(**changes) == []


def test_the_base_clock_is_a_setting() -> None:
    (difference,), _ = differing_machine_settings(
        machine_with(cpu={"base_frequency_hz": 2.0e9}), machine_with(cpu={"base_frequency_hz": 2.4e9})
    )
    assert (difference.name, difference.base, difference.new) == ("base clock", "2.0 GHz", "2.4 GHz")


def test_what_only_one_machine_recorded_is_not_compared() -> None:
    assert differing_machine_settings(
        machine_with(cpu={"governor": "powersave"}), machine_with(cpu={"governor": None})
    ) == (
        [],
        ["governor"],
    )
    assert differing_machine_settings(MACHINE, None) == ([], ["the machine and its settings"])
    assert differing_machine_settings(None, None) == ([], [])
