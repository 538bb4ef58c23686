"""Name the class of a machine: machines of one class should be equally fast."""

from __future__ import annotations

from typing import Annotated

import msgspec

from nameplate.records.machine_record import Machine

_BITS = 3


class MachineClass(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """The properties that machines of one class share.

    ``cpu`` is the model's name, or the architecture if it has none. ``cores`` is the number of physical cores that a
    run may use. ``memory_gib`` is the installed memory as in ``installed_gib``. ``product`` is that of the DMI, "" if
    unknown, and ``hypervisor`` such as "kvm", "" if none is known.
    """

    cpu: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    cores: Annotated[int, msgspec.Meta(ge=1, le=1 << 22)]
    memory_gib: Annotated[float, msgspec.Meta(gt=0, le=1e9)]
    product: Annotated[str, msgspec.Meta(max_length=256)] = ""
    hypervisor: Annotated[str, msgspec.Meta(max_length=256)] = ""

    @property
    def words(self) -> str:
        """Return the class in words, such as ``AMD EPYC 7543, 32 cores, 256 GiB``."""
        guest = f", {self.hypervisor} guest" if self.hypervisor else ""
        plural = "" if self.cores == 1 else "s"
        return f"{self.cpu}, {self.cores} core{plural}, {self.memory_gib:g} GiB{guest}"


def class_of(machine: Machine) -> MachineClass:
    """Return the class of a machine."""
    return MachineClass(
        cpu=machine.cpu.model or machine.cpu.architecture,
        cores=machine.topology.allowed_cores,
        memory_gib=installed_gib(machine.memory.total_bytes),
        product=machine.product or "",
        hypervisor=machine.hypervisor or "",
    )


def installed_gib(usable_bytes: int) -> float:
    """Return the installed memory in GiB, from the memory that the kernel leaves for use.

    The kernel and the firmware keep a few percent, which differ from boot to boot. Modules come in sizes whose binary
    numbers have at most three digits before their zeros, so the result is the next such number: 256 for 251.4.
    """
    step = 1 << max(0, usable_bytes.bit_length() - _BITS)
    return -(-usable_bytes // step) * step / 2**30
