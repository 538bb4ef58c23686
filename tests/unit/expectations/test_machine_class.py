"""Classes of machines: equal for machines that should be equally fast."""

from __future__ import annotations

import pytest

from machines import GUEST, machine_with
from nameplate.expectations.machine_class import class_of, installed_gib


@pytest.mark.parametrize(
    ("usable_gib", "installed"), [(23.5, 24), (251.4, 256), (187.6, 192), (15.4, 16), (62.8, 64), (0.47, 0.5), (16, 16)]
)
def test_memory_is_what_is_installed(usable_gib: float, installed: float) -> None:
    assert installed_gib(int(usable_gib * 2**30)) == installed


def test_the_host_name_does_not_matter_and_the_cores_do() -> None:
    assert class_of(machine_with(GUEST, hostname="a")) == class_of(machine_with(GUEST, hostname="b"))
    assert class_of(GUEST) != class_of(machine_with(GUEST, topology={"allowed_cores": 1}))
    assert class_of(GUEST).description.startswith("Example CPU 9000, 2 cores, ")
