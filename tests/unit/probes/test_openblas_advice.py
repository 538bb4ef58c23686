"""The remark on a BLAS that does not use the vectors of the CPU."""

from __future__ import annotations

import pytest

from machines import machine_with
from nameplate.probes import ResolvedExperiment
from nameplate.probes.cpu_linpack import PROBE

AVX2 = ["sse2", "avx2"]
AVX512 = [*AVX2, "avx512f", "avx512vl"]


def remarks(labels: dict[str, str], flags: list[str]) -> list[str]:
    machine = machine_with(cpu={"flags": flags})
    return PROBE.remarks(ResolvedExperiment({}, {}, machine, {"blas": "OpenBLAS 0.3.21", **labels}), [])


@pytest.mark.parametrize(
    ("core", "flags", "advice"),
    [
        ("Prescott", AVX512, "AVX-512, which this CPU has: try OPENBLAS_CORETYPE=SkylakeX"),
        ("Haswell", AVX512, "AVX-512, which this CPU has: try OPENBLAS_CORETYPE=SkylakeX"),
        ("Nehalem", AVX2, "AVX2, which this CPU has: try OPENBLAS_CORETYPE=Haswell"),
    ],
)
def test_kernels_without_the_vectors_of_the_cpu_are_named(core: str, flags: list[str], advice: str) -> None:
    library, actual = remarks({"blas_core": core}, flags)
    assert library == f"OpenBLAS 0.3.21 for {core}"
    assert actual == f"its kernels do not use {advice}"


@pytest.mark.parametrize(
    ("core", "flags"),
    [("SkylakeX", AVX512), ("Sapphirerapids", AVX512), ("Zen", AVX2), ("SkylakeX", AVX2), ("NEOVERSEV1", ["sve"])],
)
def test_kernels_with_the_vectors_of_the_cpu_need_no_advice(core: str, flags: list[str]) -> None:
    assert remarks({"blas_core": core}, flags) == [f"OpenBLAS 0.3.21 for {core}"]


def test_a_library_that_does_not_name_its_kernels_gets_no_advice() -> None:
    assert remarks({}, AVX512) == ["OpenBLAS 0.3.21"]
