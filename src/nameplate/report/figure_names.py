"""Give metrics short names: the parameters in which the metrics of a probe differ."""

from __future__ import annotations

from collections.abc import Iterable

from nameplate.records.model import Figure
from nameplate.report.format import parameters


class FigureNames:
    """Short names for a set of metrics; no two are the same."""

    def __init__(self, figures: Iterable[Figure]) -> None:
        values: dict[tuple[str, str], set[str]] = {}
        owners: dict[str, int] = {}
        counts: dict[tuple[str, str], int] = {}
        for figure in figures:
            owners[figure.probe] = owners.get(figure.probe, 0) + 1
            for name, value in figure.params.items():
                values.setdefault((figure.probe, name), set()).add(str(value))
                counts[figure.probe, name] = counts.get((figure.probe, name), 0) + 1
        self._telling = {key for key, found in values.items() if len(found) > 1 or counts[key] < owners[key[0]]}

    def of(self, figure: Figure) -> str:
        """Return a metric's name, such as ``memory_stream op=triad stores=plain bandwidth``."""
        params = {name: value for name, value in figure.params.items() if (figure.probe, name) in self._telling}
        return " ".join(filter(None, (figure.probe, parameters(params), figure.metric)))
