"""Generations of server CPUs by the names of their models."""

from __future__ import annotations

import pytest

from catalogue_samples import shipped_catalogue
from nameplate.expectations.cpu_generation import generation_of


@pytest.mark.parametrize(
    ("cpu", "generation"),
    [
        ("AMD EPYC 7571", "Zen"), ("AMD EPYC 7R32", "Zen 2"), ("AMD EPYC-Rome Processor", "Zen 2"),
        ("AMD EPYC 7763 64-Core Processor", "Zen 3"), ("AMD EPYC 9V74 80-Core Processor", "Zen 4"),
        ("AMD EPYC 9R14", "Zen 4"), ("AMD EPYC 4345P 8-Core Processor", "Zen 5"), ("AMD EPYC 9R45", "Zen 5"),
        ("AMD EPYC 9575F 64-Core Processor", "Zen 5"), ("AMD EPYC", ""), ("AMD EPYC Processor", ""),
        ("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "Broadwell"),
        ("Intel(R) Xeon(R) CPU E5-2698B v3 @ 2.00GHz", "Haswell"),
        ("Intel Core Processor (Haswell, no TSX)", "Haswell"),
        ("Intel(R) Xeon(R) Platinum 8171M CPU @ 2.60GHz", "Skylake-SP"),
        ("Intel Core Processor (Skylake, IBRS)", "Skylake-SP"),
        ("Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz", "Cascade Lake"),
        ("Intel(R) Xeon(R) Platinum 8369HB CPU @ 3.30GHz", "Cooper Lake"),
        ("Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz", "Ice Lake-SP"),
        ("Intel(R) Xeon(R) Platinum 8488C", "Sapphire Rapids"),
        ("INTEL(R) XEON(R) PLATINUM 8573C", "Emerald Rapids"), ("Intel(R) Xeon(R) 6975P-C", "Granite Rapids"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", ""), ("Neoverse-N1", "Neoverse-N1"), ("", ""),
    ],
)  # fmt: skip
def test_the_name_tells_the_generation(cpu: str, generation: str) -> None:
    assert generation_of(cpu) == generation


def test_most_types_of_the_catalogue_have_a_generation() -> None:
    known = [bool(generation_of(each.cpu)) for each in shipped_catalogue().machines if each.vcpus]
    assert sum(known) / len(known) > 0.9
