"""Instance types of the catalogue, and the machines that nameplate would see there."""

from __future__ import annotations

from machines import machine_with
from nameplate.expectations.catalogue_file import Catalogue, CatalogueMachine, find_catalogue, read_catalogue
from nameplate.records.machine_record import Machine


def shipped_catalogue() -> Catalogue:
    """Return the installed catalogue."""
    path = find_catalogue()
    assert path is not None, "script/bootstrap installs the catalogue"
    return read_catalogue(path)


def type_named(catalogue: Catalogue, name: str) -> CatalogueMachine:
    """Return the entry of an instance type."""
    (actual,) = [machine for machine in catalogue.machines if machine.type == name]
    return actual


def instance_of(entry: CatalogueMachine) -> Machine:
    """Return the facts that an instance of a type shows: its DMI, its CPU and the numbers of cores and threads."""
    cores = entry.vcpus // entry.threads_per_core
    return machine_with(
        product=entry.dmi or None, hypervisor="kvm", default_threads=cores,
        cpu={"architecture": entry.architecture, "model": entry.cpu},
        topology={"packages": entry.sockets, "cores": cores, "threads": entry.vcpus, "allowed_cores": cores,
                  "allowed_cpus": list(range(entry.vcpus))},
    )  # fmt: skip
