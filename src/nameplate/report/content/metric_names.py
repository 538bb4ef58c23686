"""Give metrics short names: the parameters in which the metrics of a probe differ."""

from __future__ import annotations

from collections.abc import Iterable

from nameplate.records.run_record import MetricKey
from nameplate.report.content.format import parameters


class MetricNames:
    """Short names for a set of metrics: each name has only the parameters in which the metrics of its probe differ.

    ``metrics`` is the complete set. Two metrics of the set have the same name only if their probe and metric are equal,
    and their parameters are equal as text, after the rounding of ``report.content.format.parameters``.
    """

    def __init__(self, metrics: Iterable[MetricKey]) -> None:
        values: dict[tuple[str, str], set[str]] = {}
        owners: dict[str, int] = {}
        counts: dict[tuple[str, str], int] = {}
        for key in metrics:
            owners[key.probe] = owners.get(key.probe, 0) + 1
            for name, value in key.params.items():
                values.setdefault((key.probe, name), set()).add(str(value))
                counts[key.probe, name] = counts.get((key.probe, name), 0) + 1
        self._differing = {
            key for key, values_of_key in values.items() if len(values_of_key) > 1 or counts[key] < owners[key[0]]
        }

    def of(self, key: MetricKey) -> str:
        """Return the name of a metric of the set, such as ``memory_stream op=triad stores=plain bandwidth``.

        The name consists of the probe, the differing parameters in the order of ``key.params``, and the metric. The
        name of a metric that is not in the set may be the same as the name of another metric.
        """
        params = {name: value for name, value in key.params.items() if (key.probe, name) in self._differing}
        return " ".join(filter(None, (key.probe, parameters(params), key.metric)))
