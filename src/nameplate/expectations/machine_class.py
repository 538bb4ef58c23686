"""Name the class of a machine: machines of one class should be equally fast."""

from __future__ import annotations

from typing import Annotated

import msgspec

from nameplate.records.machine_record import Machine

_BITS = 3


class MachineClass(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """The properties that machines of one class share.

    ``cpu`` is the model name of the CPU, or the architecture if there is no name. ``cores`` is the number of physical
    cores that a run may use. ``memory_gib`` is the installed memory in GiB, as in ``installed_gib``. ``product`` is the
    vendor and product name from the DMI, "" if unknown, and ``hypervisor`` is, for example, "kvm", "" if none is known.
    """

    cpu: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    cores: Annotated[int, msgspec.Meta(ge=1, le=1 << 22)]
    memory_gib: Annotated[float, msgspec.Meta(gt=0, le=1e9)]
    product: Annotated[str, msgspec.Meta(max_length=256)] = ""
    hypervisor: Annotated[str, msgspec.Meta(max_length=256)] = ""

    @property
    def description(self) -> str:
        """Return the class as text, such as ``AMD EPYC 7543, 32 cores, 256 GiB``."""
        guest = f", {self.hypervisor} guest" if self.hypervisor else ""
        plural = "" if self.cores == 1 else "s"
        return f"{self.cpu}, {self.cores} core{plural}, {self.memory_gib:g} GiB{guest}"


def class_of(machine: Machine) -> MachineClass:
    """Return the class of a machine, from its CPU, cores, memory, product and hypervisor."""
    return MachineClass(
        cpu=machine.cpu.model or machine.cpu.architecture,
        cores=machine.topology.allowed_cores,
        memory_gib=installed_gib(machine.memory.total_bytes),
        product=machine.product or "",
        hypervisor=machine.hypervisor or "",
    )


def installed_gib(usable_bytes: int) -> float:
    """Return the installed memory in GiB, from the usable memory in bytes.

    The kernel and the firmware reserve a few percent of the memory, and the amount varies from boot to boot. Installed
    sizes have at most three significant binary digits, so the result is the next size of this form that is not smaller:
    256.0 for the bytes of 251.4 GiB.
    """
    step = 1 << max(0, usable_bytes.bit_length() - _BITS)
    return -(-usable_bytes // step) * step / 2**30
