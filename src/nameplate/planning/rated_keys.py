"""Check that each reference value that the user gave is for something that a probe measures."""

from __future__ import annotations

from collections.abc import Mapping

from nameplate.errors import UsageError
from nameplate.planning.sweep import ProbeInfo
from nameplate.probes import probe_of
from nameplate.suggestion import nearest


def check_rated(rated: Mapping[str, float], probes: Mapping[str, ProbeInfo]) -> None:
    """Check the keys of a result of ``parse_rated`` against the probes' names, areas, operations and units.

    A key of ``rated`` is ``NAME UNIT``, with the SI base unit. NAME is a probe, an area, or an area with an operation:
    ``disk_write B/s`` is valid because a probe of the area disk has an operation ``write`` and a metric in B/s. The
    values of ``rated`` are not checked. ``probes`` are the core's probes by name (see ``describe_all``).

    Raises:
        UsageError: a NAME is unknown, or no metric of that NAME has the unit.
    """
    units: dict[str, set[str]] = {}
    for info in probes.values():
        area = info.name.partition("_")[0]
        operations = [choice for parameter in info.parameters if parameter.name == "op" for choice in parameter.choices]
        for key in (info.name, area, *(f"{area}_{operation}" for operation in operations)):
            units.setdefault(key, set()).update(metric.unit for metric in probe_of(info.name).metrics)
    for word in rated:
        key, _, unit = word.partition(" ")
        if key not in units:
            raise UsageError(f"--rated {key}: no probe or area has this name; {nearest(key, units)}")
        if unit not in units[key]:
            known = ", ".join(sorted(units[key] - {""}))
            raise UsageError(f"--rated {key}: not measured in {unit or 'a plain number'}; use {known}")
