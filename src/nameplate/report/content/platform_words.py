"""Say in a few words what stands between a run and the hardware."""

from __future__ import annotations

from nameplate.records.machine_record import Machine


def platform_words(machine: Machine) -> str:
    """Return what a run was measured in, such as ``kvm guest, docker container``; "" if nothing was detected.

    It begins with ``hypervisor unknown`` if the system does not tell whether there is one. An emulated processor is
    named by the word ``emulated``.
    """
    return ", ".join([
        *([] if machine.is_hypervisor_known else ["hypervisor unknown"]),
        *([f"{machine.hypervisor} guest"] if machine.hypervisor else []),
        *([f"{machine.container} container"] if machine.container else []),
        *(["emulated"] if machine.emulator else []),
    ])  # fmt: skip
