"""Find the cloud instance type of a machine from its DMI, its CPU and the user's choice."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from nameplate.errors import UsageError
from nameplate.expectations.catalogue_file import Catalogue, CatalogueMachine
from nameplate.records.machine_record import Machine

_FEW = 3


@dataclass(frozen=True)
class MachineType:
    """The cloud instance type of a machine, or the types that are possible.

    ``vendor`` is, for example, "aws", "" if unknown. ``candidates`` are the possible types of the catalogue: one if the
    type is known, none if the catalogue has no similar type. ``known_from`` is the source of this knowledge: "--type",
    "the metadata", "the DMI" or "the CPU".
    """

    vendor: str
    candidates: tuple[CatalogueMachine, ...]
    known_from: str

    @property
    def known(self) -> CatalogueMachine | None:
        """Return the type if it is certain, else None. A type that was found only from the CPU is not certain."""
        return self.candidates[0] if len(self.candidates) == 1 and self.known_from != "the CPU" else None

    @property
    def description(self) -> str:
        """Return the type or the possible types as text, such as ``aws c7i.large (from the DMI)``."""
        if not self.candidates:
            return "no type of the catalogue"
        names = [f"{candidate.vendor} {candidate.type}" for candidate in self.candidates[:_FEW]]
        more = len(self.candidates) - _FEW
        text = " or ".join(names) if more <= 0 else f"{', '.join(names)} or {more} more types"
        return f"{text} (from {self.known_from})"


def machine_type(machine: Machine, catalogue: Catalogue, given: str = "", given_by: str = "--type") -> MachineType:
    """Return the cloud instance type of a machine, or the possible types.

    ``given`` is the name of the type, in upper or lower case, if it is known, for example from the user; "" if not.
    ``given_by`` names the source of ``given``, for the description. ``catalogue`` has the known types. Without
    ``given``, the type is found from the machine: on AWS the product name of the DMI is the type. Elsewhere, all types
    of the same vendor with the same CPU model and the same numbers of CPUs and of threads per core are possible; if the
    DMI names no vendor, of any vendor.

    Raises:
        UsageError: the catalogue has no type ``given``, or the machine has another number of CPUs than this type.
    """
    if given:
        return _given(machine, catalogue, given, given_by)
    product = (machine.product or "").strip()
    named = [entry for entry in catalogue.machines if product and entry.dmi == product]
    vendors = {entry.vendor for entry in named}
    vendor = vendors.pop() if len(vendors) == 1 else ""
    if len(named) == 1:
        return MachineType(vendor, tuple(named), "the DMI")
    topology = machine.topology
    hardware = (machine.cpu.model, topology.threads, topology.threads // max(1, topology.cores))
    alike = [
        entry
        for entry in catalogue.machines
        if (not vendor or entry.vendor == vendor) and (entry.cpu, entry.vcpus, entry.threads_per_core) == hardware
    ]
    return MachineType(vendor, tuple(alike), "the CPU")


def _given(machine: Machine, catalogue: Catalogue, given: str, given_by: str) -> MachineType:
    by_name = {entry.type.lower(): entry for entry in catalogue.machines}
    entry_of_type = by_name.get(given.lower())
    if entry_of_type is None:
        close = get_close_matches(given.lower(), by_name, _FEW)
        near = f"; did you mean {' or '.join(by_name[name].type for name in close)}?" if close else ""
        raise UsageError(f"instance type {given}: the catalogue of {catalogue.collected} has no such type{near}")
    threads = machine.topology.threads
    if entry_of_type.vcpus and entry_of_type.vcpus != threads:
        raise UsageError(
            f"instance type {given}: this type has {entry_of_type.vcpus} CPUs, but the machine has {threads}; "
            "use the type of this machine"
        )
    return MachineType(entry_of_type.vendor, (entry_of_type,), given_by)
