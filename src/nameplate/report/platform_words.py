"""Say in a few words what stands between a run and the hardware."""

from __future__ import annotations

from nameplate.records.machine_record import Machine


def platform_words(machine: Machine) -> str:
    """Return what a run was measured in, such as ``kvm guest, docker container``; "" if nothing was detected.

    An emulated processor is named by the word ``emulated``.
    """
    return ", ".join([
        *([f"{machine.hypervisor} guest"] if machine.hypervisor else []),
        *([f"{machine.container} container"] if machine.container else []),
        *(["emulated"] if machine.emulator else []),
    ])  # fmt: skip
