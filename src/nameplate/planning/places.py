"""Check the paths, devices and addresses that a run file names: a user must name them again to measure with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nameplate.errors import UsageError
from nameplate.planning.sweep import ProbeInfo
from nameplate.records.plan_record import Experiment


def check_places(
    experiments: Iterable[Experiment], probes: Mapping[str, ProbeInfo], given: Mapping[str, str], source: str
) -> None:
    """Check that ``given`` names every path and address of the experiments, with the same values, and nothing else.

    Paths and addresses are the parameters of type ``text`` in an experiment's ``params``: ``file``, ``path``,
    ``read_device``, ``bind`` and ``congestion``. ``given`` has the values of each parameter as on the command line,
    separated by commas in any order. ``probes`` are the core's probes by name; experiments of other probes are ignored.
    ``source`` is the file that the experiments are from, for messages.

    Raises:
        UsageError: a parameter is missing in ``given`` or has other values, or ``given`` names another parameter.
    """
    used = _places(experiments, probes)
    for name, values in used.items():
        asked = f"{name}={','.join(values)}"
        if name not in given:
            raise UsageError(
                f"{source} was measured with {asked}; a run file cannot choose a path or an address, so add {asked}"
            )
        if set(given[name].split(",")) != set(values):
            raise UsageError(f"{name}={given[name]}: {source} was measured with {asked}; use {asked}")
    for name, text in given.items():
        if name not in used:
            raise UsageError(f"{name}={text}: {source} has its own parameters; leave this one out")


def _places(experiments: Iterable[Experiment], probes: Mapping[str, ProbeInfo]) -> dict[str, list[str]]:
    """Return the values of each parameter that is a path or an address, in the order of the experiments."""
    places: dict[str, dict[str, None]] = {}
    for experiment in experiments:
        info = probes.get(experiment.probe)
        texts = {parameter.name for parameter in info.parameters if parameter.type == "text"} if info else set()
        for name, value in experiment.params.items():
            if name in texts:
                places.setdefault(name, {})[str(value)] = None
    return {name: list(values) for name, values in places.items()}
