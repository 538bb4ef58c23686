"""Say which cloud instance type a machine is, from its DMI, its CPU and what the user says."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from nameplate.errors import UsageError
from nameplate.expectations.catalogue_file import Catalogue, CatalogueMachine
from nameplate.records.machine_record import Machine

_FEW = 3


@dataclass(frozen=True)
class MachineType:
    """What is known of the type of a machine.

    ``vendor`` is such as "aws", "" if unknown. ``candidates`` are the types of the catalogue that the machine may have:
    one if the type is known, none if the catalogue has none like it. ``known_from`` is "--type", "the metadata", "the
    DMI" or "the CPU".
    """

    vendor: str
    candidates: tuple[CatalogueMachine, ...]
    known_from: str

    @property
    def known(self) -> CatalogueMachine | None:
        """Return the type if there is no doubt about it."""
        return self.candidates[0] if len(self.candidates) == 1 and self.known_from != "the CPU" else None

    @property
    def words(self) -> str:
        """Return the type or the possible ones in words, such as ``aws c7i.large (from the DMI)``."""
        if not self.candidates:
            return "no type of the catalogue"
        names = [f"{each.vendor} {each.type}" for each in self.candidates[:_FEW]]
        more = len(self.candidates) - _FEW
        text = " or ".join(names) if more <= 0 else f"{', '.join(names)} or {more} more types"
        return f"{text} (from {self.known_from})"


def machine_type(machine: Machine, catalogue: Catalogue, given: str = "", given_by: str = "--type") -> MachineType:
    """Return the instance type of a machine, or the types that it may have.

    ``given`` is the name of the type, in any case of letters, if ``given_by`` tells it; "" otherwise. On AWS the
    product name of the DMI is the type. Elsewhere, all types of the same vendor with the same CPU model and numbers of
    CPUs and threads are possible; of any vendor if the DMI names none.

    Raises:
        UsageError: the catalogue has no type ``given``, or one with another number of CPUs than the machine has.
    """
    if given:
        return _given(machine, catalogue, given, given_by)
    product = (machine.product or "").strip()
    named = [each for each in catalogue.machines if product and each.dmi == product]
    vendors = {each.vendor for each in named}
    vendor = vendors.pop() if len(vendors) == 1 else ""
    if len(named) == 1:
        return MachineType(vendor, tuple(named), "the DMI")
    alike = [each for each in catalogue.machines
             if (not vendor or each.vendor == vendor) and _is_alike(each, machine)]  # fmt: skip
    return MachineType(vendor, tuple(alike), "the CPU")


def _given(machine: Machine, catalogue: Catalogue, given: str, given_by: str) -> MachineType:
    by_name = {each.type.lower(): each for each in catalogue.machines}
    found = by_name.get(given.lower())
    if found is None:
        close = get_close_matches(given.lower(), by_name, _FEW)
        near = f"; did you mean {' or '.join(by_name[name].type for name in close)}?" if close else ""
        raise UsageError(f"instance type {given}: the catalogue of {catalogue.collected} has no such type{near}")
    threads = machine.topology.threads
    if found.vcpus and found.vcpus != threads:
        raise UsageError(f"instance type {given}: this type has {found.vcpus}, but the machine has {threads} CPUs")
    return MachineType(found.vendor, (found,), given_by)


def _is_alike(each: CatalogueMachine, machine: Machine) -> bool:
    topology = machine.topology
    threads_per_core = topology.threads // max(1, topology.cores)
    return (each.cpu, each.vcpus, each.threads_per_core) == (machine.cpu.model, topology.threads, threads_per_core)
