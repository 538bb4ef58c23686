"""Products of server CPUs by the names of their models and by their signatures, and what is documented of them."""

from __future__ import annotations

import pytest

from catalogue_samples import shipped_catalogue
from machines import machine_with
from nameplate.probes.shared.cpu_product import cpu_products, generation_named, product_of


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
    assert generation_named(cpu) == generation


def test_nine_in_ten_types_of_the_catalogue_have_a_generation() -> None:
    known = [bool(generation_named(machine.cpu)) for machine in shipped_catalogue().machines if machine.vcpus]
    assert sum(known) / len(known) > 0.9


@pytest.mark.parametrize(
    ("vendor", "signature", "product"),
    [
        ("AuthenticAMD", (25, 17, 1), "EPYC 9004"), ("AuthenticAMD", (25, 17, 2), "EPYC 9004"),
        ("AuthenticAMD", (25, 160, 2), "EPYC 97x4 or 8004"), ("AuthenticAMD", (26, 17, 0), "EPYC 9005"),
        ("AuthenticAMD", (23, 1, 2), "EPYC 7001 or QEMU's EPYC"), ("AuthenticAMD", (23, 1, 1), None),
        ("GenuineIntel", (6, 85, 4), "1st-generation Xeon Scalable"),
        ("GenuineIntel", (6, 85, 7), "2nd-generation Xeon Scalable"),
        ("GenuineIntel", (6, 154, 3), None), ("AuthenticAMD", (6, 143, 8), None), ("ARM", (None, None, None), None),
    ],
)  # fmt: skip
def test_the_signature_tells_the_product_where_the_name_does_not(
    vendor: str, signature: tuple[int | None, ...], product: str | None
) -> None:
    family, model, stepping = signature
    hidden = {"model": "A CPU", "family_number": family, "model_number": model, "stepping": stepping, "vendor": vendor}
    actual = product_of(machine_with(cpu=hidden).cpu)
    assert (actual and actual.name) == product


def test_a_desktop_cpu_is_no_server_cpu_of_the_same_signature() -> None:
    cpu = {"vendor": "GenuineIntel", "model": "Intel(R) Core(TM) i9-7980XE CPU @ 2.60GHz", "family_number": 6,
           "model_number": 85, "stepping": 4}  # fmt: skip
    assert product_of(machine_with(cpu=cpu).cpu) is None
    hidden = product_of(machine_with(cpu={**cpu, "model": "Intel(R) Xeon(R) CPU @ 2.60GHz"}).cpu)
    assert hidden is not None
    assert hidden.generation == "Skylake-SP"


def test_the_first_epyc_of_qemu_has_a_generation_and_nothing_else() -> None:
    cpu = {"vendor": "AuthenticAMD", "model": "AMD EPYC Processor (with IBPB)", "family_number": 23, "model_number": 1,
           "stepping": 2}  # fmt: skip
    actual = product_of(machine_with(cpu=cpu).cpu)
    assert actual is not None
    assert (actual.generation, actual.memory, actual.cores, actual.fma) == ("Zen", None, None, None)


@pytest.mark.parametrize(
    ("model", "product"),
    [
        ("AMD EPYC 9V64H 88-Core Processor", "EPYC 9V64H"), ("AMD EPYC 9V74 80-Core Processor", "EPYC 9004"),
        ("Intel(R) Xeon(R) Gold 6348H CPU @ 2.30GHz", "3rd-generation Xeon Scalable for 4 or 8 sockets"),
        ("Intel(R) Xeon(R) Gold 6348 CPU @ 2.60GHz", "3rd-generation Xeon Scalable"),
        ("Intel(R) Xeon(R) CPU E5-2430 v2 @ 2.50GHz", "Xeon E5 or E7 v2 with another socket"),
        ("Intel(R) Xeon(R) CPU E5-2670 v2 @ 2.50GHz", "Xeon E5 v2"),
    ],
)  # fmt: skip
def test_products_with_other_memory_are_told_apart(model: str, product: str) -> None:
    actual = product_of(machine_with(cpu={"model": model}).cpu)
    assert actual is not None
    assert actual.name == product


@pytest.mark.parametrize("model", ["AMD EPYC-Rome Processor", "Intel Core Processor (Haswell, no TSX)"])
def test_a_model_of_qemu_tells_the_generation_and_nothing_else(model: str) -> None:
    actual = product_of(machine_with(cpu={"model": model}).cpu)
    assert actual is not None
    assert actual.name.startswith("QEMU's ")
    assert (actual.memory, actual.cores, actual.fma) == (None, None, None)


def test_the_name_counts_before_the_signature() -> None:
    siena = {"vendor": "AuthenticAMD", "model": "AMD EPYC 8534P 64-Core Processor", "family_number": 25,
             "model_number": 160, "stepping": 2}  # fmt: skip
    actual = product_of(machine_with(cpu=siena).cpu)
    assert actual is not None
    assert actual.name == "EPYC 8004"
    assert actual.memory is not None
    assert actual.memory.bytes_per_s == 6 * 4800e6 * 8


def test_every_fact_has_a_source_and_an_address() -> None:
    assert len({cpu_product.name for cpu_product in cpu_products()}) == len(cpu_products())
    facts = [
        fact
        for cpu_product in cpu_products()
        for fact in (cpu_product.memory, cpu_product.cores, cpu_product.fma)
        if fact
    ]
    assert len(facts) > 40
    for fact in facts:
        assert fact.source.strip()
        assert fact.address.startswith(("http://", "https://"))
