"""Conditions end the measurement of a run with a budget."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import cast

from nameplate.execution import measuring
from nameplate.execution.session import Session


@dataclass
class Slices:
    """Stands in for a session whose time to measure is over after some looks at the clock."""

    looks: int
    ended: threading.Event = field(default_factory=threading.Event)
    n_ended: int = 0

    def time_to_end_s(self) -> float:
        self.looks -= 1
        return 0.001 if self.looks > 0 else 0.0

    def end_slice(self) -> None:
        self.n_ended += 1
        self.ended.set()


def test_a_slice_is_ended_once_when_its_time_is_over() -> None:
    slices = Slices(looks=5)
    with measuring._ended_with_budget(cast(Session, slices)):
        assert slices.ended.wait(60)
    assert slices.n_ended == 1


def test_a_slice_is_not_ended_if_the_run_is_over_before() -> None:
    slices = Slices(looks=10**9)
    with measuring._ended_with_budget(cast(Session, slices)):
        pass
    assert slices.n_ended == 0
