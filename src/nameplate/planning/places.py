"""Guard places named in a run file: files, devices and addresses are used again only if the user names them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nameplate.errors import UsageError
from nameplate.planning.sweep import ProbeInfo
from nameplate.records.plan_record import Experiment


def check_places(
    experiments: Iterable[Experiment], probes: Mapping[str, ProbeInfo], given: Mapping[str, str], source: str
) -> None:
    """Check that ``given`` names every place that ``experiments`` use, with the same values, and nothing else.

    A place is a parameter that the probe declares as text (``file``, ``path``, ``read_device``, ``bind`` and
    ``congestion``) and that an experiment has in its ``params``. ``given`` has the values of each parameter as on the
    command line, separated by commas in any order. ``probes`` are the core's probes by name; experiments of other
    probes are ignored. ``source`` is the file of the experiments, for messages.

    Raises:
        UsageError: a place is not named or has other values, or a name is not a place.
    """
    used = _places(experiments, probes)
    for name, values in used.items():
        asked = f"{name}={','.join(values)}"
        if name not in given:
            raise UsageError(f"{source} was measured with {asked}; a run file cannot choose a place, so add {asked}")
        if set(given[name].split(",")) != set(values):
            raise UsageError(f"{name}={given[name]}: {source} was measured with {asked}; use that")
    for name, text in given.items():
        if name not in used:
            raise UsageError(f"{name}={text}: {source} has its own parameters; leave this one out")


def _places(experiments: Iterable[Experiment], probes: Mapping[str, ProbeInfo]) -> dict[str, list[str]]:
    """Return the values of each parameter that names a place, in the order of the experiments."""
    found: dict[str, dict[str, None]] = {}
    for experiment in experiments:
        info = probes.get(experiment.probe)
        texts = {parameter.name for parameter in info.parameters if parameter.type == "text"} if info else set()
        for name, value in experiment.params.items():
            if name in texts:
                found.setdefault(name, {})[str(value)] = None
    return {name: list(values) for name, values in found.items()}
