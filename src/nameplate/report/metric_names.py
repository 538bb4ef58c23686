"""Give metrics short names: the parameters in which the metrics of a probe differ."""

from __future__ import annotations

from collections.abc import Iterable

from nameplate.records.model import MetricKey
from nameplate.report.format import parameters


class MetricNames:
    """Short names for a set of metrics; no two are the same."""

    def __init__(self, metrics: Iterable[MetricKey]) -> None:
        values: dict[tuple[str, str], set[str]] = {}
        owners: dict[str, int] = {}
        counts: dict[tuple[str, str], int] = {}
        for key in metrics:
            owners[key.probe] = owners.get(key.probe, 0) + 1
            for name, value in key.params.items():
                values.setdefault((key.probe, name), set()).add(str(value))
                counts[key.probe, name] = counts.get((key.probe, name), 0) + 1
        self._differing = {key for key, found in values.items() if len(found) > 1 or counts[key] < owners[key[0]]}

    def of(self, key: MetricKey) -> str:
        """Return a metric's name, such as ``memory_stream op=triad stores=plain bandwidth``."""
        params = {name: value for name, value in key.params.items() if (key.probe, name) in self._differing}
        return " ".join(filter(None, (key.probe, parameters(params), key.metric)))
