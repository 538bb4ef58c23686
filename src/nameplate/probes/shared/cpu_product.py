"""Look up what is published about a server CPU: its generation, memory channels and vector units.

The facts are in cpu_products.toml, each with its source. A product is identified by the name of the CPU model. A
hypervisor that hides the name usually leaves the CPUID signature, which several products of one generation share.
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
# The width of a channel. Two DDR5 channels, each half as wide, count as one.
CHANNEL_BYTES = 8


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A CPUID family with ranges of model numbers and a range of steppings, as /proc/cpuinfo shows them.

    Both ends belong to a range. ``vendor`` is as in /proc/cpuinfo, such as "GenuineIntel".
    """

    vendor: str
    family: int
    models: tuple[tuple[int, int], ...]
    steppings: tuple[int, int] = (0, 255)

    def is_of(self, cpu: Cpu) -> bool:
        """Return whether a CPU has this signature; False for a CPU without a model number."""
        return (
            cpu.model_number is not None
            and (self.vendor, self.family) == (cpu.vendor, cpu.family_number)
            and any(first <= cpu.model_number <= last for first, last in self.models)
            and self.steppings[0] <= (cpu.stepping or 0) <= self.steppings[1]
        )


class PublishedFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The title of a published fact's ``source`` and its URL (``address``). Subclasses add the fact itself."""

    source: str
    address: str


class MemoryChannels(PublishedFact, frozen=True):
    """The memory channels of one socket, and the highest published rate of modules if all channels are populated."""

    channels: int
    transfers_per_s: Positive

    @property
    def bytes_per_s(self) -> float:
        """Return the peak memory bandwidth of one socket in B/s."""
        return self.channels * self.transfers_per_s * CHANNEL_BYTES


class CoreCount(PublishedFact, frozen=True):
    """The number of cores in the largest socket of a product."""

    max_cores: int


class FusedMultiplyAdd(PublishedFact, frozen=True):
    """The number of units for fused multiply-add in one core, and the width in bits that each unit takes per cycle."""

    units: int
    width_bits: int


class CpuProduct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A line of products that has the same sockets. A fact that is None is not documented, or was not found.

    ``name`` is, for example, "EPYC 9004", and ``generation`` is the generation of the cores, such as "Zen 4".
    ``pattern`` is a regular expression that matches the model names of the product; it is "" if names do not show the
    product. ``signature`` identifies a CPU whose name is hidden; None if CPUID signatures do not show the product.
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
    """Return all products in cpu_products.toml, in the order of the file: a narrower pattern comes first."""
    tables = parse_toml(_PATH, _PATH.read_text(encoding="utf-8"))
    return tuple(msgspec.convert(tables["product"], list[CpuProduct]))


@cache
def product_named(model: str) -> CpuProduct | None:
    """Return the product of a CPU model; None if it is unknown.

    ``model`` is the model's name as in /proc/cpuinfo, or the name of an Arm core.
    """
    named = (
        product for product in cpu_products() if product.pattern and re.search(product.pattern, model, re.IGNORECASE)
    )
    return next(named, None)


def product_of(cpu: Cpu) -> CpuProduct | None:
    """Return the product of a CPU by its model's name, or by its signature if the name is hidden; None if unknown.

    If the name has a number that is not in the table, the result is None even if the signature matches: a desktop CPU
    may have the same signature and fewer memory channels.
    """
    named = product_named(cpu.model)
    if named or _NUMBER.search(cpu.model.partition(" @ ")[0]):
        return named
    return next((product for product in cpu_products() if product.signature and product.signature.is_of(cpu)), None)


def generation_named(model: str) -> str:
    """Return the generation of a CPU by its model's name, such as "Zen 4"; "" if the name does not show it."""
    product = product_named(model)
    return product.generation if product else ""
