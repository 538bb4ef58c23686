"""Look up what is published about a server CPU: its generation, memory channels and vector units.

The facts are in cpu_products.toml, each with its source. A product is known by the model's name. A hypervisor that
hides it usually leaves the signature of CPUID, which tells less: products of one generation share it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec

from nameplate.records.machine_record import Cpu
from nameplate.records.numbers import Positive
from nameplate.records.toml_text import parse_toml

_PATH = Path(__file__).with_name("cpu_products.toml")
# The number of a model, which is missing in names such as "AMD EPYC", "Intel(R) Xeon(R) CPU @ 2.20GHz" and "GENUINE
# INTEL(R) 0000".
_NUMBER = re.compile(r"[1-9]\d{2}|EPYC \d\w{3}")
# All channels of this width count: two half as wide, as DDR5 has them, are one here.
CHANNEL_BYTES = 8


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The CPUID family with ranges of model numbers and a range of steppings, as /proc/cpuinfo shows them."""

    vendor: str
    family: int
    models: tuple[tuple[int, int], ...]
    steppings: tuple[int, int] = (0, 255)

    def is_of(self, cpu: Cpu) -> bool:
        """Return whether a CPU has this signature; a CPU without numbers has none."""
        return (
            cpu.model_number is not None
            and (self.vendor, self.family) == (cpu.vendor, cpu.family_number)
            and any(first <= cpu.model_number <= last for first, last in self.models)
            and self.steppings[0] <= (cpu.stepping or 0) <= self.steppings[1]
        )


class PublishedFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact with the title of its ``source`` and the ``address`` at which that can be read."""

    source: str
    address: str


class MemoryChannels(PublishedFact, frozen=True):
    """The memory channels of a socket, and the fastest modules that may be on all of them."""

    channels: int
    transfers_per_s: Positive

    @property
    def bytes_per_s(self) -> float:
        """Return the peak bandwidth of a socket in B/s."""
        return self.channels * self.transfers_per_s * CHANNEL_BYTES


class CoreCount(PublishedFact, frozen=True):
    """The number of cores in the largest socket."""

    max_cores: int


class FusedMultiplyAdd(PublishedFact, frozen=True):
    """The units of a core for fused multiply-add, and the width of what each one takes per cycle."""

    units: int
    width_bits: int


class CpuProduct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A line of products that has the same sockets; None is not documented, or was not found.

    ``name`` is such as "EPYC 9004", ``generation`` that of the cores, such as "Zen 4". ``pattern`` is found in the
    names of its models; it is "" if no name tells.
    """

    name: str
    generation: str
    pattern: str = ""
    signature: Signature | None = None
    memory: MemoryChannels | None = None
    cores: CoreCount | None = None
    fma: FusedMultiplyAdd | None = None


@cache
def cpu_products() -> tuple[CpuProduct, ...]:
    """Return all products of the table, those with a narrower pattern first."""
    tables = parse_toml(_PATH, _PATH.read_text(encoding="utf-8"))
    return tuple(msgspec.convert(tables["product"], list[CpuProduct]))


@cache
def product_named(model: str) -> CpuProduct | None:
    """Return the product whose model has this name, as in /proc/cpuinfo or that of an Arm core; None if unknown."""
    named = (each for each in cpu_products() if each.pattern and re.search(each.pattern, model, re.IGNORECASE))
    return next(named, None)


def product_of(cpu: Cpu) -> CpuProduct | None:
    """Return the product of a CPU by the name of its model, or by its signature if the name is hidden; None if unknown.

    A name with a number that is not in the table is that of another product, which may have the same signature: a
    desktop CPU has fewer memory channels.
    """
    named = product_named(cpu.model)
    if named or _NUMBER.search(cpu.model.partition(" @ ")[0]):
        return named
    return next((each for each in cpu_products() if each.signature and each.signature.is_of(cpu)), None)


def generation_named(model: str) -> str:
    """Return the generation of the CPU model of this name, such as "Zen 4", or "" if the name does not tell."""
    product = product_named(model)
    return product.generation if product else ""
