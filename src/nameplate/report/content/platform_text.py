"""Name the hypervisor, container or emulator in which a run was measured."""

from __future__ import annotations

from nameplate.records.machine_record import Machine


def platform_text(machine: Machine) -> str:
    """Return the virtual environment of a machine, such as ``kvm guest, docker container``.

    The text begins with ``hypervisor unknown`` if the system does not report whether there is a hypervisor, and ends
    with ``emulated`` if the processor is emulated. The text is "" if no virtual environment was detected.
    """
    return ", ".join([
        *([] if machine.is_hypervisor_known else ["hypervisor unknown"]),
        *([f"{machine.hypervisor} guest"] if machine.hypervisor else []),
        *([f"{machine.container} container"] if machine.container else []),
        *(["emulated"] if machine.emulator else []),
    ])  # fmt: skip
