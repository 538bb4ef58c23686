"""Refuse to measure or to judge while other programs take CPU time, unless the user asks for it."""

from __future__ import annotations

import sys

from nameplate.errors import CoreError
from nameplate.execution.busy_cpus import busiest_cpu
from nameplate.records.machine_record import Machine, binding_quota_cpus
from nameplate.records.result import Report
from nameplate.results.cpu_time import why_slowed

# A CPU that is busy for a larger share of _SNAPSHOT_S spoils the measurement.
_BUSY, _SNAPSHOT_S = 0.2, 0.5


def refuse_if_busy(machine: Machine) -> None:
    """Read the load of the CPUs that this process may use, over half a second, and raise an error if one is busy.

    If the system does not show the load, a warning is printed to standard error. ``machine`` is this machine.

    Raises:
        CoreError: one of the CPUs was busy for more than a fifth of the time.
    """
    busiest = busiest_cpu(machine.topology.allowed_cpus, _SNAPSHOT_S)
    if busiest is None:
        print(
            "nameplate: cannot tell whether this machine is busy: /proc/stat is not readable here, or counts nothing",
            file=sys.stderr,
        )
    elif busiest[1] > _BUSY:
        raise CoreError(
            f"this machine is busy: CPU {busiest[0]} was busy for {busiest[1] * 100:.0f} % of half a second; "
            "wait, or add --even-if-busy"
        )


def why_no_verdict(report: Report, even_if_busy: bool) -> str:
    """Return why a run gives no verdict on its machine, as a clause (``why_slowed``), or "" if it gives one.

    With ``even_if_busy``, CPU time that other programs took is no reason, but a CPU quota still is.
    """
    has_quota = report.machine is not None and binding_quota_cpus(report.machine) is not None
    return why_slowed(report) if has_quota or not even_if_busy else ""
