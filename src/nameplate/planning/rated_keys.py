"""Check that a given reference value is for something that a probe measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nameplate.errors import UsageError
from nameplate.planning.sweep import ProbeInfo, nearest
from nameplate.probes import probe_of


def check_rated(rated: Mapping[str, float], probes: Mapping[str, ProbeInfo]) -> None:
    """Check the keys of ``parse_rated`` against the probes' names, areas, operations and units.

    A key of ``rated`` is ``NAME UNIT`` with the unit in SI base units. NAME is a probe, an area, or an area with an
    operation: ``disk_write B/s`` is possible because a probe of the area disk has an operation write and a metric in
    B/s. The values are not read. ``probes`` are the core's probes by name (``describe_all``).

    Raises:
        UsageError: a NAME is unknown, or nothing of that NAME is measured in the unit.
    """
    units: dict[str, set[str]] = {}
    for info in probes.values():
        for key in _keys(info):
            units.setdefault(key, set()).update(metric.unit for metric in probe_of(info.name).metrics)
    for word in rated:
        key, _, unit = word.partition(" ")
        if key not in units:
            raise UsageError(f"--rated {key}: nothing of that name is measured; {nearest(key, units)}")
        if unit not in units[key]:
            known = ", ".join(sorted(units[key] - {""}))
            raise UsageError(f"--rated {key}: not measured in {unit or 'a plain number'}; use {known}")


def _keys(info: ProbeInfo) -> Iterable[str]:
    area = info.name.partition("_")[0]
    operations = [choice for parameter in info.parameters if parameter.name == "op" for choice in parameter.choices]
    return [info.name, area, *(f"{area}_{operation}" for operation in operations)]
